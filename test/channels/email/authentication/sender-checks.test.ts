import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckRequest } from '../../../../src/channels/email/authentication/check-message.ts';
import { SenderChecks } from '../../../../src/channels/email/authentication/sender-checks.ts';
import {
  type AuthenticationVerdict,
  UNENDED_VERDICT,
  UNKNOWN_VERDICT,
} from '../../../../src/channels/email/authentication/verdict.ts';
import { NotYet } from '../../../../src/intake/normalizer.ts';
import type { Claimed, EntryMeta } from '../../../../src/spool/entry.ts';
import { waitFor } from '../../../support/wait-for.ts';

const FAILED: AuthenticationVerdict = { ...UNKNOWN_VERDICT, dmarc: 'fail', policy: 'reject' };
const REQUEST: CheckRequest = {
  raw: { kind: 'bytes', bytes: new Uint8Array() },
  ...{ remoteAddress: '192.0.2.1', heloName: '', envelopeFrom: '', trustedRelay: false },
  trustedArcSealers: [],
};

const WAIT = { busyFrom: 4, usualMs: 30, busyMs: 3, quietMs: 500 };

let now: number;
/** What became of each check, in order; each stays open until a test ends it. */
let asked: { request: CheckRequest; end: (verdict: AuthenticationVerdict) => void }[];
let checks: SenderChecks;
/** How often a raw form was opened. */
let opened: number;

/** After a restart, or in another gateway. */
const startAgain = () =>
  new SenderChecks(
    { check: (request) => new Promise((end) => asked.push({ request, end })) },
    () => now,
    WAIT,
  );

beforeEach(() => {
  now = 1_000_000;
  asked = [];
  opened = 0;
  checks = startAgain();
});

// Only what the checks read of an entry.
const claimed = (id: string, channel?: EntryMeta, change: Partial<Claimed> = {}) =>
  ({
    ...{ entry: { id }, released: false, notes: channel === undefined ? {} : { channel } },
    ...change,
  }) as Claimed;
const attempt = (id: string, channel?: EntryMeta) =>
  checks.verdict(claimed(id, channel), undefined, true, open);
const open = () => {
  opened += 1;
  return Promise.resolve(REQUEST);
};
/** Ends a check once it has begun. */
const end = async (index: number, verdict: AuthenticationVerdict): Promise<void> => {
  await nextTurn();
  asked.at(index)?.end(verdict);
};
const putBack = async (attempted: Promise<unknown>): Promise<NotYet> => {
  const reason = await attempted.catch((error: unknown) => error);
  if (!(reason instanceof NotYet)) throw new TypeError('not put back', { cause: reason });
  expect(reason.reason).toEqual({ code: 'sender_not_checked' });
  return reason;
};

test('a check that ends at once is used at once, and for retries', async () => {
  const first = attempt('a');
  await end(0, FAILED);
  expect(await first).toBe(FAILED);
  expect(await attempt('a')).toBe(FAILED);
  expect(asked).toHaveLength(1);
});

test('a known verdict is used, and what an operator released is not checked', async () => {
  expect(await checks.verdict(claimed('a'), FAILED, true, open)).toBe(FAILED);
  const released = claimed('b', undefined, { released: true });
  expect(await checks.verdict(released, undefined, true, open)).toBeUndefined();
  expect(asked).toHaveLength(0);
});

