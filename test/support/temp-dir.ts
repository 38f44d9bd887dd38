import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder of this test's own, and the way to remove it. */
export function tempDir(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
