import { expect, test } from '@jest/globals';
import { openEraser } from '../../../src/spool/sqlite/erasure.ts';
import { ends } from '../../support/ends.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { Sequence } from './people.ts';

/** `people.slow.test.ts` plays more of them, in both stores. */
const SEQUENCES = 20;

test('names, changes, hidden and recycled numbers: each person has one conversation, and no two share one', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const store = await openStore(dir.path);
  ends(() => store.spool.close());
  const all = Array.from({ length: SEQUENCES }, (_, n) => new Sequence(n + 1, [store]));
  await Promise.all(all.map((sequence) => sequence.play()));
  const eraser = openEraser(dir.path);
  ends(() => eraser.close());
  for (const sequence of all) await sequence.erase(eraser);
  expect(all).toHaveLength(SEQUENCES);
});
