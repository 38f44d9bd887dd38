import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { BlobFiles } from '../../../src/spool/blobs.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeSpool } from '../conformance.ts';

let cluster: Cluster;
let url: string;

beforeAll(async () => {
  // What a crash of the server would lose is not the subject here.
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());

describeSpool('PostgreSQL', async () => {
  const dir = tempDir();
  const instance = randomUUID();
  const blobs = new BlobFiles({ dir: join(dir.path, 'blobs'), reserveBytes: 0 });
  const open = () => openPostgresStore({ url, instance, blobs });
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
      await emptyStore(url);
      dir.remove();
    },
  };
});
