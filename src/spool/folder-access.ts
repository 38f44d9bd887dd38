import { constants } from 'node:fs';
import { join } from 'node:path';
import { accessTrouble, folderTrouble } from '../runtime/system-trouble.ts';
import type { Trouble } from '../domain/trouble.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * The access that a gateway needs to each item of its data folder that exists. Files that are
 * always replaced as a whole only need a writable folder.
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
 * Why this user cannot run a gateway with this data folder: they lack access to it, or to a file
 * that an earlier run created as another user. Changes nothing.
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
