import { isDeepStrictEqual } from 'node:util';
import { Dice } from '../dice.ts';
import { type Call, castOf, nextCall } from './calls.ts';
import { visitorsOf } from './chat-calls.ts';
import { type Compared, Side } from './side.ts';

const CALLS = 120;

/** Where the two stores differ. */
export interface Difference {
  readonly seed: number;
  readonly call: string;
  readonly args: unknown;
  readonly answers: readonly [sqlite: unknown, postgres: unknown];
}

/**
 * Makes the same random calls on both stores. Shops, entries and marks are the seed's own, so that
 * one sequence after the other can use the same stores.
 *
 * @returns the first call whose answers differ, or what is stored otherwise at the end
 */
export async function play(
  seed: number,
  stores: readonly [sqlite: Compared, postgres: Compared],
): Promise<Difference | undefined> {
  const dice = Dice.of(seed);
  const cast = castOf(seed, Date.now());
  const [sqlite, postgres] = stores.map((store) => new Side(store));
  if (sqlite === undefined || postgres === undefined) throw new RangeError('two stores are needed');
  for (let n = 0; n < CALLS; n += 1) {
    const { name, args, make } = nextCall(dice, cast, seed);
    const answers = [await answerOf(make(sqlite)), await answerOf(make(postgres))] as const;
    if (!isDeepStrictEqual(...answers)) return { seed, call: `${n} ${name}`, args, answers };
  }
  const stored = [
    ...cast.entries.map(({ id }): Call => ({
      name: 'entry',
      args: id,
      make: (side) => side.all(id),
    })),
    ...visitorsOf(seed, cast),
  ];
  for (const { name, args, make } of stored) {
    const answers = [shown(await make(sqlite)), shown(await make(postgres))] as const;
    if (!isDeepStrictEqual(...answers)) return { seed, call: `stored ${name}`, args, answers };
  }
  return undefined;
}

/** A call that one store refuses, the other must refuse as well. */
const answerOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(shown, (error: unknown) => ({ refused: error instanceof Error ? error.name : error }));

/** As JSON has it: a field without a value is none. */
const shown = (answer: unknown): unknown =>
  answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
