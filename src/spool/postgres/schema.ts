import { hash } from 'node:crypto';
import { SpoolUnusable } from '../errors.ts';
import { OLDEST_BUILD } from '../../runtime/sqlite-schema.ts';
import type { Database } from './connection.ts';

/** A time that never comes: the lane has no entry that waits. */
export const NEVER = '9223372036854775807';

/** The oldest schema that is supported, and its number in `schema_version`. */
const BASELINE = 5;

/**
 * Only what is queued is in `job`; all other states are in `outcome`. So `entry` is never rewritten by
 * an attempt, and a claim looks at few rows.
 *
 * lane: one row for each lane with queued entries. `head` is its first job, and `due_at`, `waits` and
 * `failures` repeat the head's, so that a claim reads one index. While an attempt owns the lane, `head`
 * is the entry of the attempt, and `due_at` is the end of its lease: an expired lease is a due lane, and
 * nothing has to return it to the queue. No job of the lane has a seq up to `after`: it
 * spares a claim the rows that are deleted but not yet vacuumed. A detached entry has a lane of its own, with
 * the key `-seq`. Every function that changes a lane's jobs locks its row first.
 */
const TABLES = `
  CREATE SEQUENCE entry_seq;
  CREATE SEQUENCE lease_generation;

  CREATE TABLE entry (
    seq bigint PRIMARY KEY, id uuid NOT NULL UNIQUE, kind text NOT NULL, shop uuid NOT NULL,
    channel text NOT NULL, lane text NOT NULL, lane_key bigint NOT NULL, dedup uuid NOT NULL UNIQUE,
    remote_id text NOT NULL, remote uuid, received_at bigint NOT NULL, meta text NOT NULL,
    raw_size bigint NOT NULL, blob text, raw_checksum bigint,
    summary_version int, "from" text, "to" text, subject text, more text
  );
  CREATE INDEX entry_blob ON entry (blob) WHERE blob IS NOT NULL;

  -- chunks: 0 while the blob is written. key: of an object in S3, which has no chunks here and counts as
  -- one; delete_at: when it is deleted.
  CREATE TABLE blob (
    name text PRIMARY KEY, at bigint NOT NULL, chunks int NOT NULL DEFAULT 0,
    key text, size bigint, delete_at bigint
  );
  CREATE INDEX blob_at ON blob (at);
  CREATE TABLE blob_chunk (
    blob text REFERENCES blob (name) ON DELETE CASCADE, no int, bytes bytea NOT NULL, PRIMARY KEY (blob, no)
  );
  ALTER TABLE blob_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

  -- A short message is in the row: beside it, it would take two rows and their places in an index.
  CREATE TABLE raw (seq bigint PRIMARY KEY, bytes bytea NOT NULL) WITH (toast_tuple_target = 4080);
  ALTER TABLE raw ALTER COLUMN bytes SET STORAGE EXTERNAL;

  CREATE TABLE remote (hash uuid PRIMARY KEY, seq bigint NOT NULL);
  CREATE INDEX remote_seq ON remote (seq);

  CREATE TABLE job (
    seq bigint PRIMARY KEY, lane bigint NOT NULL, next_at bigint NOT NULL,
    waits int NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0, failures int NOT NULL DEFAULT 0,
    failing_ms bigint NOT NULL DEFAULT 0, last_attempt_at bigint NOT NULL DEFAULT 0,
    released boolean NOT NULL DEFAULT false, reason text, notes text
  ) WITH (fillfactor = 85);
  CREATE INDEX job_lane ON job (lane, seq);

  CREATE TABLE lane (
    key bigint PRIMARY KEY, shop uuid NOT NULL, head bigint, due_at bigint NOT NULL,
    waits int NOT NULL, failures int NOT NULL, after bigint NOT NULL,
    owned boolean NOT NULL DEFAULT false, owner text, generation bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  CREATE INDEX lane_due ON lane (shop, due_at, head) WHERE waits = 0;
  CREATE INDEX lane_waiting ON lane (shop, waits, failures, head) WHERE waits > 0;

  CREATE TABLE outcome (
    seq bigint PRIMARY KEY, state text NOT NULL, settled_at bigint, has_raw boolean NOT NULL DEFAULT true,
    next_at bigint NOT NULL DEFAULT 0, waits int NOT NULL DEFAULT 0,
    attempts int NOT NULL DEFAULT 0, failures int NOT NULL DEFAULT 0,
    failing_ms bigint NOT NULL DEFAULT 0, last_attempt_at bigint NOT NULL DEFAULT 0,
    detached boolean NOT NULL DEFAULT false, released boolean NOT NULL DEFAULT false,
    reason text, notes text, platform_message_id text, conversation_id text
  );
  CREATE INDEX outcome_open ON outcome (state, seq) WHERE state <> 'delivered';
  CREATE INDEX outcome_settled ON outcome (has_raw, settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX outcome_message ON outcome (platform_message_id) WHERE platform_message_id IS NOT NULL;

  CREATE TABLE timeline (seq bigint, no int, at bigint NOT NULL, steps text NOT NULL, PRIMARY KEY (seq, no));
  CREATE TABLE record (seq bigint PRIMARY KEY, json text, deflated bytea);
  CREATE TABLE media (seq bigint, part text, media_id text NOT NULL, url text, PRIMARY KEY (seq, part));
  CREATE TABLE move (
    seq bigint PRIMARY KEY, move text NOT NULL, state text NOT NULL, settled_at bigint,
    next_at bigint NOT NULL, attempts int NOT NULL, failing_ms bigint NOT NULL,
    last_attempt_at bigint NOT NULL, detached boolean NOT NULL, released boolean NOT NULL, reason text
  );

  CREATE TABLE conversation (
    shop uuid, channel text, lane text COLLATE "C", conversation_id text NOT NULL, used_at bigint NOT NULL,
    PRIMARY KEY (shop, channel, lane), UNIQUE (shop, conversation_id)
  );
  CREATE TABLE opt_out (
    shop uuid, lane text, at bigint NOT NULL, opted_out boolean NOT NULL, changed_by text,
    PRIMARY KEY (shop, lane)
  );
  CREATE TABLE mark (name text PRIMARY KEY, at bigint NOT NULL);
  -- Of a store that is being moved, or was (spool/move.ts).
  CREATE TABLE moved (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), id uuid NOT NULL, state text NOT NULL,
    other text NOT NULL, at bigint NOT NULL, progress text
  );
  CREATE TABLE known_key (fingerprint text PRIMARY KEY);
  CREATE TABLE lease (name text PRIMARY KEY, owner uuid NOT NULL, until bigint NOT NULL);
  -- What clients may use, at all gateways together. Not logged: a crash fills every budget.
  CREATE UNLOGGED TABLE budget (key text PRIMARY KEY, spent float8 NOT NULL, at bigint NOT NULL);
  CREATE UNLOGGED TABLE instance (name text PRIMARY KEY, report text NOT NULL, seen_at bigint NOT NULL);
  CREATE TABLE shop_health (shop uuid PRIMARY KEY, health text NOT NULL);
  CREATE TABLE probe_request (shop uuid PRIMARY KEY);
  -- The refusals that entries wait for, and who got each one before (spool/refusals.ts).
  CREATE TABLE refusal (
    shop uuid, number int, words text NOT NULL, since bigint NOT NULL, newest_at bigint NOT NULL,
    count int NOT NULL, ended boolean NOT NULL, PRIMARY KEY (shop, number)
  );
  CREATE TABLE refused (
    shop uuid, number int, entry uuid, lane bigint NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (shop, number, entry)
  );
  CREATE TABLE audit (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL,
    who text NOT NULL, action text NOT NULL, target text NOT NULL, outcome text NOT NULL,
    -- The network address of an operator; null for commands.
    address text
  );
  -- Tokens of the admin API (spool/api-token-store.ts). hash: SHA-256 of the token in hex.
  CREATE TABLE api_token (
    id uuid PRIMARY KEY, hash text NOT NULL UNIQUE, name text NOT NULL UNIQUE, scope text NOT NULL,
    made_by text NOT NULL, made_at bigint NOT NULL, ends_at bigint, used_at bigint
  );
  CREATE TABLE sender_rate (
    person bigint, person_no bigint, message bigint NOT NULL, thread bigint, thread_no bigint,
    body bigint, body_no bigint, at bigint NOT NULL, keep_until bigint NOT NULL, exceeded text,
    PRIMARY KEY (person, person_no), UNIQUE (person, message)
  );
  CREATE INDEX sender_rate_thread ON sender_rate (person, thread, thread_no) WHERE thread IS NOT NULL;
  CREATE INDEX sender_rate_body ON sender_rate (person, body, body_no) WHERE body IS NOT NULL;
  CREATE INDEX sender_rate_kept ON sender_rate (keep_until);

  -- Chat. lane: the current conversation is that of a merged guest; null: the visitor's own, by number.
  -- reserved: a guest without stored data, whose id must not be used meanwhile.
  CREATE TABLE visitor (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, shop uuid NOT NULL, id text NOT NULL,
    name text, email text, subject text, conversation int NOT NULL DEFAULT 1, lane text,
    last_seq bigint NOT NULL DEFAULT 0, seen_seq bigint NOT NULL DEFAULT 0,
    conversation_from_seq bigint NOT NULL DEFAULT 0, created_at bigint NOT NULL, joined text,
    reserved boolean NOT NULL DEFAULT false, last_rev bigint NOT NULL DEFAULT 0, UNIQUE (shop, id)
  ) WITH (fillfactor = 80);
  CREATE UNIQUE INDEX visitor_subject ON visitor (shop, subject) WHERE subject IS NOT NULL;
  CREATE INDEX visitor_joined ON visitor (shop, joined, no) WHERE joined IS NOT NULL;
  CREATE INDEX visitor_reserved ON visitor (created_at) WHERE reserved;
  CREATE TABLE journal (
    visitor bigint, seq bigint, sender text NOT NULL, message_id text NOT NULL, text text NOT NULL,
    format text NOT NULL, attachments text NOT NULL, at bigint NOT NULL, state text NOT NULL,
    -- Who wrote a reply, and the changes to its text (JournalLine in chat-store.ts). updated_at: the
    -- platform's time of the text.
    agent_id text, user_id text, rev bigint NOT NULL DEFAULT 0, updated_at bigint,
    PRIMARY KEY (visitor, seq)
  ) WITH (fillfactor = 90);
  CREATE UNIQUE INDEX journal_reply ON journal (visitor, message_id) WHERE sender = 'agent';
  CREATE INDEX journal_at ON journal (at);
  CREATE INDEX journal_revised ON journal (visitor, rev) WHERE rev > 0;
  CREATE TABLE upload (
    id text PRIMARY KEY, shop uuid NOT NULL, visitor text NOT NULL, name text NOT NULL,
    type text NOT NULL, size bigint NOT NULL, blob text NOT NULL, checksum bigint, at bigint NOT NULL,
    entry uuid
  );
  CREATE INDEX upload_visitor ON upload (shop, visitor, entry);
  CREATE INDEX upload_entry ON upload (entry) WHERE entry IS NOT NULL;
  CREATE INDEX upload_stale ON upload (at) WHERE entry IS NULL;
  CREATE INDEX upload_blob ON upload (blob);

  -- The search: entries whose cards are missing or old are in dirty (cards.ts).
  CREATE TABLE card (seq bigint PRIMARY KEY, terms tsvector NOT NULL);
  CREATE INDEX card_terms ON card USING gin (terms);
  CREATE TABLE card_span (span bigint PRIMARY KEY, oldest bigint NOT NULL, newest bigint NOT NULL);
  CREATE TABLE dirty (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, seq bigint NOT NULL, is_new boolean NOT NULL,
    at bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  CREATE TABLE filling (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), generation bigint NOT NULL DEFAULT 0,
    until bigint NOT NULL DEFAULT 0, terms_version int NOT NULL
  );

  -- Erased people: keyed hashes of what they had sent and of their opt-outs, and what is still to be deleted.
  CREATE TABLE erasure_key (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    key bytea NOT NULL, inner_pad bytea NOT NULL, outer_pad bytea NOT NULL
  );
  CREATE TABLE erased_key (hash uuid PRIMARY KEY, entry uuid NOT NULL);
  CREATE TABLE erased_opt_out (hash uuid PRIMARY KEY, at bigint NOT NULL);
  CREATE TABLE erasure_rest (kind text, name text, PRIMARY KEY (kind, name));
  CREATE INDEX entry_shop ON entry (shop, channel, seq);
  CREATE INDEX outcome_reason ON outcome ((reason::jsonb ->> 'code'), seq) WHERE reason IS NOT NULL;
  CREATE INDEX job_reason ON job ((reason::jsonb ->> 'code'), seq) WHERE reason IS NOT NULL;
`;

