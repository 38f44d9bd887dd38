import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Eraser } from '../../../src/spool/erasure.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { SpoolEraser } from '../../../src/spool/sqlite/erasure.ts';
import { ends } from '../../support/ends.ts';
import { anEntry } from '../../support/entries.ts';
import { column, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { type Gateway, Sequence } from './people.ts';

const SEQUENCES = 200;
const AT_ONCE = 20;

async function play(gateways: readonly Gateway[], eraser: Eraser, from: number): Promise<void> {
  const all = Array.from({ length: AT_ONCE }, (_, n) => new Sequence(from + n, gateways));
  await Promise.all(all.map((sequence) => sequence.play()));
  for (const sequence of all) await sequence.erase(eraser);
}

test('200 histories in SQLite', async () => {
  for (let from = 1; from <= SEQUENCES; from += AT_ONCE) {
    const dir = tempDir();
    const store = await openStore(dir.path);
    const eraser = SpoolEraser.open(dir.path);
    await play([store], eraser, from);
    eraser.close();
    await store.spool.close();
    dir.remove();
  }
});

test('messages that name a person at once, at two gateways, end in one lane', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const cluster = await startCluster({ settings: ['fsync = off'] });
  ends(() => cluster.stop());
  const url = await cluster.createDatabase();
  const open = async (name: string) =>
    openPostgresStore({ url, instance: randomUUID(), scratchFolder: join(dir.path, name) });
  const [one, other] = [await open('one'), await open('other')];
  for (const { spool } of [one, other]) ends(() => spool.close());
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

test('200 histories in PostgreSQL, by two gateways', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const cluster = await startCluster({ settings: ['fsync = off'] });
  ends(() => cluster.stop());
  const url = await cluster.createDatabase();
  const joined: number[] = [];
  for (let from = 1; from <= SEQUENCES; from += AT_ONCE) {
    const open = async (name: string) =>
      openPostgresStore({ url, instance: randomUUID(), scratchFolder: join(dir.path, name) });
    const [one, other] = [await open('one'), await open('other')];
    await play([one, other], one.openEraser(), from);
    joined.push(
      ...(await column(url, `SELECT count(*) FROM person_name WHERE name LIKE '=%'`)).map(Number),
    );
    await one.spool.close();
    await other.spool.close();
    await emptyStore(url);
  }
  // What the histories are about happens in them.
  expect(joined.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(SEQUENCES / 10);
});
