import { statfs } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { BlobFiles } from '../../src/spool/blob-files.ts';
import { SpoolFull } from '../../src/spool/errors.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

test('room is what is free beyond the reserve and beyond what is to be spared', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const { bavail, bsize } = await statfs(temp.path);
  // Others write to the same disk meanwhile: far from the edge on both sides.
  const half = Math.floor((bavail * bsize) / 2);
  const roomy = await BlobFiles.open({ dir: temp.path, reserveBytes: 0 });
  await expect(roomy.assertSpace()).resolves.toBeUndefined();
  await expect(roomy.assertSpace(half)).resolves.toBeUndefined();
  await expect(roomy.assertSpace(4 * half)).rejects.toThrow(SpoolFull);
  const reserved = await BlobFiles.open({ dir: temp.path, reserveBytes: half });
  await expect(reserved.assertSpace()).resolves.toBeUndefined();
  await expect(reserved.assertSpace(2 * half)).rejects.toThrow(SpoolFull);
});
