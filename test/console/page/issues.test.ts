import { expect, test } from '@jest/globals';
import type { Alert, Overview, ShopFigures } from '../../../src/console/contract.ts';
import { issuesOf } from '../../../src/console/page/overview/issues.ts';

const NOW = 1_000_000_000;

const acme: ShopFigures = {
  ...{ shop: 'acme', shopId: 'a', breakers: [], refusedAlike: [] },
  ...{ queued: 0, delivering: 0, dead: 0, held: 0, suppressed: 0 },
};

const overview = (change: Partial<Overview>): Overview => ({
  ...{ at: NOW, startedAt: NOW - 1000, version: '1', demo: false, deliveryPaused: false },
  disk: { freeBytes: 9e9, totalBytes: 10e9, reserveBytes: 55e6 },
  sockets: { chat: 0, smtp: 0 },
  channels: [],
  queue: { queued: 0, delivering: 0, dead: 0, held: 0, suppressed: 0 },
  shops: [acme],
  alerts: [],
  ...change,
});
const titles = (change: Partial<Overview>) =>
  issuesOf(overview(change), NOW).map(({ title }) => title);

const alert: Alert = {
  ...{ rule: 'oldest-queued', severity: 'warning', summary: 'a message waits for 20 min' },
  ...{ todo: 'look', since: NOW - 60_000 },
};

test('an alert whose condition is gone is no issue, although it still fires', () => {
  expect(titles({ alerts: [alert] })).toEqual(['a message waits for 20 min']);
  expect(titles({ alerts: [{ ...alert, wellSince: NOW - 1000 }] })).toEqual([]);
});

test('a full disk is told with what is free, instead of its alert', () => {
  const disk = { freeBytes: 12e6, totalBytes: 10e9, reserveBytes: 55e6 };
  const ofDisk = { ...alert, rule: 'disk' as const };
  expect(titles({ disk, alerts: [ofDisk] })).toEqual([
    'The disk is full (12.0 MB free): new messages are refused',
  ]);
});

test('a shop that recovers is told as long as something waits', () => {
  const breakers = [{ part: 'messages', state: 'closed', recoveringSince: NOW - 60_000 }] as const;
  expect(titles({ shops: [{ ...acme, breakers, queued: 3 }] })).toEqual([
    expect.stringMatching(/^acme: recovering since .*; 3 messages left$/),
  ]);
  expect(titles({ shops: [{ ...acme, breakers }] })).toEqual([]);
});
