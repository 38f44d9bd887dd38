import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';

/** What every generator is given. */
export interface Traffic {
  readonly ledger: Ledger;
  /** In [0, 1), the same for the same seed. */
  readonly random: () => number;
  /** Ends new messages; one that is on its way is still brought to its end. */
  readonly stopped: AbortSignal;
  /** Rejects everything: the time is up. */
  readonly gaveUp: AbortSignal;
  /** Of the mail connections, those that are encrypted; 0.3 without it. */
  readonly encryptedShare?: number;
  /** Milliseconds between two messages of a lane, on average. */
  readonly meanPauseMs: number;
}

/** A pause as between people's messages: short ones often, long ones seldom. */
export async function pause({ random, meanPauseMs, stopped }: Traffic): Promise<void> {
  const ms = Math.min(-Math.log(1 - random()), 5) * meanPauseMs;
  await delay(ms, undefined, { signal: stopped }).catch(() => undefined);
}

/** Before the next try of something that failed. */
export async function waitToRetry(traffic: Traffic, ms: number): Promise<void> {
  traffic.gaveUp.throwIfAborted();
  await delay(ms, undefined, { signal: traffic.gaveUp });
}
