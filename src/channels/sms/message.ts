import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { Claimed } from '../../spool/entry.ts';
import { parseAddress, subscriberOf, type Transport, TRANSPORTS } from './address.ts';
import { FormFields, type FormPairs } from './form.ts';
import type { SmsShop } from './shops.ts';
import { storedSms, summaryOfPairs } from './stored.ts';

/** Of a message in either direction (Twilio, "String identifier (SID)"). */
export const MESSAGE_SID = /^(SM|MM)[0-9a-fA-F]{32}$/;
const ACCOUNT_SID = /^AC[0-9a-fA-F]{32}$/;
const MAX_ADDRESS_LENGTH = 320;

/** What names an inbound message, whether Twilio pushed it or it was found over the API. */
export interface MessageIdentity {
  readonly messageSid: string;
  readonly accountSid: string;
  /** As Twilio writes them, with a `whatsapp:` or `rcs:` prefix. */
  readonly from: string;
  readonly to: string;
}

/** A parameter that every webhook has is missing, doubled or malformed. `parameter` names it. */
export class BadParameter extends Error {
  override name = 'BadParameter';
  readonly parameter: string;
  constructor(parameter: string) {
    super(`${parameter} must be given exactly once, in Twilio's format`);
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
  // A control character can stand in no address of any transport.
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

const lateMediaSchema = z.object({
  /** Their SIDs. */
  parts: z.array(z.string()).readonly(),
  /** Twilio asked not to be called before this time. Milliseconds since the epoch, as `until`. */
  notBefore: z.number(),
  /** The end of the hour, when the message is sent with what could be fetched. */
  until: z.number(),
});
/** What a follow-up knows of the media that it brings. */
export type LateMedia = z.output<typeof lateMediaSchema>;

const metaSchema = z.object({
  messageSid: z.string().regex(MESSAGE_SID),
  accountSid: z.string().regex(ACCOUNT_SID),
  from: z.string(),
  to: z.string(),
  late: lateMediaSchema.optional(),
});
const rawSchema = z.array(z.tuple([z.string(), z.string()]));

/**
 * The conversation that a message belongs to: account, transport, our number, their number. Both
 * forms of a number that has two make one lane: texts of one person never race each other.
 */
export function laneOf({ accountSid, to, from }: MessageIdentity): string {
  const ours = parseAddress(to);
  const theirs = subscriberOf(parseAddress(from).address);
  return [accountSid, ours.transport, ours.address, theirs].join('/');
}

/** Reads back what `laneOf` wrote. */
export function readLane(lane: string): {
  readonly transport: Transport;
  /** Without the transport's prefix; `theirs` in the form that stands for both. */
  readonly ours: string;
  readonly theirs: string;
} {
  const [, found, ours = '', theirs = ''] = lane.split('/');
  const transport = TRANSPORTS.find((one) => one === found);
  if (transport === undefined) throw new TypeError('not the lane of a text');
  return { transport, ours, theirs };
}

/** The arrival of one message. Its raw form is the list of parameters as they came, as JSON. */
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
    meta: { ...identity },
    raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify(pairs)) },
    summary: summaryOfPairs({ ...identity }, pairs),
    ...(receivedAt !== undefined && { receivedAt }),
  };
}

/**
 * The arrival of the message that brings a text's late media: the same parameters again, and which
 * media. It has the lane of the text, to be in the same conversation, and never holds that lane back.
 */
export function toFollowUp({ entry, raw }: Claimed, late: LateMedia): Arrival {
  const head = raw.kind === 'inline' ? raw.bytes : new Uint8Array();
  const id = `${entry.remoteId}/media`;
  return {
    shopId: entry.shopId,
    channel: 'sms',
    lane: entry.lane,
    dedupKey: id,
    remoteId: id,
    meta: { ...entry.meta, late },
    raw,
    summary: storedSms.summaryOf(entry.meta, head),
    detached: true,
  };
}

export interface StoredMessage {
  readonly identity: MessageIdentity;
  readonly fields: FormFields;
  /** Of a follow-up: what it brings. */
  readonly late: LateMedia | undefined;
}

/** Reads back what `toArrival` or `toFollowUp` wrote. */
export function readArrival(claimed: Claimed): StoredMessage {
  if (claimed.raw.kind !== 'inline') throw new Error('An SMS is always stored inline');
  const pairs = rawSchema.parse(JSON.parse(Buffer.from(claimed.raw.bytes).toString('utf8')));
  const { late, ...identity } = metaSchema.parse(claimed.entry.meta);
  return { identity, fields: new FormFields(pairs), late };
}
