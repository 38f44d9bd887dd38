import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { StoreFailure } from '../../src/spool/errors.ts';
import { openStore } from '../../src/spool/open-store.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

test('who listens only after the failure is told too, and of the first cause', () => {
  const failure = new StoreFailure();
  const told: string[] = [];
  failure.onFail(({ message }) => told.push(`early: ${message}`));
  failure.fail(new Error('first'));
  failure.fail(new Error('second'));
  failure.onFail(({ message }) => told.push(`late: ${message}`));
  expect(told).toEqual(['early: first', 'late: first']);
});

test.each([
  ['spool.lock', true],
  ['spool.db', true],
  ['spool.db', false],
])('a %s that is no database is explained (threads: %s)', async (name, threads) => {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, name);
  writeFileSync(file, 'no database '.repeat(200));
  const opening = openStore({
    ...{ url: 'sqlite', dir: dir.path, role: 'owner', reserveBytes: 0, threads },
  });
  await expect(opening).rejects.toMatchObject({
    name: 'SpoolUnusable',
    message: `${file} is not a SQLite database. Restore it from a backup, or move it away to start with an empty one`,
    mayPass: false,
  });
});
