import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeChatStore } from '../chat-conformance.ts';

describeChatStore('SQLite', async () => {
  const dir = tempDir();
  let current = await openStore(dir.path);
  return {
    ...current,
    visitorIds: () => {
      const db = new Database(join(dir.path, 'spool.db'), { readonly: true });
      const rows = db.prepare<[], { id: string }>('SELECT id FROM visitors ORDER BY no').all();
      db.close();
      return Promise.resolve(rows.map(({ id }) => id));
    },
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
