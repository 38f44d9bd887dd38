import { expect, test } from '@jest/globals';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { Watchdog } from '../../src/delivery/watchdog.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import type { Repaired, RepairRequest } from '../../src/spool/spool.ts';
import { ends } from '../support/ends.ts';
import { SHOP } from '../support/entries.ts';

const MINUTE = 60_000;
const NOTHING: Repaired = { lanesUpTo: undefined, lanes: 0, overdue: [], released: 0 };

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
  const repair = (request: RepairRequest) => {
    asked.push(request);
    return Promise.resolve(answers.shift() ?? NOTHING);
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
  return { time, shop, asked, found, answers, lookFor, woken: () => woken };
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
  answers.push({ ...NOTHING, lanes: 2, overdue: [SHOP] }, { ...NOTHING, released: 1 });
  await lookFor(65_000);
  expect(found).toEqual([
    { fault: 'lane_without_head', lanes: 2 },
    { fault: 'entry_not_claimed', shopId: SHOP },
  ]);
  expect(woken()).toBe(2);
});

test('entries are overdue after two minutes in which nothing of their shop was claimed', async () => {
  const { asked, lookFor, time } = setting();
  const claims = () => asked.at(-1)?.shops[0]?.claims;
  await lookFor(1.5 * MINUTE);
  expect(claims()).toBe(false);
  await lookFor(2 * MINUTE);
  expect(claims()).toBe(true);
  expect(asked.at(-1)?.dueBefore).toBeLessThanOrEqual(time.now - 2 * MINUTE);
  await lookFor(MINUTE, time.now);
  expect(claims()).toBe(false);
});

test('after a pause of the whole process what is due has its two minutes', async () => {
  const { asked, lookFor, time } = setting();
  await lookFor(4 * MINUTE);
  time.now += 60 * MINUTE;
  await lookFor(250);
  expect(asked.at(-1)?.shops[0]?.claims).toBe(false);
});

test('a shop in trouble waits rightly; a probe without an end does not', async () => {
  const { shop, asked, found, lookFor } = setting();
  shop.health.messages.readsFailed('401');
  shop.health.messages.beginProbe();
  await lookFor(3 * MINUTE);
  expect(asked.at(-1)?.shops[0]?.claims).toBe(false);
  expect(found).toEqual([]);
  await lookFor(13 * MINUTE);
  expect(found).toEqual([{ fault: 'no_next_probe', shop: 'acme', part: 'messages' }]);
  expect(shop.health.messages.isProbeDue).toBe(true);
});
