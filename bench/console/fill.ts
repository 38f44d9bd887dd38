import type { Reason } from '../../src/domain/reasons.ts';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createEntryIds } from '../../src/intake/intake.ts';
import type { EntryState } from '../../src/domain/entry-state.ts';
import type { EntryKind, StoredSummary } from '../../src/spool/entry.ts';
import { SUMMARY_VERSION } from '../../src/spool/stored-form.ts';
import {
  IndexDatabase,
  type IndexedRow,
  indexFileOf,
} from '../../src/spool/search/index-database.ts';
import { Follow } from '../../src/spool/search/follow.ts';
import { openDatabase } from '../../src/spool/sqlite/database.ts';
import type { Channel } from '../../src/domain/channel.ts';
import { asShopId, type EntryId, type ShopId } from '../../src/domain/ids.ts';

/** The entries are spread over this many days until now. */
export const DAYS = 60;
export const DAY_MS = 86_400_000;
const PER_TRANSACTION = 10_000;
const SAMPLES = 2000;
/** The number of newest entries whose raw forms exist, as after a sweep. */
const WITH_RAW = 20_000;

/** The values of a stored entry that searches can use. */
export interface Sample {
  readonly id: EntryId;
  readonly from: string;
  readonly subject: string;
  readonly remoteId: string;
  readonly receivedAt: number;
}

export interface Filled {
  readonly samples: readonly Sample[];
  readonly shops: readonly ShopId[];
  readonly startedAt: number;
}

/** The first shop has half of the entries, each further one half of the rest. */
const SHOPS = Array.from({ length: 12 }, (_, n) =>
  asShopId(`5b1f0c6e-9d3a-4c77-8a41-0000000000${String(n + 10)}`),
);

/** Pseudorandom numbers from 0 to 1, the same in every run (linear congruence modulo 2^32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SYLLABLES =
  'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu'.split(
    ' ',
  );
/** A word of two to four syllables, from a vocabulary as large as a natural language's. */
function wordOf(n: number): string {
  let word = '';
  for (let rest = n + 40; rest > 0; rest = Math.floor(rest / 40))
    word += SYLLABLES[rest % 40] ?? '';
  return word;
}
const NAMES = [
  'Anna',
  'Björn',
  'Chloé',
  'Đorđe',
  'Emma',
  'Fatima',
  'Günther',
  'Hana',
  'Igor',
  '田中',
  '李伟',
  '김민준',
];
const QUESTIONS = ['注文番号の確認について', '我的订单在哪里', '배송 조회'];

/**
 * Fills a spool with entries like those of a busy gateway, without fsync and with indexes created
 * at the end, and then fills the search index.
 */
