import { describe, expect, test } from '@jest/globals';
import type { AlertRule, Reading } from '../../../src/operations/alerts/alert.ts';
import { evaluate } from '../../../src/operations/alerts/evaluate.ts';
import { readAll, type Recent } from '../../../src/operations/alerts/rules.ts';
import { shownConditions } from '../../../src/operations/conditions.ts';
import type { DatabaseStatus, GatewayStatus } from '../../../src/observability/status.ts';
import {
  closedShop,
  counted,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  openShop,
  RULES,
  someStatus,
} from './some-status.ts';

const QUIET: Recent = { badSignatures: 0, isWhole: true };

const read = (status: Partial<GatewayStatus>, recent = QUIET): Reading[] =>
  readAll(someStatus(status), recent, RULES);

/** What is well has no reading. */
const verdictOf = (reading: Reading | undefined): 'bad' | 'between' | 'good' =>
  reading === undefined ? 'good' : reading.holds ? 'bad' : 'between';
const verdict = (rule: AlertRule, status: Partial<GatewayStatus>, recent = QUIET) =>
  verdictOf(read(status, recent).find((reading) => reading.rule === rule));

const one = (rule: AlertRule, status: Partial<GatewayStatus>, recent = QUIET): Reading => {
  const [first] = read(status, recent).filter((reading) => reading.rule === rule);
  if (first === undefined) throw new Error(`nothing of ${rule}`);
  return first;
};

test('nothing is said of a gateway that is well', () => {
  expect(read({})).toEqual([]);
});

test.each([
  [
    'dead',
    { counts: [counted('dead', 1)] },
    'critical',
    '1 message of acme could not be delivered',
  ],
  [
    'held',
    { counts: [counted('held', 3)] },
    'warning',
    '3 messages of acme are held for a decision',
  ],
  [
    'oldest-queued',
    { counts: [counted('queued', 1, 2 * HOUR)] },
    'critical',
    'The oldest queued message of acme has waited for 2 hours',
  ],
  [
    'unanswered',
    {
      waitingTickets: [
        { shop: 'acme', waiting: 3, oldestAt: NOW - 5 * HOUR, answerWithinMs: 4 * HOUR },
      ],
    },
    'warning',
    'A customer of acme has waited for a person for 5 hours; 3 tickets wait',
  ],
  [
    'answers',
    {
      waitingTickets: [
        {
          shop: 'acme',
          waiting: 0,
          overLimits: { unverified: 190, shopBudget: 0, network: '203.0.113.0/24' },
        },
      ],
    },
    'warning',
    'In the last hour 190 messages of acme got no automatic answer: 190 above the limits for senders whom nothing confirms',
  ],
  [
    'answers',
    {
      waitingTickets: [
        {
          shop: 'acme',
          waiting: 3,
          overLimits: { unverified: 2, shopBudget: 1 },
        },
      ],
    },
    'warning',
    'In the last hour 3 messages of acme got no automatic answer: 2 above the limits for senders whom nothing confirms, 1 above the limit of the shop or of a domain',
  ],
  [
    'breaker-open',
    { shops: [openShop] },
    'critical',
    'Deliveries of acme are stopped: the platform fails or refuses all of them, since 2026-11-22 11:58 UTC',
  ],
  [
    'certificate',
    { certificate: { subject: 'mx.acme.example', endsAt: NOW + 5 * DAY, selfSigned: false } },
    'warning',
    'The certificate of SMTP (mx.acme.example) expires in 5 days, on 2026-11-27',
  ],
  [
    'certificate',
    {
      certificate: {
        ...{ subject: '', endsAt: NOW + 90 * DAY, selfSigned: false },
        unusable: {
          found: 'smtp.tls.key (/mx.key): the key of another certificate',
          todo: 'name it',
        },
      },
    },
    'critical',
    'The certificate cannot be renewed: smtp.tls.key (/mx.key): the key of another certificate',
  ],
  [
    'certificate',
    { certificate: { subject: '', endsAt: NOW - DAY, selfSigned: true } },
    'critical',
    'The certificate of SMTP expired on 2026-11-21',
  ],
  [
    'disk',
    { disk: { freeBytes: 9e8, totalBytes: 1e11, reserveBytes: 55e6 } },
    'warning',
    'The disk of the data folder is almost full (900 MB of 100.0 GB free)',
  ],
  [
    'disk',
    { disk: { freeBytes: 5e7, totalBytes: 1e11, reserveBytes: 55e6 } },
    'critical',
    'The disk of the data folder is full (50 MB of 100.0 GB free): new messages are refused',
  ],
] as const)('%s: %j is %s', (rule, status, severity, summary) => {
  expect(one(rule, status)).toMatchObject({ holds: true, severity, summary });
});

