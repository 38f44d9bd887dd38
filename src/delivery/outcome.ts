import { NotYet } from '../intake/normalizer.ts';
import type { Entry, Outcome } from '../spool/entry.ts';
import { ConfigurationFault, Later, Paused, Refused } from './failure.ts';
import { retryDelayMs } from './retry-schedule.ts';

/** Attempts after which an entry that fails alone lets its lane pass. */
const POISON_AFTER_ATTEMPTS = 6;
const ANSWER_SHOWN_CHARS = 300;

/** What the time and the shop's state say about a failure. */
export interface Circumstances {
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
  /** Other entries of the shop were delivered since this one was last tried: it fails alone. */
  readonly shopWorks: boolean;
  /** The shop's breaker is open. */
  readonly outage: boolean;
  readonly giveUpAfterMs: number;
}

/** What an attempt that threw comes to. Anything unforeseen is retried, never dropped. */
export function outcomeOf(error: unknown, entry: Entry, when: Circumstances): Outcome {
  if (error instanceof Refused) return { state: 'dead', reason: refusalReason(error) };
  if (error instanceof Paused) return waitUntil(error.until, error.message);
  if (error instanceof NotYet) return waitUntil(when.now + error.retryAfterMs, error.message);
  if (error instanceof ConfigurationFault) return waitUntil(when.now, error.message);
  return retryOrGiveUp(error, entry, when);
}

function retryOrGiveUp(error: unknown, entry: Entry, when: Circumstances): Outcome {
  const reason = error instanceof Later ? error.message : `it failed here: ${nameOf(error)}`;
  const retryAfterMs = error instanceof Later ? error.retryAfterMs : undefined;
  const attempts = entry.attempts + 1;
  const nextAttemptAt = when.now + retryDelayMs(attempts, when.random, retryAfterMs);
  if (when.outage) {
    return { state: 'queued', nextAttemptAt, reason, counts: false, failingMs: 0, detach: false };
  }
  const sinceLast = when.now - Math.max(entry.lastAttemptAt, entry.receivedAt);
  const failingMs = when.shopWorks ? Math.max(0, sinceLast) : 0;
  if (entry.failingMs + failingMs >= when.giveUpAfterMs) {
    return { state: 'dead', reason: `gave up after ${attempts} attempts; ${reason}` };
  }
  const detach = when.shopWorks && attempts >= POISON_AFTER_ATTEMPTS;
  return { state: 'queued', nextAttemptAt, reason, counts: true, failingMs, detach };
}

function waitUntil(at: number, reason: string): Outcome {
  return { state: 'queued', nextAttemptAt: at, reason, counts: false, failingMs: 0, detach: false };
}

function refusalReason({ message, answer }: Refused): string {
  return answer === '' ? message : `${message}: ${answer.slice(0, ANSWER_SHOWN_CHARS)}`;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
