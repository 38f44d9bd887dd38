import type { Arrival } from '../../intake/intake.ts';
import { parseAddress, subscriberOf, type Transport, TRANSPORTS } from './address.ts';
import { type FormFields, type FormPairs, WebhookRefused } from './form.ts';
import type { SmsShop } from './shop.ts';
import { ACCOUNT_SID, MESSAGE_SID, type MessageIdentity, storedForm } from './stored.ts';

const MAX_ADDRESS_LENGTH = 320;

/** A parameter that every webhook has is missing, repeated or malformed. `parameter` names it. */
export class BadParameter extends WebhookRefused {
  override name = 'BadParameter';
  readonly parameter: string;
  constructor(parameter: string) {
    super(400, 'parameter', `${parameter} must be given exactly once, in Twilio's format`);
    this.parameter = parameter;
  }
}

const once = (fields: FormFields, name: string): string => {
  const [value, ...more] = fields.all(name);
  if (value === undefined || more.length > 0) throw new BadParameter(name);
  return value;
};

const sid = (fields: FormFields, name: string, pattern: RegExp): string => {
  const value = once(fields, name);
  if (!pattern.test(value)) throw new BadParameter(name);
  return value;
};

const address = (fields: FormFields, name: string): string => {
  const value = once(fields, name);
  const bare = parseAddress(value).address;
  // No address of any transport contains a control character.
  if (bare === '' || value.length > MAX_ADDRESS_LENGTH || /\p{Cc}/u.test(value)) {
    throw new BadParameter(name);
  }
  return value;
};

/** @throws {BadParameter} */
export function readSids(fields: FormFields): { messageSid: string; accountSid: string } {
  return {
    messageSid: sid(fields, 'MessageSid', MESSAGE_SID),
    accountSid: sid(fields, 'AccountSid', ACCOUNT_SID),
  };
}

/** @throws {BadParameter} */
export function readIdentity(fields: FormFields): MessageIdentity {
  return {
    ...readSids(fields),
    from: address(fields, 'From'),
    to: address(fields, 'To'),
  };
}

/**
 * The conversation of a message: account, transport, our number, their number. Both forms of a
 * number that has two belong to one lane, so the texts of one person are never delivered
 * concurrently.
 */
export function laneOf({ accountSid, to, from }: MessageIdentity): string {
  const ours = parseAddress(to);
  const theirs = subscriberOf(parseAddress(from).address);
  return [accountSid, ours.transport, ours.address, theirs].join('/');
}

/** Reads back what `laneOf` wrote. */
export function readLane(lane: string): {
  readonly transport: Transport;
  /** Without the transport's prefix; `theirs` in the form that is used for both. */
  readonly ours: string;
  readonly theirs: string;
} {
  const [, found, ours = '', theirs = ''] = lane.split('/');
  const transport = TRANSPORTS.find((one) => one === found);
  if (transport === undefined) throw new TypeError('not the lane of a text');
  return { transport, ours, theirs };
}

/** The arrival of one message. */
export function toArrival(
  shop: SmsShop,
  identity: MessageIdentity,
  pairs: FormPairs,
  receivedAt?: number,
): Arrival {
  return {
    shopId: shop.shopId,
    channel: 'sms',
    lane: laneOf(identity),
    dedupKey: identity.messageSid,
    remoteId: identity.messageSid,
    ...storedForm(identity, pairs),
    ...(receivedAt !== undefined && { receivedAt }),
  };
}

/** Twilio's message statuses (REST API, Message resource); a fixed set keeps metric labels few. */
const STATUSES = new Set(
  `accepted scheduled queued sending sent delivered undelivered failed canceled read
  receiving`.split(/\s+/),
);

const NAMES = ['MessageStatus', 'SmsStatus'];

/**
 * The status that a callback reports: one of Twilio's, or `other`. Undefined for an inbound
 * message, whose status is `received` or absent.
 * @throws {BadParameter} the request contradicts itself
 */
export function messageStatus(fields: FormFields): string | undefined {
  const [status = 'received', ...more] = NAMES.flatMap((name) => fields.all(name)).filter(Boolean);
  if (more.some((other) => other !== status)) throw new BadParameter('SmsStatus');
  if (status === 'received') return undefined;
  return STATUSES.has(status) ? status : 'other';
}
