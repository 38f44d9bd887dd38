import type { Channel } from '../../domain/channel.ts';
import type { EntryState } from '../../domain/entry-state.ts';
import type { BlobName, EntryId, ShopId } from '../../domain/ids.ts';
import type { Reason } from '../../domain/reasons.ts';
import type { Entry, EntryKind, EntryMeta, RawForm } from '../entry.ts';
import { NOW } from './schema.ts';

/** An entry with its job or outcome. It is not validated, because only this program writes it. */
export interface EntryRow {
  readonly seq: number;
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly shop: ShopId;
  readonly channel: Channel;
  readonly lane: string;
  readonly remote_id: string;
  readonly received_at: number;
  readonly meta: string;
  readonly raw_size: number;
  readonly blob: BlobName | null;
  readonly raw_checksum: number | null;
  readonly state: EntryState;
  readonly has_raw: boolean;
  readonly next_at: number;
  readonly waits: number;
  readonly attempts: number;
  readonly failures: number;
  readonly failing_ms: number;
  readonly last_attempt_at: number;
  readonly detached: boolean;
  readonly reason: string | null;
  readonly settled_at: number | null;
  readonly platform_message_id: string | null;
  readonly conversation_id: string | null;
}

/** The columns of an `EntryRow`, for `ENTRY_TABLES`. */
export const ENTRY_COLUMNS = `
  entry.seq, entry.id, entry.kind, entry.shop, entry.channel, entry.lane, entry.remote_id,
  entry.received_at, entry.meta, entry.raw_size, entry.blob, entry.raw_checksum,
  CASE WHEN outcome.seq IS NOT NULL THEN outcome.state
    WHEN owning.key IS NOT NULL THEN 'delivering' ELSE 'queued' END AS state,
  coalesce(outcome.has_raw, true) AS has_raw,
  coalesce(outcome.next_at, job.next_at) AS next_at, coalesce(outcome.waits, job.waits) AS waits,
  coalesce(outcome.attempts, job.attempts) AS attempts,
  coalesce(outcome.failures, job.failures) AS failures,
  coalesce(outcome.failing_ms, job.failing_ms) AS failing_ms,
  coalesce(outcome.last_attempt_at, job.last_attempt_at) AS last_attempt_at,
  coalesce(outcome.detached, job.lane < 0) AS detached,
  coalesce(outcome.reason, job.reason) AS reason, outcome.settled_at, outcome.platform_message_id,
  outcome.conversation_id`;

/** An entry is in `job` or in `outcome`; its lane is owned while an attempt is in progress. */
export const ENTRY_TABLES = `entry
  LEFT JOIN outcome ON outcome.seq = entry.seq
  LEFT JOIN job ON job.seq = entry.seq
  LEFT JOIN lane AS owning ON owning.key = job.lane AND owning.head = job.seq AND owning.owned
    AND owning.due_at > ${NOW.name}()`;

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
    nextAttemptAt: row.next_at,
    detached: row.detached,
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

type RawColumns = Pick<EntryRow, 'blob' | 'raw_size' | 'raw_checksum'>;

export function toRawForm(row: RawColumns, bytes: Uint8Array | null): RawForm | undefined {
  const checked = row.raw_checksum === null ? {} : { checksum: row.raw_checksum };
  if (row.blob !== null) return { kind: 'file', blob: row.blob, size: row.raw_size, ...checked };
  return bytes === null ? undefined : { kind: 'inline', bytes, ...checked };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be the id of an entry: PostgreSQL refuses any other text as a uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);

/**
 * The parameter of a function that takes a JSON list. PostgreSQL's texts contain no NUL and no lone
 * surrogates, which become U+FFFD.
 */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'string' ? storable(each) : each,
  );
}

export const storable = (text: string): string => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
