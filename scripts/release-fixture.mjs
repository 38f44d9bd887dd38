// node scripts/release-fixture.mjs: keeps a data folder of this version in test/fixtures/releases/, for tests of later
// versions; see docs/releasing.md. It is made by the built program.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './ts-loader.mjs';
import { ROOT } from './workspace.mjs';

const { makeReleaseData } = await import('../test/release/release-data.ts');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'sluice-release-'));
try {
  await makeReleaseData(scratch, join(ROOT, 'test/fixtures/releases', version));
  console.log(`test/fixtures/releases/${version} has been written.`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
