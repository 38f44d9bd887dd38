import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { type Reason, sentence } from '../../../src/domain/reasons.ts';
import { asEntryId } from '../../../src/domain/ids.ts';
import { shopHealthOf } from '../../../src/spool/shop-health.ts';
import { MIGRATIONS } from '../../../src/spool/sqlite/migrations.ts';
import { SearchThreads } from '../../../src/spool/search/search-threads.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import type { Store } from '../../../src/spool/store.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
let store: Store | undefined;
beforeEach(() => {
  dir = tempDir();
});
afterEach(async () => {
  await store?.spool.close();
  store = undefined;
  dir.remove();
});

const open = () => openSqliteStore({ dir: dir.path, role: 'owner', reserveBytes: 0 });

const STEPS_WITH_SENTENCES = 9;

/** A store as the last version that stored sentences wrote it: one dead entry for each reason. */
function storeWith(reasons: readonly string[], health: object): void {
  const db = new Database(join(dir.path, 'spool.db'));
  for (const step of MIGRATIONS.slice(0, STEPS_WITH_SENTENCES)) db.exec(step);
  const insert = db.prepare(
    `INSERT INTO entries (id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id,
       remote_hash, received_at, meta, state, filed, next_attempt_at, reason, raw_size)
     VALUES (@id, 'message', '${SHOP}', 'email', @id, 1, CAST(@id AS BLOB), @id, 1, 1, '{}', 'dead', 1, 1, @reason, 1)`,
  );
  const discarded = db.prepare(
    `INSERT INTO moves (seq, move, generation, state, reason, last_attempt_at, next_attempt_at,
       attempts, failing_ms, detached, released)
     SELECT seq, 'requeued', generation, state, reason, 0, 0, 0, 0, 0, 0 FROM entries WHERE id = ?`,
  );
  reasons.forEach((reason, index) => {
    insert.run({ id: `e${index}`, reason });
    discarded.run(`e${index}`);
  });
  db.prepare(`INSERT INTO shop_health (shop, health) VALUES (?, ?)`).run(
    SHOP,
    JSON.stringify(health),
  );
  db.pragma(`user_version = ${STEPS_WITH_SENTENCES}`);
  db.close();
}

const answered = (
  status: number | undefined,
  failure: string,
  path: string,
  answer?: string,
): Reason => ({
  code: 'platform_answered',
  params: {
    ...{ failure, path },
    ...(status !== undefined && { status }),
    ...(answer !== undefined && { answer }),
  },
});

/** What was stored, and what becomes of it. */
const STORED: readonly (readonly [string, Reason])[] = [
  ['dmarc', { code: 'dmarc' }],
  ['several_from', { code: 'several_from' }],
  ['loop', { code: 'loop' }],
  ['loop: perThreadPer10min', { code: 'rate_limit', params: { limit: 'perThreadPer10min' } }],
  ['no such contact', { code: 'no_such_contact' }],
  ['contacts cannot be looked up', { code: 'contacts_not_readable' }],
  ['cannot be answered: the platform refused the address', { code: 'cannot_be_answered' }],
  ['the platform does not say whether it took the message', { code: 'unclear_answer' }],
  ['its raw bytes are damaged: they are not what was received', { code: 'raw_damaged' }],
  ['its raw bytes are missing from the data folder', { code: 'raw_missing' }],
  ['it failed here: TypeError', { code: 'internal_error', params: { error: 'TypeError' } }],
  [
    'the shop has no sms in the configuration',
    { code: 'channel_not_configured', params: { channel: 'sms' } },
  ],
  [
    'the platform answered 422 (http) to /v2026-04/messages/: {"detail": "a: b\nc"}',
    answered(422, 'http', '/v2026-04/messages/', '{"detail": "a: b\nc"}'),
  ],
  [
    'the platform answered timeout to /v2026-04/media/',
    answered(undefined, 'timeout', '/v2026-04/media/'),
  ],
  [
    'gave up after 12 attempts; the platform answered 500 (http) to /m/: gave up after 3 requests; x',
    {
      code: 'gave_up',
      params: { attempts: 12, last: answered(500, 'http', '/m/', 'gave up after 3 requests; x') },
    },
  ],
  [
    'gave up after 40 requests; it failed here: RangeError',
    {
      code: 'gave_up_requests',
      params: {
        requests: 40,
        last: { code: 'internal_error', params: { error: 'RangeError' } },
      },
    },
  ],
  ['[erased]', { code: 'other', params: { text: '[erased]' } }],
  ['interrupted', { code: 'other', params: { text: 'interrupted' } }],
  ['constructor', { code: 'other', params: { text: 'constructor' } }],
  ['loop: a b', { code: 'other', params: { text: 'loop: a b' } }],
  ['', { code: 'other', params: { text: '' } }],
];
/** Those whose words change: codes were written with hyphens, and texts had one provider. */
const RENAMED: readonly (readonly [string, Reason])[] = [
  ['auto-generated', { code: 'auto_generated' }],
  ['Twilio asked for a pause (Retry-After)', { code: 'media_postponed' }],
  ['auto-reply', { code: 'auto_reply' }],
  ['short-code', { code: 'short_code' }],
  ['impossible-number', { code: 'impossible_number' }],
  ['alphanumeric-sender', { code: 'alphanumeric_sender' }],
  ['help-keyword', { code: 'help_keyword' }],
  ['media-never-came', { code: 'media_never_came' }],
  ['opt-out', { code: 'opt_out' }],
  ['opt-in', { code: 'opt_in' }],
  ['Media ME1: http-404', { code: 'media_failed', params: { medium: 'ME1', failure: 'http_404' } }],
  ['the platform answered 422 to /messages/', answered(422, 'http', '/messages/')],
];
const HEALTH = {
  messages: {
    ...{ state: 'open', probing: false, since: 1 },
    reason: 'the platform answered 401 (http) to /contacts/: expired',
    lastProbe: { begunAt: 1, at: 2, outcome: 'failed', reason: 'auto-reply' },
  },
  media: { state: 'steady', probing: false },
  refusedAlike: [{ words: '422 contact.email', since: 1, count: 5 }],
};

test('sentences of earlier versions become codes, and nothing that was shown is lost', async () => {
  const all = [...STORED, ...RENAMED];
  storeWith(
    all.map(([text]) => text),
    HEALTH,
  );
  const { spool } = (store = await open());
  const found = await Promise.all(all.map((_, index) => spool.get(asEntryId(`e${index}`))));
  expect(found.map((entry) => entry?.reason)).toEqual(all.map(([, reason]) => reason));
  for (const [text, reason] of STORED) expect(sentence(reason)).toBe(text);
  const index = new SearchThreads({ dir: dir.path, role: 'beside' });
  ends(() => index.close());
  const { found: dead } = await index.find({ reason: 'gave up after 12', limit: 10 });
  expect(dead).toHaveLength(1);
});

test('what an undo restores, and the last health of a shop, are read as well', async () => {
  storeWith(['auto-reply'], HEALTH);
  store = await open();
  expect(await shopHealthOf(store.spool, SHOP)).toEqual({
    ...HEALTH,
    messages: {
      ...HEALTH.messages,
      reason: answered(401, 'http', '/contacts/', 'expired'),
      lastProbe: { ...HEALTH.messages.lastProbe, reason: { code: 'auto_reply' } },
    },
  });
  await store.spool.close();
  const db = new Database(join(dir.path, 'spool.db'), { readonly: true });
  expect(db.prepare(`SELECT reason FROM moves`).pluck().get()).toBe('{"code":"auto_reply"}');
  db.close();
  store = undefined;
});
