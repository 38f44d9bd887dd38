// jest's `globalSetup`: makes one ballast for the stores of all tests, which link to it. Otherwise
// each store that is opened on a new folder writes 48 MiB and syncs them to the disk.
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BYTES = 48 * 1024 * 1024;

export default function makeBallast() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-ballast-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ballast');
  writeFileSync(file, randomFillSync(Buffer.alloc(BYTES)), { mode: 0o600 });
  process.env.SLUICE_TEST_BALLAST = file;
}
