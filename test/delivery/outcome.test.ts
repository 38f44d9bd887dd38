import type { Endpoint } from '../../src/domain/endpoint.ts';
import { describe, expect, test } from '@jest/globals';
import {
  Forbidden,
  Later,
  MediaPaused,
  NotLearned,
  Refused,
  Unclear,
} from '../../src/delivery/answer.ts';
import { Notes, POST_BUDGET } from '../../src/delivery/notes.ts';
import {
  type Circumstances,
  interrupted,
  outcomeOf,
  retryDelayMs,
} from '../../src/delivery/outcome.ts';
import { NotYet } from '../../src/intake/normalizer.ts';
import { PlatformError } from '../../src/platform-api/errors.ts';
import { RawDamaged } from '../../src/spool/blobs.ts';
import {
  type Entry,
  type EntryMeta,
  FIRST_REFUSAL_NUMBER,
  WAITS_FOR,
} from '../../src/spool/entry.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = 10_000_000;

const error = (status: number, retryAfterMs?: number) =>
  new PlatformError({
    ...{ code: 'http', method: 'POST', path: '/messages/', status, retryAfterMs, answer: 'no' },
  });
// Only what the outcome depends on.
const entry = (change: Partial<Entry> = {}) =>
  ({
    attempts: 0,
    failures: 0,
    failingMs: 0,
    lastAttemptAt: 0,
    receivedAt: NOW - 9000,
    ...change,
  }) as Entry;
const when = (change: Partial<Circumstances> = {}, notes: EntryMeta = {}): Circumstances => ({
  ...{ now: NOW, random: 0.5, alone: true, giveUpAfterMs: 5 * DAY },
  damage: { isRemote: false, isWidespread: false },
  ...{ notes: new Notes(notes), ...change },
});
const everyone = (change: Partial<Circumstances> = {}) => when({ alone: false, ...change });
const later = (endpoint: Endpoint = 'messages', status = 503, retryAfterMs?: number) =>
  new Later(endpoint, error(status, retryAfterMs));
const forbidden = (endpoint: Endpoint, isTheShop = false) =>
  new Forbidden(endpoint, error(403), isTheShop);

const answered = (status: number) => ({
  code: 'platform_answered',
  params: { failure: 'http', status, path: '/messages/', answer: 'no' },
});

/** Uses nothing up, and stays where it is. */
const COSTS_NOTHING = { state: 'queued', counts: false, failingMs: 0, detach: false };

describe('it fails while others are delivered', () => {
  test('a retry on the schedule that counts, with the time since it was last tried', () => {
    expect(outcomeOf(later(), entry(), when())).toEqual({
      ...{ state: 'queued', retryInMs: 500, waitsFor: WAITS_FOR.time },
      reason: answered(503),
      ...{ failed: true, counts: true, failingMs: 9000, detach: false },
    });
  });

  test('an outage before it, or a gateway that did not run, does not count', () => {
    const before = entry({ attempts: 3, receivedAt: NOW - 7 * DAY, lastAttemptAt: NOW - 6 * DAY });
    expect(outcomeOf(later(), before, when())).toMatchObject({
      ...{ state: 'queued', counts: true, failingMs: 2 * HOUR },
    });
  });

  test('429 costs nothing, until it is clear that it is about this entry', () => {
    const throttled = (times: number, change: Partial<Circumstances> = {}) =>
      outcomeOf(later('messages', 429), entry(), when(change, { throttled: times }));
    expect(throttled(20)).toMatchObject({ ...COSTS_NOTHING, retryInMs: 500 });
    expect(throttled(21)).toMatchObject({ counts: true, failed: true });
    expect(throttled(500, { alone: false })).toMatchObject(COSTS_NOTHING);
  });

  test('Retry-After is honoured, up to an hour', () => {
    const at = (ms: number) => outcomeOf(later('messages', 503, ms), entry(), when());
    expect(at(MINUTE)).toMatchObject({ retryInMs: MINUTE + 500 });
    expect(at(DAY)).toMatchObject({ retryInMs: HOUR + 500 });
  });

  test('the sixth failure lets its lane pass', () => {
    expect(outcomeOf(later(), entry({ attempts: 4 }), when())).toMatchObject({ detach: false });
    expect(outcomeOf(later(), entry({ attempts: 5 }), when())).toMatchObject({ detach: true });
  });

  test('dead after so much time of failing alone, or so many requests', () => {
    const old = entry({ attempts: 30, failingMs: 5 * DAY - 1000 });
    expect(outcomeOf(later(), old, when())).toMatchObject({
      ...{
        state: 'dead',
        reason: { code: 'gave_up', params: { attempts: 31, last: answered(503) } },
      },
    });
    expect(outcomeOf(later(), entry(), when({}, { posts: POST_BUDGET }))).toMatchObject({
      ...{
        state: 'dead',
        reason: { code: 'gave_up_requests', params: { requests: 40, last: answered(503) } },
      },
    });
    expect(outcomeOf(later(), entry(), when({}, { posts: POST_BUDGET - 1 }))).toMatchObject({
      state: 'queued',
    });
  });

  test('a clock that was set back adds no negative time', () => {
    const ahead = entry({ lastAttemptAt: NOW + DAY });
    expect(outcomeOf(later(), ahead, when())).toMatchObject({ failingMs: 0 });
  });
});

