import { NotYet } from '../intake/normalizer.ts';
import { type Entry, type Outcome, WAITS_FOR } from '../spool/entry.ts';
import { RawDamaged } from '../spool/raw-checksum.ts';
import {
  Forbidden,
  Later,
  MediaPaused,
  NotLearned,
  type Part,
  Refused,
  Unclear,
} from './answer.ts';
import type { Notes } from './notes.ts';

/** Attempts after which an entry that fails alone lets its lane pass. */
const POISON_AFTER_ATTEMPTS = 6;
/** While it is not known whose fault it is, nothing waits longer than this (the third step). */
const UNDECIDED_AT_MOST = 3;
const LEARN_AGAIN_AFTER_MS = 5000;
const UNCLEAR_AT_MOST = 3;
/** No entry that fails by itself waits for longer: a Retry-After and the last step of the schedule. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
/** After so many 429s of one entry while others are delivered, its rate is not the cause. */
const THROTTLED_AT_MOST = 20;
/** Between the tries of an entry whose text is forbidden: three within an hour. */
const FORBIDDEN_WAITS_MS = [60_000, 20 * 60_000];

/** What the time and the shop's state say about a failure. */
export interface Circumstances {
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
  /** Others of its shop were delivered since this one was last tried. */
  readonly alone: boolean;
  readonly giveUpAfterMs: number;
  /** What this attempt noted, the failure itself included. */
  readonly notes: Notes;
  /** Others were refused with the same words: it waits for this number instead of being dead. */
  readonly alike?: number | undefined;
}

type Queued = Extract<Outcome, { state: 'queued' }>;

/** What an attempt that threw comes to. Anything unforeseen is retried, never dropped. */
export function outcomeOf(error: unknown, entry: Entry, when: Circumstances): Outcome {
  if (error instanceof RawDamaged) return { state: 'dead', reason: error.message };
  if (error instanceof Refused) return refused(error, when);
  if (error instanceof Forbidden) return whileForbidden(error, when);
  if (error instanceof Unclear) return whileUnclear(error, when);
  if (error instanceof Later) return later(error, entry, when);
  if (error instanceof NotYet) return wait(when.now + error.retryAfterMs, error.message);
  if (error instanceof MediaPaused) {
    return { ...wait(when.now, undefined), waitsFor: WAITS_FOR.media };
  }
  if (error instanceof NotLearned) {
    return wait(when.now + LEARN_AGAIN_AFTER_MS * (1 + when.random), error.message);
  }
  return onOwnTime(`it failed here: ${nameOf(error)}`, undefined, entry, when);
}

/** A stop or a lost lease is no fault of the entry's. */
export const interrupted = (now: number): Outcome => wait(now, undefined);

/** It comes again at this time, as if it had not been tried. */
function wait(at: number, reason: string | undefined): Queued {
  return {
    ...{ state: 'queued', nextAttemptAt: Math.round(at), waitsFor: WAITS_FOR.time, reason },
    ...{ failed: false, counts: false, failingMs: 0, detach: false },
  };
}

/** The shop's platform fails as a whole: the entry waits until the shop delivers again. */
function withTheShop(part: Part, now: number, reason: string): Queued {
  const waitsFor = part === 'media' ? WAITS_FOR.media : WAITS_FOR.shop;
  return { ...wait(now, reason), waitsFor, failed: true };
}

function later(error: Later, entry: Entry, when: Circumstances): Outcome {
  const { part, told, retryAfterMs = 0, isThrottled } = error;
  if (isThrottled && !isThrottledAlone(when)) {
    return wait(when.now + retryDelayMs(1, when.random, retryAfterMs), told);
  }
  if (!when.alone && !isThrottled) return withTheShop(part, when.now, told);
  return onOwnTime(told, retryAfterMs, entry, when);
}

/** The 429s of this entry say nothing about the rate at which the shop may send. */
export const isThrottledAlone = ({ alone, notes }: Pick<Circumstances, 'alone' | 'notes'>) =>
  notes.isSpent || (alone && notes.value.throttled > THROTTLED_AT_MOST);

/** It fails while others are delivered, or for a reason of our own: on the schedule. */
function onOwnTime(
  reason: string,
  retryAfterMs: number | undefined,
  entry: Entry,
  { now, random, alone, giveUpAfterMs, notes }: Circumstances,
): Outcome {
  if (!alone) {
    const tries = Math.min(entry.failures + 1, UNDECIDED_AT_MOST);
    return { ...wait(now + retryDelayMs(tries, random), reason), failed: true };
  }
  const attempts = entry.attempts + 1;
  // Time beyond that was an outage, or the gateway was not running: it does not count.
  const sinceMs = now - Math.max(entry.lastAttemptAt, entry.receivedAt);
  const failingMs = Math.min(LONGEST_WAIT_MS, Math.max(0, sinceMs));
  if (entry.failingMs + failingMs >= giveUpAfterMs) {
    return { state: 'dead', reason: `gave up after ${attempts} attempts; ${reason}` };
  }
  if (notes.isSpent) {
    return { state: 'dead', reason: `gave up after ${notes.value.posts} requests; ${reason}` };
  }
  return {
    ...wait(now + retryDelayMs(attempts, random, retryAfterMs), reason),
    ...{ failed: true, counts: true, failingMs, detach: attempts >= POISON_AFTER_ATTEMPTS },
  };
}

function refused({ told }: Refused, { now, notes, alike }: Circumstances): Outcome {
  if (alike === undefined || notes.isSpent) return { state: 'dead', reason: told };
  return { ...wait(now, told), waitsFor: alike, failed: true, detach: true };
}

/**
 * A firewall's dislike of one text, unless the shop's reads are refused as well. It leaves its lane,
 * so that the person's next message shows which it is.
 */
function whileForbidden(error: Forbidden, when: Circumstances): Outcome {
  const { part, isTheShop, told } = error;
  if (isTheShop) return withTheShop(part, when.now, told);
  if (!when.alone) return { ...withTheShop(part, when.now, told), detach: true };
  const tries = when.notes.value.forbidden[part];
  const waitMs = FORBIDDEN_WAITS_MS[tries - 1];
  if (waitMs === undefined && part === 'messages') return { state: 'dead', reason: told };
  const at = when.now + (waitMs ?? 0) * (0.75 + when.random / 2);
  return { ...wait(at, told), failed: true, counts: true, detach: true };
}

function whileUnclear({ message }: Unclear, { now, random, notes }: Circumstances): Outcome {
  const { unclear } = notes.value;
  if (unclear >= UNCLEAR_AT_MOST) return { state: 'held', reason: message };
  return { ...wait(now + retryDelayMs(unclear, random), message), failed: true };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The longest wait before each attempt; the last one repeats. */
const SCHEDULE = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];

/**
 * Milliseconds until the next attempt, with full jitter: after an outage or a restart the waiting
 * entries come back spread out instead of all at once. A `Retry-After` is a lower bound.
 *
 * @param attempts attempts made so far, this one included; 1 or more
 * @param random a number in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number, retryAfterMs = 0): number {
  const longest = SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  return Math.round(Math.min(retryAfterMs, HOUR) + random * longest);
}
