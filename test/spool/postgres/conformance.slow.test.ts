import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import {
  type Cluster,
  column,
  emptyStore,
  startCluster,
  withClient,
} from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeApiTokens } from '../api-token-conformance.ts';
import { describeChatStore } from '../chat-conformance.ts';
import { describeBlobs } from '../blob-conformance.ts';
import { describeSpool } from '../conformance.ts';
import { describeErasure } from '../erasure-conformance.ts';
import { describeOperatorStore } from '../operator-conformance.ts';
import { describeOptOuts } from '../opt-out-conformance.ts';
import { describeRefusals } from '../refusal-conformance.ts';

let cluster: Cluster;
let url: string;

beforeAll(async () => {
  // What a crash of the server would lose is not the subject here.
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());

/** A store as a gateway opens it; `reopen` is the same gateway after a restart. */
async function openStore() {
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

describeOperatorStore('PostgreSQL', openStore);
describeOptOuts('PostgreSQL', openStore);
describeApiTokens('PostgreSQL', async () => ({
  ...(await openStore()),
  pass: (ms) =>
    withClient(url, async (client) => {
      await client.query('UPDATE api_token SET used_at = used_at - $1', [ms]);
    }),
  stored: async () => String(await column(url, 'SELECT api_token::text FROM api_token')),
}));
describeRefusals('PostgreSQL', async () => {
  const [one, other] = [await openStore(), await openStore()];
  return {
    ...{ one: one.spool, other: other.spool },
    pass: (ms) =>
      withClient(url, async (client) => {
        await client.query('UPDATE refused SET at = at - $1', [ms]);
        await client.query('UPDATE refusal SET since = since - $1, newest_at = newest_at - $1', [
          ms,
        ]);
      }),
    remove: async () => {
      await one.remove();
      await other.remove();
    },
  };
});
describeErasure('PostgreSQL', async () => {
  const store = await openStore();
  return { ...store, eraser: store.openEraser() };
});
