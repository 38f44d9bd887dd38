import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeOperatorStore } from '../operator-conformance.ts';

describeOperatorStore('SQLite', async () => {
  const dir = tempDir();
  const open = () => openSqliteStore({ dir: dir.path, role: 'owner', reserveBytes: 0 });
  let current = await open();
  return {
    spool: current.spool,
    operator: current.operator,
    reopen: async () => {
      await current.spool.close();
      current = await open();
      return current;
    },
    remove: async () => {
      await current.spool.close();
      dir.remove();
    },
  };
});