/**
 * What came after the baseline: each step raises the number by one. A released step is never edited. Old and
 * new versions of the program run together, so a step only adds; what the older version uses is removed by a
 * later release.
 */
const STEPS: readonly string[] = [
  // Tokens of a visitor with a lower number are invalid (VisitorRecord in chat-store.ts).
  `
  ALTER TABLE visitor ADD COLUMN logouts int NOT NULL DEFAULT 0;
  `,
  // settled_by: the generation of the claim whose outcome a row has (SETTLE in delivery-functions.ts).
  // unended: a claim of it ended without an outcome, and a restart has returned it to the queue.
  `
  ALTER TABLE job ADD COLUMN settled_by bigint, ADD COLUMN unended boolean NOT NULL DEFAULT false;
  ALTER TABLE outcome ADD COLUMN settled_by bigint;
  -- When each shop was last asked for: every gateway takes each request once.
  ALTER TABLE probe_request ADD COLUMN at bigint NOT NULL
    DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  `,
  // Takes the place of sender_rate, which older gateways beside this one still use.
  `
  CREATE TABLE sender_count (
    person bigint, message bigint, thread bigint, body bigint, at bigint NOT NULL,
    keep_until bigint NOT NULL, exceeded text, PRIMARY KEY (person, message)
  );
  -- A move from SQLite gave lower numbers to rows that stand for no message of their own.
  INSERT INTO sender_count
    SELECT person, message, thread, body, at, keep_until, exceeded FROM sender_rate WHERE person_no > 0;
  CREATE INDEX sender_count_person ON sender_count (person, at);
  CREATE INDEX sender_count_thread ON sender_count (person, thread, at) WHERE thread IS NOT NULL;
  CREATE INDEX sender_count_body ON sender_count (person, body, at) WHERE body IS NOT NULL;
  CREATE INDEX sender_count_kept ON sender_count (keep_until);
  `,
  // `JournalLine.choices` as JSON.
  `
  ALTER TABLE journal ADD COLUMN choices text;
  `,
  // The names of people on WhatsApp (domain/person-names.ts). Until now each name was a person, at the end of
  // the lane; an opt-out of a number now stays with the number, too (channels/sms/person.ts).
  `
  CREATE TABLE person_name (
    shop uuid, scope text COLLATE "C", name text COLLATE "C", person text COLLATE "C" NOT NULL,
    since bigint NOT NULL, seen_at bigint NOT NULL, beside text, left_at bigint, former text,
    PRIMARY KEY (shop, scope, name)
  );
  CREATE INDEX person_name_person ON person_name (shop, scope, person);
  INSERT INTO person_name (shop, scope, name, person, since, seen_at)
    SELECT shop, split_part(lane, '/', 1) || '/whatsapp', split_part(lane, '/', 4), split_part(lane, '/', 4),
      min(used_at), max(used_at)
    FROM conversation WHERE channel = 'sms' AND split_part(lane, '/', 2) = 'whatsapp' GROUP BY 1, 2, 3, 4;
  INSERT INTO opt_out (shop, lane, at, opted_out, changed_by)
    SELECT shop, regexp_replace(lane, '/([^/]*)$', '/#\\1'), at, opted_out, changed_by FROM opt_out
    WHERE split_part(lane, '/', 2) = 'whatsapp' AND split_part(lane, '/', 4) LIKE '+%';
  `,
];