test('the oldest of all channels counts, and it must be well below its threshold to be well', () => {
  const aged = (ms: number) =>
    verdict('oldest-queued', {
      counts: [counted('queued', 4, MINUTE), { ...counted('queued', 1, ms), channel: 'sms' }],
    });
  expect([aged(10 * MINUTE), aged(9 * MINUTE), aged(7 * MINUTE)]).toEqual([
    'bad',
    'between',
    'good',
  ]);
});

test.each([
  [{ unverified: 0, shopBudget: 9 }, /The limit is localPlatform\.agent\.answersPerHour\./],
  [{ unverified: 1, shopBudget: 9 }, /unverifiedAnswers and localPlatform\.agent\.answersPerHour/],
  [{ unverified: 30, shopBudget: 0, network: '192.0.2.0/24' }, /192\.0\.2\.0\/24.*forwarders/],
])('messages above limits (%j) name the settings', (overLimits, todo) => {
  const alert = one('answers', { waitingTickets: [{ shop: 'acme', waiting: 0, overLimits }] });
  expect(alert.todo).toMatch(todo);
  expect(alert).not.toHaveProperty('figure');
});

test('a shop without a limit lets its customers wait', () => {
  const waiting = { shop: 'acme', waiting: 1, oldestAt: NOW - 90 * DAY };
  expect(read({ waitingTickets: [waiting] })).toEqual([]);
  // Nobody waits too long where nobody waits, whatever the limit.
  const atOnce = { shop: 'acme', waiting: 0, answerWithinMs: 0 };
  expect(verdict('unanswered', { waitingTickets: [atOnce] })).toBe('good');
});

test('free space a little above the threshold is neither bad nor good', () => {
  const free = (freeBytes: number) =>
    verdict('disk', { disk: { freeBytes, totalBytes: 1e11, reserveBytes: 55e6 } });
  expect([free(0.99e9), free(1.05e9), free(1.1e9)]).toEqual(['bad', 'between', 'good']);
  const small = { freeBytes: 8e8, totalBytes: 8e8, reserveBytes: 55e6 };
  expect(verdict('disk', { disk: small })).toBe('bad');
  expect(verdict('disk', { disk: { reserveBytes: 55e6 } })).toBe('good');
});

test('what the platform said when it failed is in no alert: it may quote a message', () => {
  const [messages, media] = openShop.breakers;
  const reason = 'the platform answered 401 (http) to /messages/: no such person as Ann';
  const shops = [{ ...openShop, breakers: [{ ...messages, reason }, media] }] as const;
  // The types of the fixture are of any part.
  const told = JSON.stringify(read({ shops: shops as unknown as GatewayStatus['shops'] }));
  expect(told).toContain('Deliveries of acme are stopped');
  expect(told).not.toMatch(/Ann|answered 401/);
});

