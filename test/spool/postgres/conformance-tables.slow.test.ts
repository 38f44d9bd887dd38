import { column, withClient } from '../../support/postgres-cluster.ts';
import { describeApiTokens } from '../api-token-conformance.ts';
import { describeChatStore } from '../chat-conformance.ts';
import { describeErasure } from '../erasure-conformance.ts';
import { describeOperatorStore } from '../operator-conformance.ts';
import { describeOptOuts } from '../opt-out-conformance.ts';
import { describeRefusals } from '../refusal-conformance.ts';
import { openStore, url } from './open-store.ts';

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
