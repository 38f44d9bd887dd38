import Sqlite from 'better-sqlite3';
import { updateSchema } from '../../runtime/sqlite-schema.ts';
import { remoteHash, remoteKey, uuidOf } from '../hashes.ts';
import { DAY_MS, HOUR_MS, KEPT_DAY_MS, KEPT_MS, RULES } from '../sender-rates.ts';
import { SPOOL_SCHEMA } from '../sqlite/schema.ts';
import { SERIES } from '../sqlite/sender-rate-table.ts';
import { TABLES as STORED, type Table as StoreTable } from '../tables.ts';

export type Value = string | number | null | Uint8Array;
/** A row of PostgreSQL, with 0 and 1 for booleans, as in SQLite. */
export type Row = Readonly<Record<string, Value>>;

/** A table of the store in PostgreSQL, and where SQLite has the same data. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Unique columns, in whose order rows are read. */
  readonly key: readonly string[];
  /** Reads the columns from SQLite. */
  readonly folder: string;
  /** Writes a row to SQLite. */
  readonly toFolder: readonly string[];
  /** What is read in PostgreSQL. */
  readonly database: string;
  /** A further column of `folder`, which only PostgreSQL has. It follows from the others. */
  readonly derived?: string;
}

/** Functions of SQLite that the statements of the tables call. */
export function defineFunctions(db: Sqlite.Database): void {
  const define = (name: string, code: (...args: unknown[]) => unknown) =>
    db.function(name, { deterministic: true, varargs: true }, code);
  define('remote_hash', (shop, id) => remoteHash(String(shop), String(id)));
  define('remote_uuid', (shop, id) => uuidOf(remoteKey(String(shop), String(id))));
  define('uuid_of', (hash) => (hash instanceof Uint8Array ? uuidOf(hash) : null));
}

const EMPTY = new Sqlite(':memory:');
updateSchema(EMPTY, ':memory:', SPOOL_SCHEMA);
defineFunctions(EMPTY);

/**
 * A table that is the same in both stores but for what is given. Columns and key are those of SQLite.
 * @param source the table of SQLite
 */
