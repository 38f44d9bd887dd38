import { expect, test } from '@jest/globals';
import { Conduct, ReconnectDelays } from '../../../src/channels/chat/connections.ts';

const MIB = 1024 * 1024;

test('fifty refusals in ten seconds are borne, and no more', () => {
  const conduct = new Conduct();
  for (let nth = 0; nth < 50; nth += 1) expect(conduct.refused(nth)).toBe(false);
  expect(conduct.refused(9_999)).toBe(true);
  expect(conduct.refused(10_000)).toBe(false);
});

test('packets of whatever kind have a bound', () => {
  const conduct = new Conduct();
  const sent = Array.from({ length: 12 }, (_, nth) => conduct.sent(nth, 10));
  expect(sent.filter(Boolean)).toHaveLength(2);
});

test('more than 1 MiB may stay unread for ten seconds', () => {
  const conduct = new Conduct();
  expect(conduct.leftUnread(2 * MIB, 0)).toBe(false);
  expect(conduct.leftUnread(2 * MIB, 9_000)).toBe(false);
  // It has read.
  expect(conduct.leftUnread(MIB, 9_500)).toBe(false);
  expect(conduct.leftUnread(2 * MIB, 10_000)).toBe(false);
  expect(conduct.leftUnread(2 * MIB, 20_000)).toBe(true);
});

test('who is cut off waits, each time twice as long, up to five minutes', () => {
  const waits = new ReconnectDelays();
  const seconds: (number | undefined)[] = [];
  let now = 0;
  for (let time = 0; time < 8; time += 1) {
    waits.cutOff('net', now);
    // Its other sockets are cut off as well: the same reason.
    waits.cutOff('net', now + 1);
    const wait = waits.retryAfter('net', now);
    seconds.push(wait);
    now += (wait ?? 0) * 1_000;
    expect(waits.retryAfter('net', now)).toBeUndefined();
  }
  expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
  expect(waits.retryAfter('another', now)).toBeUndefined();
  waits.cutOff('net', now + 11 * 60_000);
  expect(waits.retryAfter('net', now + 11 * 60_000)).toBe(5);
});

test('who keeps trying within a wait is not even told how long it lasts', () => {
  const waits = new ReconnectDelays();
  expect(waits.hasTooManyAttempts('net', 0)).toBe(false);
  waits.cutOff('net', 0);
  const tries = Array.from({ length: 25 }, () => waits.hasTooManyAttempts('net', 1));
  expect(tries.filter(Boolean)).toHaveLength(5);
  expect(waits.hasTooManyAttempts('net', 5_000)).toBe(false);
});
