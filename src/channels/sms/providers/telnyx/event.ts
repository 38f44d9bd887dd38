import { z } from 'zod';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import { isAddress, type Transport } from '../../address.ts';
import type { DeliveryStatus } from '../../provider.ts';
import { BadParameter, WebhookRefused } from '../../webhook-request.ts';

/**
 * The events of Telnyx's Messaging API v2, as its webhooks and its API have them. Members that are
 * not used may have any type, and those that may be missing count as missing when they have
 * another type than documented (Telnyx, "Receiving webhooks for messaging", "Inbound message").
 */

const eventSchema = z.object({
  data: z.object({ event_type: z.string(), payload: z.record(z.string(), z.unknown()) }),
});

/**
 * E.164, a short code or an alphanumeric sender. The API has it without the object at times. RCS has
 * the agent's id in its place.
 */
const address = z.string().refine(isAddress);
export const party = z.union([
  address,
  z.object({ phone_number: address }).transform((each) => each.phone_number),
  z.object({ agent_id: address }).transform((each) => each.agent_id),
]);
/** One that cannot be read hides no other. */
const parties = z
  .array(z.unknown())
  .transform((all) => all.flatMap((each) => party.safeParse(each).data ?? []));

const messageSchema = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/),
  from: party,
  to: parties.refine((all) => all.length > 0),
  cc: parties.catch([]),
  /** `SMS`, `MMS`, `WHATSAPP`, `RCS`. */
  type: z.string().max(40).catch('SMS'),
  direction: z.string().catch('inbound'),
  text: z.string().catch(''),
  subject: z.string().catch(''),
  /** In place of the text and the media over WhatsApp, in Meta's form, and over RCS, in Google's. */
  body: z.unknown().optional(),
  /** `STOP`, `START` or `HELP` if Telnyx answered the text itself. */
  autoresponse_type: z.string().catch(''),
  media: z.array(z.unknown()).catch([]),
  /** ISO 8601. */
  received_at: z.string().max(40).catch(''),
});
const mediumSchema = z.object({ url: z.string(), content_type: z.string().optional().catch('') });
/** A number in digits, which some of Telnyx's services do not quote. */
export const errorCode = z.union([z.string(), z.number().transform(String)]);
const statusSchema = z.object({
  id: z.string().catch(''),
  to: z.array(z.object({ status: z.string().catch('') })).catch([]),
  errors: z.array(z.object({ code: errorCode.catch(''), title: z.string().catch('') })).catch([]),
});

export interface TelnyxMessage {
  readonly id: string;
  readonly type: string;
  /** With the prefix of its transport, like the recipients. */
  readonly from: string;
  /** All numbers that it was sent to; a group has several. */
  readonly recipients: readonly string[];
  readonly direction: string;
  readonly text: string;
  readonly subject: string;
  readonly body: unknown;
  readonly optOutType: string;
  /** In ms since the epoch; NaN if it is not given. */
  readonly receivedAt: number;
  readonly media: readonly { readonly url: string; readonly contentType: string | undefined }[];
}

export interface TelnyxEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** @throws {WebhookRefused} not an event of the API's version 2 */
export function readEvent(body: Uint8Array): TelnyxEvent {
  try {
    const { data } = eventSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
    return { type: data.event_type, payload: data.payload };
  } catch (cause) {
    const text = "Not an event of Telnyx's webhook API version 2";
    throw new WebhookRefused(400, 'malformed', text, { cause });
  }
}

const PREFIXES: ReadonlyMap<string, `${Transport}:`> = new Map([
  ['WHATSAPP', 'whatsapp:'],
  ['RCS', 'rcs:'],
]);

/** @throws {BadParameter} a member that every message has is missing or malformed */
export function readMessage(payload: TelnyxEvent['payload']): TelnyxMessage {
  const { data, error } = messageSchema.safeParse(payload);
  if (error !== undefined) {
    const name = `payload.${String(error.issues[0]?.path[0] ?? '')}`;
    throw new BadParameter(name, `${name} must be given, in Telnyx's format`);
  }
  const { id, to, cc, direction, text, subject, body, autoresponse_type: optOutType } = data;
  const type = data.type.toUpperCase();
  const prefixed = (party: string): string => (PREFIXES.get(type) ?? '') + party;
  return {
    ...{ id, type, direction, text, subject, body, optOutType },
    from: prefixed(data.from),
    recipients: [...new Set([...to, ...cc])].map(prefixed),
    receivedAt: Date.parse(data.received_at),
    media: data.media.flatMap((each) => {
      const medium = mediumSchema.safeParse(each).data;
      return medium === undefined ? [] : [{ url: medium.url, contentType: medium.content_type }];
    }),
  };
}

/** Of recipients (Telnyx, "Outbound message"); a fixed set keeps metric labels few. */
const STATUSES: ReadonlySet<string> = new Set(
  'queued sending sent delivered sending_failed delivery_failed delivery_unconfirmed'.split(' '),
);
const STATES: Readonly<Record<string, DeliveryStatus['state']>> = {
  sent: 'sent',
  delivered: 'delivered',
  sending_failed: 'failed',
  delivery_failed: 'failed',
};

const MAX_TITLE = 200;

/** The person wrote STOP (Telnyx, "Messaging error codes"). */
export const OPT_OUT_CODE = '40300';

/** The status of one of our messages for each recipient, with its first error. */
export function readStatuses(payload: TelnyxEvent['payload']) {
  const { id, to, errors } = statusSchema.parse(payload);
  const error = errors.find(({ code }) => code !== '');
  const why = error && {
    code: error.code.slice(0, 20),
    ...(error.title !== '' && { reason: cleanLine(error.title, MAX_TITLE) }),
  };
  const statuses = to.map(({ status }): DeliveryStatus => {
    const state = STATES[status];
    return {
      status: STATUSES.has(status) ? status : 'other',
      ...{ state, ...(state === 'failed' && why) },
    };
  });
  const { data: message } = messageSchema.safeParse(payload);
  const [theirs] = message?.to ?? [];
  return {
    id: id.slice(0, 64),
    statuses: statuses.length > 0 ? statuses : [{ status: 'other' }],
    ...(message && theirs !== undefined && { between: { ours: message.from, theirs } }),
  };
}
