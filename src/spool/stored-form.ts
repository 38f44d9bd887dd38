import type { Channel } from '../domain/channel.ts';
import type { EntryKind, EntryMeta, StoredSummary } from './entry.ts';
import type { ErasableEntry } from './erasure.ts';

/**
 * The version of the summaries that `summaryOf` makes. Raise it when any channel's result changes:
 * the gateway then computes all summaries again (`renew-summaries.ts`).
 */
export const SUMMARY_VERSION = 2;

/** How much of a raw form `summaryOf` gets; a header block is seldom larger. */
export const BEGINNING_BYTES = 64 * 1024;

const MAX_CHARS = 300;
/** Control characters, invisible ones, those that change the text direction, lone surrogates. */
const UNSEEN =
  /[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** Reads a channel's stored form for lists, the search and the erasure. */
export interface StoredFormReader {
  /**
   * Sender, recipient and subject. Never throws: what cannot be read is empty.
   * @param beginning the first `BEGINNING_BYTES` of the raw form; empty when it was swept
   */
  readonly summaryOf: (meta: EntryMeta, beginning: Uint8Array) => StoredSummary;
  /**
   * The people the entry belongs to: addresses, numbers or visitor ids of its sender, or of the
   * person it is about.
   */
  readonly identitiesIn: (entry: ErasableEntry) => readonly string[];
}

/** The reader of each channel's entries and of timeline events. */
export type StoredFormReaders = (entry: { kind: EntryKind; channel: Channel }) => StoredFormReader;

/** One line of limited length, without characters that hide text or change its direction. */
export function shownText(text: string): string {
  if (/^[\x20-\x7e]{0,300}$/.test(text)) return text.trim();
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(UNSEEN, '')
    .trim()
    .slice(0, MAX_CHARS);
}

/** A text field of the meta; empty when it has none of this name. */
export function textIn(record: Readonly<Record<string, unknown>>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value.slice(0, MAX_CHARS) : '';
}

/** Parses stored JSON; undefined when it was swept or is damaged. */
export function parsedJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}
