import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, EntryState } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import type { EntryId } from '../types/ids.ts';
import { shortSpan } from './time-argument.ts';

/** What came of a retry. */
export interface Became {
  readonly state: EntryState;
  /** An attempt has ended since, whatever it came to. */
  readonly tried: boolean;
  readonly reason?: string;
  readonly nextAttemptAt: number;
}

export interface Patience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
}

const LOOK_EVERY_MS = 100;

/**
 * Waits until each of these entries was tried, or for so long.
 * @param before when each was last tried before: by the gateway's clock, which is none of ours
 * @throws the reason of the signal when that is aborted
 */
export async function awaitRetries(
  spool: Pick<Spool, 'get'>,
  before: ReadonlyMap<EntryId, number>,
  { timeoutMs, signal, onProgress }: Patience,
): Promise<ReadonlyMap<EntryId, Became>> {
  const endsAt = performance.now() + timeoutMs;
  const became = new Map<EntryId, Became>();
  const open = new Map(before);
  for (;;) {
    for (const [id, lastAttemptAt] of open) {
      const entry = await spool.get(id);
      if (entry === undefined) {
        open.delete(id);
        continue;
      }
      const now = becameOf(entry, lastAttemptAt);
      became.set(id, now);
      if (now.tried) open.delete(id);
    }
    onProgress(before.size - open.size);
    if (open.size === 0 || performance.now() >= endsAt) return became;
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

function becameOf(
  { state, reason, lastAttemptAt, nextAttemptAt }: Entry,
  triedBeforeAt: number,
): Became {
  const waits = state === 'queued' || state === 'delivering';
  const tried = !waits || (state === 'queued' && lastAttemptAt !== triedBeforeAt);
  return { state, tried, nextAttemptAt, ...(reason !== undefined && { reason }) };
}

/** For people, in one line. */
export function becameWords({ state, tried, reason, nextAttemptAt }: Became, now: number): string {
  const why = reason === undefined ? '' : `: ${reason}`;
  if (!tried) {
    const before = reason === undefined ? '' : `; what it met before: ${reason}`;
    return state === 'delivering'
      ? `an attempt is still under way${before}`
      : `queued, and not tried yet${before}`;
  }
  if (state !== 'queued') return `${state}${why}`;
  const next = nextAttemptAt > now ? `; next try in ${shortSpan(nextAttemptAt - now)}` : '';
  return `still queued${why}${next}`;
}
