import { describe, expect, test } from '@jest/globals';
import { Breaker } from '../../src/delivery/breaker.ts';
import { Later, Paused, readAnswer, Refused } from '../../src/delivery/failure.ts';
import { outcomeOf } from '../../src/delivery/outcome.ts';
import { RefusalStreak } from '../../src/delivery/refusal-streak.ts';
import { retryDelayMs } from '../../src/delivery/retry-schedule.ts';
import { NotYet } from '../../src/intake/normalizer.ts';
import { PlatformError, type PlatformErrorCode } from '../../src/platform-api/errors.ts';
import type { Entry } from '../../src/spool/entry.ts';

const error = (status?: number, code: PlatformErrorCode = 'http', retryAfterMs?: number) =>
  new PlatformError({
    code,
    method: 'POST',
    path: '/messages/',
    status,
    retryAfterMs,
    answer: 'no',
  });

describe('the retry schedule', () => {
  test.each([
    [1, 1000],
    [2, 5000],
    [3, 30_000],
    [4, 120_000],
    [5, 600_000],
    [6, 1_800_000],
    [7, 3_600_000],
    [500, 3_600_000],
  ])('after attempt %i waits up to %i ms, spread over all of it', (attempts, longest) => {
    expect(retryDelayMs(attempts, 0)).toBe(0);
    expect(retryDelayMs(attempts, 0.5)).toBe(longest / 2);
    expect(retryDelayMs(attempts, 0.999999)).toBeLessThanOrEqual(longest);
  });

  test('Retry-After is a lower bound, at most an hour', () => {
    expect(retryDelayMs(1, 0, 7000)).toBe(7000);
    expect(retryDelayMs(1, 0, 86_400_000)).toBe(3_600_000);
  });
});

describe('what an answer asks for', () => {
  test.each([
    [error(undefined, 'network'), 'later'],
    [error(undefined, 'timeout'), 'later'],
    [error(200, 'not_json'), 'later'],
    [error(408), 'later'],
    [error(425), 'later'],
    [error(429), 'later'],
    [error(500), 'later'],
    [error(503), 'later'],
    [error(401), 'credentials'],
    [error(403), 'credentials'],
    [error(405), 'credentials'],
    [error(302), 'credentials'],
    [error(404), 'gone'],
    [error(410), 'gone'],
    [error(undefined, 'invalid'), 'gone'],
    [error(400), 'refused'],
    [error(409), 'refused'],
    [error(413), 'refused'],
    [error(422), 'refused'],
    [error(418), 'refused'],
  ])('%s → %s', (answer, expected) => {
    expect(readAnswer(answer)).toBe(expected);
  });
});

describe('the breaker', () => {
  const breaker = () => {
    const time = { now: 0 };
    return { time, breaker: new Breaker(() => time.now) };
  };
  const times = (count: number, action: () => void) => {
    for (let i = 0; i < count; i += 1) action();
  };

  test('opens after ten failures in a row, not after nine', () => {
    const { breaker: b } = breaker();
    times(9, () => b.failed());
    expect(b.allowance(16)).toBe(16);
    b.failed();
    expect(b.allowance(16)).toBe(0);
  });

  test('a success in between starts the count again', () => {
    const { breaker: b } = breaker();
    times(9, () => b.failed());
    b.succeeded();
    times(9, () => b.failed());
    expect(b.isOpen).toBe(false);
  });

  test('opens when half of at least twenty in a minute fail', () => {
    const { breaker: b, time } = breaker();
    times(9, () => {
      b.succeeded();
      b.failed();
      time.now += 100;
    });
    expect(b.isOpen).toBe(false);
    b.succeeded();
    b.failed();
    expect(b.isOpen).toBe(true);
  });

  test('failures of long ago do not count', () => {
    const { breaker: b, time } = breaker();
    times(15, () => {
      b.failed();
      b.succeeded();
      time.now += 10_000;
    });
    expect(b.isOpen).toBe(false);
  });

  test('lets one probe pass after 30 s, then doubles the wait up to 5 minutes', () => {
    const { breaker: b, time } = breaker();
    times(10, () => b.failed());
    for (const seconds of [30, 60, 120, 240, 300, 300]) {
      time.now += seconds * 1000 - 1;
      expect(b.allowance(16)).toBe(0);
      time.now += 1;
      expect(b.allowance(16)).toBe(1);
      b.startProbe();
      expect(b.allowance(16)).toBe(0);
      b.failed();
    }
  });

  test('a probe that succeeds closes it; one that said nothing can be had again', () => {
    const { breaker: b, time } = breaker();
    times(10, () => b.failed());
    time.now = 30_000;
    b.startProbe();
    b.releaseProbe();
    expect(b.allowance(16)).toBe(1);
    b.startProbe();
    b.succeeded();
    expect(b.allowance(16)).toBe(16);
  });

  test('failures that were in flight when it opened do not put off the probe', () => {
    const { breaker: b } = breaker();
    times(10, () => b.failed());
    const { probeAt } = b;
    times(6, () => b.failed());
    expect(b.probeAt).toBe(probeAt);
  });
});

