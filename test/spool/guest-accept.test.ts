import { expect, test } from '@jest/globals';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { ends } from '../support/ends.ts';
import { anEntry, SHOP } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

async function ownerAndGuest() {
  const dir = tempDir();
  ends(() => dir.remove());
  const open = async (role: 'owner' | 'guest') => {
    const { spool } = await openSqliteStore({ dir: dir.path, role, reserveBytes: 0 });
    ends(() => spool.close());
    return spool;
  };
  return { owner: await open('owner'), guest: await open('guest') };
}

test('what one process has accepted is a duplicate in the other, filed or not', async () => {
  const { owner, guest } = await ownerAndGuest();
  const first = anEntry({ dedupKey: 'first' });
  const second = anEntry({ dedupKey: 'second' });
  expect(await owner.accept([first])).toEqual([{ id: first.id, duplicate: false }]);
  expect(await guest.accept([anEntry({ dedupKey: 'first' })])).toEqual([
    { id: first.id, duplicate: true },
  ]);
  expect(await guest.accept([second])).toEqual([{ id: second.id, duplicate: false }]);
  expect(await owner.accept([anEntry({ dedupKey: 'second' })])).toEqual([
    { id: second.id, duplicate: true },
  ]);
  const claimed = await owner.claim(SHOP, 10, 60_000);
  expect(claimed.map(({ entry }) => entry.id)).toEqual([first.id, second.id]);
});

test('a lane keeps the order of arrival, whichever process took it in', async () => {
  const { owner, guest } = await ownerAndGuest();
  const entries = Array.from({ length: 6 }, () => anEntry({ lane: 'one lane' }));
  for (const [index, entry] of entries.entries()) {
    await (index % 2 === 0 ? owner : guest).accept([entry]);
  }
  const order: string[] = [];
  for (;;) {
    const [claimed, ...others] = await owner.claim(SHOP, 10, 60_000);
    expect(others).toEqual([]);
    if (claimed === undefined) break;
    order.push(claimed.entry.id);
    await owner.settle(claimed.lease, { state: 'delivered' }, []);
  }
  expect(order).toEqual(entries.map(({ id }) => id));
});
