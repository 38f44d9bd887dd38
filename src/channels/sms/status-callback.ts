import type { FormFields } from './form.ts';
import { BadParameter } from './receive.ts';

/** Twilio's states of a message (REST API, Message resource), so that metric labels stay few. */
const STATUSES = new Set([
  'accepted',
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'canceled',
  'read',
  'receiving',
]);

const NAMES = ['MessageStatus', 'SmsStatus'];

/**
 * The status that a callback reports: one of Twilio's, or `other`. Undefined for an inbound
 * message, whose status is `received` or not given.
 * @throws {BadParameter} when the request says two things
 */
export function messageStatus(fields: FormFields): string | undefined {
  const [status = 'received', ...more] = NAMES.flatMap((name) => fields.all(name)).filter(Boolean);
  if (more.some((other) => other !== status)) throw new BadParameter('SmsStatus');
  if (status === 'received') return undefined;
  return STATUSES.has(status) ? status : 'other';
}
