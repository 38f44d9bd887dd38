import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { asEntryId, type EntryId, type ShopId } from '../../src/domain/ids.ts';
import type { NewEntry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { anEntry } from '../support/entries.ts';
import { openStore } from '../support/store.ts';
import { tempDir } from '../support/temp-dir.ts';

const REASON = { code: 'dmarc' } as const;
const events = Object.assign(new EventEmitter(), { exit: () => undefined });
let dir: ReturnType<typeof tempDir>;
let spool: Spool;
let shopId: ShopId;

beforeEach(async () => {
  dir = tempDir();
  const loaded = loadConfig({ env: env() });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const [shop] = (await completeConfig(loaded.config)).shops;
  if (shop === undefined) throw new Error('there is no demo shop');
  shopId = shop.shopId;
  ({ spool } = await openStore(join(dir.path, 'data')));
});
afterEach(async () => {
  await spool.close();
  dir.remove();
});

/** Without colours, so that characters can be counted. */
const env = () => ({ SLUICE_DATA_DIR: join(dir.path, 'data'), NO_COLOR: '1' });

async function run(screen: { columns?: number; canDrawOver?: true }, ...args: string[]) {
  const terminal = Object.assign(captureTerminal(env()), screen);
  const code = await runCli(['queue', ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}
const queue = (...args: string[]) => run({}, ...args);
const printed = async (...args: string[]) => (await queue(...args)).stdout;

async function accept(change: Partial<NewEntry> = {}): Promise<EntryId> {
  const entry = anEntry({ shopId, ...change });
  await spool.accept([entry]);
  return entry.id;
}
const held = (change: Partial<NewEntry> = {}) => accept({ hold: REASON, ...change });

describe('a dry run', () => {
  test('with --all says how many entries of each shop and channel would be moved', async () => {
    const ids = [await held(), await held(), await held({ channel: 'email' })];
    await accept();
    expect(await queue('release', '--all', '--dry-run')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: '      2  demo  sms\n      1  demo  email\n3 entries would be released (held).\n',
    });
    expect(await printed('release', '--all', '--channel', 'email', '--dry-run')).toBe(
      '      1  demo  email\n1 entry would be released (held, email).\n',
    );
    const json: unknown = JSON.parse(await printed('release', '--all', '--dry-run', '--json'));
    expect(json).toEqual({
      ...{ dryRun: true, total: 3 },
      matches: [
        { shop: 'demo', shopId, channel: 'sms', count: 2 },
        { shop: 'demo', shopId, channel: 'email', count: 1 },
      ],
    });
    for (const id of ids) expect(await spool.get(id)).toMatchObject({ state: 'held' });
  });

  test('with ids says what would become of each', async () => {
    const [one, waiting] = [await held(), await accept()];
    expect(await queue('release', one, waiting, 'nothing', '--dry-run')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout:
        `${one}: would be released\n${waiting}: is queued; release is for held, suppressed\n` +
        'nothing: the entry does not exist\n',
    });
    const json: unknown = JSON.parse(await printed('release', one, '--dry-run', '--json'));
    expect(json).toEqual([{ id: one, ok: true, result: 'would be released' }]);
    expect(await spool.get(one)).toMatchObject({ state: 'held' });
  });

  test('has the checks of the move itself', async () => {
    expect(await queue('discard', '--all', '--dry-run')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs --state'),
    });
    expect((await queue('retry', '--all', '--state', 'held', '--dry-run')).code).toBe(2);
    expect((await queue('retry', '--all', '--shop', 'dmeo', '--dry-run')).code).toBe(2);
  });
});

describe('a search without a result', () => {
  test('says so if there is nothing at all, or nothing that matches', async () => {
    expect(await printed('list')).toBe('There are no entries.\n');
    expect(await printed('retry', '--all')).toBe('There are no entries.\n');
    await accept();
    expect(await printed('list', '--channel', 'email')).toBe('No entries match.\n');
    expect(await printed('list', '--channel', 'email', '--state', 'dead')).toBe(
      'No entries match.\n',
    );
    expect(await printed('list', '--json', '--channel', 'email')).toBe('[]\n');
  });

  test('names the states in which entries match', async () => {
    await accept();
    await held();
    await held({ channel: 'email' });
    const elsewhere = 'No entries that match are dead. In other states: 1 queued, 2 held.\n';
    expect(await printed('list', '--state', 'dead')).toBe(elsewhere);
    for (const more of [[], ['--dry-run'], ['--yes']]) {
      expect(await printed('retry', '--all', ...more)).toBe(elsewhere);
    }
    expect(await printed('list', '--state', 'dead', 'queued', '--channel', 'email')).toBe(
      'No entries that match are dead or queued. In other states: 1 held.\n',
    );
  });

  test('says that the page is after the last one', async () => {
    const oldest = asEntryId('00000000-0000-7000-8000-000000000000');
    await accept({ id: oldest });
    await held();
    const past = 'No older entries match; without --before, the newest are listed.\n';
    expect(await printed('list', '--before', oldest)).toBe(past);
    expect(await printed('list', '--before', oldest, '--state', 'held')).toBe(past);
    expect(await printed('list', '--before', oldest, '--state', 'dead')).toContain(
      'In other states: 1 queued, 1 held',
    );
  });

  test('says that there is no store, instead of no entries', async () => {
    const terminal = captureTerminal({ SLUICE_DATA_DIR: join(dir.path, 'elsewhere') });
    for (const args of [['list'], ['show', 'x'], ['retry', '--all'], ['stats']]) {
      expect(await runCli(['queue', ...args], terminal, events)).toBe(1);
    }
    expect(terminal.stdout()).toBe('');
    expect(
      terminal.stderr().match(/there is no spool in .*elsewhere: start a gateway/g),
    ).toHaveLength(4);
  });
});

describe('the columns of the list', () => {
  const reason = 'the contact is not valid: '.repeat(8).trim();
  const list = async (columns?: number) => {
    await held({ hold: { code: 'other', params: { text: reason } } });
    return (await run(columns === undefined ? {} : { columns }, 'list', '--state', 'held')).stdout;
  };

  test.each([
    [80, 30],
    [120, 30],
    [160, 35],
    [240, 90],
  ])('of a terminal with %d columns leave the reason %d or more', async (columns, least) => {
    const [, line = ''] = (await list(columns)).split('\n');
    expect(Array.from(line).length).toBeLessThanOrEqual(columns);
    expect(line.length - line.indexOf('the contact')).toBeGreaterThanOrEqual(least);
  });

  test('are not cut on a pipe', async () => expect(await list()).toContain(reason));
});

describe('--quiet', () => {
  test('leaves out explanations and progress, and keeps results and errors', async () => {
    const ids = [await held(), await held()];
    const screen = { canDrawOver: true } as const;
    const loud = await run(screen, 'list', '--limit', '1');
    expect(loud.stderr).toMatch(/^For older entries: --before /);
    const quiet = await run(screen, '--quiet', 'list', '--limit', '1');
    expect(quiet).toEqual({ ...loud, stderr: '' });
    expect((await run(screen, 'release', '--all', '--yes')).stderr).toContain('release [');
    await run(screen, 'discard', ...ids);
    expect(await run(screen, 'restore', '--all', '--yes', '-q')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: expect.stringContaining('2  restored'),
    });
    expect(await run(screen, 'show', 'nothing', '-q')).toMatchObject({
      ...{ code: 1, stderr: 'there is no entry nothing\n' },
    });
  });
});
