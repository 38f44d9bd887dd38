import type Database from 'better-sqlite3';

/**
 * The schema, one step per entry; `user_version` counts the applied steps. A released step is never
 * edited.
 *
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
export const MIGRATIONS: readonly string[] = [
  `
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
    has_raw INTEGER NOT NULL DEFAULT 1
  ) STRICT;
  CREATE UNIQUE INDEX entries_dedup ON entries(dedup_hash) WHERE filed = 1;
  CREATE INDEX entries_remote ON entries(remote_hash) WHERE channel = 'email' AND filed = 1;
  CREATE INDEX entries_lane ON entries(lane_hash, seq) WHERE in_lane = 1;
  CREATE INDEX entries_fresh ON entries(shop, seq) WHERE filed = 0;
  CREATE INDEX entries_due ON entries(shop, next_attempt_at, seq)
    WHERE state = 'queued' AND claimable = 1;
  CREATE INDEX entries_leased ON entries(lease_until) WHERE state = 'delivering';
  CREATE INDEX entries_open ON entries(state, shop, channel, received_at)
    WHERE state <> 'delivered';
  CREATE INDEX entries_settled ON entries(has_raw, settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX entries_platform_message ON entries(platform_message_id)
    WHERE platform_message_id IS NOT NULL AND channel = 'web_chat';
  CREATE INDEX entries_blob ON entries(blob) WHERE blob IS NOT NULL;

  CREATE TABLE raws (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE media (
    seq INTEGER NOT NULL, part TEXT NOT NULL, media_id TEXT NOT NULL, url TEXT,
    PRIMARY KEY (seq, part)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE timeline (
    seq INTEGER NOT NULL, no INTEGER NOT NULL, at INTEGER NOT NULL, steps TEXT NOT NULL,
    PRIMARY KEY (seq, no)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE conversations (
    shop TEXT NOT NULL, channel TEXT NOT NULL, lane TEXT NOT NULL,
    conversation_id TEXT NOT NULL, used_at INTEGER NOT NULL,
    PRIMARY KEY (shop, channel, lane)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX conversations_id ON conversations(shop, conversation_id);

  CREATE TABLE opt_outs (
    shop TEXT NOT NULL, lane TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (shop, lane)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE marks (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

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
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX visitors_id ON visitors(shop, id);
  CREATE UNIQUE INDEX visitors_subject ON visitors(shop, subject) WHERE subject IS NOT NULL;
  CREATE TABLE journal (
    line INTEGER PRIMARY KEY, visitor INTEGER NOT NULL, seq INTEGER NOT NULL,
    sender TEXT NOT NULL, message_id TEXT NOT NULL, text TEXT NOT NULL, format TEXT NOT NULL,
    attachments TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX journal_seq ON journal(visitor, seq);
  CREATE UNIQUE INDEX journal_reply ON journal(visitor, message_id) WHERE sender = 'agent';
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY, shop TEXT NOT NULL, visitor TEXT NOT NULL,
    name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL, blob TEXT NOT NULL,
    at INTEGER NOT NULL, entry TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uploads_unused ON uploads(shop, visitor, at) WHERE entry IS NULL;
  CREATE INDEX uploads_entry ON uploads(entry) WHERE entry IS NOT NULL;
  `,
  // Which message changed the state: a START that is processed again after a crash still counts.
  `
  ALTER TABLE opt_outs ADD COLUMN opted_out INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE opt_outs ADD COLUMN changed_by TEXT;
  `,
  // Anonymous visitors are merged into identified ones. `lane`: the current conversation belongs to
  // another visitor; null: it is the visitor's own, by number.
  `
  ALTER TABLE visitors ADD COLUMN joined TEXT;
  ALTER TABLE visitors ADD COLUMN lane TEXT;
  CREATE INDEX visitors_joined ON visitors(shop, joined) WHERE joined IS NOT NULL;
  CREATE INDEX uploads_used ON uploads(shop, visitor) WHERE entry IS NOT NULL;
  `,
  // A guest without any stored data: the row only reserves the id so that it is not used meanwhile.
  `
  ALTER TABLE visitors ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX visitors_reserved ON visitors(shop, joined, no) WHERE reserved = 1;
  CREATE INDEX visitors_reserved_at ON visitors(created_at) WHERE reserved = 1;
  `,
  // Data for operators. `records`: a text body is JSON, a blob body is deflated JSON. `moves`: what
  // an operator's last move of an entry changed. `changes`: entries that were changed by something
  // other than an attempt, or deleted, for the index of `search/`.
  `
  CREATE TABLE records (seq INTEGER PRIMARY KEY, body ANY NOT NULL) STRICT;
  CREATE TABLE moves (
    seq INTEGER PRIMARY KEY, move TEXT NOT NULL, generation INTEGER NOT NULL,
    state TEXT NOT NULL, reason TEXT, settled_at INTEGER, last_attempt_at INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL, attempts INTEGER NOT NULL, failing_ms INTEGER NOT NULL,
    detached INTEGER NOT NULL, released INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE changes (no INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE audit (
    no INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
    who TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, outcome TEXT NOT NULL
  ) STRICT;
  `,
  // What remains of erased people (`erased-keys.ts`), and what has to be deleted after their rows:
  // files, and data of the embedded platform. The mark says that nothing was ever deleted here
  // without its bytes being overwritten.
  `
  CREATE TABLE erased_keys (hash BLOB PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE erased_opt_outs (hash BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE erasure_rest (
    kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO marks (name, at) SELECT 'secure_deletion', 0
    WHERE NOT EXISTS (SELECT 1 FROM entries) AND NOT EXISTS (SELECT 1 FROM visitors)
      AND NOT EXISTS (SELECT 1 FROM pragma_freelist_count WHERE freelist_count > 0);
  `,
  // What a queued entry waits for (`spool/entry.ts`, WAITS_FOR), how often it failed, and the notes
  // of one attempt for the next. Entries that wait for their shop are in an index of their own.
  `
  ALTER TABLE entries ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE entries ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE entries ADD COLUMN notes TEXT;
  DROP INDEX entries_due;
  CREATE INDEX entries_due ON entries(shop, next_attempt_at, seq)
    WHERE state = 'queued' AND claimable = 1 AND waits = 0;
  CREATE INDEX entries_waiting ON entries(shop, waits, failures, seq)
    WHERE state = 'queued' AND claimable = 1 AND waits > 0;
  CREATE TABLE shop_health (shop TEXT PRIMARY KEY, health TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE probe_requests (shop TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  `,
  // The checksums of raw forms and uploads (`blobs.ts`); null where an earlier version
  // stored them. With the size in the index, the waiting bytes are summed up without reading the
  // rows.
  `
  ALTER TABLE entries ADD COLUMN raw_checksum INTEGER;
  ALTER TABLE uploads ADD COLUMN checksum INTEGER;
  DROP INDEX entries_open;
  CREATE INDEX entries_open ON entries(state, shop, channel, received_at, raw_size)
    WHERE state <> 'delivered';
  `,
  // What lists and the search show of an entry, made by its channel (`stored-form.ts`); in a
  // separate table because every change of state rewrites the row of `entries`.
  `
  CREATE TABLE summaries (
    seq INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    "from" TEXT NOT NULL, "to" TEXT NOT NULL, subject TEXT NOT NULL, more TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entries_reason ON entries(reason) WHERE reason IS NOT NULL;
  `,
  // Reasons become data, `{"code": …, "params": …}` (`domain/reasons.ts`); they were sentences.
  `
  DROP INDEX entries_reason;
  UPDATE entries SET reason = coded_reason(reason) WHERE reason IS NOT NULL;
  UPDATE moves SET reason = coded_reason(reason) WHERE reason IS NOT NULL;
  UPDATE shop_health SET health = health_with_codes(health);
  CREATE INDEX entries_reason ON entries(reason ->> 'code') WHERE reason IS NOT NULL;
  `,
  // Refusals that entries wait for outlive the process (`spool/refusals.ts`).
  `
  CREATE TABLE refusals (
    shop TEXT NOT NULL, number INTEGER NOT NULL, words TEXT NOT NULL,
    since INTEGER NOT NULL, newest_at INTEGER NOT NULL, count INTEGER NOT NULL, ended INTEGER NOT NULL,
    PRIMARY KEY (shop, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE refused (
    shop TEXT NOT NULL, number INTEGER NOT NULL, entry TEXT NOT NULL,
    lane INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (shop, number, entry)
  ) STRICT, WITHOUT ROWID;
  `,
  // The network address of an operator; null for commands and lines of earlier versions.
  `
  ALTER TABLE audit ADD COLUMN address TEXT;
  `,
  // Tokens of the admin API (`spool/api-token-store.ts`). hash: SHA-256 of the token in hex.
  `
  CREATE TABLE api_tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
    made_by TEXT NOT NULL, made_at INTEGER NOT NULL, ends_at INTEGER, used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  // Who wrote a reply, and the changes to its text (`JournalLine` in `chat-store.ts`). updated_at: the
  // platform's time of the text.
  `
  ALTER TABLE visitors ADD COLUMN last_rev INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journal ADD COLUMN agent_id TEXT;
  ALTER TABLE journal ADD COLUMN user_id TEXT;
  ALTER TABLE journal ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journal ADD COLUMN updated_at INTEGER;
  CREATE INDEX journal_revised ON journal(visitor, rev) WHERE rev > 0;
  `,
  // Tokens of a visitor with a lower number are invalid (`VisitorRecord` in `chat-store.ts`).
  `
  ALTER TABLE visitors ADD COLUMN logouts INTEGER NOT NULL DEFAULT 0;
  `,
];

/** Applies the steps from this one on. Call it in a transaction. */
export function applyMigrations(db: Database.Database, from: number): void {
  db.function('coded_reason', { deterministic: true }, codedReason);
  db.function('health_with_codes', { deterministic: true }, healthWithCodes);
  for (const sql of MIGRATIONS.slice(from)) db.exec(sql);
  db.pragma(`user_version = ${MIGRATIONS.length}`);
}

