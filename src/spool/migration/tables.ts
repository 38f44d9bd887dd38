import type { Channel } from '../../domain/channel.ts';
import { remoteKey } from '../hashes.ts';
import { DAY_MS, HOUR_MS, KEPT_DAY_MS, KEPT_MS, RULES } from '../sender-rates.ts';
import { SERIES } from '../sqlite/sender-rate-table.ts';

export type Value = string | number | boolean | null | Uint8Array;
/** A row as PostgreSQL has it. */
export type Row = Readonly<Record<string, Value>>;

/** A table of the store in PostgreSQL, and where SQLite has the same data. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Unique columns, in whose order rows are read. */
  readonly key: readonly string[];
  /** Reads the columns from SQLite. */
  readonly folder: string;
  /** The tables of SQLite that this reads. */
  readonly sources: readonly string[];
  /** Writes a row to SQLite. */
  readonly toFolder: readonly string[];
  /** What is read in PostgreSQL; by default the whole table. */
  readonly database?: string;
  /** The column with bytes. */
  readonly bytes?: string;
  /** Columns of PostgreSQL that follow from a row of SQLite. */
  readonly derived?: (row: Row) => Row;
}

const LEAVING = `('delivered', 'dead', 'held', 'suppressed', 'discarded')`;
const JOB = ['attempts', 'failures', 'failing_ms', 'last_attempt_at'] as const;
const SET_JOB = `next_attempt_at = @next_at, waits = @waits, attempts = @attempts,
  failures = @failures, failing_ms = @failing_ms, last_attempt_at = @last_attempt_at,
  released = @released, reason = @reason, notes = @notes`;

/** Marks that say something about one store. */
const OWN_MARKS = `('secure_deletion', 'summaries', 'summaries_up_to', 'probe')`;

