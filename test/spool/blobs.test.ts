import { once } from 'node:events';
import { type FileHandle, mkdir, open, rmdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect, test } from '@jest/globals';
import { DurableFiles } from '../../src/runtime/durable-files.ts';
import { BlobFiles } from '../../src/spool/blobs.ts';
import { SpoolFull, SpoolUnavailable, StoreFailure } from '../../src/spool/errors.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';
import { describeBlobs } from './blob-conformance.ts';

describeBlobs('a folder', () => {
  const temp = tempDir();
  const blobs = new BlobFiles({ dir: temp.path, reserveBytes: 0 });
  return Promise.resolve({
    blobs,
    count: async () => (await blobs.names()).length,
    remove: () => {
      temp.remove();
      return Promise.resolve();
    },
  });
});

test('room is what is free beyond the reserve and beyond what is to be spared', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const { bavail, bsize } = await statfs(temp.path);
  // Others write to the same disk meanwhile: far from the edge on both sides.
  const half = Math.floor((bavail * bsize) / 2);
  const roomy = new BlobFiles({ dir: temp.path, reserveBytes: 0 });
  await expect(roomy.assertSpace()).resolves.toBeUndefined();
  await expect(roomy.assertSpace(half)).resolves.toBeUndefined();
  await expect(roomy.assertSpace(4 * half)).rejects.toThrow(SpoolFull);
  const reserved = new BlobFiles({ dir: temp.path, reserveBytes: half });
  await expect(reserved.assertSpace()).resolves.toBeUndefined();
  await expect(reserved.assertSpace(2 * half)).rejects.toThrow(SpoolFull);
});

// Like some network file systems, /proc reports zeros.
test('a file system that does not say how much is free is no full disk', async () => {
  const blobs = new BlobFiles({ dir: '/proc', reserveBytes: 1_000 });
  await expect(blobs.assertSpace(1_000)).resolves.toBeUndefined();
});

test('a folder that could not be asked for its room is asked again by the next message', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const dir = join(temp.path, 'blobs');
  const blobs = new BlobFiles({ dir, reserveBytes: 0 });
  await rmdir(dir);
  await expect(blobs.assertSpace()).rejects.toThrow(SpoolUnavailable);
  await mkdir(dir);
  await expect(blobs.assertSpace()).resolves.toBeUndefined();
});

test.each([
  { code: 'ENOSPC', refusal: SpoolFull, hasFailed: false },
  { code: 'EIO', refusal: SpoolUnavailable, hasFailed: true },
])('a sync of a new file that says $code: has the store failed? $hasFailed', async (row) => {
  const temp = tempDir();
  ends(() => temp.remove());
  const failure = new StoreFailure();
  const blobs = new BlobFiles({ dir: temp.path, reserveBytes: 0, failure });
  const writer = blobs.writer({ inlineMaxBytes: 0 });
  writer.end('bytes');
  await once(writer, 'finish');
  const failing = Object.assign(new Error(row.code), { code: row.code });
  const sync = () => Promise.reject(failing);
  const datasync = mock.method(await handlePrototype(), 'datasync', sync, { times: 1 });
  ends(() => datasync.mock.restore());
  await expect(writer.commit()).rejects.toThrow(row.refusal);
  expect(failure.hasFailed).toBe(row.hasFailed);
  expect(await blobs.names()).toEqual([]);
});

/** Node does not export the class of its file handles. */
async function handlePrototype(): Promise<FileHandle> {
  const handle = await open('/dev/null');
  ends(() => handle.close());
  // Of the same type as its instances.
  return Object.getPrototypeOf(handle) as FileHandle;
}

test('a file whose name could not be made durable is removed', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const blobs = new BlobFiles({ dir: temp.path, reserveBytes: 0 });
  const failing = Object.assign(new Error('too many files'), { code: 'EMFILE' });
  const syncFolder = () => Promise.reject(failing);
  const folder = mock.method(DurableFiles.prototype, 'syncFolder', syncFolder, { times: 1 });
  ends(() => folder.mock.restore());
  const writer = blobs.writer({ inlineMaxBytes: 0 });
  writer.end('bytes');
  await once(writer, 'finish');
  await expect(writer.commit()).rejects.toThrow(SpoolUnavailable);
  expect(await blobs.names()).toEqual([]);
});
