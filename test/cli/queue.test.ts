import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Entry, NewEntry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import type { EntryId, ShopId } from '../../src/types/ids.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { anEntry } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

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
  ({ spool } = await openSqliteStore({ dir: dataDir(), role: 'owner', reserveBytes: 0 }));
});
afterEach(async () => {
  await spool.close();
  dir.remove();
});

const dataDir = () => join(dir.path, 'data');
const env = () => ({ SLUICE_DATA_DIR: dataDir() });

async function queue(...args: string[]) {
  const terminal = captureTerminal(env());
  const code = await runCli(['queue', ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

async function accept(change: Partial<NewEntry> = {}): Promise<EntryId> {
  const entry = anEntry({ shopId, ...change });
  await spool.accept([entry]);
  return entry.id;
}

async function dead(): Promise<EntryId> {
  const id = await accept();
  const claimed = (await spool.claim(shopId, 10, 60_000)).find(({ entry }) => entry.id === id);
  if (claimed === undefined) throw new Error('the entry was not claimed');
  await spool.settle(claimed.lease, { state: 'dead', reason: 'answer 422' }, [
    { at: Date.now(), step: 'dead', detail: { status: 422 } },
  ]);
  return id;
}

const parsed = (text: string): unknown => JSON.parse(text);

test('list shows entries newest first, filtered, for people and for programs', async () => {
  const text = await accept();
  const mail = await accept({ channel: 'email', hold: 'postmaster' });
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
  expect(stdout).toMatch(/^ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}dead +status=422$/m);

  const json = parsed((await queue('show', id, '--json')).stdout);
  expect(json).toMatchObject({ id, shop: 'demo', state: 'dead', timeline: expect.any(Array) });
});

test('what a stranger wrote cannot move the cursor', async () => {
  const id = await accept({ lane: 'a\u001b[2Jb\u202ec\u0007' });
  const { stdout } = await queue('show', id);
  expect(stdout).toContain('a\u{fffd}[2Jb\u{fffd}c\u{fffd}');
});

test('show of an unknown id fails', async () => {
  expect(await queue('show', 'nothing')).toMatchObject({
    code: 1,
    stderr: 'there is no entry nothing\n',
  });
});

test('retry, release and discard move entries and say so', async () => {
  const gone = await dead();
  const held = await accept({ hold: 'a person decides' });
  expect(await queue('retry', gone)).toMatchObject({ code: 0, stdout: `${gone}: retried now\n` });
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
  const held = await accept({ hold: 'a person decides' });
  const gone = await dead();
  const { code, stdout, stderr } = await queue('retry', held, 'nothing', gone);
  expect(code).toBe(1);
  expect(stdout).toBe(
    `${held}: is held; retry is for dead, queued\n` +
      `nothing: there is no such entry\n${gone}: retried now\n`,
  );
  expect(stderr).toBe('2 of 3 not changed\n');
  expect(await spool.get(held)).toMatchObject({ state: 'held' });
});