/** A table with the same columns in both stores. */
function same(
  name: string,
  source: string,
  key: readonly string[],
  others: readonly string[],
): Table {
  const columns = [...key, ...others];
  return {
    ...{ name, key, columns, sources: [source] },
    folder: `SELECT ${columns.map(quoted).join(', ')} FROM ${source}`,
    toFolder: [
      `INSERT INTO ${source} (${columns.map(quoted).join(', ')})
       VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
    ],
  };
}

export const quoted = (column: string): string => `"${column}"`;

const ENTRY: Table = {
  name: 'entry',
  key: ['seq'],
  columns: [
    ...['seq', 'id', 'kind', 'shop', 'channel', 'lane', 'lane_key', 'dedup', 'remote_id'],
    ...['received_at', 'meta', 'raw_size', 'blob', 'raw_checksum'],
    ...['summary_version', 'from', 'to', 'subject', 'more'],
  ],
  sources: ['entries', 'summaries'],
  folder: `SELECT seq, id, kind, shop, channel, lane, lane_hash AS lane_key, dedup_hash AS dedup, remote_id,
    received_at, meta, raw_size, blob, raw_checksum, version AS summary_version, "from", "to", subject, more
    FROM entries LEFT JOIN summaries USING (seq)`,
  // A generation: the raw form of an entry with the generation 0 is sent without looking for its media.
  toFolder: [
    `INSERT INTO entries (seq, id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id, remote_hash,
       received_at, meta, state, filed, generation, next_attempt_at, raw_size, blob, raw_checksum)
     VALUES (@seq, @id, @kind, @shop, @channel, @lane, @lane_key, unhex(@dedup, '-'), @remote_id,
       remote_hash(@shop, @remote_id), @received_at, @meta, 'delivered', 1, 1, 0, @raw_size, @blob, @raw_checksum)`,
    `INSERT INTO summaries (seq, version, "from", "to", subject, more)
     SELECT @seq, @summary_version, @from, @to, @subject, @more WHERE @summary_version IS NOT NULL`,
  ],
  derived: ({ shop, channel, remote_id: id }) => {
    const isEmail = channel === ('email' satisfies Channel);
    return { remote: isEmail ? remoteKey(String(shop), String(id)) : null };
  },
};

/** What is in flight becomes queued again. */
const JOBS: Table = {
  name: 'job',
  key: ['seq'],
  columns: ['seq', 'lane', 'next_at', 'waits', ...JOB, 'released', 'reason', 'notes', 'unended'],
  sources: ['entries'],
  folder: `SELECT seq, iif(detached, -seq, lane_hash) AS lane, next_attempt_at AS next_at, waits, ${JOB.join(', ')},
    released, reason, notes, coalesce(lease_until, 0) > 0 AS unended
    FROM entries WHERE +state NOT IN ${LEAVING}`,
  database: `(SELECT seq, job.lane, next_at, job.waits, ${JOB.map((name) => `job.${name}`).join(', ')},
    released, reason, notes, unended OR coalesce(lane.owned, false) AS unended
    FROM job LEFT JOIN lane ON lane.key = job.lane AND lane.head = job.seq)`,
  toFolder: [
    `UPDATE entries SET state = 'queued', in_lane = @lane >= 0, detached = @lane < 0,
       claimable = @lane < 0, lease_until = iif(@unended, 1, 0), ${SET_JOB} WHERE seq = @seq`,
  ],
};

const OUTCOMES: Table = {
  name: 'outcome',
  key: ['seq'],
  columns: [
    ...['seq', 'state', 'settled_at', 'has_raw', 'next_at', 'waits', ...JOB],
    ...['detached', 'released', 'reason', 'notes', 'platform_message_id', 'conversation_id'],
  ],
  sources: ['entries'],
  folder: `SELECT seq, state, settled_at, has_raw, next_attempt_at AS next_at, waits, ${JOB.join(', ')}, detached,
    released, reason, notes, platform_message_id, conversation_id FROM entries WHERE +state IN ${LEAVING}`,
  toFolder: [
    `UPDATE entries SET state = @state, settled_at = @settled_at, has_raw = @has_raw, detached = @detached,
       platform_message_id = @platform_message_id, conversation_id = @conversation_id, ${SET_JOB}
     WHERE seq = @seq`,
  ],
};

const RECORDS: Table = {
  name: 'record',
  key: ['seq'],
  columns: ['seq', 'json', 'deflated'],
  bytes: 'deflated',
  sources: ['records'],
  folder: `SELECT seq, iif(typeof(body) = 'text', body, NULL) AS json,
    iif(typeof(body) = 'blob', body, NULL) AS deflated FROM records`,
  toFolder: ['INSERT INTO records (seq, body) VALUES (@seq, coalesce(@json, @deflated))'],
};

/** Without moves that can no longer be taken back, because the entry was tried since. */
const MOVES: Table = {
  name: 'move',
  key: ['seq'],
  columns: [
    ...['seq', 'move', 'state', 'settled_at', 'next_at', 'attempts', 'failing_ms'],
    ...['last_attempt_at', 'detached', 'released', 'reason'],
  ],
  sources: ['moves'],
  folder: `SELECT seq, move, moves.state, moves.settled_at, moves.next_attempt_at AS next_at, moves.attempts,
    moves.failing_ms, moves.last_attempt_at, moves.detached, moves.released, moves.reason
    FROM moves JOIN entries USING (seq) WHERE move = 'discarded' OR entries.state = 'queued'
      AND moves.generation = entries.generation AND moves.last_attempt_at = entries.last_attempt_at`,
  database: `(SELECT * FROM move WHERE move = 'discarded' AND EXISTS (SELECT FROM entry WHERE entry.seq = move.seq)
    OR EXISTS (SELECT FROM job WHERE job.seq = move.seq AND job.last_attempt_at = move.last_attempt_at))`,
  toFolder: [
    `INSERT INTO moves (seq, move, generation, state, reason, settled_at, last_attempt_at, next_attempt_at,
       attempts, failing_ms, detached, released)
     VALUES (@seq, @move, 1, @state, @reason, @settled_at, @last_attempt_at, @next_at,
       @attempts, @failing_ms, @detached, @released)`,
  ],
};

const erased = (name: string, source: string, other: string): Table => ({
  ...same(name, source, ['hash'], [other]),
  folder: `SELECT uuid_of(hash) AS hash, ${other} FROM ${source}`,
  toFolder: [`INSERT INTO ${source} (hash, ${other}) VALUES (unhex(@hash, '-'), @${other})`],
});

const LIMIT_NAMES = RULES.map(({ limit }, place) => `WHEN ${place} THEN '${limit}'`).join(' ');
const PLACES = RULES.map(({ limit }, place) => `WHEN '${limit}' THEN ${place}`).join(' ');
const OF_THREAD = `no <> 0 AND series % 4 = ${SERIES.thread}`;
const OF_BODY = `no <> 0 AND series % 4 = ${SERIES.body}`;
const IN_HOUR = `CAST(@at AS INTEGER) / ${HOUR_MS}`;
const IN_DAY = `(CAST(@at AS INTEGER) / ${DAY_MS} + 2) * 24 - 1`;
const IS_DAILY = `@keep_until - @at >= ${KEPT_DAY_MS}`;

/** SQLite has a row for each message in each of its series, and its verdict; PostgreSQL one for each message. */
const COUNTS: Table = {
  name: 'sender_count',
  key: ['person', 'message'],
  columns: ['person', 'message', 'thread', 'body', 'at', 'keep_until', 'exceeded'],
  sources: ['sender_counts'],
  folder: `SELECT person, message, thread, body, arrived AS at,
      arrived + iif(is_daily, ${KEPT_DAY_MS}, ${KEPT_MS}) AS keep_until,
      CASE place ${LIMIT_NAMES} END AS exceeded
    FROM (SELECT person, iif(no = 0, series / 4, no) AS message,
        max(iif(${OF_THREAD}, series / 4, NULL)) AS thread, max(iif(${OF_BODY}, series / 4, NULL)) AS body,
        max(iif(no <> 0, at, NULL)) AS arrived, max(series = ${SERIES.day}) AS is_daily,
        max(iif(no = 0, at, NULL)) AS place
      FROM sender_counts GROUP BY 1, 2) WHERE arrived IS NOT NULL`,
  toFolder: [
    countRow(`${IN_HOUR}, @person, ${SERIES.person}, @at, @message`),
    countRow(`${IN_DAY}, @person, ${SERIES.day}, @at, @message WHERE ${IS_DAILY}`),
    countRow(
      `${IN_HOUR}, @person, 4 * @thread + ${SERIES.thread}, @at, @message WHERE @thread IS NOT NULL`,
    ),
    countRow(
      `${IN_HOUR}, @person, 4 * @body + ${SERIES.body}, @at, @message WHERE @body IS NOT NULL`,
    ),
    countRow(`iif(${IS_DAILY}, ${IN_DAY}, ${IN_HOUR}), @person, 4 * @message + ${SERIES.verdict},
      CASE @exceeded ${PLACES} ELSE -1 END, 0`),
  ],
};

function countRow(values: string): string {
  return `INSERT OR IGNORE INTO sender_counts (hour, person, series, at, no) SELECT ${values}`;
}

/** In the order in which they are copied: an entry is there before its job or outcome. */
export const TABLES: readonly Table[] = [
  ENTRY,
  { ...same('raw', 'raws', ['seq'], ['bytes']), bytes: 'bytes' },
  JOBS,
  OUTCOMES,
  same('media', 'media', ['seq', 'part'], ['media_id', 'url']),
  same('timeline', 'timeline', ['seq', 'no'], ['at', 'steps']),
  RECORDS,
  MOVES,
  same(
    'conversation',
    'conversations',
    ['shop', 'channel', 'lane'],
    ['conversation_id', 'used_at'],
  ),
  same(
    'person_name',
    'person_names',
    ['shop', 'scope', 'name'],
    ['person', 'since', 'seen_at', 'beside', 'left_at', 'former'],
  ),
  same('opt_out', 'opt_outs', ['shop', 'lane'], ['at', 'opted_out', 'changed_by']),
  {
    ...same('mark', 'marks', ['name'], ['at']),
    folder: `SELECT name, at FROM marks WHERE name NOT IN ${OWN_MARKS}`,
    database: `(SELECT * FROM mark WHERE name NOT IN ${OWN_MARKS})`,
  },
  same('shop_health', 'shop_health', ['shop'], ['health']),
  same('probe_request', 'probe_requests', ['shop'], []),
  same(
    'refusal',
    'refusals',
    ['shop', 'number'],
    ['words', 'since', 'newest_at', 'count', 'ended'],
  ),
  same('refused', 'refused', ['shop', 'number', 'entry'], ['lane', 'at']),
  same('audit', 'audit', ['no'], ['at', 'who', 'action', 'target', 'outcome', 'address']),
  same(
    'api_token',
    'api_tokens',
    ['id'],
    ['hash', 'name', 'scope', 'made_by', 'made_at', 'ends_at', 'used_at'],
  ),
  COUNTS,
  same(
    'visitor',
    'visitors',
    ['no'],
    [
      ...['shop', 'id', 'name', 'email', 'subject', 'conversation', 'lane', 'last_seq', 'seen_seq'],
      ...['last_rev', 'logouts'],
      ...['conversation_from_seq', 'created_at', 'joined', 'reserved'],
    ],
  ),
  // SQLite numbers the lines in the order of their arrival.
  same(
    'journal',
    'journal',
    ['at', 'visitor', 'seq'],
    [
      ...['sender', 'message_id', 'text', 'format', 'attachments', 'state'],
      ...['agent_id', 'user_id', 'rev', 'updated_at', 'choices'],
    ],
  ),
  same(
    'upload',
    'uploads',
    ['id'],
    [...['shop', 'visitor', 'name', 'type', 'size', 'blob', 'checksum', 'at', 'entry']],
  ),
  erased('erased_key', 'erased_keys', 'entry'),
  erased('erased_opt_out', 'erased_opt_outs', 'at'),
  same('erasure_rest', 'erasure_rest', ['kind', 'name'], []),
];

/** Tables of PostgreSQL that are not copied row by row: what follows from others, blobs, and what gateways share. */
export const NOT_COPIED: Readonly<
  Record<'derived' | 'blobs' | 'shared' | 'former', readonly string[]>
> = {
  derived: ['remote', 'lane', 'card', 'card_span', 'dirty', 'filling'],
  blobs: ['blob', 'blob_chunk'],
  shared: ['known_key', 'lease', 'erasure_key', 'schema_version', 'moved', 'budget', 'instance'],
  /** Used by older gateways only. */
  former: ['sender_rate'],
};

const BOOLEANS = new Set([
  ...['has_raw', 'detached', 'released', 'unended', 'opted_out', 'reserved', 'ended'],
]);

/** SQLite has no booleans. */
export const isBoolean = (column: string): boolean => BOOLEANS.has(column);
