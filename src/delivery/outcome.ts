import type { Endpoint } from '../domain/endpoint.ts';
import { NotYet } from '../intake/normalizer.ts';
import { type Entry, type Outcome, WAITS_FOR } from '../spool/entry.ts';
import { RawDamaged, RawUnreadable } from '../spool/blobs.ts';
import {
  Forbidden,
  Later,
  LookFailed,
  MediaPaused,
  NotLearned,
  Refused,
  Unclear,
  WaitAnnounced,
} from './answer.ts';
import type { Reason } from '../domain/reasons.ts';
import type { Notes } from './notes.ts';

/** Attempts after which an entry that fails on its own is detached, so that its lane continues. */
const POISON_AFTER_ATTEMPTS = 6;
/** While the entry or the shop may be at fault, no later step of the schedule is used. */
const UNDECIDED_AT_MOST = 3;
const LEARN_AGAIN_AFTER_MS = 5000;
const UNCLEAR_AT_MOST = 3;
/** The longest wait of an entry that fails on its own: Retry-After plus the last schedule step. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
/** After this many 429s for one entry while others succeed, the shop's rate is not the cause. */
const THROTTLED_AT_MOST = 20;
/** Waits between the attempts of a forbidden entry: three attempts within an hour. */
const FORBIDDEN_WAITS_MS = [60_000, 20 * 60_000];

const READ_AGAIN_AFTER_MS = {
  remote: [1000, 10_000, 60_000, 600_000],
  local: [1000],
  widespread: 60_000,
} as const;

/** The state of the shop and the entry that decides what a failure means. */
export interface Circumstances {
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
  /** Other entries of the shop were delivered since this one was last tried. */
  readonly alone: boolean;
  readonly giveUpAfterMs: number;
  /** The notes of this attempt, including this failure. */
  readonly notes: Notes;
  /** Others were refused alike: the entry waits for this refusal number, it is not dead. */
  readonly alike?: number | undefined;
  /** Of the store's blobs, after `RawDamaged`. */
  readonly damage: { readonly isRemote: boolean; readonly isWidespread: boolean };
}

type Queued = Extract<Outcome, { state: 'queued' }>;

/** The outcome of an attempt that threw. Unexpected errors are retried, never dropped. */
export function outcomeOf(error: unknown, entry: Entry, when: Circumstances): Outcome {
  if (error instanceof RawDamaged) return whileDamaged(when);
  if (error instanceof RawUnreadable) {
    const reason: Reason = { code: 'raw_unreadable' };
    // It is the storage's fault, so the lane keeps its order.
    const outcome = onOwnTime(reason, undefined, entry, { ...when, alone: true });
    return outcome.state === 'queued' ? { ...outcome, detach: false } : outcome;
  }
  if (error instanceof Refused) return refused(error, when);
  if (error instanceof Forbidden) return whileForbidden(error, when);
  if (error instanceof Unclear) return whileUnclear(when);
  if (error instanceof Later) return later(error, entry, when);
  if (error instanceof LookFailed) {
    const tries = Math.min(when.notes.value.looksFailed, UNDECIDED_AT_MOST);
    return wait(retryDelayMs(tries, when.random), error.reason);
  }
  if (error instanceof NotYet) {
    return { ...wait(error.retryAfterMs, error.reason), detach: error.detach };
  }
  if (error instanceof MediaPaused) {
    return { ...wait(0, undefined), waitsFor: WAITS_FOR.media };
  }
  if (error instanceof WaitAnnounced) return interrupted;
  if (error instanceof NotLearned) {
    return wait(LEARN_AGAIN_AFTER_MS * (1 + when.random), error.reason);
  }
  // Also the channel's own errors, such as `NormalizingUnavailable`, and the store's.
  const bug: Reason = { code: 'internal_error', params: { error: nameOf(error) } };
  return onOwnTime(bug, undefined, entry, when);
}

/** After a stop, a lost lease or an announced wait, for which the entry is not at fault. */
export const interrupted: Outcome = wait(0, undefined);

/** The entry is due again after these milliseconds; the attempt does not count. */
function wait(retryInMs: number, reason: Reason | undefined): Queued {
  return {
    ...{ state: 'queued', retryInMs: Math.round(retryInMs), waitsFor: WAITS_FOR.time, reason },
    ...{ failed: false, counts: false, failingMs: 0, detach: false },
  };
}

/** The whole shop fails: the entry waits until the shop delivers again. */
function withTheShop(endpoint: Endpoint, reason: Reason): Queued {
  const waitsFor = endpoint === 'media' ? WAITS_FOR.media : WAITS_FOR.shop;
  return { ...wait(0, reason), waitsFor, failed: true };
}

