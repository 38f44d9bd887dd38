import { setTimeout as delay } from 'node:timers/promises';
import { Dice } from '../../test/support/dice.ts';
import type { HoldUp } from './explain.ts';
import type { Fleet, FleetGateway } from './gateways.ts';
import type { Line, Network } from './network.ts';

/** What a gateway suffers, in percent of the faults of its process or of its network. */
const KILLED_PERCENT = 60;
const DATABASE_PERCENT = 50;
const SILENT_PERCENT = 70;
/** In seconds: from and up to. */
const CALM = [10, 90] as const;
const FROZEN = [5, 90] as const;
const CUT = [5, 45] as const;
const MAX_DOWN_MS = 3000;

/** How often each fault came, and how often nobody can have noticed it. */
export class FaultCounts {
  readonly counts = new Map<string, number>();
  readonly idle = new Map<string, number>();
  readonly holdUps: HoldUp[] = [];

  add(kind: string, happened: boolean): void {
    const counts = happened ? this.counts : this.idle;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
}

/**
 * Until the signal, each gateway is killed or frozen again and again, and, independently of that, its line to the
 * database or to the platform is cut. The same seed gives the same order and lengths. Afterwards nothing is cut
 * or frozen, and all gateways run.
 */
export async function inflictFaults(
  { gateways, network }: Pick<Fleet, 'gateways' | 'network'>,
  { seed, over }: { readonly seed: number; readonly over: AbortSignal },
): Promise<FaultCounts> {
  const counts = new FaultCounts();
  await Promise.all(
    gateways.flatMap((gateway, n) => [
      repeatedly(Dice.of(seed * 100 + n), over, (dice) =>
        processFault(gateway, dice, over, counts),
      ),
      repeatedly(Dice.of(seed * 100 + 50 + n), over, (dice) =>
        networkFault(gateway, network, dice, over, counts),
      ),
    ]),
  );
  return counts;
}

export async function repeatedly(
  dice: Dice,
  over: AbortSignal,
  fault: (dice: Dice) => Promise<void>,
): Promise<void> {
  for (;;) {
    await lasting(secondsOf(dice, CALM), over);
    if (over.aborted) return;
    await fault(dice);
  }
}

async function processFault(
  gateway: FleetGateway,
  dice: Dice,
  over: AbortSignal,
  counts: FaultCounts,
): Promise<void> {
  if (dice.chance(KILLED_PERCENT)) {
    counts.add('SIGKILL', await gateway.kill(dice.below(MAX_DOWN_MS)));
    return;
  }
  const seconds = secondsOf(dice, FROZEN);
  const from = Date.now();
  counts.add('SIGSTOP', await gateway.freeze());
  await lasting(seconds, over);
  gateway.thaw();
  counts.holdUps.push({ address: gateway.platformAddress, from, to: Date.now() });
}

async function networkFault(
  gateway: FleetGateway,
  network: Network,
  dice: Dice,
  over: AbortSignal,
  counts: FaultCounts,
): Promise<void> {
  const end = dice.chance(DATABASE_PERCENT) ? 'database' : 'platform';
  const line: Line = gateway.lines[end];
  const way = dice.chance(SILENT_PERCENT) ? 'silent' : 'reset';
  const seconds = secondsOf(dice, CUT);
  const from = Date.now();
  network.cut(line, way);
  try {
    await lasting(seconds, over);
  } finally {
    counts.add(`${end} ${way}`, network.heal(line) > 0);
    const to = Date.now();
    if (end === 'platform') counts.holdUps.push({ address: gateway.platformAddress, from, to });
  }
}

/** Short ones are more frequent. */
export function secondsOf(dice: Dice, [from, to]: readonly [number, number]): number {
  return from + ((to - from) * dice.below(1000) ** 2) / 1000 ** 2;
}

export async function lasting(seconds: number, over: AbortSignal): Promise<void> {
  await delay(seconds * 1000, undefined, { signal: over }).catch(() => undefined);
}
