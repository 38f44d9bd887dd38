import { test } from '@jest/globals';
import { openEraser } from '../../../src/spool/sqlite/erasure.ts';
import { ends } from '../../support/ends.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { play, PORTIONS } from './people.ts';

test.each(PORTIONS)('in SQLite: 20 histories from %i on', async (from) => {
  const dir = tempDir();
  ends(() => dir.remove());
  const store = await openStore(dir.path);
  ends(() => store.spool.close());
  const eraser = openEraser(dir.path);
  ends(() => eraser.close());
  await play([store], eraser, from);
});
