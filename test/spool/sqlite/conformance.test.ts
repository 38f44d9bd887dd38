import { joinSqliteStore } from '../../../src/spool/sqlite/join.ts';
import type { NewEntry } from '../../../src/spool/entry.ts';
import type { Retention } from '../../../src/spool/spool.ts';
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

/** What a thread that delivers does comes through its own port. */
async function openJoined(dir: string) {
  const { spool, sharing } = await openStore(dir);
  if (sharing === undefined) throw new Error('it cannot be shared');
  const joined = await joinSqliteStore(sharing.share(), {
    makeSpace: () => Promise.resolve(),
    onCommit: () => undefined,
    onAccepted: () => undefined,
  });
  return {
    ...{ ...spool, ...joined.spool },
    blobs: spool.blobs,
    accept: (entries: readonly NewEntry[]) => spool.accept(entries),
    recover: () => spool.recover(),
    sweep: (retention: Retention) => spool.sweep(retention),
    close: async () => {
      joined.leave();
      await spool.close();
    },
  };
}

describeSpool('SQLite, joined by another thread', async () => {
  const dir = tempDir();
  let current = await openJoined(dir.path);
  return {
    spool: current,
    reopen: async () => {
      await current.close();
      current = await openJoined(dir.path);
      return current;
    },
    remove: async () => {
      await current.close();
      dir.remove();
    },
  };
});
