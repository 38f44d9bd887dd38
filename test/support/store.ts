import { linkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BALLAST_FILE } from '../../src/spool/ballast.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import type { Store } from '../../src/spool/store.ts';

/** A store as a gateway opens it, in this thread, which uses the disk to its last byte. */
export function openStore(dir: string, reserveBytes = 0): Promise<Store> {
  lendBallast(dir);
  return openSqliteStore({ dir, role: 'owner', threads: false, reserveBytes });
}

/** Gives a data folder the ballast of all tests, unless it has one or cannot be linked to. */
export function lendBallast(dir: string): void {
  const ballast = process.env['SLUICE_TEST_BALLAST'];
  if (ballast === undefined) return;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    linkSync(ballast, join(dir, BALLAST_FILE));
  } catch {
    // The store makes its own.
  }
}
