import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import {
  type Cluster,
  emptyStore,
  startCluster,
  withClient,
} from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

let cluster: Cluster;
/** The database that all stores of the file share; each is empty at its start. */
export let url: string;

beforeAll(async () => {
  // What a crash of the server would lose is not the subject here.
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());

/** A store as a gateway opens it; `reopen` is the same gateway after a restart. */
export async function openStore() {
  const dir = tempDir();
  const instance = randomUUID();
  const scratchFolder = join(dir.path, 'scratch');
  const open = async () => {
    const store = await openPostgresStore({ url, instance, scratchFolder });
    return { ...store, index: store.openIndex({ role: 'owner' }) };
  };
  let current = await open();
  const close = async () => {
    await current.index.close();
    await current.spool.close();
  };
  return {
    ...current,
    reopen: async () => {
      await close();
      current = await open();
      return current;
    },
    makeSummariesOld: () =>
      withClient(url, async (client) => {
        await client.query(`UPDATE entry SET summary_version = 0, "from" = 'nobody'`);
        await client.query(`UPDATE mark SET at = 0 WHERE name = 'summaries'`);
      }),
    remove: async () => {
      await close();
      await emptyStore(url);
      dir.remove();
    },
  };
}
