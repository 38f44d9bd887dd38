import { constants } from 'node:fs';
import { join } from 'node:path';
import { accessTrouble, folderTrouble } from '../runtime/system-trouble.ts';
import type { Trouble } from '../domain/trouble.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * What a gateway needs to do with what is in its data folder, as far as it is there. Files that are
 * replaced as a whole need a writable folder only.
 */
const NEEDED: readonly (readonly [name: string, mode: number])[] = [
  ['keys.json', R_OK],
  ['demo.json', R_OK],
  ['erasure-key.json', R_OK],
  ['smtp-self-signed.pem', R_OK],
  ...['spool.lock', 'spool.db', 'spool.db-wal', 'spool.db-shm', 'blobs.lock', 'spool.pid'].map(
    (name) => [name, R_OK | W_OK] as const,
  ),
  ...['blobs', 'search', 'platform', 'tmp'].map((name) => [name, R_OK | W_OK | X_OK] as const),
];

/**
 * Why this user cannot run a gateway with this data folder: it, or a file that an earlier run made
 * as another user. Looks without changing anything.
 */
export function dataFolderTrouble(dataDir: string): Trouble | undefined {
  const folder = folderTrouble(dataDir);
  if (folder !== undefined) return folder;
  for (const [name, mode] of NEEDED) {
    const to = mode === R_OK ? 'read' : 'used';
    const found = accessTrouble(join(dataDir, name), mode, { dataDir, to });
    if (found !== undefined) return found;
  }
  return undefined;
}