function table([source, name]: StoreTable['names'], unlike: Partial<Table> = {}): Table {
  const { folder = `SELECT * FROM ${source}`, derived } = unlike;
  const columns = EMPTY.prepare(folder)
    .columns()
    .flatMap((column) => (column.name === derived ? [] : column.name));
  const key = EMPTY.prepare<[string], string>(
    'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk',
  );
  return {
    ...{ name, columns, key: key.pluck().all(source), folder, database: name },
    toFolder: [
      `INSERT INTO ${source} (${columns.map(quoted).join(', ')})
       VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
    ],
    ...unlike,
  };
}

export const quoted = (column: string): string => `"${column}"`;

const LEAVING = `('delivered', 'dead', 'held', 'suppressed', 'discarded')`;
const JOB = 'waits, attempts, failures, failing_ms, last_attempt_at, released, reason, notes';
const SET_JOB = `next_attempt_at = @next_at, waits = @waits, attempts = @attempts,
  failures = @failures, failing_ms = @failing_ms, last_attempt_at = @last_attempt_at,
  released = @released, reason = @reason, notes = @notes`;

/** Marks that say something about one store. */
const OWN_MARKS = `('secure_deletion', 'summaries', 'summaries_up_to', 'probe')`;

const ENTRY = table(STORED.entries.names, {
  folder: `SELECT seq, id, kind, shop, channel, lane, lane_hash AS lane_key, uuid_of(dedup_hash) AS dedup, remote_id,
    received_at, meta, raw_size, blob, raw_checksum, version AS summary_version, "from", "to", subject, more,
    iif(channel = 'email', remote_uuid(shop, remote_id), NULL) AS remote
    FROM entries LEFT JOIN summaries USING (seq)`,
  derived: 'remote',
  // A generation: the raw form of an entry with the generation 0 is sent without looking for its media.
  toFolder: [
    `INSERT INTO entries (seq, id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id, remote_hash,
       received_at, meta, state, filed, generation, next_attempt_at, raw_size, blob, raw_checksum)
     VALUES (@seq, @id, @kind, @shop, @channel, @lane, @lane_key, unhex(@dedup, '-'), @remote_id,
       remote_hash(@shop, @remote_id), @received_at, @meta, 'delivered', 1, 1, 0, @raw_size, @blob, @raw_checksum)`,
    `INSERT INTO summaries (seq, version, "from", "to", subject, more)
     SELECT @seq, @summary_version, @from, @to, @subject, @more WHERE @summary_version IS NOT NULL`,
  ],
});

/** What is in flight becomes queued again. */
const JOBS = table(['entries', 'job'], {
  folder: `SELECT seq, iif(detached, -seq, lane_hash) AS lane, next_attempt_at AS next_at, ${JOB},
    coalesce(lease_until, 0) > 0 AS unended FROM entries WHERE +state NOT IN ${LEAVING}`,
  database: `(SELECT seq, lane, next_at, ${JOB}, unended OR EXISTS (SELECT FROM lane
    WHERE lane.key = job.lane AND lane.head = job.seq AND lane.owned) AS unended FROM job)`,
  toFolder: [
    `UPDATE entries SET state = 'queued', in_lane = @lane >= 0, detached = @lane < 0,
       claimable = @lane < 0, lease_until = iif(@unended, 1, 0), ${SET_JOB} WHERE seq = @seq`,
  ],
});

const OUTCOMES = table(['entries', 'outcome'], {
  folder: `SELECT seq, state, settled_at, has_raw, next_attempt_at AS next_at, ${JOB}, detached,
    platform_message_id, conversation_id FROM entries WHERE +state IN ${LEAVING}`,
  toFolder: [
    `UPDATE entries SET state = @state, settled_at = @settled_at, has_raw = @has_raw, detached = @detached,
       platform_message_id = @platform_message_id, conversation_id = @conversation_id, ${SET_JOB}
     WHERE seq = @seq`,
  ],
});

const RECORDS = {
  folder: `SELECT seq, iif(typeof(body) = 'text', body, NULL) AS json,
    iif(typeof(body) = 'blob', body, NULL) AS deflated FROM records`,
  toFolder: ['INSERT INTO records (seq, body) VALUES (@seq, coalesce(@json, @deflated))'],
};

/** Without moves that can no longer be taken back, because the entry was tried since. */
const MOVES = {
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

const erased = (source: string, other: string): Partial<Table> => ({
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
const COUNTS = {
  key: ['person', 'message'],
  folder: `SELECT person, message, thread, body, arrived AS at,
      arrived + iif(is_daily, ${KEPT_DAY_MS}, ${KEPT_MS}) AS keep_until,
      CASE place ${LIMIT_NAMES} END AS exceeded
    FROM (SELECT person, iif(no = 0, series / 4, no) AS message,
        max(iif(${OF_THREAD}, series / 4, NULL)) AS thread, max(iif(${OF_BODY}, series / 4, NULL)) AS body,
        max(iif(no <> 0, at, NULL)) AS arrived, max(series = ${SERIES.day}) AS is_daily,
        max(iif(no = 0, at, NULL)) AS place
      FROM sender_counts GROUP BY 1, 2) WHERE arrived IS NOT NULL`,
  toFolder: [
    `INSERT OR IGNORE INTO sender_counts (hour, person, series, at, no)
     SELECT ${IN_HOUR}, @person, ${SERIES.person}, @at, @message
     UNION ALL SELECT ${IN_DAY}, @person, ${SERIES.day}, @at, @message WHERE ${IS_DAILY}
     UNION ALL SELECT ${IN_HOUR}, @person, 4 * @thread + ${SERIES.thread}, @at, @message WHERE @thread IS NOT NULL
     UNION ALL SELECT ${IN_HOUR}, @person, 4 * @body + ${SERIES.body}, @at, @message WHERE @body IS NOT NULL
     UNION ALL SELECT iif(${IS_DAILY}, ${IN_DAY}, ${IN_HOUR}), @person, 4 * @message + ${SERIES.verdict},
       CASE @exceeded ${PLACES} ELSE -1 END, 0`,
  ],
};

/** SQLite numbers the lines in the order of their arrival. */
const JOURNAL = {
  key: ['at', 'visitor', 'seq'],
  folder: `SELECT at, visitor, seq, sender, message_id, text, format, attachments, state, agent_id, user_id, rev,
    updated_at, choices FROM journal`,
};

/** What of a table is not the same in both stores. */
const UNLIKE: { readonly [Name in keyof typeof STORED]?: Partial<Table> } = {
  records: RECORDS,
  moves: MOVES,
  marks: {
    folder: `SELECT * FROM marks WHERE name NOT IN ${OWN_MARKS}`,
    database: `(SELECT * FROM mark WHERE name NOT IN ${OWN_MARKS})`,
  },
  senderCounts: COUNTS,
  journal: JOURNAL,
  erasedKeys: erased('erased_keys', 'entry'),
  erasedOptOuts: erased('erased_opt_outs', 'at'),
};

const { entries: _, ...OTHERS } = STORED;

/** In the order in which they are copied: an entry is there before its job or outcome. */
export const TABLES: readonly Table[] = [
  ENTRY,
  JOBS,
  OUTCOMES,
  ...Object.entries<StoreTable>(OTHERS).map(([name, { names }]) =>
    // The keys are those of `STORED`.
    table(names, UNLIKE[name as keyof typeof STORED]),
  ),
];
