import { column } from '../../support/postgres-cluster.ts';
import { describeBlobs } from '../blob-conformance.ts';
import { describeSpool } from '../conformance.ts';
import { openStore, url } from './open-store.ts';

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
