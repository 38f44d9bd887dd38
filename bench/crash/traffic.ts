import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';

/** The parameters of every generator. */
export interface Traffic {
  readonly ledger: Ledger;
  /** In [0, 1), the same for the same seed. */
  readonly random: () => number;
  /** Stops new messages; one that is in flight is completed. */
  readonly stopped: AbortSignal;
  /** Aborts everything when the time limit is over. */
  readonly gaveUp: AbortSignal;
  /** The share of mail connections that are encrypted; default 0.3. */
  readonly encryptedShare?: number;
  /** The share of emails that are larger than an inline raw form; default 0.2. */
  readonly largeShare?: number;
  /** The mean time between two messages of a lane in milliseconds. */
  readonly meanPauseMs: number;
}

/** Waits as long as people do between messages: exponentially distributed, short pauses often. */
export async function pause({ random, meanPauseMs, stopped }: Traffic): Promise<void> {
  const ms = Math.min(-Math.log(1 - random()), 5) * meanPauseMs;
  await delay(ms, undefined, { signal: stopped }).catch(() => undefined);
}

/** Waits before a retry. */
export async function waitToRetry(traffic: Traffic, ms: number): Promise<void> {
  traffic.gaveUp.throwIfAborted();
  await delay(ms, undefined, { signal: traffic.gaveUp });
}
