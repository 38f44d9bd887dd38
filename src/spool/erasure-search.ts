import type { Channel } from '../domain/channel.ts';
import type { BlobName, ShopId } from '../domain/ids.ts';
import { sentence } from '../domain/reasons.ts';
import type { EntryMeta, TimelineStep } from './entry.ts';
import { type EntryRow, readReason, storedReason } from './entry-row.ts';
import {
  BLACKENED,
  blackened,
  type Note,
  type Person,
  type TracedEntry,
  type TracedLane,
  type Where,
} from './erasure.ts';
import { bodyTexts, readableTexts, textOfJson } from './erasure-text.ts';

/** The columns of an entry by which it is searched for a person. */
export type SearchedEntry = Pick<
  EntryRow,
  'seq' | 'id' | 'kind' | 'shop' | 'channel' | 'lane' | 'meta' | 'state' | 'reason'
> & { readonly blob: BlobName | null };

/** What stands for a reason that names the person. */
export const ERASED_REASON = storedReason({ code: 'other', params: { text: BLACKENED } });

/** A visitor's key in the set of a person's visitors. */
export const visitorKey = (shop: ShopId, id: string): string => `${shop}/${id}`;

/**
 * Whether the person wrote the entry.
 * @param visitors the keys of the person's visitors
 */
export function isTheirs(
  row: SearchedEntry,
  person: Person,
  visitors: ReadonlySet<string>,
  raw: () => Uint8Array | undefined,
): boolean {
  // Written by JSON.stringify of an EntryMeta.
  const meta = JSON.parse(row.meta) as EntryMeta;
  if (row.channel === 'web_chat' && visitors.has(visitorKey(row.shop, String(meta['visitorId'])))) {
    return true;
  }
  return person.wrote({ ...row, meta }, raw);
}

export function toTraced({ seq, id, shop, channel, state }: SearchedEntry): TracedEntry {
  return { seq, id, shopId: shop, channel, state };
}

interface StoredTexts {
  /** Of the entry and of an operator's move. */
  readonly reasons: readonly (string | null | undefined)[];
  readonly parts: readonly { readonly no: number; readonly steps: string }[];
}

/** The store's own texts about another person's entry that name the person. */
export function notesOf(seq: number, { reasons, parts }: StoredTexts, person: Person): Note[] {
  const isReason = reasons.some(
    (reason) => typeof reason === 'string' && person.isNamedIn(sentence(readReason(reason))),
  );
  const named = parts.filter(({ steps }) => namesIn(steps, person));
  return [...(isReason ? [{ seq, no: undefined }] : []), ...named.map(({ no }) => ({ seq, no }))];
}

/** Whether the erasure of the note will find anything to redact. */
function namesIn(steps: string, person: Person): boolean {
  if (!person.occursIn(textOfJson(steps))) return false;
  return stepsOf(steps).some((step) => blackened(step, person) !== step);
}

/** Part of a timeline, as stored, with texts that name the person redacted. */
export function blackenedSteps(steps: string, person: Person): string {
  return JSON.stringify(stepsOf(steps).map((step) => blackened(step, person)));
}

/** A shop's stored health, which may quote answers of the platform, with texts that name the person redacted. */
export function blackenedHealth(health: string, person: Person): string {
  return JSON.stringify(JSON.parse(health), (_key, value: unknown) =>
    typeof value === 'string' && person.isNamedIn(value) ? BLACKENED : value,
  );
}

// Written by JSON.stringify of TimelineSteps.
const stepsOf = (steps: string): TimelineStep[] => JSON.parse(steps) as TimelineStep[];

/**
 * Where another person's message names the person.
 * @param record the text of the delivery record, read if nothing else names them
 */
export function mentionedIn(
  row: Pick<SearchedEntry, 'channel' | 'kind' | 'meta' | 'lane'>,
  person: Person,
  raw: Uint8Array | undefined,
  record: () => string | undefined,
): Where[] {
  const where = new Set<Where>();
  if ([textOfJson(row.meta), row.lane].some((text) => person.isNamedIn(text))) where.add('header');
  if (raw !== undefined) {
    const isEmail = row.channel === 'email' && row.kind === 'message';
    for (const part of isEmail ? readableTexts(raw) : plain(raw)) {
      if (!where.has(part.where) && person.isNamedIn(part.text)) where.add(part.where);
    }
  }
  const body = where.size > 0 ? undefined : record();
  if (body !== undefined && person.isNamedIn(textOfJson(body))) where.add('body');
  return [...where];
}

/** The texts of raw forms that are stored as JSON: text messages, chats and events. */
function* plain(raw: Uint8Array): Generator<{ where: Where; text: string }> {
  const json = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8');
  for (const text of bodyTexts(textOfJson(json))) yield { where: 'body', text };
}

interface LaneRow {
  readonly shop: ShopId;
  readonly channel: Channel;
  readonly lane: string;
}

/** The lanes that belong to the person: of their numbers, and of their visitors. */
export function theirLanes(
  rows: readonly LaneRow[],
  person: Person,
  visitors: ReadonlySet<string>,
  only: ShopId | undefined,
): TracedLane[] {
  return rows.flatMap(({ shop, channel, lane }) => {
    if (only !== undefined && shop !== only) return [];
    const visitor = visitorKey(shop, lane.slice(0, lane.lastIndexOf('/')));
    const isTheirs = channel === 'sms' ? person.hasSmsLane(lane, shop) : visitors.has(visitor);
    return isTheirs ? [{ shopId: shop, channel, lane }] : [];
  });
}
