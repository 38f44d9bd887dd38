import type { Fault, Faults } from '../../src/local-platform/respond.ts';

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Everything a platform has been seen to do instead of answering. */
export const FAULTS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429 },
  { kind: 'reset' },
  { kind: 'reset-after-commit' },
  { kind: 'empty' },
  { kind: 'html' },
];

export interface RandomFaults {
  readonly hook: Faults;
  /** How often each came, by kind or status. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Fails this share of all requests, each time by one of the kinds. */
export function randomFaults(
  random: () => number,
  share: number,
  kinds: readonly Fault[] = FAULTS,
): RandomFaults {
  const counts = new Map<string, number>();
  return {
    counts,
    hook: () => {
      if (random() >= share) return undefined;
      const fault = kinds[Math.floor(random() * kinds.length)];
      if (fault === undefined) return undefined;
      const name = fault.kind === 'status' ? String(fault.status) : fault.kind;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return fault;
    },
  };
}
