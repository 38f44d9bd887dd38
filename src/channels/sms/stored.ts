import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { Claimed, EntryMeta, StoredSummary } from '../../spool/entry.ts';
import { type StoredFormReader, shownText, textIn } from '../../spool/stored-form.ts';
import type {
  FormParameters,
  ProviderTexts,
  ReceivedText,
  SendersInRaw,
  TextMessage,
} from './provider.ts';
import { isMessageId, textsOf } from './providers/registry.ts';

/**
 * The stored form of a text: in the meta, the provider, sender and recipient; in the raw form, what
 * the provider sent. The meta's other members and the raw form are read by the provider only.
 */

const lateMediaSchema = z.object({
  /** Their ids. */
  parts: z.array(z.string()).readonly(),
  /** The provider asked not to be called before this time. In ms since the epoch, like `until`. */
  notBefore: z.number(),
  /** The end of the hour, when the message is submitted with the media that could be fetched. */
  until: z.number(),
});
/** The late media of a follow-up. */
export type LateMedia = z.output<typeof lateMediaSchema>;

const metaSchema = z.object({
  provider: z.string().optional(),
  from: z.string(),
  to: z.string(),
  late: lateMediaSchema.optional(),
  /** The shop wrote it, to `from`. */
  echo: z.boolean().optional(),
});

/** The stored parts of an arrival. */
export function storedForm(text: ReceivedText): Pick<Arrival, 'meta' | 'raw' | 'summary'> {
  const { from, to, name } = text;
  const meta = { ...text.meta, from, to };
  const raw = { kind: 'inline', bytes: text.raw } as const;
  return { meta, raw, summary: summaryOf(meta, { ...NOBODY, name }) };
}

/** Follows the remote id of a text in that of its follow-up. */
const FOLLOW_UP = '/media';

/**
 * The arrival of the follow-up with a text's late media: the same text, and which media. It has the
 * lane of the text, so that it joins the same conversation, but never holds that lane back.
 */
export function toFollowUp({ entry, raw }: Claimed, late: LateMedia): Arrival {
  const bytes = raw.kind === 'inline' ? raw.bytes : new Uint8Array();
  const id = entry.remoteId + FOLLOW_UP;
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
  readonly provider: ProviderTexts;
  readonly message: TextMessage;
  /** The late media of a follow-up. */
  readonly late: LateMedia | undefined;
  /** What the shop wrote on its own phone. */
  readonly isEcho: boolean;
}

/** Reads back what `storedForm` or `toFollowUp` wrote. */
export function readStored({ entry, raw }: Claimed): StoredMessage {
  if (raw.kind !== 'inline') throw new Error('An SMS is always stored inline');
  const { late, echo: isEcho = false } = metaSchema.parse(entry.meta);
  const provider = providerOf(entry.meta);
  if (provider === undefined) throw new Error('The SMS provider of this entry is not known');
  return { provider, message: provider.read(entry.meta, raw.bytes), late, isEcho };
}

const providerOf = (meta: EntryMeta): ProviderTexts | undefined => textsOf(meta['provider']);

/** The parameters in a raw form, if its provider sends forms; undefined also if it is cut off. */
export const parametersIn = (meta: EntryMeta, raw: Uint8Array): FormParameters | undefined =>
  providerOf(meta)?.parametersIn(raw);

/** Whether an entry of a text, or of the follow-up of one, could have this remote id. */
export const isRemoteId = (id: string): boolean =>
  isMessageId(id.endsWith(FOLLOW_UP) ? id.slice(0, -FOLLOW_UP.length) : id);

/** The stored form for lists, search and erasure. */
export const storedSms: StoredFormReader = {
  summaryOf: (meta, beginning) => summaryOf(meta, providerOf(meta)?.sendersIn(beginning) ?? NOBODY),
  identitiesIn: ({ meta }) => [String(meta['from'])],
};

const NOBODY: SendersInRaw = { from: '', to: '', name: '' };

function summaryOf(meta: EntryMeta, shown: SendersInRaw): StoredSummary {
  const number = shown.from || textIn(meta, 'from');
  const name = shownText(shown.name);
  const theirs = shownText(name === '' ? number : `${name} ${number}`);
  const ours = shownText(shown.to || textIn(meta, 'to'));
  const [from, to] = meta['echo'] === true ? [ours, theirs] : [theirs, ours];
  return { ...{ from, to }, subject: '', more: '' };
}