const NEWEST = BASELINE + STEPS.length;
/**
 * The oldest schema whose programs can use this one. A step that removes what older programs use raises it,
 * one release after the last program that uses it.
 */
const NEEDED = 1;

/** A function of the database. Its name ends in a hash of its text, so versions do not meet. */
export interface SqlFunction {
  readonly name: string;
  readonly sql: string;
}

/** All of the store. A function comes after those that it calls, because their names are in its text. */
const FUNCTIONS: SqlFunction[] = [];

/**
 * Defines a function, which `makeSchema` makes.
 * @param definition what follows the name in CREATE FUNCTION
 */
export function sqlFunction(name: string, definition: string): SqlFunction {
  const version = hash('sha256', definition, 'hex').slice(0, 8);
  const named = `${name}_${version}`;
  const defined = { name: named, sql: `CREATE FUNCTION ${named} ${definition}` };
  FUNCTIONS.push(defined);
  return defined;
}

/**
 * Settings of a function whose statements are to find rows by index, also while the statistics are those of
 * empty tables. Before PostgreSQL 18, a table that is read from end to end all the same makes such a plan
 * so expensive that it is compiled (`jit`), for a tenth of a second a call.
 */
export const BY_INDEX = 'SET enable_seqscan = off SET jit = off';
/** The same, and by nested loops only. */
export const LOOPS_BY_INDEX = `SET enable_hashjoin = off SET enable_mergejoin = off ${BY_INDEX}`;

