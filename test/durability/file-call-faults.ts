import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { BALLAST_FILE } from '../../src/spool/ballast.ts';
import { assertIntact } from '../../src/spool/blobs.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { openDatabase } from '../../src/spool/sqlite/database.ts';
import { noteErasure } from '../../src/spool/sqlite/vacuum.ts';
import { buildPreload } from '../support/preload.ts';
import { tempDir } from '../support/temp-dir.ts';

/**
 * The same intake and delivery, once for each file call that the store makes in it, with that call
 * failing; and again with it and all that follow. By default only the first of a row of like calls,
 * and a part of the errors: SLUICE_EVERY_CALL=all leaves nothing out.
 */
const EVERYTHING = process.env['SLUICE_EVERY_CALL'] === 'all';
const SCENARIO = fileURLToPath(new URL('./store-scenario.mjs', import.meta.url));
const AT_ONCE = 2;
const ENDS_WITHIN_MS = 60_000;
const SENT = [0, 1, 2, 3];

const temp = tempDir();
afterAll(() => temp.remove());
const preload = buildPreload('failing-call', temp.path);
const library = 'library' in preload ? preload.library : '';
const why = 'why' in preload ? preload.why : undefined;
if (why !== undefined) {
  console.error(`!! SKIPPED: that a fault at every file call loses nothing: ${why}`);
}

type ErrorName = 'EIO' | 'ENOSPC' | 'EMFILE';

/** Calls that the kernel answers so. */
const KINDS: Readonly<Record<ErrorName, readonly string[]>> = {
  EIO: ['open', 'mkdir', 'read', 'write', 'rename', 'sync', 'statfs', 'unlink', 'truncate'],
  ENOSPC: ['open', 'mkdir', 'write', 'rename', 'sync', 'truncate'],
  EMFILE: ['open'],
};

/** How much of a variant is played by default. */
interface Extent {
  /** Every call once with EIO; otherwise the syncs alone, and nothing of what comes later. */
  readonly isWhole: boolean;
  readonly every: number;
}

interface Fault {
  readonly at: number;
  readonly error: ErrorName;
  readonly goesOn: boolean;
}

/** With what a data folder begins, and which of the calls can fail. */
interface Variant {
  readonly title: string;
  readonly countFrom: 'opening' | 'opened';
  readonly hasBallast: boolean;
  /** Of a process that was killed: its messages are acknowledged, its log is not trusted. */
  readonly hasLog: boolean;
  /** Somebody was erased from it, and its file is not rewritten yet. */
  readonly isErased?: boolean;
}

interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said, and what failed, in order. */
  readonly lines: readonly string[];
  readonly errors: string;
}

let lastRun = 0;
const newFolder = (): string => join(temp.path, `run-${++lastRun}`);

async function run(
  folder: string,
  options: { name: string; countFrom: Variant['countFrom']; tries: number; isKilled?: boolean },
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const trigger = `${folder}.trigger`;
  const child = spawn(
    process.execPath,
    [SCENARIO, JSON.stringify({ dir: folder, trigger, ...options })],
    {
      env: { PATH: process.env['PATH'], FAIL_FOLDER: folder, FAIL_WHEN: trigger, ...env },
      ...{ stdio: ['ignore', 'pipe', 'pipe'], timeout: ENDS_WITHIN_MS, killSignal: 'SIGKILL' },
    },
  );
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  rmSync(trigger, { force: true });
  return { code, signal, lines: output.split('\n').filter((line) => line !== ''), errors };
}

/** What a killed process left, made once; and the ballast, which is large. */
const template = { folder: newFolder(), made: undefined as Promise<readonly string[]> | undefined };
const beginning = (): Promise<readonly string[]> =>
  (template.made ??= run(template.folder, {
    ...{ name: 'before', countFrom: 'opened', tries: 1, isKilled: true },
  }).then(({ signal, lines }) => {
    expect(signal).toBe('SIGKILL');
    return keysAfter('acked', lines);
  }));

/** The names of those that are acknowledged already. */
async function prepare(
  folder: string,
  { hasBallast, hasLog, isErased }: Variant,
): Promise<readonly string[]> {
  const before = await beginning();
  if (!hasBallast && !hasLog) return [];
  mkdirSync(folder, { mode: 0o700 });
  // Nobody writes into it.
  if (hasBallast) linkSync(join(template.folder, BALLAST_FILE), join(folder, BALLAST_FILE));
  if (!hasLog) return [];
  for (const file of ['spool.db', 'spool.db-wal']) {
    copyFileSync(join(template.folder, file), join(folder, file));
  }
  cpSync(join(template.folder, 'blobs'), join(folder, 'blobs'), { recursive: true });
  if (isErased) {
    const db = openDatabase(join(folder, 'spool.db'));
    noteErasure(db);
    db.close();
  }
  return before;
}

