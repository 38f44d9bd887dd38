import { Dice } from '../dice.ts';
import { type CallName, CALLS } from './calls.ts';
import type { Turn } from './interleaver.ts';
import type { InterleavedStore } from './store.ts';

export const CALL_NAMES = Object.keys(CALLS) as readonly CallName[];

/** One run and what was wrong after it. */
export interface Played {
  readonly run: string;
  readonly violations: readonly string[];
}

/** The first call stops at each of its steps, one run after the other, while the others make theirs. */
export async function* interrupted(
  store: InterleavedStore,
  [first, ...others]: readonly [CallName, ...CallName[]],
): AsyncGenerator<Played> {
  const whole = others.map((_, index): Turn => ({ who: index + 2 }));
  for (let upTo = 1; ; upTo += 1) {
    const turns = [{ who: 1, upTo }, ...whole, { who: 1 }];
    const { stopped, violations } = await store.run([first, ...others], turns);
    if (stopped[0] !== true) return;
    yield { run: `${first}, at step ${upTo}: ${others.join(', then ')}`, violations };
  }
}

/** Both calls stop, at each pair of their steps, and the first one ends before the second. */
export async function* crossed(
  store: InterleavedStore,
  names: readonly [CallName, CallName],
): AsyncGenerator<Played> {
  for (let one = 1; ; one += 1) {
    for (let other = 1; ; other += 1) {
      const turns = [{ who: 1, upTo: one }, { who: 2, upTo: other }, { who: 1 }, { who: 2 }];
      const { stopped, violations } = await store.run(names, turns);
      if (stopped[0] !== true) return;
      // It waits for a lock of the first, or is over.
      if (stopped[1] !== true) break;
      yield { run: `${names[0]} ${one}, ${names[1]} ${other}`, violations };
    }
  }
}

/** Three calls with turns of any length. */
export async function atRandom(store: InterleavedStore, seed: number): Promise<Played> {
  const dice = Dice.of(seed);
  const names = [1, 2, 3].map(() => dice.pick(CALL_NAMES));
  const steps = [0, 0, 0];
  const turns = Array.from({ length: 3 + dice.below(4) }, (): Turn => {
    const index = dice.below(3);
    const upTo = (steps[index] ?? 0) + 1 + dice.below(8);
    steps[index] = upTo;
    return { who: index + 1, upTo };
  });
  const ends = [1, 2, 3].map((who) => ({ who, order: dice.below(100) }));
  const last = ends.toSorted((a, b) => a.order - b.order).map(({ who }): Turn => ({ who }));
  const { violations } = await store.run(names, [...turns, ...last]);
  const shown = turns.map(({ who, upTo }) => `${who}→${upTo ?? ''}`).join(' ');
  return { run: `seed ${seed}: ${names.join(', ')}; ${shown}`, violations };
}