describe('a fleet', () => {
  const SOUND: DatabaseStatus = {
    ...{ version: '18.4', major: 18, isStandby: false, fsync: true, fullPageWrites: true },
    ...{ synchronousCommit: 'on', synchronousStandbys: 'ANY 1 (two)', receivers: 1, hosts: 2 },
    ...{ keptLogBytes: 0, clockAheadMs: 0, oldestTransactionMs: 0 },
  };
  const bad = (change: Partial<DatabaseStatus>, blobs: 'reachable' | 'unreachable' = 'reachable') =>
    read({ fleet: { instances: [], database: { ...SOUND, ...change }, blobs } })
      .filter(({ holds }) => holds)
      .map(({ key, rule, severity, summary }) => [key, rule, severity, summary]);

  test('is well while its database and its blobs are', () => {
    expect(bad({})).toEqual([]);
    expect(read({ fleet: { instances: [], blobs: 'reachable' } })).toEqual([]);
  });

  test.each<[Partial<DatabaseStatus>, AlertRule, string, string, RegExp]>([
    [
      { receivers: 0 },
      'database',
      'database.standby',
      'critical',
      /no message can be acknowledged/,
    ],
    [{ synchronousStandbys: '' }, 'database', 'database.standby', 'warning', /is empty/],
    [{ keptLogBytes: 2e9 }, 'database', 'database.replication', 'warning', /2\.0 GB kept/],
    [{ oldestTransactionMs: 3_600_000 }, 'database', 'database.transactions', 'warning', /1 hour/],
    [{ fsync: false }, 'database', 'database.durability', 'critical', /fsync off/],
    [{ clockAheadMs: 9000 }, 'clock', 'database.clock', 'warning', /9 s apart/],
  ])('with %j', (change, rule, key, severity, summary) => {
    expect(bad(change)).toEqual([[key, rule, severity, expect.stringMatching(summary)]]);
  });

  test('with one host may have no standby: that was decided', () => {
    expect(bad({ synchronousStandbys: '', hosts: 1 })).toEqual([]);
  });

  test('whose bucket cannot be reached', () => {
    expect(bad({}, 'unreachable')).toEqual([
      ['blobs', 'blobs', 'critical', expect.stringMatching(/S3/)],
    ]);
  });
});

describe('a refusal that many got alike', () => {
  const words = '422 invalid message.format';
  const alike = (count: number, more: GatewayStatus['shops'][number]['refusedAlike'] = []) =>
    read({
      shops: [
        { ...closedShop, refusedAlike: [{ words, since: NOW - 2 * MINUTE, count }, ...more] },
      ],
    }).filter(({ rule }) => rule === 'refused-alike');

  test('is told once, with its words, how many, and since when', () => {
    expect(alike(7)).toMatchObject([
      {
        ...{ key: `refused-alike/acme/${words}`, shop: 'acme', figure: 7 },
        ...{ holds: true, severity: 'warning' },
        summary: `The platform has refused 7 messages of acme with the same error (${words}), since 2026-11-22 11:58 UTC`,
        todo: expect.stringContaining('sluice shops try acme'),
      },
    ]);
    const other = { words: '400 contact.phone', since: NOW, count: 5 };
    expect(alike(7, [other]).map(({ key }) => key)).toEqual([
      `refused-alike/acme/${words}`,
      'refused-alike/acme/400 contact.phone',
    ]);
  });

  test('is critical once there are five times as many', () => {
    expect([alike(24), alike(25)].map(([reading]) => reading?.severity)).toEqual([
      'warning',
      'critical',
    ]);
  });

  test('is over when it is told no more', () => {
    const settle = MINUTE;
    const fired = evaluate([], alike(7), NOW, settle);
    expect(fired).toMatchObject([{ phase: 'firing', rule: 'refused-alike' }]);
    const well = evaluate(fired, [], NOW + MINUTE, settle);
    expect(evaluate(well, [], NOW + 2 * MINUTE, settle)).toMatchObject([{ phase: 'resolved' }]);
  });
});

test('a probing breaker is still open', () => {
  const breakers = [{ part: 'messages', state: 'probing' }] as const;
  expect(verdict('breaker-open', { shops: [{ ...closedShop, breakers }] })).toBe('bad');
});

test('a breaker that is closed since a restart says nothing while messages wait', () => {
  const fresh = { ...closedShop, untried: true as const };
  const of = (counts: GatewayStatus['counts']) =>
    verdict('breaker-open', { shops: [fresh], counts });
  expect(of([counted('queued', 1)])).toBe('between');
  expect(of([counted('dead', 1)])).toBe('good');
});