/** Every call when nothing fails. */
async function countCalls(variant: Variant): Promise<readonly Call[]> {
  const folder = newFolder();
  await prepare(folder, variant);
  const report = `${folder}.calls`;
  const env = { LD_PRELOAD: library, FAIL_AT: '0', FAIL_COUNT: report };
  const ran = await run(folder, { name: 'now', countFrom: variant.countFrom, tries: 1 }, env);
  expect({ ...ran, acked: keysAfter('acked', ran.lines).length }).toMatchObject({
    ...{ code: 0, errors: '', acked: SENT.length },
  });
  rmSync(folder, { recursive: true });
  return toCalls(readFileSync(report, 'utf8').trimEnd().split('\n'));
}

interface Call {
  /** From 1 on. */
  readonly at: number;
  readonly kind: string;
  /** In a row of like calls, or of like pairs of them, and not the first. */
  readonly isAgain: boolean;
  /** The store is open, and the first message file is made. */
  readonly isLater: boolean;
}

function toCalls(report: readonly string[]): readonly Call[] {
  const opened = report.findIndex((line) => /^open blobs\/.*\.tmp$/.test(line));
  return report.map((line, n) => ({
    at: n + 1,
    kind: line.split(' ', 1)[0] ?? '',
    isAgain: line === report[n - 1] || line === report[n - 2],
    isLater: n >= opened,
  }));
}

/** Every so manieth of the calls that can fail so; of what matters most all. */
function faultsAt(calls: readonly Call[], { isWhole, every }: Extent): readonly Fault[] {
  return (['EIO', 'ENOSPC', 'EMFILE'] as const).flatMap((error, nthError) =>
    [false, true].flatMap((goesOn) => {
      const isFirst = error === 'EIO' && !goesOn;
      const able = calls.filter(({ kind }) => KINDS[error].includes(kind));
      if (EVERYTHING) return able.map(({ at }) => ({ at, error, goesOn }));
      return able
        .filter(({ isAgain, isLater }) => !isAgain && (isWhole || !isLater))
        .filter(
          ({ kind }, n) =>
            (isFirst && (isWhole || kind === 'sync')) ||
            (n + nthError + (goesOn ? every / 2 : 0)) % every === 0,
        )
        .map(({ at }) => ({ at, error, goesOn }));
    }),
  );
}

