import type { Person } from '../../../src/spool/erasure.ts';
import { anEntry, SHOP } from '../entries.ts';
import type { Make } from './calls.ts';
import type { Compared } from './side.ts';

const KINDS = ['media', 'message', 'visitor'] as const;

const personOf = (name: string): Person => {
  const is = (identity: string) => identity === name || identity.startsWith(`${name}@`);
  return {
    is,
    wrote: ({ lane, event }) =>
      is(lane) ||
      (event !== undefined && event !== null && Buffer.from(event).includes(`for ${name}`)),
    hasSmsLane: is,
    isNamedIn: (text) => text.includes(name),
    countedAs: [name],
  };
};

const sorted = (texts: readonly string[]) => texts.toSorted();

/** Erases somebody: from then on, both stores look for what remains of erased people. */
export async function eraseOne({
  spool,
  eraser,
}: Pick<Compared, 'spool' | 'eraser'>): Promise<void> {
  await spool.accept([anEntry({ lane: 'first' })]);
  const person = personOf('first');
  const { traces } = await eraser.find({ person, others: false });
  await eraser.eraseRows(traces, { person, shops: [SHOP], waitMs: 0 });
}

/** Erasures, with how often each is made beside the other calls. */
export const ERASURE_CALLS: Readonly<Record<string, readonly [weight: number, make: Make]>> = {
  erase: [
    1,
    (dice, { shops }) => {
      const [shopId, name] = [dice.pick(shops), dice.pick(['ann', 'bob', 'ada'])];
      const [person, isDry] = [personOf(name), dice.chance(30)];
      return {
        args: { shopId, name, isDry },
        make: async ({ eraser }) => {
          const { traces, mentions, lines } = await eraser.find({ person, shopId, others: true });
          const found = {
            entries: traces.entries.map(({ id, state }) => `${id} ${state}`),
            visitors: sorted(traces.visitors.map((one) => JSON.stringify({ ...one, no: 0 }))),
            lanes: sorted(
              [...traces.conversations, ...traces.optOuts].map((lane) => JSON.stringify(lane)),
            ),
            notes: traces.notes.length,
            mentions,
            lines: sorted(lines.map((line) => JSON.stringify(line))),
          };
          if (isDry) return found;
          const inFlight = await eraser.eraseRows(traces, {
            person,
            shops: [shopId],
            waitMs: 0,
          });
          const blobs = await eraser.eraseBlobs();
          const rest = [];
          for (const kind of KINDS) {
            const { [kind]: names } = await eraser.rest();
            rest.push(...sorted(names));
            await eraser.forgetRest(kind, names);
          }
          const after = await eraser.find({ person, shopId, others: false });
          return {
            found,
            blobs,
            rest,
            inFlight: inFlight.map(({ id }) => id),
            after: after.traces,
          };
        },
      };
    },
  ],
};
