import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('docs/configuration.md has every key as the schema and default.yaml have it', async () => {
  const run = promisify(execFile)(process.execPath, [
    'scripts/configuration-reference.mjs',
    '--check',
  ]);
  await expect(run).resolves.toMatchObject({ stderr: '' });
});
