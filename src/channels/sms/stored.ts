import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { Claimed, EntryMeta, StoredSummary } from '../../spool/entry.ts';
import { parsedJson, type StoredFormReader, shownText, textIn } from '../../spool/stored-form.ts';

/**
 * The stored form of a text: sender and recipient in the meta, and the list of parameters as
 * received, as JSON, in the raw form. Only this file reads either.
 */

/** A webhook's parameters in their order. A name may occur more than once. */
export type FormPairs = readonly (readonly [name: string, value: string])[];

/** Parameters by name. */
export class FormFields {
  readonly #values = new Map<string, string[]>();

  constructor(pairs: FormPairs) {
    for (const [name, value] of pairs) {
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** The first value, which may be empty. */
  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** In the form that the signature functions of `twilio` take: repeated names as arrays. */
  signed(): Record<string, string | string[]> {
    // Without a prototype, so that a parameter may have any name, even `__proto__`.
    const params = Object.create(null) as Record<string, string | string[]>;
    for (const [name, values] of this.#values) {
      const [only] = values;
      params[name] = values.length === 1 && only !== undefined ? only : values;
    }
    return params;
  }
}

/** Of a message in either direction (Twilio, "String identifier (SID)"). */
export const MESSAGE_SID = /^(SM|MM)[0-9a-fA-F]{32}$/;
export const ACCOUNT_SID = /^AC[0-9a-fA-F]{32}$/;

/** Identifies an inbound message, whether Twilio pushed it or it was found through the API. */
export interface MessageIdentity {
  readonly messageSid: string;
  readonly accountSid: string;
  /** As Twilio writes them, with a `whatsapp:` or `rcs:` prefix. */
  readonly from: string;
  readonly to: string;
}

const lateMediaSchema = z.object({
  /** Their SIDs. */
  parts: z.array(z.string()).readonly(),
  /** Twilio asked not to be called before this time. Milliseconds since the epoch, like `until`. */
  notBefore: z.number(),
  /** The end of the hour, when the message is submitted with the media that could be fetched. */
  until: z.number(),
});
/** The late media of a follow-up. */
export type LateMedia = z.output<typeof lateMediaSchema>;

const metaSchema = z.object({
  messageSid: z.string().regex(MESSAGE_SID),
  accountSid: z.string().regex(ACCOUNT_SID),
  from: z.string(),
  to: z.string(),
  late: lateMediaSchema.optional(),
});
const rawSchema = z.array(z.tuple([z.string(), z.string()]));

/** The stored parts of an arrival. */
export const storedForm = (
  identity: MessageIdentity,
  pairs: FormPairs,
): Pick<Arrival, 'meta' | 'raw' | 'summary'> => ({
  meta: { ...identity },
  raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify(pairs)) },
  summary: summaryOfPairs({ ...identity }, pairs),
});

/**
 * The arrival of the follow-up with a text's late media: the same parameters, and which media. It
 * has the lane of the text, so that it joins the same conversation, but never holds that lane back.
 */
export function toFollowUp({ entry, raw }: Claimed, late: LateMedia): Arrival {
  const bytes = raw.kind === 'inline' ? raw.bytes : new Uint8Array();
  const id = `${entry.remoteId}/media`;
  return {
    shopId: entry.shopId,
    channel: 'sms',
    lane: entry.lane,
    dedupKey: id,
    remoteId: id,
    meta: { ...entry.meta, late },
    raw,
    summary: storedSms.summaryOf(entry.meta, bytes),
    detached: true,
  };
}

export interface StoredMessage {
  readonly identity: MessageIdentity;
  readonly fields: FormFields;
  /** The late media of a follow-up. */
  readonly late: LateMedia | undefined;
}

/** Reads back what `storedForm` or `toFollowUp` wrote. */
export function readStored(claimed: Claimed): StoredMessage {
  if (claimed.raw.kind !== 'inline') throw new Error('An SMS is always stored inline');
  const pairs = rawSchema.parse(JSON.parse(Buffer.from(claimed.raw.bytes).toString('utf8')));
  const { late, ...identity } = metaSchema.parse(claimed.entry.meta);
  return { identity, fields: new FormFields(pairs), late };
}

/** The parameters in a raw form; undefined if it is damaged, or a beginning that is cut off. */
export const readPairs = (raw: Uint8Array): FormPairs | undefined =>
  rawSchema.safeParse(parsedJson(raw)).data;

/** The stored form for lists, search and erasure. */
export const storedSms: StoredFormReader = {
  summaryOf: (meta, beginning) => {
    const pairs = parsedJson(beginning);
    return summaryOfPairs(meta, Array.isArray(pairs) ? pairs : []);
  },
  identitiesIn: ({ meta }) => [String(meta['from'])],
};

/** The same for parameters that were already read. */
export function summaryOfPairs(meta: EntryMeta, pairs: readonly unknown[]): StoredSummary {
  const field = (name: string): string => {
    for (const pair of pairs) {
      const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
      if (key === name && typeof value === 'string') return value;
    }
    return '';
  };
  const number = field('From') || textIn(meta, 'from');
  const name = shownText(field('ProfileName'));
  return {
    from: shownText(name === '' ? number : `${name} ${number}`),
    to: shownText(field('To') || textIn(meta, 'to')),
    subject: '',
    more: '',
  };
}
