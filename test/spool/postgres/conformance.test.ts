import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { type Cluster, column, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeChatStore } from '../chat-conformance.ts';
import { describeBlobs } from '../blob-conformance.ts';
import { describeSpool } from '../conformance.ts';

let cluster: Cluster;
let url: string;

beforeAll(async () => {
  // What a crash of the server would lose is not the subject here.
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());

async function openStore() {
  const dir = tempDir();
  const instance = randomUUID();
  const scratchFolder = join(dir.path, 'scratch');
  const open = () => openPostgresStore({ url, instance, scratchFolder });
  let current = await open();
  return {
    ...current,
    reopen: async () => {
      await current.spool.close();
      current = await open();
      return current;
    },
    remove: async () => {
      await current.spool.close();
      await emptyStore(url);
      dir.remove();
    },
  };
}

describeSpool('PostgreSQL', async () => {
  const { reopen, ...store } = await openStore();
  return {
    ...store,
    reopen: async () => (await reopen()).spool,
    ageBlobs: () => column(url, 'UPDATE blob SET at = 0 RETURNING name'),
  };
});

describeBlobs('PostgreSQL', async () => {
  const { spool, remove } = await openStore();
  return {
    blobs: spool.blobs,
    count: async () => (await column(url, 'SELECT name FROM blob')).length,
    remove,
  };
});

describeChatStore('PostgreSQL', async () => ({
  ...(await openStore()),
  visitorIds: () => column(url, 'SELECT id FROM visitor ORDER BY no'),
}));
