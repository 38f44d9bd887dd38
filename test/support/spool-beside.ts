import type { Entry } from '../../src/spool/entry.ts';
import type { EntryState } from '../../src/domain/entry-state.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { waitFor } from './wait-for.ts';

/** The spool of a gateway that is running, read beside it as the queue commands do. */
export async function withSpool<T>(
  dataDir: string,
  work: (spool: Spool) => Promise<T>,
): Promise<T> {
  const { spool } = await openSqliteStore({ dir: dataDir, role: 'beside', reserveBytes: 0 });
  try {
    return await work(spool);
  } finally {
    await spool.close();
  }
}

/** All entries, newest first. */
export function entriesOf(dataDir: string): Promise<readonly Entry[]> {
  return withSpool(dataDir, (spool) => spool.list({ limit: 1000 }));
}

const UNSETTLED: readonly EntryState[] = ['queued', 'delivering'];

/** Waits, with one connection, for what `probe` finds in all entries, newest first. */
export function waitForEntries<T>(
  dataDir: string,
  what: string,
  probe: (entries: readonly Entry[]) => T | Promise<T>,
  everyMs = 20,
): Promise<Exclude<T, undefined | false>> {
  return withSpool(dataDir, (spool) =>
    waitFor(what, async () => probe(await spool.list({ limit: 1000 })), everyMs),
  );
}

/** How many entries are in each state but `delivered`; `open` are those that may still be. */
export async function countUndelivered(
  spool: Spool,
): Promise<{ readonly open: number } & Readonly<Partial<Record<EntryState, number>>>> {
  const counts: Partial<Record<EntryState, number>> = {};
  for (const { state, count } of await spool.counts()) counts[state] = (counts[state] ?? 0) + count;
  const open = UNSETTLED.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  return { ...counts, open };
}
