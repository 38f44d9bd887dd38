import type { Channel } from '../domain/channel.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { BlobName, EntryId, ShopId } from '../domain/ids.ts';
import type { Reason } from '../domain/reasons.ts';
import type { Entry, EntryKind, EntryMeta, EntrySummary, RawForm, TimelineStep } from './entry.ts';
import type { FoundEntry } from './entry-index.ts';

/** What every store keeps of an entry. It is not validated, because only this program writes it. */
export interface EntryRow {
  readonly seq: number;
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly shop: ShopId;
  readonly channel: Channel;
  readonly lane: string;
  readonly remote_id: string;
  readonly received_at: number;
  /** An `EntryMeta` as JSON. */
  readonly meta: string;
  readonly state: EntryState;
  readonly attempts: number;
  readonly failures: number;
  readonly waits: number;
  readonly failing_ms: number;
  readonly last_attempt_at: number;
  readonly next_attempt_at: number;
  /** SQLite has no booleans. */
  readonly detached: boolean | number;
  /** A `Reason` as JSON. */
  readonly reason: string | null;
  readonly settled_at: number | null;
  readonly platform_message_id: string | null;
  readonly conversation_id: string | null;
  readonly raw_size: number;
  readonly blob: BlobName | null;
  readonly raw_checksum: number | null;
}

export function toEntry(row: EntryRow): Entry {
  return {
    id: row.id,
    kind: row.kind,
    shopId: row.shop,
    channel: row.channel,
    lane: row.lane,
    remoteId: row.remote_id,
    receivedAt: row.received_at,
    // Written by JSON.stringify of an EntryMeta.
    meta: JSON.parse(row.meta) as EntryMeta,
    state: row.state,
    attempts: row.attempts,
    failures: row.failures,
    waitsFor: row.waits,
    failingMs: row.failing_ms,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    detached: Boolean(row.detached),
    rawSize: row.raw_size,
    ...(row.reason !== null && { reason: readReason(row.reason) }),
    ...(row.settled_at !== null && { settledAt: row.settled_at }),
    ...(row.platform_message_id !== null && { platformMessageId: row.platform_message_id }),
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
  };
}

// Written by `storedReason`.
export const readReason = (stored: string): Reason => JSON.parse(stored) as Reason;

export const storedReason = (reason: Reason | undefined): string | null =>
  reason === undefined ? null : JSON.stringify(reason);

/** Undefined when the raw form was swept. */
export function toRawForm(
  row: Pick<EntryRow, 'blob' | 'raw_size' | 'raw_checksum'>,
  bytes: Uint8Array | null | undefined,
): RawForm | undefined {
  const checked = row.raw_checksum === null ? {} : { checksum: row.raw_checksum };
  if (row.blob !== null) return { kind: 'file', blob: row.blob, size: row.raw_size, ...checked };
  return bytes ? { kind: 'inline', bytes, ...checked } : undefined;
}

/** The columns of a summary; null until it is computed. */
export type SummaryRow = { readonly [Key in keyof EntrySummary]: EntrySummary[Key] | null };

export const toSummary = ({ from, to, subject }: SummaryRow): EntrySummary => ({
  from: from ?? '',
  to: to ?? '',
  subject: subject ?? '',
});

/** A page of found entries. With more rows than the limit, there is a next one. */
export function foundPage(
  rows: readonly (EntryRow & SummaryRow)[],
  limit: number,
): { found: FoundEntry[]; next?: EntryId } {
  const page = rows.slice(0, limit);
  const found = page.map((row) => ({ entry: toEntry(row), summary: toSummary(row) }));
  const last = page.at(-1);
  return { found, ...(rows.length > limit && last !== undefined && { next: last.id }) };
}

export const summariesById = (
  rows: readonly (Pick<EntryRow, 'id'> & SummaryRow)[],
): Map<EntryId, EntrySummary> => new Map(rows.map((row) => [row.id, toSummary(row)]));

/** The arrival of an entry, and the steps that are stored, as rows of JSON lists. */
export const timelineOf = (
  { received_at: at, raw_size: bytes }: Pick<EntryRow, 'received_at' | 'raw_size'>,
  later: readonly { readonly steps: string }[],
): TimelineStep[] => [
  { at, step: 'accepted', detail: { bytes } },
  // Written by JSON.stringify of TimelineSteps.
  ...later.flatMap(({ steps }) => JSON.parse(steps) as TimelineStep[]),
];

/** The columns of a `PersonName`, in both stores. */
export const NAME_COLUMNS = `name, person, since, seen_at AS "seenAt", beside, left_at AS "leftAt", former`;
