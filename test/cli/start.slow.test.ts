import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { ends } from '../support/ends.ts';
import { anEntry } from '../support/entries.ts';
import { loadedPackages } from '../support/loaded-packages.ts';
import { tempDir } from '../support/temp-dir.ts';

// Whoever types a command, and the shell that completes one, waits for all that is loaded.
test.each([
  [0, ['--version']],
  [0, ['--help']],
  [0, ['serve', '--help']],
  [0, ['queue', 'list', '--help']],
  [0, ['platform', 'messages', 'create', '--help']],
  [0, ['completion', 'bash']],
  [2, ['queue', 'lsit']],
  [2, ['queue', 'list', '--since', 'tomorrow']],
  [2, ['send', 'chat', 'Hello', '--wait', 'long']],
  [2, ['platform', 'tickets', 'list', '--timeout', 'long']],
])('exit %d: %j loads no package but the parser of the command line', (status, args) => {
  expect(loadedPackages(args)).toEqual({ status, packages: ['commander'] });
});

/** What the configuration is read and checked with. */
const CONFIGURATION = ['fastest-levenshtein', 'libphonenumber-js', 'nodemailer', 'yaml', 'zod'];
/** `cli-table3` and what it requires. */
const TABLES = [
  ...['cli-table3', '@colors/colors', 'string-width', 'strip-ansi', 'ansi-regex'],
  ...['emoji-regex', 'is-fullwidth-code-point'],
];

const STORE = ['better-sqlite3'];

test('commands of the queue load the configuration, the store and tables, and nothing else', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const env = { SLUICE_DATA_DIR: join(dir.path, 'data') };
  const loaded = loadConfig({ env });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const { dataDir, shops } = await completeConfig(loaded.config);
  const { spool } = await openSqliteStore({ dir: dataDir, role: 'owner', reserveBytes: 0 });
  ends(() => spool.close());
  const entry = anEntry(shops[0] && { shopId: shops[0].shopId });
  await spool.accept([entry]);

  const used = new Set(['commander', ...TABLES, ...CONFIGURATION, ...STORE]);
  for (const args of [['list'], ['stats'], ['show', entry.id]]) {
    const { status, packages } = loadedPackages(['queue', ...args], env);
    expect({ args, status }).toEqual({ args, status: 0 });
    expect(packages).toEqual(expect.arrayContaining(['better-sqlite3', 'zod']));
    expect(packages.filter((name) => !used.has(name))).toEqual([]);
  }
});