describe('it fails as all of its shop does', () => {
  const worn = entry({ attempts: 50, failures: 90, failingMs: 5 * DAY - 1 });

  test.each([
    ['messages', WAITS_FOR.shop],
    ['media', WAITS_FOR.media],
  ] as const)('%s: it waits for that, and it costs nothing', (endpoint, waitsFor) => {
    const spent = everyone({ notes: new Notes({ posts: POST_BUDGET }) });
    expect(outcomeOf(later(endpoint), worn, spent)).toMatchObject({
      ...COSTS_NOTHING,
      ...{ failed: true, waitsFor, retryInMs: 0 },
    });
  });

  test('a failure of our own waits half a minute at most while it is not known whose it is', () => {
    const bug = new TypeError('x is not a function');
    for (const [failures, longest] of [
      [0, 1000],
      [1, 5000],
      [2, 30_000],
      [90, 30_000],
    ] as const) {
      expect(outcomeOf(bug, entry({ failures }), everyone())).toMatchObject({
        ...COSTS_NOTHING,
        ...{ failed: true, waitsFor: WAITS_FOR.time, retryInMs: longest / 2 },
      });
    }
  });
});

describe('it is not ready, or interrupted', () => {
  test.each<[string, unknown, object]>([
    ['too many requests', later('messages', 429, 7000), { retryInMs: 7500 }],
    ['not prepared yet', new NotYet({ code: 'media_postponed' }, 3000), { retryInMs: 3000 }],
    [
      'not prepared yet, and its lane goes on',
      new NotYet({ code: 'media_postponed' }, 3000, { detach: true }),
      { retryInMs: 3000, detach: true },
    ],
    ['uploads are paused', new MediaPaused('x'), { waitsFor: WAITS_FOR.media, reason: undefined }],
    ['not told where it went', new NotLearned(later()), { retryInMs: 7500 }],
  ])('%s: it uses up nothing and is no failure', (_, failure, expected) => {
    for (const alone of [true, false]) {
      expect(outcomeOf(failure, entry({ attempts: 50 }), when({ alone }))).toMatchObject({
        ...{ ...COSTS_NOTHING, failed: false, waitsFor: WAITS_FOR.time, ...expected },
      });
    }
  });

  test('an interrupted attempt is due at once, and its reason stays', () => {
    expect(interrupted).toMatchObject({
      ...{ ...COSTS_NOTHING, failed: false, retryInMs: 0, reason: undefined },
    });
  });
});

describe('it is refused', () => {
  const refused = new Refused(error(400));

  test('dead, with the answer for the operator', () => {
    for (const alone of [true, false]) {
      expect(outcomeOf(refused, entry(), when({ alone }))).toEqual({
        ...{ state: 'dead', reason: answered(400) },
      });
    }
  });

  test('as many others are: it leaves its lane and waits', () => {
    const alike = FIRST_REFUSAL_NUMBER + 7;
    expect(outcomeOf(refused, entry(), when({ alike }))).toMatchObject({
      ...{ ...COSTS_NOTHING, detach: true, failed: true, waitsFor: alike, retryInMs: 0 },
    });
  });

  test('as many others are, and its requests are used up: dead', () => {
    const circumstances = when({ alike: FIRST_REFUSAL_NUMBER }, { posts: POST_BUDGET });
    expect(outcomeOf(refused, entry(), circumstances)).toMatchObject({ state: 'dead' });
  });
});

