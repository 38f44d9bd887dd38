import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FIRST_REFUSAL_NUMBER, WAITS_FOR } from '../../../src/spool/entry.ts';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimDirectly, retryLater, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const HOUR = 3_600_000;

function aStore() {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'));
  ends(() => db.close());
  const time = { now: Date.now() };
  const { operations } = createOperations(db, () => time.now);
  const repairFrom = (lanesAfter: number) => operations.repair({ shops: [SHOP], lanesAfter });
  /** All portions, one after the other. */
  const repair = () => {
    const portions = [repairFrom(Number.MIN_SAFE_INTEGER)];
    for (;;) {
      const { lanesUpTo } = portions.at(-1) ?? {};
      if (lanesUpTo === undefined) return portions;
      portions.push(repairFrom(lanesUpTo));
    }
  };
  const ids = () => claimDirectly(operations, SHOP, 5000, 60_000).map(({ entry }) => entry.id);
  return { db, time, operations, repair, ids };
}

test('a lane without a head gets its first entry back, and one with two heads keeps the first', () => {
  const { db, operations, repair, ids } = aStore();
  const entries = Array.from({ length: 6 }, (_, n) => anEntry({ lane: `l${n % 2}` }));
  operations.accept(entries);
  operations.fileSome();
  db.prepare(`UPDATE entries SET claimable = (lane = 'l1')`).run();
  expect(repair()).toMatchObject([{ lanes: 2, due: [SHOP], released: 0 }]);
  expect(repair()).toMatchObject([{ lanes: 0 }]);
  expect(ids()).toEqual([entries[0]?.id, entries[1]?.id]);
});

test('the entry of a lane that is in flight is its head', () => {
  const { db, operations, repair, ids } = aStore();
  operations.accept([anEntry({ lane: 'l' }), anEntry({ lane: 'l' })]);
  expect(ids()).toHaveLength(1);
  db.prepare(`UPDATE entries SET claimable = 0`).run();
  expect(repair()).toMatchObject([{ lanes: 1 }]);
  expect(ids()).toEqual([]);
});

test('thousands of lanes are looked at in portions, each of them once', () => {
  const { db, operations, repair, ids } = aStore();
  // As in a batch: one sync for all of it.
  db.transaction(() => {
    operations.accept(Array.from({ length: 2500 }, () => anEntry()));
    while (operations.fileSome()) continue;
    db.prepare(`UPDATE entries SET claimable = 0`).run();
    const portions = repair();
    expect(portions.length).toBeGreaterThan(1);
    expect(portions.reduce((sum, { lanes }) => sum + lanes, 0)).toBe(2500);
    expect(ids()).toHaveLength(2500);
  })();
});

test('with the clock 25 h back nothing waits longer than it was meant to', () => {
  const { time, operations } = aStore();
  const fail = (change: Parameters<typeof retryLater>[0]) => {
    const [claimed] = claimDirectly(operations, SHOP, 1, 60_000);
    if (claimed === undefined) throw new Error('nothing was claimed');
    operations.settle(claimed.lease, retryLater(change), { steps: [] });
    return claimed.entry.id;
  };
  const accepted = (change = {}) =>
    operations.accept([anEntry({ receivedAt: time.now, ...change })]);
  accepted();
  const inAMinute = fail({ retryInMs: 60_000 });
  accepted();
  const forTheShop = fail({ waitsFor: WAITS_FOR.shop });
  accepted();
  const alike = fail({ waitsFor: FIRST_REFUSAL_NUMBER + 9 });
  accepted();
  const detached = anEntry({ detached: true, receivedAt: time.now });
  operations.accept([detached]);
  accepted({ lane: 'in flight' });
  const inFlight = claimDirectly(operations, SHOP, 2, 60_000);
  expect(inFlight).toHaveLength(2);

  time.now -= 25 * HOUR;
  operations.requeueAll();
  const waitOf = (id: typeof detached.id) => (operations.get(id)?.nextAttemptAt ?? NaN) - time.now;
  expect(waitOf(inAMinute)).toBe(60_000);
  expect(waitOf(forTheShop)).toBeLessThanOrEqual(0);
  expect(waitOf(alike)).toBeLessThanOrEqual(0);
  expect(operations.repair({ shops: [SHOP], lanesAfter: 0 })).toMatchObject({ released: 1 });
  expect(operations.get(alike)?.waitsFor).toBe(WAITS_FOR.shop);
  // All but the one that waits for its minute.
  expect(claimDirectly(operations, SHOP, 100, 60_000)).toHaveLength(5);
  time.now += 60_000;
  expect(claimDirectly(operations, SHOP, 100, 60_000).map(({ entry }) => entry.id)).toContain(
    inAMinute,
  );
});
