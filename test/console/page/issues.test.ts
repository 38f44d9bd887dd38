import { expect, test } from '@jest/globals';
import type { Alert, Condition, Overview, ShopFigures } from '../../../src/console/contract.ts';
import { issuesOf, stopsOf } from '../../../src/console/page/overview/issues.ts';

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
  refusedPages: [],
  conditions: [],
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

const stop: Condition = {
  ...{ id: 'breaker-open/acme/messages', kind: 'breaker-open', severity: 'critical' },
  ...{ shop: 'acme', part: 'messages', since: NOW - 60_000, stopsIntake: false },
  ...{ sentence: 'Deliveries of acme are stopped: API key refused (401)', remedy: 'Set a key.' },
};
const full: Condition = {
  ...{ id: 'disk', kind: 'disk', severity: 'critical', stopsIntake: true },
  ...{ sentence: 'The disk is full', remedy: 'Free space.' },
};

test('a condition is told once, instead of its alert, which says since when', () => {
  const ofDisk: Alert = { ...alert, rule: 'disk' };
  expect(issuesOf(overview({ conditions: [full], alerts: [ofDisk] }), NOW)).toMatchObject([
    { title: 'The disk is full', todo: 'Free space.', tone: 'danger', since: NOW - 60_000 },
  ]);
});

test.each([
  [{ state: 'open', nextProbeAt: NOW + 3000 } as const, 'next try in 3 s'],
  [{ state: 'open', nextProbeAt: NOW - 1 } as const, 'next try is due'],
  [{ state: 'open' } as const, 'it is tried again by itself'],
  [{ state: 'probing' } as const, 'one message is being tried now'],
])('of a shop that is stopped (%j) the next try is told', (breaker, next) => {
  const shops = [{ ...acme, breakers: [{ part: 'messages', ...breaker } as const] }];
  const found = { shops, conditions: [stop] };
  expect(issuesOf(overview(found), NOW)).toMatchObject([
    { title: `${stop.sentence}; ${next}`, since: stop.since, tryShop: 'acme' },
  ]);
  expect(stopsOf(found, '', NOW)).toEqual([{ shop: 'acme', title: `${stop.sentence}; ${next}` }]);
  expect(stopsOf(found, 'another', NOW)).toEqual([]);
});

test('what is critical comes first', () => {
  const held: Condition = { ...full, id: 'held/acme', kind: 'held', severity: 'warning' };
  const urgent: Alert = { ...alert, severity: 'critical' };
  const issues = issuesOf(overview({ conditions: [stop, held], alerts: [urgent] }), NOW);
  expect(issues.map(({ tone }) => tone)).toEqual(['danger', 'danger', 'warning']);
});
