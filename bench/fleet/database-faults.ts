import { spawnSync } from 'node:child_process';
import { chownSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from '../../test/support/dice.ts';
import { NOBODY } from '../../test/support/postgres-cluster.ts';
import type { Workbench } from '../support/workbench.ts';
import { FaultCounts, lasting, repeatedly, secondsOf } from './faults.ts';
import type { Fleet } from './gateways.ts';

/** Longer than a lease: then another gateway claims what was sent. */
const CUT = [50, 120] as const;
const FULL = [5, 40] as const;
const RESTARTED_PERCENT = 50;
const DISK_MB = 512;

/** A disk that can be filled. */
export interface SmallDisk {
  readonly path: string;
  fill(): void;
  free(): void;
}

/** @throws without the right to mount one */
export async function smallDisk(bench: Workbench): Promise<SmallDisk> {
  const path = await bench.folder();
  const mount = ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'tmpfs', path];
  if (spawnSync('mount', mount).status !== 0)
    throw new Error('--database needs the right to mount');
  bench.onEnd('disk', () => void spawnSync('umount', ['-l', path]));
  chownSync(path, NOBODY.uid, NOBODY.gid);
  const ballast = join(path, 'ballast');
  return {
    path,
    fill: () => {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(ballast, Buffer.alloc(bavail * bsize));
      } catch (error) {
        // The database has written meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    free: () => rmSync(ballast, { force: true }),
  };
}

/**
 * Until the signal, the gateways' lines to the database are cut one by one, it is ended as by a crash and started
 * again, and its disk is full. The gateways and their lines to the platform suffer nothing.
 */
export async function inflictOnDatabase(
  { gateways, network, cluster }: Fleet,
  disk: SmallDisk,
  { seed, over }: { readonly seed: number; readonly over: AbortSignal },
): Promise<FaultCounts> {
  const counts = new FaultCounts();
  const cuts = gateways.map((gateway, n) =>
    repeatedly(Dice.of(seed * 100 + n), over, async (dice) => {
      const line = gateway.lines.database;
      const way = dice.chance(50) ? 'silent' : 'reset';
      network.cut(line, way);
      await lasting(secondsOf(dice, CUT), over);
      counts.add(`database ${way}`, network.heal(line) > 0);
    }),
  );
  const whole = repeatedly(Dice.of(seed * 100 + 99), over, async (dice) => {
    if (dice.chance(RESTARTED_PERCENT)) {
      await cluster.kill();
      await cluster.start();
      counts.add('restart', true);
      return;
    }
    disk.fill();
    await lasting(secondsOf(dice, FULL), over);
    disk.free();
    counts.add('full disk', true);
  });
  await Promise.all([...cuts, whole]);
  return counts;
}
