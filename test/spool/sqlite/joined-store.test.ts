import { expect, test } from '@jest/globals';
import { SpoolFull } from '../../../src/spool/errors.ts';
import { joinSqliteStore } from '../../../src/spool/sqlite/join.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { ends } from '../../support/ends.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A store and what another thread has of it. */
async function shared() {
  const dir = tempDir();
  ends(() => dir.remove());
  const owner = await openStore(dir.path);
  ends(() => owner.spool.close());
  const heard = { accepted: 0, commits: 0 };
  if (owner.sharing === undefined) throw new Error('it cannot be shared');
  const description = owner.sharing.share();
  const joined = await joinSqliteStore(description, {
    makeSpace: () => Promise.reject(new SpoolFull('no space')),
    onCommit: () => (heard.commits += 1),
    onAccepted: () => (heard.accepted += 1),
  });
  ends(() => joined.leave());
  return { owner, joined, heard, failed: description.failed };
}

test('each caller gets the results of its own calls, also of one commit', async () => {
  const { owner, joined } = await shared();
  const [mine, theirs] = await Promise.all(
    [owner.spool, joined.spool].map((spool, caller) =>
      Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          await spool.setMark(`${caller}/${n}`, caller * 1000 + n);
          return spool.mark(`${caller}/${n}`);
        }),
      ),
    ),
  );
  expect(mine).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(theirs).toEqual(Array.from({ length: 100 }, (_, n) => 1000 + n));
});

test('it hears of new messages, without asking, and can claim them at once', async () => {
  const { owner, joined, heard } = await shared();
  const entry = anEntry();
  await owner.spool.setMark('no message', 1);
  expect(heard.accepted).toBe(0);
  await owner.spool.accept([entry]);
  await waitFor('the news', () => heard.accepted === 1);
  const [claimed] = await claimFrom(joined.spool, SHOP, 10, 60_000);
  expect(claimed?.entry.id).toBe(entry.id);
});

test('a commit is counted once, whoever took part in it', async () => {
  const { owner, joined, heard } = await shared();
  await joined.spool.mark('own');
  expect(heard.commits).toBe(1);
  await owner.spool.mark('not its own');
  expect(heard.commits).toBe(1);
});

test('it leaves without closing the store', async () => {
  const { owner, joined } = await shared();
  joined.leave();
  await expect(joined.spool.mark('any')).rejects.toMatchObject({ name: 'SpoolUnavailable' });
  await owner.spool.accept([anEntry()]);
  owner.spool.assertSound();
});

test('when the store is closed, its calls fail', async () => {
  const { owner, joined } = await shared();
  await owner.spool.close();
  await expect(joined.spool.mark('any')).rejects.toMatchObject({ name: 'SpoolUnavailable' });
});

test('a failure of the store is seen at once, whichever thread had it', async () => {
  const { owner, joined, failed } = await shared();
  const [{ lease } = never()] = await owner.spool
    .accept([anEntry()])
    .then(() => claimFrom(joined.spool, SHOP, 1, 60_000));
  const settling = joined.spool.settle(lease, { state: 'delivered' }, { steps: [] });
  Atomics.store(new Int32Array(failed), 0, 1);
  await expect(settling).rejects.toMatchObject({ name: 'SpoolUnavailable' });
  await expect(joined.spool.mark('any')).rejects.toMatchObject({ name: 'SpoolUnavailable' });
});

function never(): never {
  throw new Error('nothing was claimed');
}
