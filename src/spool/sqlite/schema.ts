import type { SqliteSchema } from '../../runtime/sqlite-schema.ts';

/**
 * entries.claimable is 1 for the head of a lane and for a detached entry, so that a claim is one
 * range scan of `entries_due`. Every change of state maintains it (`entry-table.ts`).
 *
 * entries.in_lane is 1 while the entry is queued or delivering, filed, and not detached. It could
 * be derived from the states, but a partial index is rewritten whenever a column of its condition
 * changes, and this one does not change while an entry goes from queued to delivering and back.
 *
 * entries.filed is 0 for an entry that is only in the index `entries_fresh` (`entry-table.ts`).
 *
 * Long random texts are indexed by their hashes (`entry-row.ts`): an index page then holds ten times
 * as many entries, so each commit writes fewer pages.
 */
const BASELINE = `
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    shop TEXT NOT NULL,
    channel TEXT NOT NULL,
    lane TEXT NOT NULL,
    lane_hash INTEGER NOT NULL,
    dedup_hash BLOB NOT NULL,
    remote_id TEXT NOT NULL,
    remote_hash INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    meta TEXT NOT NULL,
    state TEXT NOT NULL,
    filed INTEGER NOT NULL,
    in_lane INTEGER NOT NULL DEFAULT 0,
    claimable INTEGER NOT NULL DEFAULT 0,
    detached INTEGER NOT NULL DEFAULT 0,
    released INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    failing_ms INTEGER NOT NULL DEFAULT 0,
    last_attempt_at INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL,
    reason TEXT,
    settled_at INTEGER,
    platform_message_id TEXT,
    conversation_id TEXT,
    raw_size INTEGER NOT NULL,
    blob TEXT,
    has_raw INTEGER NOT NULL DEFAULT 1,
    -- What a queued entry waits for (WAITS_FOR), how often it failed, and notes for the next attempt.
    waits INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    notes TEXT,
    raw_checksum INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX entries_dedup ON entries(dedup_hash) WHERE filed = 1;
  CREATE INDEX entries_remote ON entries(remote_hash) WHERE channel = 'email' AND filed = 1;
  CREATE INDEX entries_lane ON entries(lane_hash, seq) WHERE in_lane = 1;
  CREATE INDEX entries_fresh ON entries(shop, seq) WHERE filed = 0;
  CREATE INDEX entries_due ON entries(shop, next_attempt_at, seq)
    WHERE state = 'queued' AND claimable = 1 AND waits = 0;
  CREATE INDEX entries_waiting ON entries(shop, waits, failures, seq)
    WHERE state = 'queued' AND claimable = 1 AND waits > 0;
  CREATE INDEX entries_leased ON entries(lease_until) WHERE state = 'delivering';
  -- With the size, so that the waiting bytes are summed up without reading the rows.
  CREATE INDEX entries_open ON entries(state, shop, channel, received_at, raw_size)
    WHERE state <> 'delivered';
  CREATE INDEX entries_settled ON entries(has_raw, settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX entries_platform_message ON entries(platform_message_id)
    WHERE platform_message_id IS NOT NULL AND channel = 'web_chat';
  CREATE INDEX entries_blob ON entries(blob) WHERE blob IS NOT NULL;
  CREATE INDEX entries_reason ON entries(reason ->> 'code') WHERE reason IS NOT NULL;

  CREATE TABLE raws (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE media (
    seq INTEGER NOT NULL, part TEXT NOT NULL, media_id TEXT NOT NULL, url TEXT,
    PRIMARY KEY (seq, part)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE timeline (
    seq INTEGER NOT NULL, no INTEGER NOT NULL, at INTEGER NOT NULL, steps TEXT NOT NULL,
    PRIMARY KEY (seq, no)
  ) STRICT, WITHOUT ROWID;

  -- records: a text body is JSON, a blob body is deflated JSON.
  CREATE TABLE records (seq INTEGER PRIMARY KEY, body ANY NOT NULL) STRICT;
  -- What an operator's last move of an entry changed.
  CREATE TABLE moves (
    seq INTEGER PRIMARY KEY, move TEXT NOT NULL, generation INTEGER NOT NULL,
    state TEXT NOT NULL, reason TEXT, settled_at INTEGER, last_attempt_at INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL, attempts INTEGER NOT NULL, failing_ms INTEGER NOT NULL,
    detached INTEGER NOT NULL, released INTEGER NOT NULL
  ) STRICT;
  -- What lists and the search show of an entry, made by its channel (stored-form.ts); in a
  -- separate table because every change of state rewrites the row of entries.
  CREATE TABLE summaries (
    seq INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    "from" TEXT NOT NULL, "to" TEXT NOT NULL, subject TEXT NOT NULL, more TEXT NOT NULL
  ) STRICT;
  -- Entries that something other than an attempt changed or deleted, for the index of search/.
  CREATE TABLE changes (no INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE audit (
    no INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
    who TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, outcome TEXT NOT NULL,
    -- The network address of an operator; null for commands.
    address TEXT
  ) STRICT;
  -- Tokens of the admin API (api-token-store.ts). hash: SHA-256 of the token in hex.
  CREATE TABLE api_tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
    made_by TEXT NOT NULL, made_at INTEGER NOT NULL, ends_at INTEGER, used_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE shop_health (shop TEXT PRIMARY KEY, health TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE probe_requests (shop TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  -- Refusals that entries wait for outlive the process (refusals.ts).
  CREATE TABLE refusals (
    shop TEXT NOT NULL, number INTEGER NOT NULL, words TEXT NOT NULL,
    since INTEGER NOT NULL, newest_at INTEGER NOT NULL, count INTEGER NOT NULL, ended INTEGER NOT NULL,
    PRIMARY KEY (shop, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE refused (
    shop TEXT NOT NULL, number INTEGER NOT NULL, entry TEXT NOT NULL,
    lane INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (shop, number, entry)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE conversations (
    shop TEXT NOT NULL, channel TEXT NOT NULL, lane TEXT NOT NULL,
    conversation_id TEXT NOT NULL, used_at INTEGER NOT NULL,
    PRIMARY KEY (shop, channel, lane)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX conversations_id ON conversations(shop, conversation_id);

  CREATE TABLE opt_outs (
    shop TEXT NOT NULL, lane TEXT NOT NULL, at INTEGER NOT NULL,
    opted_out INTEGER NOT NULL DEFAULT 1,
    -- The message that changed it: a START that is processed again after a crash still counts.
    changed_by TEXT,
    PRIMARY KEY (shop, lane)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE marks (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- Nothing was erased from this file (vacuum.ts).
  INSERT INTO marks (name, at) VALUES ('secure_deletion', 0);

  -- What remains of erased people (erased-keys.ts), and what has to be deleted after their rows:
  -- files, and data of the embedded platform.
  CREATE TABLE erased_keys (hash BLOB PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE erased_opt_outs (hash BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE erasure_rest (
    kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE mail_rates (
    hour INTEGER NOT NULL, person INTEGER NOT NULL, series INTEGER NOT NULL, no INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (hour, person, series, no)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE visitors (
    no INTEGER PRIMARY KEY,
    shop TEXT NOT NULL, id TEXT NOT NULL,
    name TEXT, email TEXT, subject TEXT,
    conversation INTEGER NOT NULL DEFAULT 1,
    last_seq INTEGER NOT NULL DEFAULT 0,
    seen_seq INTEGER NOT NULL DEFAULT 0,
    conversation_from_seq INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    -- An anonymous visitor was merged into this identified one.
    joined TEXT,
    -- The current conversation belongs to another visitor; null: it is the visitor's own, by number.
    lane TEXT,
    -- 1: a guest without stored data; the row only keeps the id from being used meanwhile.
    reserved INTEGER NOT NULL DEFAULT 0,
    last_rev INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX visitors_id ON visitors(shop, id);
  CREATE UNIQUE INDEX visitors_subject ON visitors(shop, subject) WHERE subject IS NOT NULL;
  CREATE INDEX visitors_joined ON visitors(shop, joined) WHERE joined IS NOT NULL;
  CREATE INDEX visitors_reserved ON visitors(shop, joined, no) WHERE reserved = 1;
  CREATE INDEX visitors_reserved_at ON visitors(created_at) WHERE reserved = 1;
  CREATE TABLE journal (
    line INTEGER PRIMARY KEY, visitor INTEGER NOT NULL, seq INTEGER NOT NULL,
    sender TEXT NOT NULL, message_id TEXT NOT NULL, text TEXT NOT NULL, format TEXT NOT NULL,
    attachments TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL,
    -- Who wrote a reply, and the changes to its text (JournalLine in chat-store.ts).
    -- updated_at: the platform's time of the text.
    agent_id TEXT, user_id TEXT, rev INTEGER NOT NULL DEFAULT 0, updated_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX journal_seq ON journal(visitor, seq);
  CREATE UNIQUE INDEX journal_reply ON journal(visitor, message_id) WHERE sender = 'agent';
  CREATE INDEX journal_revised ON journal(visitor, rev) WHERE rev > 0;
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY, shop TEXT NOT NULL, visitor TEXT NOT NULL,
    name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL, blob TEXT NOT NULL,
    at INTEGER NOT NULL, entry TEXT, checksum INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uploads_unused ON uploads(shop, visitor, at) WHERE entry IS NULL;
  CREATE INDEX uploads_used ON uploads(shop, visitor) WHERE entry IS NOT NULL;
  CREATE INDEX uploads_entry ON uploads(entry) WHERE entry IS NOT NULL;
`;

