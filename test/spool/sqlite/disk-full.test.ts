import { spawnSync } from 'node:child_process';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { joinSqliteStore } from '../../../src/spool/sqlite/join.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import type { Store } from '../../../src/spool/store.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** A file system of its own, small enough to fill; undefined where this user may not mount. */
function smallDisk(megabytes: number): { path: string; remove: () => void } | undefined {
  const dir = tempDir();
  const mounted = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${megabytes}m`,
    'tmpfs',
    dir.path,
  ]);
  if (mounted.status !== 0) {
    dir.remove();
    return undefined;
  }
  return {
    path: dir.path,
    remove: () => {
      spawnSync('umount', [dir.path]);
      dir.remove();
    },
  };
}

function joinedBy({ sharing }: Store) {
  if (sharing === undefined) throw new Error('it cannot be shared');
  return joinSqliteStore(sharing.share(), {
    makeSpace: sharing.makeSpace,
    onCommit: () => undefined,
    onAccepted: () => undefined,
  });
}

test.each([
  ['in the same thread', false],
  ['in another', true],
])(
  'on a full disk nothing is accepted, deliveries go on %s, and space ends it',
  async (_, joins) => {
    const disk = smallDisk(200);
    if (disk === undefined) {
      console.warn('SKIPPED: filling a disk needs the right to mount one');
      return;
    }
    // Somebody else's log.
    await writeFile(join(disk.path, 'other'), Buffer.alloc(70_000_000));
    const store = await openSqliteStore({ dir: disk.path, role: 'owner', reserveBytes: 0 });
    const { spool } = store;
    const joined = joins ? await joinedBy(store) : undefined;
    const queue = joined?.spool ?? spool;
    try {
      const big = () => anEntry({ raw: { kind: 'inline', bytes: Buffer.alloc(60_000) } });
      const accepted = [];
      let refusal: unknown;
      for (let n = 0; n < 5000 && refusal === undefined; n += 1) {
        const entry = big();
        await spool.accept([entry]).then(
          () => accepted.push(entry),
          (error: unknown) => (refusal = error),
        );
      }
      expect(refusal).toMatchObject({ name: 'SpoolFull' });
      // It takes the last byte too.
      await appendFile(join(disk.path, 'other'), Buffer.alloc(200_000_000)).catch(() => undefined);
      await expect(spool.accept([big()])).rejects.toMatchObject({ name: 'SpoolFull' });

      let delivered = 0;
      for (;;) {
        const claimed = await claimFrom(queue, SHOP, 50, 60_000);
        if (claimed.length === 0) break;
        for (const { lease } of claimed) {
          expect(await queue.settle(lease, { state: 'delivered' }, { steps: [] })).toBe(true);
          delivered += 1;
        }
      }
      expect(delivered).toBe(accepted.length);

      await rm(join(disk.path, 'other'));
      await spool.sweep({ rawMs: -1000, deadMs: 0, entriesMs: 3_600_000 });
      await spool.accept([big()]);
    } finally {
      joined?.leave();
      await spool.close();
      disk.remove();
    }
  },
);
