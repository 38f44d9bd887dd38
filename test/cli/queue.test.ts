import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Entry, type NewEntry, WAITS_FOR } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from '../support/store.ts';
import { asEntryId, asShopId, type EntryId, type ShopId } from '../../src/domain/ids.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { anEntry, claimFrom, retryLater, because } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

let dir: ReturnType<typeof tempDir>;
let spool: Spool;
let shopId: ShopId;
const events = Object.assign(new EventEmitter(), { exit: () => undefined });

/** A gateway's own spool stays open: the commands work beside it. */
beforeEach(async () => {
  dir = tempDir();
  const loaded = loadConfig({ env: env() });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const { shops } = await completeConfig(loaded.config);
  const [shop] = shops;
  if (shop === undefined) throw new Error('there is no demo shop');
  shopId = shop.shopId;
  ({ spool } = await openStore(dataDir()));
});
afterEach(async () => {
  await spool.close();
  dir.remove();
});

const dataDir = () => join(dir.path, 'data');
const env = () => ({ SLUICE_DATA_DIR: dataDir() });

async function sluice(...args: string[]) {
  const terminal = captureTerminal(env());
  const code = await runCli(args, terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr(), bytes: terminal.bytes() };
}
const queue = (...args: string[]) => sluice('queue', ...args);

async function accept(change: Partial<NewEntry> = {}): Promise<EntryId> {
  const entry = anEntry({ shopId, ...change });
  await spool.accept([entry]);
  return entry.id;
}

async function dead(): Promise<EntryId> {
  const id = await accept();
  const claimed = (await claimFrom(spool, shopId, 10, 60_000)).find(({ entry }) => entry.id === id);
  if (claimed === undefined) throw new Error('the entry was not claimed');
  await spool.settle(
    claimed.lease,
    { state: 'dead', reason: because('answer 422') },
    { steps: [{ at: Date.now(), step: 'dead', detail: { status: 422 } }] },
  );
  return id;
}

const parsed = (text: string): unknown => JSON.parse(text);

test('list shows entries newest first, filtered, for people and for programs', async () => {
  const text = await accept();
  const mail = await accept({ channel: 'email', hold: { code: 'postmaster' } });
  const gone = await dead();

  const all = await queue('list');
  expect(all.code).toBe(0);
  const order = [gone, mail, text].map((id) => all.stdout.indexOf(id));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(all.stdout).toMatch(/demo.*email.*held.*postmaster/);
  expect(all.stdout).toMatch(/demo.*sms.*dead.*answer 422/);

  const ids = async (...args: string[]) => {
    const { stdout } = await queue('list', '--json', ...args);
    return (parsed(stdout) as Entry[]).map(({ id }) => id);
  };
  expect(await ids()).toEqual([gone, mail, text]);
  expect(await ids('--state', 'dead', 'held')).toEqual([gone, mail]);
  expect(await ids('--channel', 'email')).toEqual([mail]);
  expect(await ids('--shop', 'demo', '--limit', '1')).toEqual([gone]);
  expect(await ids('--before', gone)).toEqual([mail, text]);
});

test('the beginning of an id is enough if no other entry has it', async () => {
  const [first, second] = [
    '01a21b36-80ed-748f-b533-21a715d0f7b9',
    '01a21b36-80f1-7c8f-b533-21a715d0f7b9',
  ].map(asEntryId);
  for (const id of [first, second])
    await accept({ ...(id && { id }), hold: { code: 'postmaster' } });
  const shown = parsed((await queue('show', '01A21B36-80ED', '--json')).stdout);
  expect(shown).toMatchObject({ id: first });

  const several = await queue('release', '01a21b36-80ed', '01a21b36');
  expect(several.code).toBe(1);
  expect(several.stderr).toContain(`several entries begin with 01a21b36: ${second}, ${first}`);
  // Nothing is changed unless it is known what is meant.
  expect(parsed((await queue('list', '--state', 'held', '--json')).stdout)).toHaveLength(2);
  for (const unknown of ['ffffffff-ff', '01a21b3', '01a21b36-80ee', '01a21b36-80edg']) {
    const { code, stderr } = await queue('show', unknown);
    expect([code, stderr]).toEqual([1, `there is no entry ${unknown}\n`]);
  }

  const released = await queue('release', '01a21b36-80e');
  expect(released.stdout).toBe(`${first}: released\n`);
  expect(parsed((await queue('list', '--state', 'held', '--json')).stdout)).toMatchObject([
    { id: second },
  ]);
});