describe('a check that is late', () => {
  test('goes on while its entry is put back, and a later attempt uses its verdict', async () => {
    expect(await putBack(attempt('a'))).toMatchObject({
      ...{ retryAfterMs: 500, memo: undefined, detach: false },
    });
    expect(await putBack(attempt('a'))).toMatchObject({ retryAfterMs: 2000 });
    await end(0, FAILED);
    expect(await attempt('a')).toBe(FAILED);
    expect(asked).toHaveLength(1);
    expect(opened).toBe(1);
  });

  test('keeps the raw form of its message open', async () => {
    await putBack(attempt('a'));
    let isClosed = false;
    const closing = checks.underWay('a' as never)?.then(() => (isClosed = true));
    await Promise.resolve();
    expect(isClosed).toBe(false);
    await end(0, FAILED);
    await closing;
    expect(isClosed).toBe(true);
    await attempt('a');
    expect(checks.underWay('a' as never)).toBeUndefined();
  });

  test('after DNS trouble, it is made again at the next attempt', async () => {
    const first = attempt('a');
    await end(0, UNKNOWN_VERDICT);
    expect(await first).toBe(UNKNOWN_VERDICT);
    const second = attempt('a');
    await end(1, FAILED);
    expect(await second).toBe(FAILED);
  });

  test('is awaited longer while few attempts wait', async () => {
    const attempts = Array.from({ length: 4 }, (_, n) => attempt(`slow-${n}`));
    const startedAt = performance.now();
    await waitFor('longer', () => performance.now() - startedAt > 2 * WAIT.usualMs);
    for (const each of asked) each.end(FAILED);
    expect(await Promise.all(attempts)).toEqual([FAILED, FAILED, FAILED, FAILED]);
  });

  test('leaves the slot of delivery if more attempts wait, or are late', async () => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 5 }, (_, n) => putBack(attempt(`slow-${n}`))));
    for (let n = 0; n < 5; n += 1) await putBack(attempt(`other-${n}`));
    expect(performance.now() - startedAt).toBeLessThan(WAIT.quietMs);
  });

  test('more than 500 of them are not begun', async () => {
    const all = Array.from({ length: 500 }, (_, n) => putBack(attempt(`slow-${n}`)));
    await Promise.all(all);
    expect(await putBack(attempt('other'))).toMatchObject({ retryAfterMs: 2000 });
    expect(asked).toHaveLength(500);
    expect(opened).toBe(500);
    await end(0, FAILED);
    await attempt('slow-0');
    await putBack(attempt('other'));
    await end(500, FAILED);
    expect(await attempt('other')).toBe(FAILED);
  });
});

describe('a check that does not end', () => {
  const unended = async (channel?: EntryMeta): Promise<NotYet> => {
    const attempted = attempt('a', channel);
    await end(-1, UNENDED_VERDICT);
    return putBack(attempted);
  };
  /** The last check of the entry does not end, either. */
  const last = async (channel: EntryMeta | undefined, policies: AuthenticationVerdict) => {
    const attempted = attempt('a', channel);
    await end(-1, UNENDED_VERDICT);
    // The policies are read next.
    await nextTurn();
    expect(asked.at(-1)?.request).toMatchObject({ policiesOnly: true });
    await end(-1, policies);
    return attempted;
  };
  const POLICY = { ...UNKNOWN_VERDICT, policy: 'reject', unfinished: 'check' } as const;

  test('is made again three times, outside of the lane, then the policy decides', async () => {
    let memo: EntryMeta | undefined;
    for (const retryAfterMs of [10_000, 60_000, 180_000]) {
      const waits = await unended(memo);
      expect(waits).toMatchObject({ retryAfterMs, detach: true });
      ({ memo } = waits);
      now += retryAfterMs;
    }
    expect(await last(memo, POLICY)).toBe(POLICY);
    expect(asked.map(({ request }) => request.policiesOnly ?? false)).toEqual([
      ...[false, false, false, false, true],
    ]);
  });

  test('counts on after a restart, and in another gateway', async () => {
    const { memo } = await unended();
    checks = startAgain();
    expect((await unended(memo)).memo).toEqual({ unended: 2, since: 1_000_000 });
  });

  test('is the last one after ten minutes', async () => {
    const { memo } = await unended();
    now += 600_000;
    expect(await last(memo, UNENDED_VERDICT)).toBe(UNENDED_VERDICT);
  });

  test('is the last one if the policy is only observed', async () => {
    const observed = checks.verdict(claimed('a'), undefined, false, open);
    await end(-1, UNENDED_VERDICT);
    await end(-1, POLICY);
    expect(await observed).toBe(POLICY);
    expect(asked.map(({ request }) => request.policiesOnly ?? false)).toEqual([false, true]);
  });

  test('that ends at last counts as any other', async () => {
    const { memo } = await unended();
    const again = attempt('a', memo);
    await end(-1, FAILED);
    expect(await again).toBe(FAILED);
  });

  test('notes of another version begin the count anew', async () => {
    expect((await unended({ other: 1 })).memo).toEqual({ unended: 1, since: now });
  });
});
