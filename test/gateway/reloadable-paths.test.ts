import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { keysOf } from '../../src/config/schema-paths.ts';
import { configSchema } from '../../src/config/schema.ts';
import { isReloadable, RELOADABLE_PATHS } from '../../src/gateway/live-config.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/reload.md', import.meta.url)), 'utf8');

/** The keys in the first column of the table below a heading. */
function keysBelow(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key),
  );
}

test('the page for operators lists the reloadable paths, and no others', () => {
  expect(keysBelow('What a reload changes').sort()).toEqual([...RELOADABLE_PATHS].sort());
});

test('the page for operators names what needs a restart: every other key, and no more', () => {
  const keys = keysOf(configSchema).map((key) => key.replace('[]', ''));
  const restart = keysBelow('What needs a restart');
  const isListed = (key: string) =>
    restart.some((each) => key === each || key.startsWith(`${each}.`));
  expect(keys.filter((key) => isListed(key) === isReloadable(key))).toEqual([]);
  expect(
    restart.filter((each) => !keys.some((key) => key === each || key.startsWith(`${each}.`))),
  ).toEqual([]);
});

test('reloadable paths are keys of the configuration', () => {
  const keys = keysOf(configSchema);
  expect(
    RELOADABLE_PATHS.filter(
      (each) =>
        !keys.some(
          (key) => key === each || (/^[.[]/.test(key.slice(each.length)) && key.startsWith(each)),
        ),
    ),
  ).toEqual([]);
});
