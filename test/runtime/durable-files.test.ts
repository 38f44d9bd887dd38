import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { beforeEach, expect, test } from '@jest/globals';
import {
  DurableFiles,
  makeFileOnce,
  makeFolder,
  renewFile,
  rewriteFile,
} from '../../src/runtime/durable-files.ts';
import { ends } from '../support/ends.ts';
import { waitFor } from '../support/wait-for.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir = '';

beforeEach(() => {
  const temp = tempDir();
  ends(() => temp.remove());
  dir = temp.path;
});

/** A descriptor that no disk can sync. */
async function unsyncable() {
  const handle = await open('/proc/self/status', 'r');
  ends(() => handle.close());
  return handle;
}

test('a file is replaced as a whole, for its owner alone, and nothing is left beside it', async () => {
  const file = join(dir, 'a.json');
  const files = new DurableFiles();
  await files.replace(file, 'first');
  // A process that ended here leaves its copy; the next one has it as its own.
  const never = new Promise<void>(() => undefined);
  const rename = mock.method(files, 'rename', () => never, { times: 1 });
  void files.replace(file, 'a long text of a process that has ended');
  await waitFor('its end', () => rename.mock.callCount() === 1);
  await files.replace(file, 'second');
  expect(readFileSync(file, 'utf8')).toBe('second');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['a.json']);
});

test('every sync that fails is told, and rejects', async () => {
  const told: Error[] = [];
  const files = new DurableFiles((cause) => void told.push(cause));
  await expect(files.sync(await unsyncable())).rejects.toMatchObject({ code: 'EINVAL' });
  await expect(files.syncFolder('/proc/self')).rejects.toMatchObject({ code: 'EINVAL' });
  expect(told).toMatchObject([{ code: 'EINVAL' }, { code: 'EINVAL' }]);
});

test('whoever waits for a sync of a folder that fails, fails with it: it is not tried again', async () => {
  const told: Error[] = [];
  const files = new DurableFiles((cause) => void told.push(cause));
  const syncs = Array.from({ length: 5 }, () => files.syncFolder('/proc/self'));
  const results = await Promise.allSettled(syncs);
  expect(results.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  expect(told).toHaveLength(1);
});

test('a folder is made with those above it', () => {
  const folder = join(dir, 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('of two who make a file the first wins', () => {
  const file = join(dir, 'keys.json');
  expect(makeFileOnce(file, 'first')).toBe(true);
  expect(makeFileOnce(file, 'second')).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('first');
  expect(readdirSync(dir)).toEqual(['keys.json']);
});

test('a file is renewed in another one of its name, and rewritten in the same', () => {
  const file = join(dir, 'log');
  const bytes = Buffer.alloc(3_000_001, 'abcdefg');
  writeFileSync(file, bytes);
  const { ino } = statSync(file);
  rewriteFile(file);
  expect(statSync(file).ino).toBe(ino);
  renewFile(file);
  expect(statSync(file).ino).not.toBe(ino);
  expect(readFileSync(file).equals(bytes)).toBe(true);
  mkdirSync(join(dir, 'log.tmp'));
  expect(() => renewFile(file)).toThrow();
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

/** A new file on a disk that says so when it is synced. */
async function failingWith(code: string) {
  const handle = await open(join(dir, randomUUID()), 'wx');
  ends(() => handle.close());
  const failure = Object.assign(new Error(code), { code });
  mock.method(handle, 'datasync', () => Promise.reject(failure));
  return handle;
}

test('a new file for which there is no space is not told: it rejects, and nothing is in doubt', async () => {
  const told: Error[] = [];
  const files = new DurableFiles((cause) => void told.push(cause));
  for (const code of ['ENOSPC', 'EDQUOT']) {
    await expect(files.syncNew(await failingWith(code))).rejects.toMatchObject({ code });
  }
  expect(told).toEqual([]);
  await expect(files.syncNew(await failingWith('EIO'))).rejects.toMatchObject({ code: 'EIO' });
  // What was there before is in doubt, whatever the error.
  await expect(files.sync(await failingWith('ENOSPC'))).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(told).toMatchObject([{ code: 'EIO' }, { code: 'ENOSPC' }]);
});
