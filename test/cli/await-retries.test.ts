import { expect, test } from '@jest/globals';
import { awaitRetries } from '../../src/cli/await-retries.ts';
import { openStore } from '../support/store.ts';
import { ends } from '../support/ends.ts';
import { anEntry, claimFrom, SHOP, because } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

test('an attempt is seen that ended by a clock behind ours, and one before the retry is not', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { spool } = await openStore(dir.path);
  ends(() => spool.close());
  const entry = anEntry();
  await spool.accept([entry]);
  const dead = async (reason: string) => {
    const [claimed] = await claimFrom(spool, SHOP, 1, 60_000);
    if (claimed === undefined) throw new Error('nothing is due');
    await spool.settle(claimed.lease, { state: 'dead', reason: because(reason) }, { steps: [] });
  };
  await dead('before');
  const { lastAttemptAt = 0 } = (await spool.get(entry.id)) ?? {};
  await spool.requeue(entry.id);
  const patience = { signal: new AbortController().signal, onProgress: () => undefined };
  const became = async (attemptAt: number) => {
    // What the gateway's clock says of the attempt.
    const get: typeof spool.get = async (id) => {
      const found = await spool.get(id);
      return found && { ...found, lastAttemptAt: attemptAt };
    };
    const known = new Map([[entry.id, lastAttemptAt]]);
    return (await awaitRetries({ get }, known, { ...patience, timeoutMs: 0 })).get(entry.id);
  };
  expect(await became(lastAttemptAt)).toMatchObject({ state: 'queued', tried: false });
  expect(await became(lastAttemptAt - 3_600_000)).toMatchObject({ state: 'queued', tried: true });
});
