import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeOptOuts } from '../opt-out-conformance.ts';

describeOptOuts('SQLite', async () => {
  const dir = tempDir();
  let current = await openStore(dir.path);
  return {
    ...current,
    reopen: async () => {
      await current.spool.close();
      current = await openStore(dir.path);
      return current;
    },
    remove: async () => {
      await current.spool.close();
      dir.remove();
    },
  };
});