export function fill(dir: string, count: number): Filled {
  mkdirSync(dir, { recursive: true });
  const db = openDatabase(join(dir, 'spool.db'));
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -400000');
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_master
       WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'entries'`,
    )
    .all();
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  const insert = db.prepare(
    `INSERT INTO entries (seq, id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id,
       remote_hash, received_at, meta, state, filed, next_attempt_at, reason, settled_at,
       platform_message_id, conversation_id, raw_size, has_raw, attempts, last_attempt_at)
     VALUES (@seq, @id, 'message', @shop, @channel, @lane, @seq, @hash, @remote_id, @seq,
       @received_at, @meta, @state, 1, @received_at, @reason, @settled_at, @platform_message_id,
       @conversation_id, 700, @has_raw, 1, @received_at)`,
  );
  const insertSummary = db.prepare(
    `INSERT INTO summaries (seq, version, "from", "to", subject, more)
     VALUES (?, ${SUMMARY_VERSION}, ?, ?, ?, ?)`,
  );
  const insertRaw = db.prepare(`INSERT INTO raws (seq, bytes) VALUES (?, ?)`);
  const random = randomNumbers(17);
  const newId = createEntryIds();
  const startedAt = Date.now() - DAYS * DAY_MS;
  const samples: Sample[] = [];
  const storeOne = (seq: number): void => {
    const receivedAt = Math.floor(startedAt + (seq / count) * DAYS * DAY_MS);
    const entry = entryOf(seq, receivedAt, newId(), random);
    const { row, summary, raw } = entry;
    const isKept = seq > count - WITH_RAW;
    insert.run({
      ...row,
      lane: summary.from,
      hash: createHash('md5').update(String(seq)).digest(),
      settled_at: row.state === 'queued' || row.state === 'held' ? null : receivedAt + 900,
      has_raw: isKept ? 1 : 0,
    });
    if (isKept) insertRaw.run(seq, Buffer.from(raw));
    insertSummary.run(seq, summary.from, summary.to, summary.subject, summary.more);
    if (seq % Math.ceil(count / SAMPLES) === 0) {
      const { id, remote_id: remoteId } = row;
      samples.push({ id, from: summary.from, subject: summary.subject, remoteId, receivedAt });
    }
  };
  for (let seq = 1; seq <= count;) {
    const end = Math.min(count, seq + PER_TRANSACTION - 1);
    db.transaction(() => {
      for (; seq <= end; seq += 1) storeOne(seq);
    })();
    if (end % 100_000 === 0 || end === count) console.error(`${end} of ${count} entries`);
  }
  for (const { sql } of indexes) db.exec(sql);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  fillIndex(dir, count);
  return { samples, shops: SHOPS, startedAt };
}

/** Uses the code that updates the index of a gateway. */
function fillIndex(dir: string, count: number): void {
  const index = new IndexDatabase(indexFileOf(dir));
  index.db.pragma('synchronous = OFF');
  const follow = new Follow(index, join(dir, 'spool.db'));
  const before = process.cpuUsage();
  while (follow.stepNow()) continue;
  const { user, system } = process.cpuUsage(before);
  console.error(`indexed: ${((user + system) / count).toFixed(1)} µs of processor time an entry`);
  follow.close();
  index.db.pragma('wal_checkpoint(TRUNCATE)');
  index.close();
}

interface MadeEntry {
  readonly row: Omit<IndexedRow, keyof StoredSummary> & {
    kind: EntryKind;
    meta: string;
    reason: string | null;
  };
  readonly summary: StoredSummary;
  readonly raw: string;
}

function entryOf(seq: number, receivedAt: number, id: EntryId, random: () => number): MadeEntry {
  const share = random();
  const channel: Channel = share < 0.6 ? 'email' : share < 0.9 ? 'sms' : 'web_chat';
  let shop = 0;
  while (shop < SHOPS.length - 1 && random() < 0.5) shop += 1;
  const [state, reason] = stateOf(random());
  const person = Math.floor(random() ** 2 * 200_000);
  const name = `${NAMES[person % NAMES.length] ?? ''} ${wordOf(person % 7919)}`;
  const address = `${wordOf(person % 7919)}.${wordOf(person)}@${wordOf(person % 97)}.example`;
  const words = Array.from({ length: 4 }, () => wordOf(Math.floor(random() ** 3 * 30_000)));
  const subject = `Order ${1_000_000 + seq}: ${words.join(' ')} ${QUESTIONS[seq % 40] ?? ''}`;
  const number = `+1555${String(2_000_000 + person * 31).slice(-7)}`;
  const summary = {
    email: { from: `${name} <${address}>`, to: 'support@acme.example', subject, more: address },
    sms: { from: number, to: '+15550001111', subject: '', more: '' },
    web_chat: { from: `${name} <${address}>`, to: '', subject: '', more: '' },
  }[channel];
  const remoteId = channel === 'email' ? `<${id}@mail.example>` : `SM${id.replaceAll('-', '')}`;
  return {
    summary,
    raw: `From: ${summary.from}\r\nTo: ${summary.to}\r\nSubject: ${summary.subject}\r\n\r\n${'text '.repeat(100)}`,
    row: {
      seq,
      id,
      kind: 'message',
      shop: SHOPS[shop] ?? asShopId(''),
      channel,
      remote_id: remoteId,
      received_at: receivedAt,
      meta: JSON.stringify({
        remoteAddress: '192.0.2.1',
        envelopeFrom: address,
        note: 'x'.repeat(300),
      }),
      state,
      reason: reason && JSON.stringify(reason),
      platform_message_id: state === 'delivered' ? `msg_${id.slice(14)}` : null,
      conversation_id: state === 'delivered' ? `conv_${person}` : null,
    },
  };
}

const answered = (status: number): Reason => ({
  code: 'platform_answered',
  params: { failure: 'http', status, path: '/messages/' },
});

/** Most entries are delivered; operators search for the others. */
function stateOf(share: number): [EntryState, Reason | null] {
  if (share < 0.96) return ['delivered', null];
  if (share < 0.985) return ['suppressed', { code: 'auto_reply' }];
  if (share < 0.99) return ['dead', answered(422)];
  if (share < 0.993) return ['held', { code: 'dmarc' }];
  if (share < 0.998) return ['discarded', null];
  return ['queued', answered(503)];
}
