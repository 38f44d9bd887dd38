import type { AddressMatcher } from '../../../../domain/email-addresses.ts';
import { describeMailFailure, NOT_DELIVERED } from '../../../../domain/mail-failure.ts';
import { isInternetHost } from '../../../../domain/strict-addresses.ts';
import type { CreateEventRequest } from '../../../../platform-api/schemas.ts';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import type { BounceReport } from '../reports/bounce-report.ts';
import type { Complaint } from '../reports/feedback.ts';
import type { FailedRecipient } from '../reports/report-parts.ts';
import { platformAddress } from './header-values.ts';

const MAX_DIAGNOSTIC = 300;
const MAX_SUBJECT = 200;
const MAX_KIND = 50;

/**
 * A bounce as events on the timelines of the recipients that our mail did not reach. Delivery
 * submits an event only for a contact that the platform already has, since anyone can forge a
 * bounce.
 * @param at milliseconds since the epoch
 */
export function bounceEvents(
  { failed, originalId }: Pick<BounceReport, 'failed' | 'originalId'>,
  own: AddressMatcher,
  at: number,
): readonly CreateEventRequest[] {
  return failed.flatMap((recipient) => {
    const email = platformAddress(recipient.address);
    if (email === undefined || !isInternetHost(email) || own.has(email)) return [];
    const description = describeMailFailure(reasonOf(recipient), originalId);
    return [
      {
        name: NOT_DELIVERED,
        ...(description !== '' && { description }),
        event_time: new Date(at).toISOString(),
        contact: { email },
      },
    ];
  });
}

function reasonOf({ status, diagnostic }: FailedRecipient): string {
  const text = diagnostic === undefined ? '' : cleanLine(diagnostic, MAX_DIAGNOSTIC);
  return [text.includes(status ?? '') ? undefined : status, text].filter(Boolean).join(' ');
}

/**
 * A complaint as an event on the timeline of the person who made it, so that nobody goes on writing
 * to them. Anyone can forge a complaint, so an event never creates a contact.
 * @param at milliseconds since the epoch
 */
export function complaintEvents(
  { complainant, kind, originalId }: Complaint,
  at: number,
): readonly CreateEventRequest[] {
  const email = complainant === undefined ? undefined : platformAddress(complainant);
  if (email === undefined) return [];
  const lines = [cleanLine(kind, MAX_KIND), originalId && `Message-ID: ${originalId}`];
  return [
    {
      name: 'Email reported as spam',
      description: lines.filter(Boolean).join('\n'),
      event_time: new Date(at).toISOString(),
      contact: { email },
    },
  ];
}

/** A suppressed automatic reply as an event on its sender's timeline. */
export function autoReplyEvents(
  contact: { readonly email?: string },
  subject: string | undefined,
  at: number,
): readonly CreateEventRequest[] {
  const { email } = contact;
  if (email === undefined) return [];
  return [
    {
      name: 'Automatic reply',
      ...(subject !== undefined && { description: cleanLine(subject, MAX_SUBJECT) }),
      event_time: new Date(at).toISOString(),
      contact: { email },
    },
  ];
}
