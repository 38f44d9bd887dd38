import { afterAll, describe, expect, test } from '@jest/globals';
import { compareParsers, type ParserRun } from '../../../support/mime/compare-parsers.ts';
import { generateMime } from '../../../support/mime/generate-mime.ts';
import { REASONS } from '../../../support/mime/mime-differences.ts';
import { secondLeaves } from '../../../support/mime/second-parser.ts';
import { runCount } from '../../../support/run-count.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** The same on each run; `npm run bench -- mime` takes others, and more of them. */
const FIRST_SEED = 1;

const folder = tempDir();
afterAll(() => folder.remove());

describe('every part that another parser finds is found, with its bytes and its name', () => {
  test.each<[ParserRun['kind'], number]>([
    ['generated', runCount(1500)],
    ['mutated', runCount(1500)],
  ])('%s messages', async (kind, messages) => {
    const seeds = Array.from({ length: messages }, (_, index) => FIRST_SEED + index);
    const report = await compareParsers({ kind, seeds, folder: folder.path });
    expect(report).toMatchObject({
      messages,
      unexplained: [],
      lost: [],
      notAsWritten: [],
      crashes: [],
      slow: [],
    });
  });

  test('but for twelve reasons', () => {
    const grounds = Object.values(REASONS);
    expect(grounds.length).toBeLessThanOrEqual(12);
    for (const ground of grounds) expect(ground).toMatch(/^(?:RFC \d{4} §\d|Security: )/);
  });
});

test('the other parser still has the tree that is read', async () => {
  const { bytes, leaves } = generateMime(2);
  const second = await secondLeaves(bytes);
  expect(second?.length).toBeGreaterThanOrEqual(leaves.length);
  expect(second?.[0]).toMatchObject({
    contentType: expect.any(String),
    encoding: expect.any(String),
  });
});

test('the same seed makes the same message', () => {
  expect(generateMime(42)).toEqual(generateMime(42));
  expect(generateMime(42)).not.toEqual(generateMime(43));
});
