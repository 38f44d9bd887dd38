import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeSpool } from '../conformance.ts';

describeSpool('SQLite', async () => {
  const dir = tempDir();
  const open = () =>
    openSqliteStore({ dir: dir.path, role: 'owner', threads: false, reserveBytes: 0 });
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
