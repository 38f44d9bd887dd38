import type { EntryRow as CommonEntryRow } from '../entry-row.ts';
import type { Reason } from '../../domain/reasons.ts';
import { NOW } from './schema.ts';

/** An entry with its job or outcome. */
export interface EntryRow extends CommonEntryRow {
  readonly detached: boolean;
  readonly has_raw: boolean;
}

/** The state of an entry, for `ENTRY_TABLES`. */
export const STATE = `CASE WHEN outcome.seq IS NOT NULL THEN outcome.state
  WHEN owning.key IS NOT NULL THEN 'delivering' ELSE 'queued' END`;

/** The columns of an `EntryRow`, for `ENTRY_TABLES`. */
export const ENTRY_COLUMNS = `
  entry.seq, entry.id, entry.kind, entry.shop, entry.channel, entry.lane, entry.remote_id,
  entry.received_at, entry.meta, entry.raw_size, entry.blob, entry.raw_checksum,
  ${STATE} AS state,
  coalesce(outcome.has_raw, true) AS has_raw,
  coalesce(outcome.next_at, job.next_at) AS next_attempt_at, coalesce(outcome.waits, job.waits) AS waits,
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be the id of an entry: PostgreSQL refuses any other text as a uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);

/**
 * The parameter of a function that takes a JSON list. PostgreSQL's texts contain no NUL and no lone
 * surrogates, which become U+FFFD.
 */
export function jsonOf(value: unknown): string {
  const json = JSON.stringify(value);
  // Hardly any text has either; each is written as an escape.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json;
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'string' ? storable(each) : each,
  );
}

/** A reason as it is stored: its code is in an index over jsonb, which refuses the escapes of those characters. */
export const storedReason = (reason: Reason | undefined): string | null =>
  reason === undefined ? null : jsonOf(reason);

/** The text without what PostgreSQL cannot store. Nearly all texts are storable, which costs less to see. */
export const storable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
