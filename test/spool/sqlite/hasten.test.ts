import { expect, test } from '@jest/globals';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, OTHER_SHOP, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('what of one shop waits for its next attempt is due at once, in its order', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { spool } = await openSqliteStore({ dir: dir.path, role: 'owner', reserveBytes: 0 });
  ends(() => spool.close());
  const lane = 'one lane';
  const [first, second, other] = [
    anEntry({ lane }),
    anEntry({ lane }),
    anEntry({ shopId: OTHER_SHOP }),
  ];
  await spool.accept([first, second, other]);
  const inAnHour = {
    state: 'queued',
    nextAttemptAt: Date.now() + 3_600_000,
    reason: 'later',
    counts: true,
    failingMs: 0,
    detach: false,
  } as const;
  for (const shopId of [SHOP, OTHER_SHOP]) {
    const [claimed] = await spool.claim(shopId, 1, 60_000);
    if (claimed !== undefined) await spool.settle(claimed.lease, inAnHour, []);
  }
  expect(await spool.claim(SHOP, 10, 60_000)).toEqual([]);
  expect(await spool.hasten(SHOP)).toBe(1);
  const due = await spool.claim(SHOP, 10, 60_000);
  // The second waits behind it, as ever.
  expect(due.map(({ entry }) => [entry.id, entry.attempts])).toEqual([[first.id, 1]]);
  expect(await spool.claim(OTHER_SHOP, 10, 60_000)).toEqual([]);
});