/** The time of the statement, by the database's clock: one clock for all gateways. */
export const NOW = sqlFunction(
  'now_ms',
  `() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
     SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint $$`,
);

/** Only one gateway at a time makes the schema: any number that no other program uses. */
const LOCK = 7_165_342_201;

/**
 * Makes the tables and functions that are missing. A schema of a newer version is used as long as
 * that version allows it, so that gateways of both can run during an upgrade.
 * @throws {SpoolUnusable} the schema is that of a newer version which this one cannot use, or older than
 *   the baseline
 */
export async function makeSchema(database: Database): Promise<void> {
  const { version, needed } = await readVersion(database);
  if (needed > NEWEST) {
    throw new SpoolUnusable(
      `the database has the schema of a newer version (${version}; this program knows ${NEWEST}). ` +
        'Run that version.',
    );
  }
  if (version > 0 && version < BASELINE) {
    throw new SpoolUnusable(
      `the database has the schema of an older version (${version}; this program knows ${BASELINE} and ` +
        `later). Start build ${OLDEST_BUILD} once on this database, then this one.`,
    );
  }
  if (version >= NEWEST && (await hasFunctions(database))) return;
  await database.query(`DO $migration$
    DECLARE known int;
    BEGIN
      PERFORM pg_advisory_xact_lock(${LOCK});
      CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL, needed int NOT NULL);
      SELECT coalesce(max(version), 0) INTO known FROM schema_version;
      IF known = 0 THEN ${TABLES} END IF;
      ${STEPS.map((step, n) => `IF known <= ${BASELINE + n} THEN ${step} END IF;`).join('\n')}
      IF known < ${NEWEST} THEN
        DELETE FROM schema_version;
        INSERT INTO schema_version VALUES (${NEWEST}, ${NEEDED});
      END IF;
      ${FUNCTIONS.map(madeOnce).join('\n')}
    END $migration$`);
}

const madeOnce = ({ name, sql }: SqlFunction): string =>
  `IF to_regproc('${name}') IS NULL THEN ${sql}; END IF;`;

interface SchemaVersion {
  /** 0: there is none. */
  readonly version: number;
  readonly needed: number;
}

async function readVersion(database: Database): Promise<SchemaVersion> {
  const [table] = await database.query<{ there: boolean }>(
    `SELECT to_regclass('schema_version') IS NOT NULL AS there`,
  );
  const none = { version: 0, needed: 0 };
  if (table?.there !== true) return none;
  const [row] = await database.query<SchemaVersion>('SELECT version, needed FROM schema_version');
  return row ?? none;
}

async function hasFunctions(database: Database): Promise<boolean> {
  const missing = await database.query(
    'SELECT FROM unnest($1::text[]) AS name WHERE to_regproc(name) IS NULL',
    [FUNCTIONS.map(({ name }) => name)],
  );
  return missing.length === 0;
}