export const SPOOL_SCHEMA: SqliteSchema = {
  baseline: { number: 14, sql: BASELINE },
  steps: [
    // Tokens of a visitor with a lower number are invalid (`VisitorRecord` in `chat-store.ts`).
    `ALTER TABLE visitors ADD COLUMN logouts INTEGER NOT NULL DEFAULT 0;`,
    // Senders' counts in the order of arrival (`sender-rate-table.ts`). Old rows do not say whether they count a
    // thread or a body, so each is copied as both.
    `
    CREATE TABLE sender_counts (
      hour INTEGER NOT NULL, person INTEGER NOT NULL, series INTEGER NOT NULL, at INTEGER NOT NULL,
      no INTEGER NOT NULL, PRIMARY KEY (hour, person, series, at, no)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO sender_counts
      SELECT hour, person, series, at, no FROM mail_rates WHERE series < 2
      UNION SELECT hour, person, 4 * series, at, no FROM mail_rates WHERE series > 1 AND no = 0
      UNION SELECT hour, person, 4 * series + 2, at, no FROM mail_rates WHERE series > 1 AND no > 0
      UNION SELECT hour, person, 4 * series + 3, at, no FROM mail_rates WHERE series > 1 AND no > 0;
    DROP TABLE mail_rates;
    `,
    // `JournalLine.choices` as JSON.
    `ALTER TABLE journal ADD COLUMN choices TEXT;`,
    // The names of people on WhatsApp (`domain/person-names.ts`). Until now each name was a person, at the end
    // of the lane; an opt-out of a number now stays with the number, too (`channels/sms/person.ts`).
    `
    CREATE TABLE person_names (
      shop TEXT NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL,
      since INTEGER NOT NULL, seen_at INTEGER NOT NULL, beside TEXT, left_at INTEGER, former TEXT,
      PRIMARY KEY (shop, scope, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX person_names_person ON person_names(shop, scope, person);
    INSERT INTO person_names (shop, scope, name, person, since, seen_at)
      SELECT shop, scope, name, name, min(used_at), max(used_at) FROM (
        SELECT shop, substr(lane, 1, length(lane) - length(rest) - 1) AS scope,
          substr(rest, instr(rest, '/') + 1) AS name, used_at
        FROM (SELECT *, substr(lane, instr(lane, '/whatsapp/') + 10) AS rest FROM conversations
          WHERE channel = 'sms' AND instr(lane, '/whatsapp/') > 0)
      ) GROUP BY shop, scope, name;
    INSERT INTO opt_outs (shop, lane, at, opted_out, changed_by)
      SELECT shop, substr(lane, 1, length(lane) - length(name)) || '#' || name, at, opted_out, changed_by
      FROM (SELECT *, substr(rest, instr(rest, '/') + 1) AS name FROM (
        SELECT *, substr(lane, instr(lane, '/whatsapp/') + 10) AS rest FROM opt_outs
        WHERE instr(lane, '/whatsapp/') > 0
      )) WHERE name LIKE '+%';
    `,
  ],
};
