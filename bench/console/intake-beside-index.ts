import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { NewEntry } from '../../src/spool/entry.ts';
import { SearchThreads } from '../../src/spool/search/search-threads.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { StoreFailure } from '../../src/spool/errors.ts';
import { openStoreClient } from '../../src/spool/sqlite/open-client.ts';
import { asEntryId, asShopId } from '../../src/domain/ids.ts';
import { printProgress, ratioOf, takeTurns } from '../support/rounds.ts';
import type { Workbench } from '../support/workbench.ts';

const PRODUCERS = 50;
const WITHOUT = 'without an index';
const BESIDE = 'index catches up';
const SHOP = asShopId('5b1f0c6e-9d3a-4c77-8a41-2d6e0f9b7c35');
const MAIL = Buffer.from(
  `From: Ann <ann@customer.example>\r\nTo: help@acme.example\r\nSubject: Order 17\r\n\r\n${'text '.repeat(400)}`,
);

/**
 * Measures how fast fifty producers store 2 KB entries while the index has more work than it can
 * do, as a ratio to the same database without an index.
 */
export async function intakeBesideIndex(bench: Workbench, quick: boolean): Promise<number> {
  const count = quick ? 2000 : 20_000;
  const bare = await openStoreClient(
    { file: join(await bench.folder(), 'spool.db'), role: 'owner', threads: true },
    new StoreFailure(),
    () => undefined,
  );
  bench.onEnd('bare store', () => bare.close());
  const dir = await bench.folder();
  const { spool } = await openSqliteStore({ dir, role: 'owner', reserveBytes: 0 });
  bench.onEnd('store', () => spool.close());
  const index = new SearchThreads({ dir, role: 'owner' });
  bench.onEnd('index', () => index.close());

  type Accept = (entries: readonly NewEntry[]) => Promise<unknown>;
  const fillWith = async (accept: Accept, many: number): Promise<number> => {
    const started = performance.now();
    let left = many;
    const produce = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await accept([anEntry()]);
      }
    };
    await Promise.all(Array.from({ length: PRODUCERS }, produce));
    return (many * 1000) / (performance.now() - started);
  };
  const behind: number[] = [];
  const measured = await takeTurns(
    [
      {
        name: WITHOUT,
        measure: () => fillWith((entries) => bare.client.call('accept', entries), count),
      },
      {
        name: BESIDE,
        measure: async () => {
          const perSecond = await fillWith((entries) => spool.accept(entries), count);
          behind.push(await index.backlog());
          return perSecond;
        },
      },
    ],
    quick ? 1 : 5,
    printProgress('intake'),
  );
  console.error(`entries that the index was behind after each round: ${behind.join(', ')}`);
  return ratioOf(measured, BESIDE, WITHOUT);
}

function anEntry(): NewEntry {
  const id = asEntryId(randomUUID());
  return {
    id,
    kind: 'message',
    shopId: SHOP,
    channel: 'email',
    lane: id,
    dedupKey: id,
    remoteId: `<${id}@mail.example>`,
    receivedAt: Date.now(),
    meta: {},
    raw: { kind: 'inline', bytes: MAIL },
  };
}
