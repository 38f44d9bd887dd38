import { SearchThreads } from '../../../src/spool/search/search-threads.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeOperatorStore } from '../operator-conformance.ts';

describeOperatorStore('SQLite', async () => {
  const dir = tempDir();
  const open = async () => {
    const { spool, operator } = await openStore(dir.path);
    const index = new SearchThreads({ dir: dir.path, role: 'owner' });
    return { spool, operator, index };
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
    remove: async () => {
      await close();
      dir.remove();
    },
  };
});
