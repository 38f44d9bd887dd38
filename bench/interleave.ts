// npm run bench -- interleave [--calls accept,claim] [--crossed] [--seeds 2000] [--first 1] [--mutations [--only WORD]]
// The statements of gateways that share a PostgreSQL, in many orders. Each pair of calls: the first stops at each of its
// steps while the second makes its call; with --crossed, both stop. Then three calls at once, in random orders. Prints the
// runs, and what was wrong after them. --mutations takes safeguards away, and says what each is found by. Exit code 1
// if anything was wrong, or a fault was not found.
import { parseArgs } from 'node:util';
import type { CallName } from '../test/support/interleaving/calls.ts';
import {
  atRandom,
  CALL_NAMES,
  crossed,
  interrupted,
  type Played,
} from '../test/support/interleaving/schedules.ts';
import { MUTATIONS } from '../test/support/interleaving/mutations.ts';
import { openInterleaved } from '../test/support/interleaving/store.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string' },
    crossed: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '2000' },
    first: { type: 'string', default: '1' },
    only: { type: 'string' },
    mutations: { type: 'boolean', default: false },
  },
});
const SHOWN = 20;

const named = values.calls?.split(',');
const names = CALL_NAMES.filter((name) => named?.includes(name) ?? true);
const { store, close } = await openInterleaved();
let failures = 0;
try {
  if (values.mutations) await findMutations();
  else await playAll();
} finally {
  const deadlocks = await close();
  console.log(`${deadlocks} deadlocks`);
}
process.exitCode = failures > 0 ? 1 : 0;

async function playAll(): Promise<void> {
  for (const one of names) {
    const counts = { runs: 0, wrong: 0 };
    for (const other of names) {
      for await (const played of interrupted(store, [one, other])) count(counts, played);
      if (!values.crossed) continue;
      for await (const played of crossed(store, [one, other])) count(counts, played);
    }
    console.log(`${one} beside each: ${counts.runs} runs, ${counts.wrong} wrong`);
  }
  const counts = { runs: 0, wrong: 0 };
  const first = Number(values.first);
  for (let seed = first; seed < first + Number(values.seeds); seed += 1) {
    count(counts, await atRandom(store, seed));
  }
  console.log(`three at once: ${counts.runs} runs, ${counts.wrong} wrong`);
}

function count(counts: { runs: number; wrong: number }, { run, violations }: Played): void {
  counts.runs += 1;
  if (violations.length === 0) return;
  counts.wrong += 1;
  failures += 1;
  if (failures <= SHOWN) console.log(`${run}: ${violations.join('; ')}`);
}

async function findMutations(): Promise<void> {
  console.log('| safeguard taken away | found after runs | by |\n| --- | --- | --- |');
  for (const mutation of MUTATIONS) {
    if (values.only !== undefined && !mutation.name.includes(values.only)) continue;
    await store.interleaver.mutate(mutation);
    let runs = 0;
    let found: Played | undefined;
    for await (const played of runsOf(mutation.calls)) {
      runs += 1;
      if (played.violations.length === 0) continue;
      found = played;
      break;
    }
    await store.interleaver.mutate();
    if (found === undefined) failures += 1;
    const by = found === undefined ? '' : `${found.run}: ${found.violations[0] ?? ''}`;
    console.log(`| ${mutation.name} | ${found === undefined ? 'not found' : runs} | ${by} |`);
  }
}

async function* runsOf(
  calls: readonly [CallName, CallName, ...CallName[]],
): AsyncGenerator<Played> {
  if (calls.length === 3) yield* interrupted(store, calls);
  for (const one of calls) {
    for (const other of calls) yield* interrupted(store, [one, other]);
  }
  for (const one of calls) {
    for (const other of calls) yield* crossed(store, [one, other]);
  }
}
