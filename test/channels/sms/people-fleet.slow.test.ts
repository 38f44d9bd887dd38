import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { ends } from '../../support/ends.ts';
import { anEntry } from '../../support/entries.ts';
import { type Cluster, column, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { play, PORTIONS } from './people.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
});
afterAll(() => cluster.stop());

async function twoGateways() {
  const dir = tempDir();
  ends(() => dir.remove());
  const url = await cluster.createDatabase();
  const open = async (name: string) => {
    const scratchFolder = join(dir.path, name);
    const store = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
    ends(() => store.spool.close());
    return store;
  };
  return { one: await open('one'), other: await open('other'), url };
}

test('messages that name a person at once, at two gateways, end in one lane', async () => {
  const { one, other } = await twoGateways();
  const place = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
  for (let n = 0; n < 50; n += 1) {
    const [number, userId] = [`+1415555${1000 + n}`, `US.${n}`];
    const named = [{ number }, { userId }, { number, userId }, { userId }, { number, userId }];
    const accepted = await Promise.all(
      named.map((names, at) => {
        const entry = anEntry({ sender: { ...place, ...names, at: Date.now() } });
        return (at % 2 === 0 ? one : other).spool.accept([entry]);
      }),
    );
    const lanes = new Set<string | undefined>();
    for (const { id } of accepted.flat()) {
      const entry = await one.spool.get(id);
      lanes.add(entry && (await other.spool.personOf(entry))?.lane);
    }
    expect([...lanes]).toEqual([expect.stringMatching(/(?:[+]1415555\d{4}|US[.]\d+)$/)]);
  }
});

test('a batch of 4000 people is accepted', async () => {
  const { one } = await twoGateways();
  const place = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
  const batch = Array.from({ length: 4000 }, (_, n) => {
    const names = { number: `+1415${5_000_000 + n}`, userId: `US.${n}` };
    return anEntry({ sender: { ...place, ...names, at: Date.now() } });
  });
  expect(await one.spool.accept(batch)).toHaveLength(4000);
});

test.each(PORTIONS)('in PostgreSQL, by two gateways: 20 histories from %i on', async (from) => {
  const { one, other, url } = await twoGateways();
  await play([one, other], one.openEraser(), from);
  // What the histories are about happens in them.
  const [joined] = await column(url, `SELECT count(*) FROM person_name WHERE name LIKE '=%'`);
  expect(Number(joined)).toBeGreaterThan(0);
});