const keysAfter = (word: string, lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

/**
 * Whether the store depends on it. Not on the locks, whose content is nothing. SQLite syncs the folder
 * and keeps a failure to itself; the store does it once more before it is open. Without space there is
 * no ballast, and the store knows; the message of a new file is refused; and the copy of a log is made
 * once more, when that has made room.
 */
const isFailedSync = (line: string, error: ErrorName): boolean =>
  line.startsWith('failed sync ') &&
  !/^failed sync (?:\.$|[a-z]+\.lock)/.test(line) &&
  !(error === 'ENOSPC' && /(?:ballast|spool\.db-wal|blobs\/[\w-]+)\.[a-z]+$/.test(line));

/** What is wrong with how the process went. */
function wrongsOf({ code, signal, lines, errors }: Ran, { error, goesOn }: Fault): string[] {
  const wrongs: string[] = [];
  const last = lines.findLast((line) => !line.startsWith('failed '));
  const isInOrder =
    (code === 0 && last === 'closed') ||
    (code === 1 && (last === 'fatal' || last?.startsWith('refused open ')));
  if (!isInOrder) wrongs.push(`it ended with ${signal ?? code} after ${last}: ${errors}`);
  const syncAt = lines.findIndex((line) => isFailedSync(line, error));
  const closingAt = lines.indexOf('closing');
  const failedAt = [lines.indexOf('fatal'), syncAt].filter((at) => at >= 0);
  const later = lines.slice(Math.min(lines.length, ...failedAt));
  if (later.some((line) => /^(?:acked|delivered) /.test(line))) {
    wrongs.push('it acknowledged after a failed sync');
  }
  if (syncAt >= 0 && (closingAt < 0 || syncAt < closingAt) && code === 0) {
    wrongs.push('it went on after a failed sync');
  }
  if (
    lines.some((line) => /^refused (?!open |read )\w+ (?!SpoolFull |SpoolUnavailable )/.test(line))
  )
    wrongs.push('it refused with another error');
  if (code === 0 && !goesOn && keysAfter('acked', lines).length < SENT.length) {
    wrongs.push('it refused again and again after one failure');
  }
  return wrongs;
}

/** What is wrong with what the next process finds. */
async function lossesIn(
  folder: string,
  acked: readonly string[],
  delivered: readonly string[],
): Promise<string[]> {
  // It makes no ballast so, and takes nothing in.
  const { spool } = await openSqliteStore({
    ...{ dir: folder, role: 'owner', reserveBytes: Number.MAX_SAFE_INTEGER, threads: false },
  });
  try {
    const wrongs: string[] = [];
    const { missing } = await spool.recover();
    if (missing.length > 0) wrongs.push(`${missing.length} files are missing`);
    const entries = await spool.list({ limit: 100 });
    for (const key of acked) {
      const found = entries.filter(({ meta }) => meta['key'] === key);
      if (found.length !== 1) wrongs.push(`${key} is there ${found.length} times`);
    }
    for (const { id, meta, state } of entries) {
      const key = String(meta['key']);
      if (delivered.includes(key) && state !== 'delivered') wrongs.push(`${key} is ${state} again`);
      const raw = await spool.raw(id);
      if (raw !== undefined) await assertIntact(raw, spool.blobs);
      else if (state !== 'delivered') wrongs.push(`${key} has no raw bytes`);
    }
    return wrongs;
  } finally {
    await spool.close();
  }
}

async function play(variant: Variant, fault: Fault): Promise<string | undefined> {
  const folder = newFolder();
  const before = await prepare(folder, variant);
  const tries = fault.goesOn ? 1 : 3;
  const ran = await run(
    folder,
    { name: 'now', countFrom: variant.countFrom, tries },
    {
      LD_PRELOAD: library,
      ...{ FAIL_AT: String(fault.at), FAIL_KINDS: KINDS[fault.error].join(',') },
      FAIL_ERRNO: String(constants.errno[fault.error]),
      ...(fault.goesOn && { FAIL_ON: '1' }),
    },
  );
  const acked = [...before, ...keysAfter('acked', ran.lines)];
  const losses = await lossesIn(folder, acked, keysAfter('delivered', ran.lines)).catch(
    (error: unknown) => [`afterwards: ${String(error)}`],
  );
  const wrongs = [...wrongsOf(ran, fault), ...losses];
  rmSync(folder, { recursive: true, force: true });
  if (wrongs.length === 0) return undefined;
  const { at, error, goesOn } = fault;
  return [
    `call ${at}${goesOn ? ' and on' : ''}, ${error}: ${wrongs.join('; ')}`,
    ...ran.lines,
  ].join('\n  ');
}

/** A few at a time. */
async function playAll(variant: Variant, faults: readonly Fault[]): Promise<readonly string[]> {
  const rest = faults.values();
  const wrong: string[] = [];
  const work = async (): Promise<void> => {
    for (const fault of rest)
      wrong.push(...[await play(variant, fault)].filter((line) => line !== undefined));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return wrong;
}

/** The tests of these variants, of a file that has time for them. */
export function testFileCalls(variants: readonly (Variant & Extent)[]): void {
  (why === undefined ? describe : describe.skip)('a file call fails', () => {
    test.each(variants)(
      'each $title: nothing acknowledged is lost, nothing is acknowledged after a failed sync',
      async (variant) => {
        const began = performance.now();
        const calls = await countCalls(variant);
        expect(new Set(calls.map(({ kind }) => kind))).toEqual(
          new Set(KINDS.EIO.filter((kind) => kind !== 'mkdir' || variant.countFrom === 'opening')),
        );
        const faults = faultsAt(calls, variant);
        const wrong = await playAll(variant, faults);
        if (EVERYTHING) {
          const seconds = ((performance.now() - began) / 1000).toFixed(0);
          console.log(
            `${basename(SCENARIO)}: ${calls.length} calls, ${faults.length} runs, ${seconds} s`,
          );
        }
        expect(wrong).toEqual([]);
      },
      EVERYTHING ? 3_600_000 : 300_000,
    );
  });
}
