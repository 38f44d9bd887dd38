import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeSpool } from '../conformance.ts';

describeSpool('SQLite', async () => {
  const dir = tempDir();
  const open = () => openStore(dir.path);
  let current = await open();
  return {
    spool: current.spool,
    reopen: async () => {
      await current.spool.close();
      current = await open();
      return current.spool;
    },
    remove: async () => {
      await current.spool.close();
      dir.remove();
    },
  };
});
