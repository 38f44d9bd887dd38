import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const PAGE = readFileSync('docs/log.md', 'utf8');

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join('src', file), 'utf8'));

/** Quoted directly in the call. The others are put together of a prefix and a step or a door. */
const logged = new Set(
  sources.flatMap((text) =>
    [...text.matchAll(/(?:\.(?:error|warn|info|debug)|\])\(\s*'([a-z]+\.[a-z_-]+)'/g)].flatMap(
      ([, event]) => event ?? [],
    ),
  ),
);
const listed = new Set(
  [...PAGE.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, event]) => event ?? []),
  ),
);

test('docs/log.md lists every event that is logged', () => {
  expect(logged.size).toBeGreaterThan(90);
  expect([...logged].filter((event) => !listed.has(event))).toEqual([]);
});

test('docs/log.md lists no event that is not logged', () => {
  const text = sources.join('\n');
  const unknown = [...listed].filter((event) => {
    const [prefix = '', word = ''] = event.split('.');
    const isComposed = ['smtp', 'inbound', 'entry'].includes(prefix);
    const forms = isComposed ? [`.${word}\``, `'${word}'`, `'${event}'`] : [`'${event}'`];
    return !forms.some((form) => text.includes(form));
  });
  expect(unknown).toEqual([]);
});
