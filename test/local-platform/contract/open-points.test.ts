import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { LIMITS, OPEN_POINTS } from '../../../src/local-platform/open-points.ts';
import { anEmail, call, startPlatform } from '../harness.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it('docs/local-platform.md has the open points of the code: node scripts/decisions.mjs', () => {
  const [, list = ''] = read('docs/local-platform.md').split('<!-- decisions -->\n');
  expect(list.trim().split('\n')).toEqual(
    OPEN_POINTS.map(([open, here]) => `- **${open}**: ${here}`),
  );
});

it('the values of the table are those in effect', async () => {
  const platform = await startPlatform();
  await Promise.all(
    Array.from({ length: LIMITS.pageMax + 1 }, () =>
      call(platform, 'POST', '/messages/', { body: anEmail() }),
    ),
  );
  const size = async (query: string) =>
    (await call<{ results: unknown[] }>(platform, 'GET', `/messages/${query}`)).body.results.length;
  expect(await size('')).toBe(LIMITS.pageDefault);
  expect(await size('?limit=999999')).toBe(LIMITS.pageMax);
});