test('what waits for a shop that is not configured says so', async () => {
  const stranger = await accept({ shopId: asShopId('0d7f9c1e-5d1b-4c6e-8a52-2f6a1b3c4d5e') });
  const { stdout } = await queue('list');
  expect(stdout).toMatch(new RegExp(`${stranger.slice(0, 30)}.* queued .*its shop is not`));
  const shown = parsed((await queue('show', stranger, '--json')).stdout);
  expect(shown).toMatchObject({ state: 'queued', reason: 'its shop is not configured' });
  const own = parsed((await queue('show', await accept(), '--json')).stdout);
  expect(own).not.toHaveProperty('reason');
});

test('what was delivered without an address to answer to says so', async () => {
  const id = await accept();
  const [claimed] = await claimFrom(spool, shopId, 1, 60_000);
  if (claimed === undefined) throw new Error('the entry was not claimed');
  await spool.settle(
    claimed.lease,
    { state: 'delivered', caveat: { code: 'cannot_be_answered' } },
    { steps: [] },
  );
  expect((await queue('list')).stdout).toMatch(
    new RegExp(`${id.slice(0, 30)}.* delivered .* cannot be answered`),
  );
});

test('what waits for its shop says so instead of a time', async () => {
  const id = await accept();
  const [claimed] = await claimFrom(spool, shopId, 1, 60_000);
  if (claimed === undefined) throw new Error('the entry was not claimed');
  const outcome = retryLater({ waitsFor: WAITS_FOR.shop, counts: false });
  await spool.settle(claimed.lease, outcome, { steps: [] });
  expect((await queue('list')).stdout).toMatch(/ queued +1 +no$/m);
  expect((await queue('show', id)).stdout).toMatch(/^next try +when its shop accepts messages/m);
  expect(parsed((await queue('show', id, '--json')).stdout)).toMatchObject({
    ...{ waitsFor: 'shop', failures: 1, attempts: 0 },
  });
});

test('list of a shop that is not configured says which there are', async () => {
  const { code, stderr } = await queue('list', '--shop', 'dmeo');
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean demo?');
});

