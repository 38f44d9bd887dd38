import { expect, test } from '@jest/globals';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { Watchdog } from '../../src/delivery/watchdog.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import type { Repaired, RepairRequest } from '../../src/spool/spool.ts';
import { ends } from '../support/ends.ts';
import { SHOP, because } from '../support/entries.ts';

const MINUTE = 60_000;
const NOTHING: Repaired = { lanesUpTo: undefined, lanes: 0, due: [], released: 0 };
const UNCLAIMED = { fault: 'entry_not_claimed', shopId: SHOP };

function setting() {
  const time = { now: 10_000_000 };
  const clock = () => time.now;
  const baseUrl = 'http://127.0.0.1:9';
  const client = new PlatformClient({ baseUrl, apiKey: 'k', shopId: SHOP });
  ends(() => client.close());
  const mediaPermission = { email: 'private', sms: 'private', web_chat: 'private' } as const;
  const shop = new ShopPlatform(
    { ...{ shopId: SHOP, name: 'acme', platformUrl: baseUrl }, mediaPermission, client },
    { clock, random: () => 0 },
  );
  const asked: RepairRequest[] = [];
  const found: unknown[] = [];
  const answers: Repaired[] = [];
  let woken = 0;
  /** Whether the shop has something due. */
  const spool = { hasDue: false };
  const repair = (request: RepairRequest) => {
    asked.push(request);
    const due = spool.hasDue ? [SHOP] : [];
    return Promise.resolve(answers.shift() ?? { ...NOTHING, due });
  };
  const watchdog = new Watchdog(
    {
      // Of the spool it asks this only.
      spool: { repair } as unknown as ConstructorParameters<typeof Watchdog>[0]['spool'],
      logger: { ...silentLogger, error: (_event, fields) => void found.push(fields) },
      ...{ metrics: createMetrics(), clock },
    },
    () => (woken += 1),
  );
  /** Looks as the dispatcher does, for so long. */
  const lookFor = async (ms: number, lastClaimAt = 0) => {
    for (const end = time.now + ms; time.now < end; time.now += 250)
      await watchdog.look([shop], () => lastClaimAt);
  };
  return { time, shop, spool, asked, found, answers, lookFor, woken: () => woken };
}

test('it looks every half minute, and after each portion soon for the next', async () => {
  const { asked, answers, lookFor } = setting();
  answers.push({ ...NOTHING, lanesUpTo: 77 });
  await lookFor(35_000);
  expect(asked.map(({ lanesAfter }) => lanesAfter)).toEqual([Number.MIN_SAFE_INTEGER, 77]);
  await lookFor(60_000);
  expect(asked).toHaveLength(4);
});

test('it names what it repaired, and has entries claimed at once', async () => {
  const { found, answers, lookFor, woken } = setting();
  answers.push({ ...NOTHING, lanes: 2 }, { ...NOTHING, released: 1 });
  await lookFor(65_000);
  expect(found).toEqual([{ fault: 'lane_without_head', lanes: 2 }]);
  expect(woken()).toBe(2);
});

test('what is due and left for two minutes is named, and named again after two more', async () => {
  const { spool, found, lookFor, woken } = setting();
  await lookFor(10 * MINUTE);
  spool.hasDue = true;
  await lookFor(2 * MINUTE);
  expect(found).toEqual([]);
  await lookFor(MINUTE);
  expect(found).toEqual([UNCLAIMED]);
  expect(woken()).toBe(1);
  await lookFor(2 * MINUTE + 30_000);
  expect(found).toEqual([UNCLAIMED, UNCLAIMED]);
});

test('while others of the shop are claimed, what is due waits rightly', async () => {
  const { spool, found, lookFor, time } = setting();
  spool.hasDue = true;
  for (let minutes = 0; minutes < 10; minutes += 1) await lookFor(MINUTE, time.now);
  expect(found).toEqual([]);
});

test('what became due of late is not what was due before', async () => {
  const { spool, found, lookFor } = setting();
  for (let turn = 0; turn < 10; turn += 1) {
    spool.hasDue = turn % 2 === 0;
    await lookFor(90_000);
  }
  expect(found).toEqual([]);
});

test('after a pause of the whole process what is due has its two minutes', async () => {
  const { spool, found, lookFor, time } = setting();
  spool.hasDue = true;
  await lookFor(MINUTE);
  time.now += 60 * MINUTE;
  await lookFor(90_000);
  expect(found).toEqual([]);
});

test('after an outage what is due has its two minutes', async () => {
  const { shop, spool, found, lookFor } = setting();
  spool.hasDue = true;
  shop.health.messages.readsFailed(because('503'));
  await lookFor(10 * MINUTE);
  shop.health.messages.delivered('a');
  await lookFor(90_000);
  expect(found).toEqual([]);
  await lookFor(MINUTE);
  expect(found).toEqual([UNCLAIMED]);
});

test('a shop in trouble waits rightly; a probe without an end does not', async () => {
  const { shop, spool, found, lookFor } = setting();
  spool.hasDue = true;
  shop.health.messages.readsFailed(because('401'));
  shop.health.messages.beginProbe();
  await lookFor(3 * MINUTE);
  expect(found).toEqual([]);
  await lookFor(13 * MINUTE);
  expect(found).toEqual([{ fault: 'no_next_probe', shop: 'acme', part: 'messages' }]);
  expect(shop.health.messages.isProbeDue).toBe(true);
});
