import { describe, expect, test } from '@jest/globals';
import { DEVICE_MS, Devices } from '../../../src/console/server/sessions.ts';
import { LoginLimits, type LoginAttempt } from '../../../src/console/server/login-limits.ts';
import { Operators } from '../../../src/console/server/operators.ts';
import { budgetsInMemory } from '../../../src/runtime/budgets.ts';

/** The limits with a clock of their own, and how many passwords they had looked at. */
function scene() {
  const at = { now: 1_000_000 };
  const limits = new LoginLimits(budgetsInMemory(() => at.now));
  let guesses = 0;
  let looked = 0;
  const guess = async (attempt: Partial<LoginAttempt> = {}) => {
    guesses += 1;
    const next = {
      address: '192.0.2.1',
      source: 'page',
      fingerprint: String(guesses),
      ...attempt,
    } as const;
    return limits.check(next, () => {
      looked += 1;
      return Promise.resolve(false);
    });
  };
  const right = (attempt: Partial<LoginAttempt> = {}) =>
    limits.check({ address: '192.0.2.1', source: 'page', fingerprint: 'right', ...attempt }, () =>
      Promise.resolve(true),
    );
  return { at, guess, right, looked: () => looked };
}

describe('a guesser who goes on for thousands of tries', () => {
  test('has at most 30 passwords an hour looked at from one address', async () => {
    const { at, guess, looked } = scene();
    let before = 0;
    for (let hour = 0; hour < 5; hour += 1) {
      for (let tries = 0; tries < 3600; tries += 1) {
        await guess();
        at.now += 1000;
      }
      expect(looked() - before).toBeLessThanOrEqual(30);
      before = looked();
    }
    expect(looked()).toBeLessThanOrEqual(15 + 5 * 15);
  });

  test('has at most 100 looked at from all addresses and at both doors', async () => {
    const { at, guess, looked } = scene();
    for (let tries = 0; tries < 7200; tries += 1) {
      const address = `203.0.113.${String(tries % 250)}`;
      await guess({ address, source: tries % 3 === 0 ? 'program' : 'page' });
      at.now += 500;
    }
    expect(looked()).toBeGreaterThan(80);
    expect(looked()).toBeLessThanOrEqual(100);
  });

  test('learns nothing from the right password while nobody looks', async () => {
    const { guess, right } = scene();
    for (let tries = 0; tries < 1000; tries += 1) await guess();
    expect(await right()).toMatchObject({ kind: 'too_many' });
  });

  test('has no more looked at with a device that he has stolen than ten and ten an hour', async () => {
    const { at, guess, looked } = scene();
    for (let tries = 0; tries < 3600; tries += 1) {
      await guess({ device: 'stolen' });
      at.now += 1000;
    }
    expect(looked()).toBeLessThanOrEqual(20);
  });
});

describe('whoever has the right password', () => {
  test('waits for four minutes at most once the guesses have ended', async () => {
    const { at, guess, right } = scene();
    for (let tries = 0; tries < 1000; tries += 1) await guess();
    expect(await right()).toEqual({ kind: 'too_many', retryAfter: 240 });
    at.now += 240_000;
    expect(await right()).toEqual({ kind: 'right' });
  });

  test.each([
    ['another address', { address: '192.0.2.2' }],
    ['the other source', { source: 'program' }],
    ['a browser that is known', { device: 'known' }],
  ] as const)('does not wait at %s', async (_, attempt) => {
    const { guess, right } = scene();
    for (let tries = 0; tries < 1000; tries += 1) await guess();
    expect(await right(attempt)).toEqual({ kind: 'right' });
  });

  test('does not wait where they have signed in, while all other addresses are guessed from', async () => {
    const { guess, right } = scene();
    await right();
    for (let tries = 0; tries < 1000; tries += 1) {
      await guess({ address: `203.0.113.${String(tries % 250)}` });
    }
    expect(await right({ address: '192.0.2.2' })).toMatchObject({ kind: 'too_many' });
    expect(await right()).toEqual({ kind: 'right' });
  });

  test('spends nothing, however often', async () => {
    const { right } = scene();
    for (let tries = 0; tries < 1000; tries += 1) expect(await right()).toEqual({ kind: 'right' });
  });
});

test('the same wrong password again is not a guess, and is not looked at', async () => {
  const { guess, right, looked } = scene();
  for (let tries = 0; tries < 100; tries += 1) {
    expect(await guess({ fingerprint: 'of last year' })).toEqual({ kind: 'wrong' });
  }
  expect(looked()).toBe(1);
  expect(await right()).toEqual({ kind: 'right' });
});

describe('a device', () => {
  const at = { now: 1_000_000 };
  const operators = new Operators([
    { name: 'ann', password: 'of-ann-herself' },
    { name: 'bob', password: 'of-bob-himself' },
  ]);
  const key = Buffer.alloc(32, 1);
  const devices = new Devices({ key, operators, clock: () => at.now });
  const token = devices.issue('ann', operators.passwordOf('ann'));

  test('is known to the next process, by the same id', () => {
    const next = new Devices({ key, operators, clock: () => at.now });
    const id = devices.idOf(token, 'ann');
    expect(id).toMatch(/^[\w-]{22}$/);
    expect(next.idOf(token, 'ann')).toBe(id);
  });

  test.each([
    ['nothing', undefined],
    ['a word', 'x'],
    ['another id', `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`],
    ['another seal', `${token.slice(0, -2)}${token.endsWith('AA') ? 'BA' : 'AA'}`],
    ['a longer one', `${token}A`],
  ])('is not made of %s', (_, changed) => {
    expect(devices.idOf(changed, 'ann')).toBeUndefined();
  });

  test('is one of one operator', () => {
    expect(devices.idOf(token, 'bob')).toBeUndefined();
    expect(devices.idOf(token, 'nobody')).toBeUndefined();
  });

  test('is unknown after half a year, with another key, and with another password', () => {
    const later = new Devices({ key, operators, clock: () => at.now + DEVICE_MS + 1000 });
    expect(later.idOf(token, 'ann')).toBeUndefined();
    const other = new Devices({ key: Buffer.alloc(32, 2), operators, clock: () => at.now });
    expect(other.idOf(token, 'ann')).toBeUndefined();
    operators.replace([{ name: 'ann', password: 'another-password' }]);
    expect(devices.idOf(token, 'ann')).toBeUndefined();
  });
});