test('show prints an entry with its timeline', async () => {
  const id = await dead();
  const { code, stdout } = await queue('show', id);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^id +${id}$`, 'm'));
  expect(stdout).toMatch(/^state +dead$/m);
  expect(stdout).toMatch(
    /^ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\+\d+ .*attempt 1: dead, took 0 ms$/m,
  );
  expect(stdout).toMatch(/^ +0 ms +dead +status=422$/m);

  const json = parsed((await queue('show', id, '--json')).stdout);
  expect(json).toMatchObject({ id, shop: 'demo', state: 'dead', timeline: expect.any(Array) });
});

test('what a stranger wrote cannot move the cursor', async () => {
  const id = await accept({ lane: 'a\u001b[2Jb\u202ec\u0007' });
  const { stdout } = await queue('show', id);
  expect(stdout).toContain('a\u{fffd}[2Jb\u{fffd}c\u{fffd}');
  // Nor does it in JSON, of which the value is the same.
  const hostile = await accept({ lane: 'x\u009b2J\u202e\u{e0001}y\nstate         delivered' });
  const json = (await queue('show', hostile, '--json')).stdout;
  expect(json).toContain('x\\u009b2J\\u202e\\udb40\\udc01y\\n');
  expect(JSON.parse(json)).toMatchObject({
    lane: 'x\u009b2J\u202e\u{e0001}y\nstate         delivered',
  });
  const lines = (await queue('show', hostile)).stdout.split('\n');
  expect(lines.filter((line) => line.startsWith('state '))).toEqual(['state         queued']);
});

test('show of an unknown id fails', async () => {
  expect(await queue('show', 'nothing')).toMatchObject({
    code: 1,
    stderr: 'there is no entry nothing\n',
  });
});

test('retry, release and discard move entries and say so', async () => {
  const gone = await dead();
  const held = await accept({ hold: because('a person decides') });
  expect(await queue('retry', gone, '--no-wait')).toMatchObject({
    code: 0,
    stdout: `${gone}: retried now\n`,
  });
  expect(await spool.get(gone)).toMatchObject({ state: 'queued', attempts: 0 });
  expect((await queue('release', held)).code).toBe(0);
  expect(await spool.get(held)).toMatchObject({ state: 'queued' });
  const { stdout } = await queue('discard', gone, held, '--json');
  expect(parsed(stdout)).toEqual([
    { id: gone, ok: true, result: 'discarded' },
    { id: held, ok: true, result: 'discarded' },
  ]);
  expect(await spool.get(held)).toMatchObject({ state: 'discarded' });
});

test('a move that does not fit the state changes nothing, and the others are done', async () => {
  const held = await accept({ hold: because('a person decides') });
  const gone = await dead();
  const { code, stdout, stderr } = await queue('retry', held, 'nothing', gone, '--no-wait');
  expect(code).toBe(1);
  expect(stdout).toBe(
    `${held}: is held; retry is for dead, queued\n` +
      `nothing: the entry does not exist\n${gone}: retried now\n`,
  );
  expect(stderr).toContain('2 of 3 entries were not changed\n');
  expect(await spool.get(held)).toMatchObject({ state: 'held' });
});

test('undo takes back what was retried or released and not tried yet, and says what was not', async () => {
  const gone = await dead();
  const held = await accept({ hold: because('a person decides') });
  const waiting = await accept();
  expect((await queue('retry', gone, '--no-wait')).stderr).toBe(
    `To undo this, until they are tried: sluice queue undo ${gone}\n`,
  );
  expect((await queue('release', '--all', '--yes')).stderr).toContain(
    `: sluice queue undo ${held}\n`,
  );
  expect((await queue('retry', waiting, '--no-wait')).stderr).toBe('');
  expect((await queue('undo', gone, '--dry-run')).stdout).toMatch(
    /would be taken back, unless it waited before/,
  );
  const notMoved =
    'could not be changed: there is nothing to undo: it waited before, or an attempt has started';
  expect(await queue('undo', waiting, gone)).toMatchObject({
    code: 1,
    stdout: `${waiting}: ${notMoved}\n${gone}: taken back\n`,
  });
  expect(await queue('undo', '--all', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/1 {2}taken back {2}\(was: a person decides\)/),
  });
  expect(await spool.get(gone)).toMatchObject({
    state: 'dead',
    reason: because('answer 422'),
  });
  expect(await spool.get(held)).toMatchObject({
    state: 'held',
    reason: because('a person decides'),
  });
  expect(await spool.get(waiting)).toMatchObject({ state: 'queued' });
  expect((await queue('undo', gone)).stdout).toBe(`${gone}: is dead; undo is for queued\n`);
});

/** An email as SMTP brings it. */
async function anEmail(n: number, change: Partial<NewEntry> = {}): Promise<EntryId> {
  const raw =
    `From: Ann Lee <ann${n}@customer.example>\r\nTo: support@demo.example\r\n` +
    `Subject: Lamp ${n}\r\n\r\nHello ${n}\r\nFrom here on it is mine\r\n>From there\r\n`;
  return accept({
    channel: 'email',
    raw: { kind: 'inline', bytes: Buffer.from(raw) },
    meta: { envelopeFrom: `ann${n}@customer.example`, envelopeTo: ['support@demo.example'] },
    ...change,
  });
}

const indexed = () =>
  waitFor('the index of words', async () => {
    const { stdout } = await queue('list', 'lamp', '--json');
    return (parsed(stdout) as unknown[]).length > 0;
  });

test('list finds by words, reason and time, and shows who wrote and about what', async () => {
  const first = await anEmail(1, { receivedAt: Date.now() - 3 * 3_600_000 });
  const second = await anEmail(2);
  await dead();
  await indexed();
  const ids = async (...args: string[]) => {
    const { stdout } = await queue('list', '--jsonl', ...args);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (parsed(line) as Entry).id);
  };
  expect(await ids('ann2@customer')).toEqual([second]);
  expect(await ids('lamp', '1')).toEqual([first]);
  expect(await ids('lamp', '--since', '2h')).toEqual([second]);
  expect(await ids('lamp', '--until', '2h')).toEqual([first]);
  expect(await ids('--reason', 'answer 4')).toHaveLength(1);
  expect(await ids('--reason', 'answer 5')).toEqual([]);
  const { stdout } = await queue('list', 'lamp', '2');
  expect(stdout).toMatch(/Ann Lee <ann2.*Lamp 2/);
  const { code, stderr } = await queue('list', '--since', 'yesterday');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('2h or 7d') });
});

test('stats counts by state, shop, channel and age', async () => {
  await anEmail(1, { receivedAt: Date.now() - 2 * 86_400_000 });
  await anEmail(2);
  await accept({ channel: 'email', hold: { code: 'postmaster' } });
  const { stdout } = await queue('stats', '--json');
  expect(parsed(stdout)).toMatchObject([
    {
      state: 'queued',
      shop: 'demo',
      channel: 'email',
      count: 2,
      byAge: { '<1m': 1, '<7d': 1, older: 0 },
    },
    { state: 'held', shop: 'demo', channel: 'email', count: 1, byAge: { '<1m': 1 } },
  ]);
  const text = await queue('stats');
  expect(text.stdout).toMatch(/^queued +demo +email +2 +1 +\. .* 2d +now$/m);
  expect(text.stdout).toContain('2 queued, 1 held');
  expect((await queue('stats', '--channel', 'sms')).stdout).toBe(
    'Nothing waits for delivery or for an operator (sms).\n',
  );
});

test('show --raw gives what arrived, byte for byte; without a record there is no payload', async () => {
  const bytes = Buffer.from([0x41, 0x00, 0xff, 0x0d, 0x0a]);
  const id = await accept({ raw: { kind: 'inline', bytes } });
  expect((await queue('show', id, '--raw')).bytes).toEqual(bytes);
  expect(await queue('show', id, '--payload')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing has been submitted'),
  });
});

test('show --payload and --trimmed give what the last attempt made of a message', async () => {
  const id = await accept();
  const [claimed] = await claimFrom(spool, shopId, 1, 60_000);
  if (claimed === undefined) throw new Error('nothing was claimed');
  const record = {
    request: { message: { content: 'Hello' } },
    trimmed: '> what you wrote\u001b[2J',
    attachments: [{ part: '1', name: 'lamp.jpg', type: 'image/jpeg', bytes: 12 }],
  };
  await spool.settle(
    claimed.lease,
    { state: 'delivered' },
    { steps: [{ at: Date.now(), step: 'delivered' }] },
    record,
  );
  expect(parsed((await queue('show', id, '--payload')).stdout)).toEqual(record.request);
  expect((await queue('show', id, '--trimmed')).stdout).toBe('> what you wrote\u{fffd}[2J\n');
  expect((await queue('show', id)).stdout).toMatch(/lamp\.jpg {2}image\/jpeg {2}12 bytes/);
});

test('moves by a filter need --yes where nobody can be asked, tell results, and are written down', async () => {
  const gone = [await dead(), await dead(), await dead()];
  const held = await accept({ hold: { code: 'dmarc' } });
  const asked = await queue('retry', '--all');
  expect(asked).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('retry 3 entries (dead)'),
  });
  const { code, stdout } = await queue('retry', '--all', '--shop', 'demo', '--yes');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '      3  retried now  (was: answer 422)\n',
  });
  for (const id of gone) expect(await spool.get(id)).toMatchObject({ state: 'queued' });
  expect(await spool.get(held)).toMatchObject({ state: 'held' });
  expect(await queue('discard', '--all', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('needs --state'),
  });
  expect(await queue('retry', '--all', '--state', 'held', '--yes')).toMatchObject({ code: 2 });
  expect(await queue('retry')).toMatchObject({
    code: 2,
    stderr: 'give ids, or --all with filters\n',
  });

  await queue('discard', held);
  expect((await queue('restore', held)).stdout).toBe(`${held}: restored\n`);
  expect(await spool.get(held)).toMatchObject({ state: 'held' });
  const audit = parsed((await sluice('audit', '--json')).stdout);
  expect(audit).toMatchObject([
    {
      action: 'restore',
      target: held,
      outcome: 'restored',
      who: expect.stringMatching(/^terminal:./),
    },
    { action: 'discard', target: held },
    { action: 'retry', target: '3 entries: dead, shop demo', outcome: 'all done' },
  ]);
  const newest = await sluice('audit', '--limit', '1');
  expect(newest.stdout).toMatch(/restore/);
  expect(newest.stderr).toMatch(/^For older lines: --before \d+\n$/);
  expect((await sluice('audit', '--before', '1')).stdout).toBe('No older lines.\n');
  const found = await sluice('audit', '--action', 'discard', '--text', 'TERMINAL', '--jsonl');
  expect(found.stdout.trim().split('\n').map(parsed)).toMatchObject([{ action: 'discard' }]);
  expect((await sluice('audit', '--until', '1d')).stdout).toBe('No such lines.\n');
});

test('words of a filter are not written down: they may be an address', async () => {
  await anEmail(1, { hold: { code: 'dmarc' } });
  await indexed();
  const { stdout } = await queue('release', '--all', '--text', 'ann1@customer', '--yes');
  expect(stdout).toContain('1  released  (was: Fails DMARC)');
  const audit = (await sluice('audit', '--json')).stdout;
  expect(audit).toContain('by words');
  expect(audit).not.toContain('ann1');
});