// The reasons that earlier versions stored as sentences, for the step that makes them data. This
// describes what those versions wrote, so it does not change with `domain/reasons.ts`.

interface Coded {
  readonly code: string;
  readonly params?: object;
}

/** The sentences without parameters. */
const CODES: ReadonlyMap<string, string> = new Map([
  ...`several_from no_sender dmarc unverified postmaster bounce loop bulk whatsapp`
    .split(' ')
    .map((code) => [code, code] as const),
  ...`auto-generated auto-reply short-code impossible-number alphanumeric-sender help-keyword
    media-never-came opt-out opt-in`
    .split(/\s+/)
    .map((name) => [name, name.replaceAll('-', '_')] as const),
  ['the platform does not say whether it took the message', 'unclear_answer'],
  ['cannot be answered: the platform refused the address', 'cannot_be_answered'],
  ['no such contact', 'no_such_contact'],
  ['contacts cannot be looked up', 'contacts_not_readable'],
  ['Twilio asked for a pause (Retry-After)', 'media_postponed'],
  ['its raw bytes are damaged: they are not what was received', 'raw_damaged'],
  ['its raw bytes are missing from the data folder', 'raw_missing'],
]);

const LIMIT = /^loop: (\w+)$/;
const ANSWER =
  /^the platform answered (?:(?<status>\d{3})(?: \((?<failure>\w+)\))?|(?<cause>[a-z_]+)) to (?<path>\S+?)(?:: (?<answer>[^]*))?$/;
