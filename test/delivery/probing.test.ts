import { expect, test } from '@jest/globals';
import { Probing } from '../../src/delivery/probing.ts';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { type ClaimSource, WAITS_FOR } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { because, SHOP } from '../support/entries.ts';
import { sharedLeases } from '../support/leases.ts';
import { waitFor } from '../support/wait-for.ts';

/** Two gateways with one store, of which the first one’s probes wait for an answer. */
function setting() {
  const time = { now: 1_000_000 };
  const clock = () => time.now;
  const leasesOf = sharedLeases(clock);
  const gateway = (isAnswered: boolean, read: () => Promise<void> = () => Promise.resolve()) => {
    const platform = { baseUrl: 'http://platform.example', apiKey: 'a key', shopId: SHOP };
    const shop = new ShopPlatform(
      {
        ...{ shopId: SHOP, name: 'a shop', platformUrl: platform.baseUrl },
        mediaPermission: { email: 'private', sms: 'private', web_chat: 'private' },
        client: new PlatformClient({
          ...{ ...platform, requestTimeoutMs: 1000, mediaTimeoutMs: 1000 },
          send: async () => {
            await read();
            return { status: 503, text: '' };
          },
        }),
      },
      { clock, random: () => 0 },
    );
    shop.health.messages.failed('a lane', because('503'));
    /** Ends each probe in flight. */
    const probes: (() => void)[] = [];
    const sources: (readonly ClaimSource[])[] = [];
    const probing = new Probing(
      { spool: recordsOf(), leases: leasesOf(), logger: silentLogger, clock },
      ({ from }) =>
        new Promise((resolve) => {
          sources.push(from);
          probes.push(() => resolve(true));
          if (isAnswered) resolve(true);
        }),
    );
    return {
      shop,
      sources,
      probes,
      look: () => probing.look([shop]),
      ended: () => probing.ended(),
    };
  };
  return { time, gateway, first: gateway(false), second: gateway(true) };
}

/** What `Probing` uses of a store in which nobody asks for anything. */
function recordsOf(): Spool {
  const records: Partial<Spool> = {
    takeProbeRequests: () => Promise.resolve([]),
    refusals: () => Promise.resolve([]),
    saveShopHealth: () => Promise.resolve(),
  };
  return records as Spool;
}

test('while a probe is in flight, and for five seconds after it, no other gateway makes one', async () => {
  const { time, first, second } = setting();
  time.now += 1000;
  await first.look();
  await waitFor('the probe', () => first.probes.length === 1);
  // The platform does not answer for longer than a lease lasts.
  for (let passed = 0; passed < 30_000; passed += 2500) {
    time.now += 2500;
    await first.look();
    await second.look();
    await second.ended();
  }
  first.probes[0]?.();
  await first.ended();
  time.now += 4999;
  await second.look();
  await second.ended();
  expect(second.probes).toHaveLength(0);
  // Having left out its turn, it is due five seconds later at the latest.
  time.now += 5000;
  await second.look();
  await waitFor('the other gateway’s probe', () => second.probes.length === 1);
  await second.ended();
});

test('a gateway that was stopped before its probe leaves it to the one that has the lease now', async () => {
  const { time, gateway, second } = setting();
  let answer = (): void => undefined;
  const stopped = gateway(true, () => new Promise<void>((resolve) => (answer = resolve)));
  time.now += 1000;
  await stopped.look();
  time.now += 12_000;
  await second.look();
  await waitFor('the other gateway’s probe', () => second.probes.length === 1);
  answer();
  await stopped.ended();
  expect(stopped.probes).toHaveLength(0);
  await second.ended();
});

test('a probe of a gateway that died is replaced within ten seconds', async () => {
  const { time, first, second } = setting();
  time.now += 1000;
  await first.look();
  await waitFor('the probe', () => first.probes.length === 1);
  time.now += 10_000;
  await second.look();
  await waitFor('the other gateway’s probe', () => second.probes.length === 1);
  first.probes[0]?.();
  await Promise.all([first.ended(), second.ended()]);
});

test('what waits for uploads is tried by the probes of messages only while uploads work', async () => {
  const { time, second } = setting();
  time.now += 1000;
  await second.look();
  await second.ended();
  expect(second.sources.at(-1)).toContain(WAITS_FOR.media);
  second.shop.health.media.failed('a lane', because('503'));
  time.now += 60_000;
  await second.look();
  await second.ended();
  const [ofMedia, ofMessages] = second.sources.slice(-2).toSorted((a, b) => a.length - b.length);
  expect(ofMedia).toEqual([WAITS_FOR.media]);
  expect(ofMessages).toHaveLength(3);
  expect(ofMessages).not.toContain(WAITS_FOR.media);
});
