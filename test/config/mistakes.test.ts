import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Files as people write them; behind `>>>` all that is said about each. */
const CASES = readFileSync(
  new URL('../fixtures/configurations/mistakes.txt', import.meta.url),
  'utf8',
)
  .split(/^=== /m)
  .slice(1)
  .map((block) => {
    const [title = '', ...rest] = block.split('\n');
    const [text = '', said = ''] = rest.join('\n').split(/^>>>\n/m);
    return { title, text, said };
  });

const env = {
  EMPTY_PASSWORD: '',
  PORT_WORD: 'smtp',
  CONSOLE_PASSWORD_FILE: '/run/secrets/console',
};

/** What `config check` prints of a file. */
function saidOf(text: string): string {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.yaml');
  writeFileSync(file, text);
  const loaded = loadConfig({ file, env });
  const said = loaded.ok
    ? loaded.warnings.map((warning) => `warning: ${warning}\n`).join('')
    : renderMistakes(loaded.mistakes, loaded.warnings);
  return said.replaceAll(file, 'sluice.yaml');
}

test('a hundred files, and more', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(100);
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length);
});

test.each(CASES)('$title', ({ text, said }) => {
  expect(saidOf(text)).toBe(said);
});

test('a variable that is misspelt is told beside what is missing without it', () => {
  const loaded = loadConfig({ env: { SLUICE_SHOP_NAME: 'acme', SLUICE_SHOP_APIKEY: 'hunter2' } });
  expect(loaded).toMatchObject({
    ok: false,
    warnings: [
      'the environment variable SLUICE_SHOP_APIKEY is unknown and ignored; did you mean SLUICE_SHOP_API_KEY?',
    ],
  });
});

test('of a variable whose file is missing, nothing is said besides', () => {
  const loaded = loadConfig({ env: { SLUICE_ADMIN_PASSWORD_FILE: '/nowhere/password' } });
  expect(loaded).toMatchObject({ ok: false, mistakes: [{ path: 'admin.password' }], warnings: [] });
});

test.each([
  ['SLUICE_DATABASE_URL', 'postgres://db.example/x', '; did you mean SLUICE_SPOOL_URL?'],
  ['SLUICE_SHOPS_0_API_KEY', 'hunter2', '; did you mean SLUICE_SHOP_API_KEY?'],
  ['SLUICE_ADMIN_OPERATORS', 'ann', ': admin.operators is set in a file only'],
])('%s is told with what is meant', (name, value, hint) => {
  expect(loadConfig({ env: { [name]: value } }).warnings).toEqual([
    `the environment variable ${name} is unknown and ignored${hint}`,
  ]);
});