describe('it is forbidden', () => {
  const after = (messages: number, media = 0) => when({}, { forbidden: { messages, media } });

  test('while reads are forbidden too: it waits for its shop, in its lane', () => {
    expect(outcomeOf(forbidden('messages', true), entry(), after(9))).toMatchObject({
      ...{ ...COSTS_NOTHING, waitsFor: WAITS_FOR.shop, failed: true },
    });
  });

  test('while nothing is delivered: it waits for its shop, and lets its lane pass', () => {
    const circumstances = everyone({ notes: new Notes({ forbidden: { messages: 9, media: 0 } }) });
    expect(outcomeOf(forbidden('messages'), entry(), circumstances)).toMatchObject({
      ...{ ...COSTS_NOTHING, waitsFor: WAITS_FOR.shop, failed: true, detach: true },
    });
  });

  test('while others are delivered: three tries within an hour, then dead', () => {
    const first = outcomeOf(forbidden('messages'), entry(), after(1));
    const second = outcomeOf(forbidden('messages'), entry(), after(2));
    expect(first).toMatchObject({ waitsFor: WAITS_FOR.time, counts: true, detach: true });
    expect(second).toMatchObject({ waitsFor: WAITS_FOR.time, counts: true, detach: true });
    const waits = [first, second].map((o) => (o.state === 'queued' ? o.retryInMs : NaN));
    expect(waits[0]).toBeGreaterThan(0);
    expect((waits[0] ?? 0) + (waits[1] ?? 0)).toBeLessThan(HOUR);
    expect(outcomeOf(forbidden('messages'), entry(), after(3))).toEqual({
      ...{ state: 'dead', reason: answered(403) },
    });
  });

  test('an upload never is the end of a message', () => {
    for (const tries of [1, 2, 3, 50]) {
      const circumstances = after(0, tries);
      expect(outcomeOf(forbidden('media'), entry(), circumstances).state).toBe('queued');
    }
    expect(outcomeOf(forbidden('media', true), entry(), after(0, 3))).toMatchObject({
      waitsFor: WAITS_FOR.media,
    });
  });
});

describe('nobody says whether it was taken', () => {
  const unclear = (tries: number) =>
    outcomeOf(new Unclear('the platform does not say'), entry(), when({}, { unclear: tries }));

  test('it is tried again, and held after three tries', () => {
    expect(unclear(1)).toMatchObject({ state: 'queued', retryInMs: 500, failed: true });
    expect(unclear(2)).toMatchObject({ state: 'queued', retryInMs: 2500 });
    expect(unclear(3)).toEqual({ state: 'held', reason: { code: 'unclear_answer' } });
  });
});

test('a bug of ours is retried, not dropped', () => {
  expect(outcomeOf(new TypeError('x is not a function'), entry(), when())).toMatchObject({
    ...{
      state: 'queued',
      reason: { code: 'internal_error', params: { error: 'TypeError' } },
      counts: true,
    },
  });
  expect(outcomeOf('a text', entry(), when())).toMatchObject({ state: 'queued' });
});

test.each([
  [1, SECOND],
  [2, 5 * SECOND],
  [3, 30 * SECOND],
  [4, 2 * MINUTE],
  [5, 10 * MINUTE],
  [6, 30 * MINUTE],
  [7, HOUR],
  [500, HOUR],
])('after attempt %i waits up to %i ms, spread over all of it', (attempts, longest) => {
  expect(retryDelayMs(attempts, 0)).toBe(0);
  expect(retryDelayMs(attempts, 0.5)).toBe(longest / 2);
  expect(retryDelayMs(attempts, 0.999999)).toBeLessThanOrEqual(longest);
});

test.each([
  ['on this machine', false, [1000]],
  ['elsewhere', true, [1000, 10_000, 60_000, 600_000]],
] as const)('damaged bytes %s are read again before they are dead', (_, isRemote, waits) => {
  const read = (damaged: number, isWidespread = false) =>
    outcomeOf(new RawDamaged(), entry(), when({ damage: { isRemote, isWidespread } }, { damaged }));
  for (const [n, retryInMs] of waits.entries()) {
    expect(read(n + 1)).toMatchObject({ ...COSTS_NOTHING, retryInMs });
  }
  const last = waits.length + 1;
  expect(read(last)).toEqual({ state: 'dead', reason: { code: 'raw_damaged' } });
  expect(read(last, true)).toMatchObject({ ...COSTS_NOTHING, retryInMs: MINUTE });
});

test('Retry-After is a lower bound, at most an hour', () => {
  expect(retryDelayMs(1, 0, 7000)).toBe(7000);
  expect(retryDelayMs(1, 0.5, 7000)).toBe(7500);
  expect(retryDelayMs(1, 0, 24 * HOUR)).toBe(HOUR);
});
