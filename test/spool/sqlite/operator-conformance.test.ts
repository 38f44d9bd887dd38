import { join } from 'node:path';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { SearchThreads } from '../../../src/spool/search/search-threads.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeOperatorStore } from '../operator-conformance.ts';

describeOperatorStore('SQLite', async () => {
  const dir = tempDir();
  const open = async () => {
    const store = await openStore(dir.path);
    const index = new SearchThreads({ dir: dir.path, role: 'owner' });
    return { ...store, index };
  };
  let current = await open();
  const close = async () => {
    await current.index.close();
    await current.spool.close();
  };
  return {
    ...current,
    reopen: async () => {
      await close();
      current = await open();
      return current;
    },
    makeSummariesOld: () => {
      const db = openDatabase(join(dir.path, 'spool.db'));
      db.exec(`UPDATE summaries SET version = 0, "from" = 'nobody';
        UPDATE marks SET at = 0 WHERE name = 'summaries'`);
      db.close();
    },
    remove: async () => {
      await close();
      dir.remove();
    },
  };
});
