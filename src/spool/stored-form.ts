import type { Channel } from '../domain/channel.ts';
import type { EntryKind, EntryMeta, StoredSummary } from './entry.ts';
import type { ErasableEntry } from './erasure.ts';

/**
 * Of what every `summaryOf` makes. Raise it when one of them makes something else: the gateway then
 * computes all summaries again (`renew-summaries.ts`).
 */
export const SUMMARY_VERSION = 1;

/** Of a raw form `summaryOf` gets this much: a header block is seldom larger. */
export const HEAD_BYTES = 64 * 1024;

const MAX_CHARS = 300;
/** Controls, characters that show nothing or turn the text around them, halves of characters. */
const UNSEEN =
  /[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** What lists, the search and the erasure ask of the form in which entries are stored. */
export interface StoredForm {
  /**
   * Who wrote to whom about what. Never throws: what cannot be read is empty.
   * @param head the first `HEAD_BYTES` of the raw form; empty when it was swept
   */
  readonly summaryOf: (meta: EntryMeta, head: Uint8Array) => StoredSummary;
  /**
   * Whose the entry is: addresses, numbers or visitor ids of who wrote it, or whom it is about.
   * @param raw reads the raw form; undefined when it was swept
   */
  readonly identitiesIn: (
    entry: ErasableEntry,
    raw: () => Uint8Array | undefined,
  ) => readonly string[];
}

/** The form of each channel's entries, and of lines for a contact's timeline. */
export type StoredForms = (entry: { kind: EntryKind; channel: Channel }) => StoredForm;

/** One line of bounded length, without anything that hides or turns text. */
export function shownText(text: string): string {
  if (/^[\x20-\x7e]{0,300}$/.test(text)) return text.trim();
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(UNSEEN, '')
    .trim()
    .slice(0, MAX_CHARS);
}

/** A text of the meta; empty when it has none of this name. */
export function textIn(record: Readonly<Record<string, unknown>>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value.slice(0, MAX_CHARS) : '';
}

/** JSON as it was stored; undefined when it was swept or is damaged. */
export function parsedJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}
