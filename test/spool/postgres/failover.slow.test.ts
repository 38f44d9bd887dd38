import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { EntryId } from '../../../src/domain/ids.ts';
import { SpoolUnavailable } from '../../../src/spool/errors.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { ends } from '../../support/ends.ts';
import { anEntry } from '../../support/entries.ts';
import { startCluster, withClient } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Senders that try again until each of their messages is accepted. */
const SENDERS = 8;

test('a commit that is cancelled while it waits for the standby is not acknowledged, nor a duplicate of it', async () => {
  const cluster = await startCluster();
  ends(() => cluster.stop());
  const url = await cluster.createDatabase();
  const dir = tempDir();
  ends(() => dir.remove());
  const scratchFolder = join(dir.path, 'scratch');
  const { spool } = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
  ends(() => spool.close());
  const standby = await cluster.startStandby();
  ends(() => standby.stop());
  const entry = anEntry();
  await spool.accept([anEntry()]);
  await standby.stop();
  const accepted = spool.accept([entry]).then(
    () => 'acknowledged',
    (error: unknown) => error,
  );
  // Reads do not wait for the standby.
  await withClient(url, async (client) => {
    const cancel = () =>
      client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
      );
    await waitFor('the commit to wait', async () => ((await cancel()).rowCount ?? 0) > 0);
  });
  expect(await accepted).toBeInstanceOf(SpoolUnavailable);
  expect(await spool.get(entry.id)).toMatchObject({ id: entry.id });
  // It is committed on the primary alone: what is sent again waits for the standby, too.
  let isAnswered = false;
  const again = spool.accept([entry, { ...entry, id: anEntry().id }]).finally(() => {
    isAnswered = true;
  });
  await withClient(url, async (client) => {
    const waits = () => client.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    const isWaiting = async () => ((await waits()).rowCount ?? 0) > 0;
    await waitFor('the duplicates to wait', async () => isAnswered || (await isWaiting()));
    expect(isAnswered).toBe(false);
    await client.query(`ALTER SYSTEM RESET synchronous_standby_names`);
    await client.query('SELECT pg_reload_conf()');
  });
  expect((await again).map(({ id }) => id)).toEqual([entry.id, entry.id]);
});

test('a gateway that was idle when the primary was killed finds the promoted standby', async () => {
  const cluster = await startCluster();
  const url = await cluster.createDatabase();
  const standby = await cluster.startStandby();
  ends(() => standby.stop());
  const both = url.replace(/127\.0\.0\.1:\d+/, `$&,127.0.0.1:${standby.port}`);
  const dir = tempDir();
  ends(() => dir.remove());
  const scratchFolder = join(dir.path, 'scratch');
  const { spool } = await openPostgresStore({ url: both, instance: randomUUID(), scratchFolder });
  ends(() => spool.close());
  const entry = anEntry();
  await spool.accept([entry]);
  await cluster.kill();
  await expect(spool.get(entry.id)).rejects.toThrow(SpoolUnavailable);
  await standby.promote();
  const found = () => spool.get(entry.id).catch(() => undefined);
  await waitFor('the promoted standby', found, 20);
  const again = { ...entry, id: anEntry().id };
  expect(await spool.accept([again])).toEqual([{ id: entry.id, duplicate: true }]);
});

test('a primary that is killed under load loses nothing that was acknowledged', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  ends(() => process.off('unhandledRejection', onUnhandled));
  const cluster = await startCluster();
  const url = await cluster.createDatabase();
  const standby = await cluster.startStandby();
  ends(() => standby.stop());
  const both = url.replace(/127\.0\.0\.1:\d+/, `$&,127.0.0.1:${standby.port}`);
  const dir = tempDir();
  ends(() => dir.remove());
  const open = async (name: string) => {
    const scratchFolder = join(dir.path, name);
    const store = await openPostgresStore({ url: both, instance: randomUUID(), scratchFolder });
    ends(() => store.spool.close());
    return store.spool;
  };
  const spools = [await open('one'), await open('other')];

  const acknowledged: EntryId[] = [];
  const failures: unknown[] = [];
  let isOver = false;
  const goesOn = () => !isOver;
  // Also when the test fails before its end.
  ends(() => {
    isOver = true;
  });
  const send = async (sender: number) => {
    for (let n = sender; goesOn(); n += 1) {
      const entry = anEntry();
      let isAccepted = false;
      while (!isAccepted && goesOn()) {
        const spool = spools[n % spools.length];
        isAccepted = await (spool?.accept([entry]) ?? Promise.reject(new Error('none'))).then(
          () => true,
          (error: unknown) => {
            failures.push(error);
            return false;
          },
        );
      }
      if (isAccepted) acknowledged.push(entry.id);
    }
  };
  const sending = Array.from({ length: SENDERS }, (_, sender) => send(sender));
  await waitFor('some', () => acknowledged.length > 100);
  await cluster.kill();
  const before = acknowledged.length;
  await waitFor('refusals', () => failures.length > 0);
  await standby.promote();
  await waitFor('some more', () => acknowledged.length > before + 100);
  isOver = true;
  await Promise.all(sending);

  const [spool] = spools;
  for (const id of acknowledged) expect(await spool?.get(id)).toMatchObject({ id });
  expect(failures.filter((error) => !(error instanceof SpoolUnavailable))).toEqual([]);
  expect(unhandled).toEqual([]);
});