describe('what a failed attempt comes to', () => {
  const DAY = 86_400_000;
  const entry = (change: Partial<Entry> = {}) =>
    ({ attempts: 0, failingMs: 0, lastAttemptAt: 0, receivedAt: 1000, ...change }) as Entry;
  const when = { now: 10_000, random: 0.5, shopWorks: true, outage: false, giveUpAfterMs: 5 * DAY };
  const later = new Later('messages', error(503));

  test('a retry on the schedule that counts, with the time since it was last tried', () => {
    expect(outcomeOf(later, entry(), when)).toEqual({
      state: 'queued',
      nextAttemptAt: 10_500,
      reason: 'the platform answered 503 (http) to /messages/',
      counts: true,
      failingMs: 9000,
      detach: false,
    });
  });

  test('Retry-After is honoured', () => {
    const asked = new Later('messages', error(429, 'http', 60_000));
    expect(outcomeOf(asked, entry(), when)).toMatchObject({ nextAttemptAt: 70_500 });
  });

  test('in an outage nothing counts and nothing dies', () => {
    const old = entry({ attempts: 50, failingMs: 5 * DAY - 1 });
    const outage = { ...when, outage: true, shopWorks: false };
    expect(outcomeOf(later, old, outage)).toMatchObject({
      state: 'queued',
      counts: false,
      failingMs: 0,
      detach: false,
    });
  });

  test('the time of an outage does not count even before the breaker opens', () => {
    expect(outcomeOf(later, entry(), { ...when, shopWorks: false })).toMatchObject({
      failingMs: 0,
    });
  });

  test('the sixth failure of one that fails alone detaches it from its lane', () => {
    expect(outcomeOf(later, entry({ attempts: 4 }), when)).toMatchObject({ detach: false });
    expect(outcomeOf(later, entry({ attempts: 5 }), when)).toMatchObject({ detach: true });
    const everyone = { ...when, shopWorks: false };
    expect(outcomeOf(later, entry({ attempts: 5 }), everyone)).toMatchObject({ detach: false });
  });

  test('dead after giveUpAfter of failing alone', () => {
    const old = entry({ attempts: 30, failingMs: 5 * DAY - 1000 });
    expect(outcomeOf(later, old, when)).toMatchObject({ state: 'dead' });
  });

  test('a refusal is dead, with the answer for the operator', () => {
    expect(outcomeOf(new Refused(error(400)), entry(), when)).toEqual({
      state: 'dead',
      reason: 'the platform answered 400 to /messages/: no',
    });
  });

  test('what is paused or not ready waits for its time and uses up nothing', () => {
    const rest = { state: 'queued', counts: false, failingMs: 0, detach: false };
    expect(outcomeOf(new Paused('media', 77_000), entry(), when)).toMatchObject({
      ...rest,
      nextAttemptAt: 77_000,
    });
    expect(outcomeOf(new NotYet('media', 3000), entry(), when)).toMatchObject({
      ...rest,
      nextAttemptAt: 13_000,
    });
  });

  test('a bug of ours is retried, not dropped', () => {
    expect(outcomeOf(new TypeError('x is not a function'), entry(), when)).toMatchObject({
      state: 'queued',
      reason: 'it failed here: TypeError',
    });
  });
});

describe('the streak of refusals', () => {
  test('five lanes with the same answer are one fault', () => {
    const streak = new RefusalStreak<string>();
    for (const n of [1, 2, 3, 4])
      expect(streak.add(`lane${n}`, `id${n}`, '400 no')).toBeUndefined();
    expect(streak.add('lane4', 'id4b', '400 no')).toBeUndefined();
    expect(streak.add('lane5', 'id5', '400 no')).toEqual(['id1', 'id2', 'id3', 'id4b', 'id5']);
  });

  test('what was said to five is said to all, until a delivery', () => {
    const streak = new RefusalStreak<string>();
    for (const n of [1, 2, 3, 4, 5]) streak.add(`lane${n}`, `id${n}`, '400 no');
    expect(streak.add('lane6', 'id6', '400 no')).toEqual(['id6']);
    expect(streak.add('lane7', 'id7', '422 other')).toBeUndefined();
    expect(streak.add('lane8', 'id8', '400 no')).toEqual(['id8']);
    streak.reset();
    expect(streak.add('lane9', 'id9', '400 no')).toBeUndefined();
  });

  test('another answer or a delivery starts again', () => {
    const streak = new RefusalStreak<string>();
    for (const n of [1, 2, 3, 4]) streak.add(`lane${n}`, `id${n}`, '400 no');
    streak.add('lane5', 'id5', '422 other');
    for (const n of [6, 7, 8]) streak.add(`lane${n}`, `id${n}`, '422 other');
    streak.reset();
    expect(streak.add('lane9', 'id9', '422 other')).toBeUndefined();
  });
});
