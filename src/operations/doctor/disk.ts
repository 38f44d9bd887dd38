import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { systemTrouble } from '../../runtime/system-trouble.ts';
import { type CheckResult, verdicts } from './check-result.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** Below this much of the largest message nothing is accepted any more. */
const REFUSES_BELOW = 1.5;
const WARNS_BELOW = 10;

/** Free space under the data folder against the largest message. */
export function checkDisk(
  dataDir: string,
  freeBytes: number,
  maxMessageBytes: number,
): CheckResult {
  const { ok, warning, failed } = verdicts(
    'disk',
    dataDir,
    `at least ${inWords(WARNS_BELOW * maxMessageBytes)} free`,
  );
  const found = `${inWords(freeBytes)} free`;
  const todo = 'make room on this disk, or keep entries for less time (spool.retain)';
  if (freeBytes < REFUSES_BELOW * maxMessageBytes) {
    return failed(`${found}: new messages are refused`, todo);
  }
  return freeBytes < WARNS_BELOW * maxMessageBytes ? warning(found, todo) : ok(found);
}

/** @throws what is no trouble of the folder's */
export function unknownDisk(dataDir: string, error: unknown): CheckResult {
  const trouble = systemTrouble(error, { dataDir });
  if (trouble === undefined) throw error;
  return verdicts('disk', dataDir, 'a folder whose disk can be looked at').failed(
    trouble.found,
    trouble.todo,
  );
}

/** Of the disk that the folder is on, or will be on once it is made. */
export async function freeBytes(folder: string): Promise<number> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
    }
  }
}

/** As the console writes it: `71.2 GB`. */
const inWords = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