test('bad signatures: of ten minutes, and a young process cannot say that it is over', () => {
  const of = (badSignatures: number, isWhole = true) =>
    verdict('bad-signatures', {}, { badSignatures, isWhole });
  expect([of(10), of(9), of(5), of(4)]).toEqual(['bad', 'between', 'between', 'good']);
  expect(of(0, false)).toBe('between');
  expect(of(10, false)).toBe('bad');
});

test('a shop that is no longer configured is told by its id as long as it has entries', () => {
  const counts = [{ ...counted('dead', 2), shop: 'b6d1' }];
  expect(read({ counts }).filter(({ key }) => key === 'dead/b6d1')).toMatchObject([
    { holds: true, figure: 2 },
  ]);
});

test('what waits for such a shop is said to wait for its configuration, not for its platform', () => {
  const counts = [{ ...counted('queued', 2, HOUR), shop: 'b6d1' }];
  const [reading] = read({ counts }).filter(({ key }) => key === 'oldest-queued/b6d1');
  expect(reading).toMatchObject({
    holds: true,
    summary: 'Messages have waited for 1 hour for the shop b6d1, which is not configured',
    todo: expect.stringMatching(/reload it, or discard/),
  });
});

test('without SMTP there is no certificate to look at', () => {
  const { certificate: _none, ...status } = someStatus();
  expect(readAll(status, QUIET, RULES).some(({ rule }) => rule === 'certificate')).toBe(false);
});

describe('what only those who look are told', () => {
  const shown = (status: Partial<GatewayStatus>) =>
    shownConditions(someStatus(status), RULES.thresholds).map(({ id }) => id);
  const refused = (isOwn: boolean) => ({ shop: 'acme', origin: 'https://a', isOwn, at: NOW });
  const [messages, media] = closedShop.breakers;
  const with_ = (breaker: object): Partial<GatewayStatus> =>
    ({
      shops: [{ ...closedShop, breakers: [{ ...messages, ...breaker }, media] }],
      counts: [counted('queued', 3)],
    }) as Partial<GatewayStatus>;

  test.each([
    ['a pause', { deliveryPaused: true }, ['paused']],
    ['failures of some', with_({ since: NOW - MINUTE }), ['some-fail/acme/messages']],
    ['a failure of a moment', with_({ since: NOW - 1000 }), []],
    ['a page of the shop', { refusedPages: [refused(true)] }, ['pages-refused/acme']],
    ['a page of somebody', { refusedPages: [refused(false)] }, []],
    ['an outage that is over', with_({ recoveringSince: NOW - MINUTE }), ['recovering/acme']],
  ])('%s', (_name, status, ids) => {
    expect(shown(status)).toEqual(ids);
    expect(read(status)).toEqual([]);
  });

  test('that messages wait is no news beside a stop, and names a pause', () => {
    const waiting = { counts: [counted('queued', 3, 20 * MINUTE)] };
    expect(shown({ shops: [openShop], ...waiting })).not.toContain('oldest-queued/acme');
    const told = shownConditions(
      someStatus({ deliveryPaused: true, ...waiting }),
      RULES.thresholds,
    ).find(({ kind }) => kind === 'oldest-queued');
    expect(told).toMatchObject({
      sentence: expect.stringMatching(/waited for 20 minutes, while delivery is paused$/),
      remedy: expect.stringContaining('set delivery.paused: false'),
    });
  });

  test('the most severe first, and only a full disk stops the intake', () => {
    const disk = { freeBytes: 5e7, totalBytes: 1e11, reserveBytes: 55e6 };
    const status = someStatus({ disk, shops: [openShop], counts: [counted('held', 1)] });
    const found = shownConditions({ ...status, deliveryPaused: true }, RULES.thresholds);
    expect(found.map(({ id, stopsIntake }) => [id, stopsIntake])).toEqual([
      ['disk', true],
      ['breaker-open/acme/messages', false],
      ['paused', false],
      ['held/acme', false],
    ]);
  });
});
