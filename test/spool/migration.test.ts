import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { join } from 'node:path';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync, statSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { readPerson } from '../../src/cli/erase-person.ts';
import { asVisitorId } from '../../src/domain/ids.ts';
import { FIRST_REFUSAL_NUMBER, type NewEntry, WAITS_FOR } from '../../src/spool/entry.ts';
import {
  migrate,
  type MigrationOptions,
  planMigration,
} from '../../src/spool/migration/migrate.ts';
import { TABLES } from '../../src/spool/migration/tables.ts';
import { TABLES as STORED } from '../../src/spool/tables.ts';
import { makeToken } from '../../src/spool/api-token-store.ts';
import { type OpenedStore, openStore } from '../../src/spool/open-store.ts';
import { openDatabase } from '../../src/spool/sqlite/database.ts';
import { anEntry, because, claimFrom, OTHER_SHOP, retryLater, SHOP } from '../support/entries.ts';
import {
  type Cluster,
  column,
  emptyStore,
  startCluster,
  withClient,
} from '../support/postgres-cluster.ts';
import { type S3Server, startS3 } from '../support/s3-server.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { lendBallast } from '../support/store.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const ANN = readPerson('ann@example.com', []);
const CALLER = readPerson('+14155550001', []);
const CALLER_LANE = 'AC1/sms/+12025550142/+14155550001';
const NAMED = { scope: 'whatsapp/whatsapp', ours: '+15550783881', userId: 'US.9' };
const HOSTILE = 'a\0b\ud800c\u202e"\\\u2028';
const LIMITS = { per10min: 3, perHour: 100, sameBodyPerHour: 100 };
const CHAT = asVisitorId('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
const GUEST = asVisitorId('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb');

let cluster: Cluster;
let url: string;
let s3: S3Server;
let root: { path: string; remove: () => void };
let dir: string;

beforeAll(async () => {
  s3 = await startS3();
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(async () => {
  await s3.stop();
  await cluster.stop();
});
beforeEach(() => {
  root = tempDir();
  dir = join(root.path, 'data');
});
afterEach(async () => {
  root.remove();
  if (
    (await column(url, `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`)).length
  )
    await emptyStore(url);
});

interface Where {
  readonly url: string;
  readonly dir: string;
  readonly role?: 'owner' | 'beside';
  readonly blobs?: string;
}

async function withStore<T>(
  { url: of, dir: folder, role = 'owner', blobs = 'postgres' }: Where,
  work: (store: OpenedStore) => Promise<T>,
) {
  lendBallast(folder);
  const options = { url: of, dir: folder, role, blobs, threads: false, reserveBytes: 0 };
  const store = await openStore(options);
  try {
    return await work(store);
  } finally {
    await store.spool.close();
  }
}

const embedded = (folder = dir): Where => ({ url: 'sqlite', dir: folder });
const shared = (): Where => ({ url, dir: join(root.path, 'gateway') });

const move = (to: MigrationOptions['to'], folder = dir, more: Partial<MigrationOptions> = {}) =>
  migrate({
    ...{ dir: folder, database: { url }, to, scratchFolder: join(root.path, 'scratch') },
    ...more,
  });

const mail = (from: string, change: Partial<NewEntry> = {}) =>
  anEntry({
    channel: 'email',
    lane: `${from} support@acme.example`,
    meta: { agentContact: 'support@acme.example' },
    raw: { kind: 'inline', bytes: Buffer.from(`From: ${from}\r\n\r\nHello \0`) },
    ...change,
  });
const ERASED = mail('ann@example.com', { dedupKey: 'erased', remoteId: '<erased@example.com>' });
const TAKEN = { remoteId: '<taken@example.com>', remoteIdIfTaken: '<taken@example.com>#1' };
const counted = (message: string) => ({
  ...{ shopId: SHOP, message, person: 'bob', thread: 'thread', body: 'body', at: Date.now() },
});

const REFUSAL = { shopId: SHOP, number: FIRST_REFUSAL_NUMBER + 4, words: `422 ${HOSTILE}` };
const refuse = (spool: OpenedStore['spool'], lane: string) =>
  spool.countRefusal({
    ...{ ...REFUSAL, id: anEntry().id, waited: false },
    lane: { channel: 'sms', lane },
  });

/** A store with a row of every kind, made by its ports. Returns what a test asks for afterwards. */
async function fill({ spool, chat, optOuts, operator, apiTokens, openEraser }: OpenedStore) {
  await erase({ spool, optOuts, openEraser });
  await fillEntries(spool, operator);
  await spool.setMark('reconciled', 17);
  await spool.saveShopHealth(SHOP, { text: HOSTILE });
  await spool.requestProbe(SHOP);
  for (const lane of ['1', '2', '3', '4', '5']) await refuse(spool, lane);
  await operator.audit({ who: 'me', action: 'retry', target: HOSTILE, outcome: 'done' });
  const token = { name: 'ci', scope: 'read', madeBy: 'ann', madeAt: 5 } as const;
  const { token: used } = await makeToken(apiTokens, { ...token, endsAt: 7 });
  await apiTokens.apiTokenUsed(used.id);
  await makeToken(apiTokens, { ...token, name: 'never used' });
  await optOuts.optOut(SHOP, 'sms out', 'SM1');
  await optOuts.optOut(SHOP, 'sms in', 'SM1');
  await optOuts.optIn(SHOP, 'sms in', 'SM2');
  for (const message of ['1', '2', '3']) await spool.countMessage(counted(message), LIMITS);
  await fillChat(chat, spool);
}

async function erase({
  spool,
  optOuts,
  openEraser,
}: Pick<OpenedStore, 'spool' | 'optOuts' | 'openEraser'>) {
  // Its file is left for a later step of the erasure.
  await spool.accept([
    { ...ERASED, id: anEntry().id, raw: await blobOf(spool, 'x'.repeat(70_000)) },
  ]);
  await optOuts.optOut(SHOP, CALLER_LANE, 'SM1');
  const eraser = await openEraser();
  for (const person of [ANN, CALLER]) {
    const { traces } = await eraser.find({ person, others: false });
    await eraser.eraseRows(traces, { person, shops: [SHOP], waitMs: 0 });
  }
  eraser.close();
}

async function blobOf({ blobs }: OpenedStore['spool'], text: string) {
  const writer = blobs.writer({ inlineMaxBytes: 0 });
  writer.end(text);
  await finished(writer);
  const raw = await writer.commit();
  if (raw.kind !== 'file') throw new Error('a blob');
  return raw;
}

async function fillEntries(spool: OpenedStore['spool'], operator: OpenedStore['operator']) {
  const large = await blobOf(spool, 'large'.repeat(140_000));
  const settle = async (
    outcome: Parameters<typeof spool.settle>[1],
    request: unknown = 'short',
  ) => {
    const entry = mail('bob@example.com', { lane: randomUUID() });
    await spool.accept([entry]);
    const [claimed] = await claimFrom(spool, SHOP, 1, 60_000);
    if (claimed === undefined) throw new Error('nothing to claim');
    await spool.saveMedia(claimed.lease, 'part', { id: 'medium', url: 'http://m' });
    await spool.rememberConversation(claimed.entry, `conversation-${claimed.entry.id}`);
    const steps = [{ at: 1, step: 'sent', detail: { answer: HOSTILE } }];
    const record = { request, attachments: [] };
    await spool.settle(claimed.lease, outcome, { steps, notes: { note: HOSTILE } }, record);
    return entry;
  };
  const messageIds = { platformMessageId: 'pm', conversationId: 'pc' };
  await settle({ state: 'delivered', ...messageIds, caveat: because('but') });
  await settle({ state: 'held', reason: because(HOSTILE) }, 'long '.repeat(9000));
  await settle({ state: 'suppressed', reason: because('loop') });
  const discarded = await settle({ state: 'dead', reason: because('no') });
  await spool.discard(discarded.id);
  const requeued = await settle({ state: 'dead', reason: because('no') });
  await spool.requeue(requeued.id);
  await spool.accept([
    // Heads of lanes that wait, of lanes that are due, and entries behind them.
    ...['lane', 'lane', 'lane', `odd ${HOSTILE}`].map((lane) =>
      anEntry({ shopId: OTHER_SHOP, lane, remoteId: HOSTILE, meta: { text: HOSTILE } }),
    ),
    mail('carl@example.com', { raw: large, ...TAKEN }),
    mail('dora@example.com', TAKEN),
    anEntry({ detached: true, shopId: OTHER_SHOP }),
    anEntry({ shopId: OTHER_SHOP, sender: { ...NAMED, number: '+14155550009', at: 1000 } }),
    anEntry({ shopId: OTHER_SHOP, sender: { ...NAMED, userId: 'US.8', at: 2000 } }),
    anEntry({ shopId: OTHER_SHOP, sender: { ...NAMED, previousUserId: 'US.8', at: 3000 } }),
    anEntry({ hold: because('wait') }),
  ]);
  await operator.auditLines({ limit: 1 });
  const waiting = retryLater({ retryInMs: 3_600_000, waitsFor: WAITS_FOR.shop });
  const detached = retryLater({ detach: true, retryInMs: 3_600_000 });
  const [one, two] = await claimFrom(spool, SHOP, 2, 60_000);
  if (one === undefined || two === undefined) throw new Error('nothing to claim');
  await spool.settle(one.lease, waiting, { steps: [] });
  await spool.settle(two.lease, detached, { steps: [], notes: { kept: true } });
  // Remains in flight.
  await claimFrom(spool, SHOP, 1, 3_600_000);
}

async function fillChat(chat: OpenedStore['chat'], spool: OpenedStore['spool']) {
  const line = (visitorId: typeof CHAT, text: string, uploadIds: readonly string[] = []) => {
    const entry = anEntry({ channel: 'web_chat' });
    const message = { visitorId, messageId: entry.id, text, uploadIds };
    return chat.acceptMessage(entry, message);
  };
  for (const id of [CHAT, GUEST]) {
    await chat.createVisitor({ shopId: SHOP, id, name: HOSTILE, createdAt: 5 });
  }
  for (const id of ['used', 'unused']) {
    const { blob, size, checksum = 0 } = await blobOf(spool, `upload ${id}`);
    const upload = { id, name: HOSTILE, type: 'image/png', size, blob, checksum };
    await chat.addUpload({ ...upload, shopId: SHOP, visitorId: CHAT, at: Date.now() }, 9);
  }
  await line(CHAT, HOSTILE, ['used']);
  await line(GUEST, 'I am ann');
  const reply = { shopId: SHOP, visitorId: CHAT, platformMessageId: 'p1', at: Date.now() };
  await chat.storeReply({ ...reply, text: 'hello', format: 'TEXT' });
  const identity = { shopId: SHOP, subject: 's1', email: 'e@example.com', newId: CHAT, at: 9 };
  await chat.identifyVisitor({ ...identity, guestId: CHAT });
  await chat.identifyVisitor({ ...identity, guestId: GUEST });
  await chat.identifyVisitor({ ...identity, guestId: asVisitorId('c'.repeat(32)) });
  await chat.startConversation(SHOP, CHAT);
}

const stored = (text: string) => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');

/** What the ports answer. After a move, what was in flight is queued, and some characters are U+FFFD. */
async function contents({ spool, chat, optOuts, operator, apiTokens }: OpenedStore) {
  const entries = await spool.list({ limit: 1000 });
  const all = {
    entries: await Promise.all(
      entries.map(async (entry) => ({
        ...entry,
        state: entry.state === 'delivering' ? 'queued' : entry.state,
        timeline: await spool.timeline(entry.id),
        raw: await rawOf(spool, entry.id),
        record: await operator.record(entry.id),
        conversation: await spool.conversation(entry),
        person: await spool.personOf(entry),
      })),
    ),
    audit: await operator.auditLines({ limit: 9 }),
    tokens: await apiTokens.apiTokens(),
    mark: await spool.mark('reconciled'),
    health: await spool.shopHealth(SHOP),
    refusals: await spool.refusals(),
    optOuts: await Promise.all(
      ['sms out', 'sms in', CALLER_LANE, 'other'].map((lane) => optOuts.isOptedOut(SHOP, lane)),
    ),
    visitors: await chat.visitorsAmong(SHOP, [CHAT, GUEST, asVisitorId('c'.repeat(32))]),
    lines: await chat.linesAfter(SHOP, CHAT, 0, 99),
    uploads: [await chat.upload(SHOP, CHAT, 'used'), await chat.upload(SHOP, CHAT, 'unused')],
    erased: await spool.knownKeys(SHOP, 'email', ['erased', 'other']),
    emailIds: await spool.knownEmailIds(SHOP, ['<erased@example.com>', TAKEN.remoteId, 'other']),
  };
  return JSON.parse(
    JSON.stringify(all, (_key, value: unknown) =>
      value instanceof Set ? [...value].sort() : typeof value === 'string' ? stored(value) : value,
    ),
  ) as unknown;
}

async function rawOf(spool: OpenedStore['spool'], id: NewEntry['id']) {
  const raw = await spool.raw(id);
  if (raw === undefined) return undefined;
  const bytes = raw.kind === 'inline' ? raw.bytes : await buffer(spool.blobs.read(raw.blob));
  return { kind: raw.kind, bytes: Buffer.from(bytes).toString('latin1'), checksum: raw.checksum };
}

/** What each lane delivers, in its order. */
const order = async ({ spool }: OpenedStore) => {
  const claimed: { lane: string; entry: string }[] = [];
  for (;;) {
    const found = [
      ...(await claimFrom(spool, OTHER_SHOP, 9, 60_000)),
      ...(await claimFrom(spool, SHOP, 9, 60_000)),
    ];
    if (found.length === 0)
      return claimed.sort((a, b) => (a.lane < b.lane ? -1 : Number(a.lane > b.lane)));
    for (const { lease, entry, media, notes, released } of found) {
      const [lane = '', remoteId = ''] = [entry.lane, entry.remoteId].map(stored);
      claimed.push({ lane, entry: JSON.stringify([remoteId, [...media], notes, released]) });
      await spool.settle(lease, { state: 'delivered' }, { steps: [] });
    }
  }
};

test('all that ports tell of a folder, a database tells, and a folder again', async () => {
  const before = await withStore(embedded(), async (store) => {
    await fill(store);
    return contents(store);
  });
  const plan = await planMigration({
    ...{ dir, database: { url }, to: 'database', scratchFolder: join(root.path, 'scratch') },
  });
  const there = await move('database');
  expect(there).toMatchObject({ wasDone: false, blobs: 3, missing: [], rows: plan.rows });
  expect(Object.entries(there.rows).filter(([, n]) => n === 0)).toEqual([]);
  expect(await withStore(shared(), contents)).toEqual(before);

  const back = join(root.path, 'back');
  expect(await move('folder', back)).toMatchObject({ wasDone: false, blobs: 3, missing: [] });
  expect(await withStore(embedded(back), contents)).toEqual(before);
});

test('what a database has accepted goes to a folder and back', async () => {
  const before = await withStore(shared(), async (store) => {
    await fill(store);
    await store.spool.recover();
    return contents(store);
  });
  await column(url, 'DELETE FROM lease');
  const there = await move('folder');
  expect(there).toMatchObject({ wasDone: false, blobs: 3, missing: [] });
  expect(await withStore(embedded(), contents)).toEqual(before);
  await emptyStore(url);
  await move('database');
  expect(await withStore(shared(), contents)).toEqual(before);
});

test('the other store goes on as the first one would have', async () => {
  const copy = join(root.path, 'copy');
  await withStore(embedded(), fill);
  cpSync(dir, copy, { recursive: true });
  const back = join(root.path, 'back');
  await move('database');
  await move('folder', back);
  const goOn = async (store: OpenedStore) => {
    const { spool, optOuts, operator } = store;
    await spool.recover();
    const again = await spool.accept([
      { ...ERASED, id: anEntry().id },
      mail('new@example.com', { dedupKey: 'new', ...TAKEN, remoteIdIfTaken: '<other>' }),
      mail('new@example.com', {
        dedupKey: 'newer',
        remoteId: '<erased@example.com>',
        remoteIdIfTaken: '<free>',
      }),
    ]);
    const moved = (await spool.list({ limit: 99 })).filter(({ state }) => state === 'discarded');
    const restored = await Promise.all(moved.map(({ id }) => operator.restore(id)));
    return {
      again: again.map(({ duplicate }) => duplicate),
      remoteIds: (await spool.list({ limit: 2 })).map(({ remoteId }) => remoteId).sort(),
      restored,
      erased: await optOuts.isOptedOut(SHOP, CALLER_LANE),
      counted: [
        await spool.countMessage(counted('3'), LIMITS),
        await spool.countMessage(counted('4'), LIMITS),
        await spool.countMessage({ ...counted('5'), person: 'eve' }, LIMITS),
      ],
      probes: await spool.takeProbeRequests([SHOP]),
      dead: (await spool.refusedBefore(SHOP, REFUSAL.number)).length,
      order: await order(store),
    };
  };
  const first = await withStore(embedded(copy), goOn);
  expect(first).toMatchObject({ again: [true, false, false], restored: [true], erased: true });
  expect(first.counted).toEqual([undefined, 'per10min', undefined]);
  expect(first.dead).toBe(4);
  expect(await withStore(embedded(back), goOn)).toEqual(first);
  await column(url, 'DELETE FROM moved');
  expect(await withStore(shared(), goOn)).toEqual(first);
});

test('a migration that is ended in the middle, again and again, goes on', async () => {
  const before = await withStore(embedded(), async (store) => {
    await fill(store);
    return contents(store);
  });
  const back = join(root.path, 'back');
  for (const [to, folder, where] of [
    ['database', dir, shared()],
    ['folder', back, embedded(back)],
  ] as const) {
    let ended = 0;
    for (let until = 1; ; until += 4) {
      const ending = new AbortController();
      let told = 0;
      const onProgress = () => {
        told += 1;
        if (told >= until) ending.abort(new Error('ended'));
      };
      const found = await move(to, folder, { signal: ending.signal, onProgress }).catch(
        (error: unknown) => error,
      );
      if (!(found instanceof Error)) break;
      expect(found.message).toBe('ended');
      ended += 1;
      // Neither place is one that a gateway opens.
      await expect(withStore(embedded(folder), contents)).rejects.toThrow(/sluice migrate again/);
      await expect(withStore(shared(), contents)).rejects.toThrow(/sluice migrate again/);
    }
    expect(ended).toBeGreaterThan(5);
    expect(await withStore(where, contents)).toEqual(before);
  }
});

test('a statement of a killed command ends before the next command looks', async () => {
  await withStore(embedded(), fill);
  await withClient(url, async (holder) => {
    await holder.query('SELECT pg_advisory_lock(54)');
    await withClient(url, async (killed) => {
      await killed.query(`SET application_name = 'sluice migrate'`);
      const statement = killed.query('SELECT pg_advisory_lock(54)');
      let isMoved = false;
      const moved = move('database').then(() => (isMoved = true));
      await waitFor('the next command to look', async () => {
        const [looking] = await column(
          url,
          `SELECT count(*)::text FROM pg_stat_activity
           WHERE application_name = 'sluice migrate' AND query LIKE '%AND pid <> pg_backend_pid()%'`,
        );
        return looking !== '0';
      });
      expect(isMoved).toBe(false);
      await holder.query('SELECT pg_advisory_unlock(54)');
      await statement;
      expect(await moved).toBe(true);
    });
  });
});

test('after the end the old place is refused, and a second run says that it was done', async () => {
  await withStore(embedded(), fill);
  await move('database');
  await expect(withStore(embedded(), contents)).rejects.toThrow(
    new RegExp(`${dir} was moved to postgres://.*spool.url|Name that`),
  );
  expect(await move('database')).toMatchObject({ wasDone: true });
  await expect(move('database', dir, { database: { url: `${url}_other` } })).rejects.toThrow();

  const back = join(root.path, 'back');
  await move('folder', back);
  await expect(withStore(shared(), contents)).rejects.toThrow(`was moved to ${back}`);
  expect(await move('folder', back)).toMatchObject({ wasDone: true });
  // As the message says.
  await column(url, 'DELETE FROM moved');
  await withStore(shared(), contents);
});

test('a place that is in use, or has data, is refused and stays as it was', async () => {
  await withStore(embedded(), async ({ spool }) => {
    await spool.accept([mail('ann@example.com')]);
    await expect(move('database')).rejects.toThrow(/in use by another gateway/);
  });
  await withStore({ ...embedded(), role: 'beside' }, () =>
    expect(move('database')).rejects.toThrow(/another command/),
  );
  await withStore(shared(), async ({ spool }) => {
    await expect(move('database')).rejects.toThrow(/in use by a gateway or a command/);
    await expect(move('folder', join(root.path, 'new'))).rejects.toThrow(/in use/);
    await spool.accept([mail('ann@example.com')]);
  });
  await expect(move('database')).rejects.toThrow(/not empty \(entry/);
  await expect(move('folder')).rejects.toThrow(/not empty: it has a spool.db/);
  await withStore(embedded(), contents);
  await withStore(shared(), contents);
});

test('a place that was written by a newer version is refused', async () => {
  await withStore(embedded(), fill);
  const db = new Sqlite(join(dir, 'spool.db'));
  db.pragma('user_version = 999');
  db.close();
  await expect(move('database')).rejects.toThrow(/newer version/);
  const versions = await column(url, 'UPDATE schema_version SET needed = 999 RETURNING version');
  await expect(move('folder', join(root.path, 'new'))).rejects.toThrow(/newer version/);
  await column(url, `UPDATE schema_version SET needed = ${versions[0] ?? ''}`);
});

test('a blob that is missing is reported, and what differs at the end is not switched', async () => {
  await withStore(embedded(), fill);
  // Not the one of the erased entry, which no row names.
  const [largest = ''] = readdirSync(join(dir, 'blobs'))
    .map((name) => join(dir, 'blobs', name))
    .toSorted((a, b) => statSync(b).size - statSync(a).size);
  rmSync(largest);
  expect((await move('database')).missing).toHaveLength(1);
  rmSync(join(dir, 'moved.json'));
  await emptyStore(url);
  await column(
    url,
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.steps := '[]'; RETURN NEW; END $$`,
  );
  await column(
    url,
    `CREATE TRIGGER spoil BEFORE INSERT ON timeline FOR EACH ROW EXECUTE FUNCTION spoil()`,
  );
  await expect(move('database')).rejects.toThrow(/differs .* in: timeline\./);
  await column(url, 'DROP FUNCTION spoil CASCADE');
  await expect(withStore(shared(), contents)).rejects.toThrow(/sluice migrate again/);
});

test('blobs go to a bucket and come back from it', async () => {
  const s3Url = s3.blobsUrl();
  const before = await withStore(embedded(), async (store) => {
    await fill(store);
    return contents(store);
  });
  expect(await move('database', dir, { database: { url, s3: s3Url } })).toMatchObject({ blobs: 3 });
  expect(await column(url, 'SELECT name FROM blob WHERE key IS NULL')).toEqual([]);
  expect(await withStore({ ...shared(), blobs: s3Url }, contents)).toEqual(before);
  const back = join(root.path, 'back');
  await move('folder', back, { database: { url, s3: s3Url } });
  expect(await withStore(embedded(back), contents)).toEqual(before);
});

test('the command says what it does, and refuses what it cannot', async () => {
  await withStore(embedded(), fill);
  writeFileSync(join(dir, 'keys.json'), 'the keys');
  const folder = configWith('sqlite');
  const migrating = (...args: string[]) => sluiceHere(['migrate', ...args]);
  const plan = await migrating('--to', url, '--dry-run', ...folder);
  expect(plan.stdout).toMatch(/18 entries, 3 blobs, .*\n {2}entry +18\n/);
  for (const args of [
    ['--to', join(root.path, 'x')],
    ['--to', 'postgres://x'],
    ['--to', url, '--blobs', 'ftp://'],
  ])
    expect((await migrating(...args, ...folder)).code).toBe(2);
  const moved = await migrating('--to', url, ...folder);
  expect(moved.code).toBe(0);
  expect(moved.stdout).toContain('18 entries, 3 blobs');
  expect(moved.stderr).toContain(`delete ${join(dir, 'moved.json')}`);
  const again = await migrating('--to', url, '--json', ...folder);
  expect(JSON.parse(again.stdout)).toMatchObject({ wasDone: true });
  const refused = await sluiceHere(['backup', join(root.path, 'backup'), ...folder]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('was moved to postgres://');

  const database = configWith(url);
  const back = join(root.path, 'back');
  expect((await migrating('--to', url, ...database)).code).toBe(2);
  expect((await migrating('--to', back, '--blobs', 'postgres', ...database)).code).toBe(2);
  const returned = await migrating('--to', back, '--json', ...database);
  expect(JSON.parse(returned.stdout)).toMatchObject({ to: back, wasDone: false, blobs: 3 });
  expect(readFileSync(join(back, 'keys.json'), 'utf8')).toBe('the keys');
  await withStore(embedded(back), contents);
});

function configWith(spoolUrl: string): string[] {
  const file = join(root.path, `${randomUUID()}.yaml`);
  writeFileSync(file, `dataDir: ${dir}\nspool:\n  url: ${spoolUrl}\n`);
  return ['--config', file];
}

/** Tables of PostgreSQL that are not copied row by row: what follows from others, blobs, and what gateways share. */
const NOT_COPIED: Readonly<Record<'derived' | 'blobs' | 'shared' | 'former', readonly string[]>> = {
  derived: ['remote', 'lane', 'card', 'card_span', 'dirty', 'filling'],
  blobs: ['blob', 'blob_chunk'],
  shared: ['known_key', 'lease', 'erasure_key', 'schema_version', 'moved', 'budget', 'instance'],
  /** Used by older gateways only. */
  former: ['sender_rate'],
};

test('every table of both stores is copied, or is known not to be', async () => {
  const db = openDatabase(join(root.path, 'spool.db'));
  const tables = db.prepare<[], { name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  // The index of entries has a file of its own and reads what has changed.
  const stored = Object.values(STORED).map(({ names: [name] }): string => name);
  const known = new Set([...stored, 'summaries', 'changes']);
  expect(new Set(tables.all().map(({ name }) => name))).toEqual(known);
  db.close();

  await withStore(shared(), () => Promise.resolve());
  const there = await column(
    url,
    `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`,
  );
  const copied = TABLES.map(({ name }) => name);
  expect(there.sort()).toEqual([...copied, ...Object.values(NOT_COPIED).flat()].sort());
  for (const { name, columns } of TABLES) {
    const all = await column(
      url,
      `SELECT column_name::text FROM information_schema.columns WHERE table_name = '${name}'`,
    );
    const settled = ['job', 'outcome'].includes(name) ? ['settled_by'] : [];
    const asked = name === 'probe_request' ? ['at'] : [];
    const derived = [...(name === 'entry' ? ['remote'] : []), ...settled, ...asked];
    expect(all.sort()).toEqual([...columns, ...derived].sort());
  }
});
