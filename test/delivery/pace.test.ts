import { expect, test } from '@jest/globals';
import { Pace } from '../../src/delivery/pace.ts';

/** A platform that takes so many at once, and so many more a second. */
interface Bucket {
  readonly atOnce: number;
  readonly perS: number;
}

const STEP_MS = 20;
const ANNOUNCED_MS = 90_000;

/** Sends as fast as the pace allows, and waits as long as the platform says after each 429. */
function sends(messages: number, { atOnce, perS }: Bucket) {
  const time = { now: 1_000_000 };
  const pace = new Pace(() => time.now);
  let [left, filledAt, refused, taken] = [atOnce, time.now, 0, 0];
  const began = time.now;
  while (taken < messages) {
    let isTooMuch = false;
    for (let room = Math.min(32, Math.floor(pace.room)); room > 0 && !isTooMuch; room -= 1) {
      left = Math.min(atOnce, left + ((time.now - filledAt) * perS) / 1000);
      filledAt = time.now;
      pace.sent();
      if (left >= 1) {
        left -= 1;
        taken += 1;
        pace.delivered();
      } else {
        refused += 1;
        isTooMuch = true;
      }
    }
    if (isTooMuch) pace.tooMany(time.now);
    time.now += isTooMuch ? ANNOUNCED_MS : STEP_MS;
  }
  return { refused, seconds: (time.now - began) / 1000 };
}

test.each<Bucket>([
  { atOnce: 5, perS: 5 },
  { atOnce: 1, perS: 1 },
  { atOnce: 50, perS: 5 },
  { atOnce: 10, perS: 20 },
  { atOnce: 100, perS: 100 },
])('a platform that takes %j says 429 to at most 2 %', (bucket) => {
  const messages = 4000;
  const { refused, seconds } = sends(messages, bucket);
  expect(refused / messages).toBeLessThanOrEqual(0.02);
  // The waits of 90 seconds included.
  expect(messages / seconds).toBeGreaterThan(0.25 * bucket.perS);
});

test('answers to what was sent before the first 429 do not slow it further', () => {
  const time = { now: 1_000_000 };
  const pace = new Pace(() => time.now);
  const sentAt = Array.from({ length: 20 }, () => {
    time.now += 50;
    pace.sent();
    return time.now;
  });
  pace.delivered();
  const [first, ...others] = sentAt.slice(10);
  pace.tooMany(first ?? 0);
  // Begun at the same time as the answer came.
  pace.sent();
  for (const each of others) {
    pace.delivered();
    pace.tooMany(each);
  }
  time.now += 10_000;
  // 70 % of 20 a second, of which a quarter may be sent at once.
  expect(pace.room).toBeCloseTo(3.5);
});

test('without a 429 there is no limit', () => {
  const pace = new Pace(() => 0);
  for (let n = 0; n < 1000; n += 1) pace.sent();
  expect(pace.room).toBe(Infinity);
});
