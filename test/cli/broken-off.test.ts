import { EventEmitter } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, test } from '@jest/globals';
import { interruptible } from '../../src/cli/process-end.ts';
import { runCli } from '../../src/cli/run.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from '../support/store.ts';
import type { ShopId } from '../../src/domain/ids.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ends } from '../support/ends.ts';
import { anEntry } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const HELD = 250;

let dir: string;
let spool: Spool;
let shopId: ShopId;
const env = () => ({ SLUICE_DATA_DIR: join(dir, 'data') });

beforeEach(async () => {
  const made = tempDir();
  dir = made.path;
  ends(made.remove);
  const loaded = loadConfig({ env: env() });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const { shops } = await completeConfig(loaded.config);
  shopId = shops[0]?.shopId ?? shopId;
  ({ spool } = await openStore(join(dir, 'data')));
  ends(() => spool.close());
  await spool.accept(
    Array.from({ length: HELD }, () => anEntry({ shopId, hold: { code: 'dmarc' } })),
  );
});

/** Sends itself a signal as soon as somebody listens, or listens for the nth time. */
class Impatient extends EventEmitter {
  exits: number[] = [];
  readonly #signal: string;
  #left: number;
  constructor(signal: string, nth = 1) {
    super();
    this.#signal = signal;
    this.#left = nth;
  }
  override on(event: string, listener: (...args: unknown[]) => void): this {
    super.on(event, listener);
    if (event === this.#signal && --this.#left === 0) listener();
    return this;
  }
  exit(code: number): void {
    this.exits.push(code);
  }
}

async function sluice(args: readonly string[], events: Impatient, more: Partial<Terminal> = {}) {
  const terminal = Object.assign(captureTerminal(env()), more);
  const code = await runCli(args, terminal, events);
  expect(events.eventNames()).toEqual([]);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

test('an export leaves no half of a file with letters in it, and is written down', async () => {
  const out = join(dir, 'all.jsonl');
  const { code, stderr } = await sluice(['queue', 'export', '-o', out], new Impatient('SIGINT'));
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'interrupted\n' });
  expect(readdirSync(dir)).toEqual(['data']);
  const { stdout } = await sluice(['audit', '--jsonl'], new Impatient('none'));
  expect(JSON.parse(stdout)).toMatchObject({ action: 'export', outcome: 'jsonl, interrupted' });
});

test('moves of many end between two commits, with what was done told and written down', async () => {
  const { code, stderr } = await sluice(
    ['queue', 'discard', '--all', '--state', 'held', '--yes'],
    new Impatient('SIGTERM'),
  );
  expect(code).toBe(143);
  expect(stderr).toBe(`100 of ${HELD}: all done; then it was interrupted\ninterrupted\n`);
  const discarded = await spool.list({ states: ['discarded'], limit: 1000 });
  expect(discarded).toHaveLength(100);
  const { stdout } = await sluice(['audit', '--jsonl'], new Impatient('none'));
  expect(JSON.parse(stdout)).toMatchObject({ action: 'discard', target: '100 entries: held' });
});

test('an ingest ends though its pipe says nothing more, and keeps no half message', async () => {
  const input = new PassThrough();
  input.write('From ann@x.example Sat Nov 21 10:00:00 2026\nTo: support@demo.example\n\nHel');
  const events = new Impatient('none');
  const running = sluice(['ingest', '-'], events, { input });
  await waitFor('the reading', () => events.listenerCount('SIGINT') > 0);
  events.emit('SIGINT');
  expect((await running).code).toBe(130);
  expect(await spool.list({ limit: 1000 })).toHaveLength(HELD);
});

test('files that are read are broken off too', async () => {
  const eml = join(dir, 'a.eml');
  writeFileSync(eml, 'From: a@x.example\nTo: support@demo.example\n\nHello\n');
  const { code, stdout } = await sluice(['ingest', eml], new Impatient('SIGHUP'));
  expect({ code, stdout }).toEqual({
    code: 129,
    stdout: 'ingested: 0, already present: 0, failed: 0\n',
  });
});

test('a backup that is broken off leaves neither a folder nor a note of it', async () => {
  const target = join(dir, 'copy');
  const before = readdirSync(join(dir, 'data'));
  const { code, stdout, stderr } = await sluice(['backup', target], new Impatient('SIGINT'));
  expect({ code, stdout, stderr }).toEqual({ code: 130, stdout: '', stderr: 'interrupted\n' });
  expect(readdirSync(dir)).toEqual(['data']);
  const added = readdirSync(join(dir, 'data')).filter((name) => !before.includes(name));
  expect(added.filter((name) => name.endsWith('.part'))).toEqual([]);
  expect((await sluice(['backup', target], new Impatient('none'))).code).toBe(0);
});

const ANN = 'ann@x.example';
const ANNS = 60;

async function acceptAnns(): Promise<void> {
  const agentContact = 'support@demo.example';
  const mail = {
    channel: 'email',
    lane: `${ANN} ${agentContact}`,
    meta: { agentContact },
  } as const;
  await spool.accept(Array.from({ length: ANNS }, () => anEntry({ shopId, ...mail })));
}

const anns = async (): Promise<number> =>
  (await spool.list({ channel: 'email', limit: 1000 })).length;

test('an erasure that is broken off while it looks has erased nothing', async () => {
  await acceptAnns();
  const args = ['erase', '--address', ANN, '--yes'];
  const { code, stderr } = await sluice(args, new Impatient('SIGINT'));
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'interrupted\n' });
  expect(await anns()).toBe(ANNS);
});

test('an erasure ends between two steps, says so, and is finished by the next', async () => {
  await acceptAnns();
  const args = ['erase', '--address', ANN, '--yes', '--json'];
  const broken = await sluice(args, new Impatient('SIGTERM', 2));
  expect(broken).toEqual({
    code: 143,
    stdout: '',
    stderr: 'Not everything is erased yet: run the same command again to finish.\ninterrupted\n',
  });
  const left = await anns();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(ANNS);
  const { stdout } = await sluice(['audit', '--jsonl'], new Impatient('none'));
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ outcome: 'interrupted' });
  const again = await sluice(args, new Impatient('none'));
  expect(again.code).toBe(0);
  // The report is what the command promises to programs.
  expect((JSON.parse(again.stdout) as { erased: boolean }).erased).toBe(true);
  expect(await anns()).toBe(0);
});

test('an export of a person that is broken off leaves no half of an archive', async () => {
  await acceptAnns();
  const args = ['export', '--address', ANN, '--output', join(dir, 'ann.zip')];
  const { code, stderr } = await sluice(args, new Impatient('SIGINT', 2));
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'interrupted\n' });
  expect(readdirSync(dir)).toEqual(['data']);
  const { stdout } = await sluice(['audit', '--jsonl'], new Impatient('none'));
  expect(JSON.parse(stdout)).toMatchObject({ action: 'export', outcome: 'not completed' });
});

test('one Ctrl-C that arrives twice is one', async () => {
  const events = new Impatient('none');
  const work = (signal: AbortSignal) => {
    events.emit('SIGINT');
    events.emit('SIGINT');
    signal.throwIfAborted();
    return Promise.resolve();
  };
  await expect(interruptible(events, work)).rejects.toMatchObject({ code: 130 });
  expect(events.exits).toEqual([]);
});
