import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asShopId } from '../../../src/domain/ids.ts';
import { StoreRefuses } from '../../../src/spool/errors.ts';
import { coldOperations } from '../../../src/spool/postgres/cold-operations.ts';
import { Database, type Query } from '../../../src/spool/postgres/connection.ts';
import { makeStoreSchema } from '../../../src/spool/postgres/open.ts';
import { refusalNumber } from '../../../src/spool/refusals.ts';
import { anEntry, SHOP } from '../../support/entries.ts';
import { type Cluster, startCluster } from '../../support/postgres-cluster.ts';
import { waitFor } from '../../support/wait-for.ts';

let cluster: Cluster;
let url: string;
let database: Database;

beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
  database = new Database(url);
  await makeStoreSchema(database);
});
afterAll(async () => {
  await database.close();
  await cluster.stop();
});

const set = (query: Query, name: string) =>
  query('INSERT INTO mark (name, at) VALUES ($1, 1)', [name]);
const names = async () =>
  (await database.query<{ name: string }>('SELECT name FROM mark ORDER BY name')).map(
    ({ name }) => name,
  );

test('a transaction whose statement is refused leaves nothing, and its connection is usable', async () => {
  for (let n = 0; n < 20; n += 1) {
    const refused = database.transaction(async (query) => {
      await set(query, 'refused');
      await query('SELECT 1 / 0');
    });
    await expect(refused).rejects.toBeInstanceOf(StoreRefuses);
  }
  expect(await names()).toEqual([]);
});

test('two transactions that wait for each other are both made, each once', async () => {
  const lock = (query: Query, key: number) => query('SELECT pg_advisory_xact_lock($1)', [key]);
  let begun = 0;
  const both = (first: number, second: number) =>
    database.transaction(async (query) => {
      await lock(query, first);
      begun += 1;
      await waitFor('the other lock', () => begun >= 2);
      await lock(query, second);
      await set(query, `after ${first}`);
    });
  await Promise.all([both(1, 2), both(2, 1)]);
  expect(begun).toBe(3);
  expect(await names()).toEqual(['after 1', 'after 2']);
});

test('of refusals that are counted at once, one is the fifth', async () => {
  const cold = coldOperations(database);
  const words = "422 it's \\invalid\0";
  const number = refusalNumber(words);
  const counted = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      cold.countRefusal({
        ...{ shopId: SHOP, number, words, id: anEntry().id, waited: false },
        lane: { channel: 'email', lane: `lane ${n}` },
      }),
    ),
  );
  expect(counted.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(counted.filter(({ waits }) => waits)).toHaveLength(26);
  expect(await cold.openRefusals()).toMatchObject([
    { number, words: "422 it's \\invalid\ufffd", count: 30 },
  ]);
});

test('a list of which one statement is refused changes nothing', async () => {
  const cold = coldOperations(database);
  const refusal = { number: 1, words: 'words', id: anEntry().id, waited: true } as const;
  const lane = { channel: 'email', lane: 'lane' } as const;
  const asked = cold.countRefusal({ ...refusal, shopId: asShopId('no uuid'), lane });
  await expect(asked).rejects.toBeInstanceOf(StoreRefuses);
  expect(await database.query('SELECT FROM refused WHERE number = 1')).toEqual([]);
});

test('what a message or a reply waits for is one round trip', async () => {
  let asked = 0;
  class Counted extends Database {
    override query<Row>(...args: Parameters<Database['query']>): Promise<Row[]> {
      asked += 1;
      return super.query<Row>(...args);
    }
    override transaction(): never {
      throw new Error('a transaction takes a round trip for each of its statements');
    }
  }
  const counted = new Counted(url);
  const cold = coldOperations(counted);
  const refusal = { shopId: SHOP, number: 7, words: 'words', waited: false } as const;
  const lanes = [1, 2, 3, 4, 5, 5].map((n) => ({ channel: 'email', lane: `${n}` }) as const);
  for (const lane of lanes) await cold.countRefusal({ ...refusal, id: anEntry().id, lane });
  expect(asked).toBe(lanes.length);
  await cold.optOut(SHOP, 'lane', 'SM1');
  expect(await cold.optIn(SHOP, 'lane', 'SM2')).toBe(true);
  expect(await cold.isOptedOut(SHOP, 'lane')).toBe(false);
  expect(asked).toBe(lanes.length + 3);
  await counted.close();
});
