import { join } from 'node:path';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeApiTokens } from '../api-token-conformance.ts';

describeApiTokens('SQLite', async () => {
  const dir = tempDir();
  let current = await openStore(dir.path);
  const inDatabase = <T>(work: (db: ReturnType<typeof openDatabase>) => T): T => {
    const db = openDatabase(join(dir.path, 'spool.db'));
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  return {
    ...current,
    reopen: async () => {
      await current.spool.close();
      current = await openStore(dir.path);
      return current;
    },
    pass: (ms) => {
      inDatabase((db) => db.prepare('UPDATE api_tokens SET used_at = used_at - ?').run(ms));
    },
    stored: () => inDatabase((db) => JSON.stringify(db.prepare('SELECT * FROM api_tokens').all())),
    remove: async () => {
      await current.spool.close();
      dir.remove();
    },
  };
});
