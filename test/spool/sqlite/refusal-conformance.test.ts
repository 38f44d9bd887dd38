import { join } from 'node:path';
import { refusalEnds } from '../../../src/spool/cold/refusals.ts';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeRefusals, type RefusalsUnderTest } from '../refusal-conformance.ts';

describeRefusals('SQLite', () => {
  const dir = tempDir();
  const db = openDatabase(join(dir.path, 'spool.db'));
  const time = { now: Date.now() };
  /** A process that has just started. */
  const started = (): RefusalsUnderTest['one'] => {
    const { operations } = createOperations(db, () => time.now);
    return {
      countRefusal: (refusal) => Promise.resolve(operations.countRefusal(refusal)),
      refusedBefore: (shopId, number) => Promise.resolve(operations.refusedBefore(shopId, number)),
      ...refusalEnds({
        openRefusals: () => Promise.resolve(operations.openRefusals()),
        endQuietRefusals: () => Promise.resolve(operations.endQuietRefusals()),
        removeRefusal: (...args) => Promise.resolve(operations.removeRefusal(...args)),
        waitForShopInstead: (...args) => Promise.resolve(operations.waitForShopInstead(...args)),
      }),
    };
  };
  return {
    ...{ one: started(), other: started() },
    pass: (ms) => {
      time.now += ms;
    },
    remove: () => {
      db.close();
      dir.remove();
    },
  };
});
