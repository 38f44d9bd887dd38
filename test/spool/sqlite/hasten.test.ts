import { expect, test } from '@jest/globals';
import { openStore } from '../../support/store.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimFrom, OTHER_SHOP, retryLater, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('what of one shop waits for its next attempt is due at once, in its order', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { spool } = await openStore(dir.path);
  ends(() => spool.close());
  const lane = 'one lane';
  const [first, second, other] = [
    anEntry({ lane }),
    anEntry({ lane }),
    anEntry({ shopId: OTHER_SHOP }),
  ];
  await spool.accept([first, second, other]);
  const inAnHour = retryLater({ retryInMs: 3_600_000 });
  for (const shopId of [SHOP, OTHER_SHOP]) {
    const [claimed] = await claimFrom(spool, shopId, 1, 60_000);
    if (claimed !== undefined) await spool.settle(claimed.lease, inAnHour, { steps: [] });
  }
  expect(await claimFrom(spool, SHOP, 10, 60_000)).toEqual([]);
  expect(await spool.hasten(SHOP, 1)).toBe(1);
  const due = await claimFrom(spool, SHOP, 10, 60_000);
  // The second waits behind it, as ever.
  expect(due.map(({ entry }) => [entry.id, entry.attempts])).toEqual([[first.id, 1]]);
  expect(await claimFrom(spool, OTHER_SHOP, 10, 60_000)).toEqual([]);
});