const GAVE_UP = /^gave up after (\d+) (attempts|requests); ([^]*)$/;
const FAILED_HERE = /^it failed here: (\w+)$/;
const NO_CHANNEL = /^the shop has no (email|sms|web_chat) in the configuration$/;
const MEDIA = /^Media (\S+): (\S+)$/;

/** The stored form of a reason that was the given sentence. */
const codedReason = (stored: string): string => JSON.stringify(read(stored));

function read(text: string): Coded {
  const code = CODES.get(text);
  return code === undefined ? readDetailed(text) : { code };
}

function readDetailed(text: string): Coded {
  const answer = ANSWER.exec(text)?.groups;
  if (answer !== undefined) return answered(answer);
  const [, count, unit, last] = GAVE_UP.exec(text) ?? [];
  if (last !== undefined) {
    return unit === 'attempts'
      ? { code: 'gave_up', params: { attempts: Number(count), last: read(last) } }
      : { code: 'gave_up_requests', params: { requests: Number(count), last: read(last) } };
  }
  const [, limit] = LIMIT.exec(text) ?? [];
  if (limit !== undefined) return { code: 'rate_limit', params: { limit } };
  const [, error] = FAILED_HERE.exec(text) ?? [];
  if (error !== undefined) return { code: 'internal_error', params: { error } };
  const [, channel] = NO_CHANNEL.exec(text) ?? [];
  if (channel !== undefined) return { code: 'channel_not_configured', params: { channel } };
  const [, medium, failure] = MEDIA.exec(text) ?? [];
  if (medium !== undefined && failure !== undefined) {
    return { code: 'media_failed', params: { medium, failure: failure.replaceAll('-', '_') } };
  }
  return { code: 'other', params: { text } };
}

function answered(found: Readonly<Record<string, string | undefined>>): Coded {
  const { status, failure = 'http', cause, path, answer } = found;
  const outcome = status === undefined ? { failure: cause } : { failure, status: Number(status) };
  return {
    code: 'platform_answered',
    params: { ...outcome, path, ...(answer !== undefined && { answer }) },
  };
}

/** A stored health of a shop, in which `reason` was a sentence, too. */
function healthWithCodes(stored: string): string {
  return JSON.stringify(
    JSON.parse(stored, (key, value: unknown) =>
      key === 'reason' && typeof value === 'string' ? read(value) : value,
    ),
  );
}
