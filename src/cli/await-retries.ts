import { setTimeout as delay } from 'node:timers/promises';
import type { Entry } from '../spool/entry.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { Spool } from '../spool/spool.ts';
import type { EntryId } from '../domain/ids.ts';
import { reasonInWords } from '../domain/reason-explanations.ts';
import type { Reason } from '../domain/reasons.ts';
import { shortSpan } from './time-argument.ts';

/** The result of a retry. */
export interface RetryResult {
  readonly state: EntryState;
  /** An attempt has ended since the retry, with any result. */
  readonly tried: boolean;
  readonly reason?: Reason;
  readonly nextAttemptAt: number;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
}

const LOOK_EVERY_MS = 100;

/**
 * Waits until each of these entries has been tried, or until the time limit.
 * @param before when each entry was last tried, by the gateway's clock, which can differ from ours
 * @throws the signal's reason when it is aborted
 */
export async function awaitRetries(
  spool: Pick<Spool, 'get'>,
  before: ReadonlyMap<EntryId, number>,
  { timeoutMs, signal, onProgress }: WaitOptions,
): Promise<ReadonlyMap<EntryId, RetryResult>> {
  const endsAt = performance.now() + timeoutMs;
  const results = new Map<EntryId, RetryResult>();
  const open = new Map(before);
  for (;;) {
    for (const [id, lastAttemptAt] of open) {
      const entry = await spool.get(id);
      if (entry === undefined) {
        open.delete(id);
        continue;
      }
      const now = resultOf(entry, lastAttemptAt);
      results.set(id, now);
      if (now.tried) open.delete(id);
    }
    onProgress(before.size - open.size);
    if (open.size === 0 || performance.now() >= endsAt) return results;
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

function resultOf(
  { state, reason, lastAttemptAt, nextAttemptAt }: Entry,
  triedBeforeAt: number,
): RetryResult {
  const waits = state === 'queued' || state === 'delivering';
  const tried = !waits || (state === 'queued' && lastAttemptAt !== triedBeforeAt);
  return { state, tried, nextAttemptAt, ...(reason !== undefined && { reason }) };
}

/** The result in one line, for people. */
export function resultWords(
  { state, tried, reason, nextAttemptAt }: RetryResult,
  now: number,
): string {
  const words = reason === undefined ? undefined : reasonInWords(reason);
  const why = words === undefined ? '' : `: ${words}`;
  if (!tried) {
    const before = words === undefined ? '' : `; last failure: ${words}`;
    return state === 'delivering'
      ? `an attempt is still under way${before}`
      : `queued, and not tried yet${before}`;
  }
  if (state !== 'queued') return `${state}${why}`;
  const next = nextAttemptAt > now ? `; next try in ${shortSpan(nextAttemptAt - now)}` : '';
  return `still queued${why}${next}`;
}