function later(error: Later, entry: Entry, when: Circumstances): Outcome {
  const { endpoint, reason, retryAfterMs = 0, isThrottled } = error;
  if (isThrottled && !isThrottledAlone(when)) {
    return wait(retryDelayMs(1, when.random, retryAfterMs), reason);
  }
  if (!when.alone && !isThrottled) return withTheShop(endpoint, reason);
  return onOwnTime(reason, retryAfterMs, entry, when);
}

/** Whether the 429s of this entry say nothing about the rate at which the shop may send. */
export const isThrottledAlone = ({ alone, notes }: Pick<Circumstances, 'alone' | 'notes'>) =>
  notes.isSpent || (alone && notes.value.throttled > THROTTLED_AT_MOST);

/** The entry fails while others are delivered, or by a local error: it follows the schedule. */
function onOwnTime(
  reason: Reason,
  retryAfterMs: number | undefined,
  entry: Entry,
  { now, random, alone, giveUpAfterMs, notes }: Circumstances,
): Outcome {
  if (!alone) {
    const tries = Math.min(entry.failures + 1, UNDECIDED_AT_MOST);
    return { ...wait(retryDelayMs(tries, random), reason), failed: true };
  }
  const attempts = entry.attempts + 1;
  // A longer time was an outage, or the gateway was not running; it does not count.
  const sinceMs = now - Math.max(entry.lastAttemptAt, entry.receivedAt);
  const failingMs = Math.min(LONGEST_WAIT_MS, Math.max(0, sinceMs));
  if (entry.failingMs + failingMs >= giveUpAfterMs) {
    return { state: 'dead', reason: { code: 'gave_up', params: { attempts, last: reason } } };
  }
  if (notes.isSpent) {
    const params = { requests: notes.value.posts, last: reason };
    return { state: 'dead', reason: { code: 'gave_up_requests', params } };
  }
  return {
    ...wait(retryDelayMs(attempts, random, retryAfterMs), reason),
    ...{ failed: true, counts: true, failingMs, detach: attempts >= POISON_AFTER_ATTEMPTS },
  };
}

function refused({ reason }: Refused, { notes, alike }: Circumstances): Outcome {
  if (alike === undefined || notes.isSpent) return { state: 'dead', reason };
  return { ...wait(0, reason), waitsFor: alike, failed: true, detach: true };
}

/**
 * A `forbidden` answer. If reads work, a firewall probably rejects this text. The entry is
 * detached, so that the sender's next message shows whether the shop or the text is refused.
 */
function whileForbidden(error: Forbidden, when: Circumstances): Outcome {
  const { endpoint, isTheShop, reason } = error;
  if (isTheShop) return withTheShop(endpoint, reason);
  if (!when.alone) return { ...withTheShop(endpoint, reason), detach: true };
  const tries = when.notes.value.forbidden[endpoint];
  const waitMs = FORBIDDEN_WAITS_MS[tries - 1];
  if (waitMs === undefined && endpoint === 'messages') return { state: 'dead', reason };
  const retryInMs = (waitMs ?? 0) * (0.75 + when.random / 2);
  return { ...wait(retryInMs, reason), failed: true, counts: true, detach: true };
}

/** Damaged bytes are read again: they may have been damaged on their way here. */
function whileDamaged({ notes, damage }: Circumstances): Outcome {
  const reason: Reason = { code: 'raw_damaged' };
  const waits = damage.isRemote ? READ_AGAIN_AFTER_MS.remote : READ_AGAIN_AFTER_MS.local;
  const waitMs = waits[notes.value.damaged - 1];
  if (waitMs === undefined && !damage.isWidespread) return { state: 'dead', reason };
  return { ...wait(waitMs ?? READ_AGAIN_AFTER_MS.widespread, reason), failed: true };
}

function whileUnclear({ random, notes }: Circumstances): Outcome {
  const { unclear } = notes.value;
  const reason: Reason = { code: 'unclear_answer' };
  if (unclear >= UNCLEAR_AT_MOST) return { state: 'held', reason };
  return { ...wait(retryDelayMs(unclear, random), reason), failed: true };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The longest wait before each attempt; the last one is used for all later attempts. */
const SCHEDULE = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];

/**
 * Milliseconds until the next attempt, with full jitter: after an outage or a restart the retries
 * are spread out. A `Retry-After` is a lower bound.
 *
 * @param attempts attempts made so far, this one included; 1 or more
 * @param random a number in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number, retryAfterMs = 0): number {
  const longest = SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  return Math.round(Math.min(retryAfterMs, HOUR) + random * longest);
}
