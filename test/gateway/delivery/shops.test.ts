import { because } from '../../support/entries.ts';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { completeConfig, type CompleteConfig } from '../../../src/config/complete.ts';
import { Secret } from '../../../src/config/secret.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { LiveConfig } from '../../../src/gateway/live-config.ts';
import { connectPlatforms } from '../../../src/gateway/platforms.ts';
import { WHOLE } from '../../../src/gateway/delivery/share.ts';
import { connectShops } from '../../../src/gateway/delivery/shops.ts';
import { configSource } from '../../../src/gateway/config-source.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { StopStack } from '../../../src/runtime/stop-stack.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { ends } from '../../support/ends.ts';
import { gatewayConfig } from '../../support/gateway-config.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

async function someConfig(): Promise<CompleteConfig> {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.json');
  const platformUrl = 'http://127.0.0.1:9';
  writeFileSync(file, JSON.stringify(gatewayConfig({ dataDir: dir.path, platformUrl })));
  const loaded = configSource({ file, env: {} }).load();
  if (!loaded.ok) throw new Error('a configuration with mistakes');
  return completeConfig(loaded.config);
}

const withKey = (config: CompleteConfig, key: string): CompleteConfig => ({
  ...config,
  shops: config.shops.map((shop) => ({ ...shop, apiKey: new Secret(key) })),
});

const connected = async (clock?: Clock) => connectedBy(await someConfig(), clock);

/** The shops of a configuration, and whose entries were made due. */
function connectedBy(config: CompleteConfig, clock: Clock = Date.now) {
  const stack = new StopStack();
  ends(() => stack.unwind(() => undefined));
  const live = new LiveConfig(config, silentLogger);
  const hastened: [string, number][] = [];
  const shops = connectShops({
    ...{ live, share: WHOLE, stack, metrics: createMetrics(), clock },
    localUrl: { value: undefined },
    store: {
      spool: {
        hasten: (shopId, spreadMs) => {
          hastened.push([shopId, spreadMs]);
          return Promise.resolve(0);
        },
      },
    },
  });
  const shop = () => {
    const [first] = shops.value;
    if (first === undefined) throw new Error('no shop');
    return first;
  };
  return { live, shops, shop, hastened };
}

test.each<[string, (config: CompleteConfig) => CompleteConfig, string]>([
  ['key', (config) => withKey(config, 'another'), 'shops[acme].apiKey'],
  [
    'URL',
    (config) => ({
      ...config,
      shops: config.shops.map((shop) => ({ ...shop, platformUrl: 'http://127.0.0.1:10' })),
    }),
    'shops[acme].platformUrl',
  ],
])(
  'with another %s it is another platform: nothing is known of it, and what waits is due',
  async (_, change, path) => {
    const { live, shop, hastened } = await connected();
    const before = shop();
    before.health.messages.readsFailed(because('401'));
    await live.apply(change(live.value), [path]);
    expect(shop().isSameAs(before)).toBe(false);
    expect(shop().health.messages.state).toBe('steady');
    expect(hastened).toEqual([[before.settings.shopId, 1]]);
  },
);

test('with another key the last delivery is still told, and a stop goes on that it does not end', async () => {
  let now = 1_000_000;
  const { live, shop } = await connected(() => (now += 1000));
  shop().sent('a lane')();
  const { lastDeliveredAt } = shop().report().messages;
  shop().health.messages.readsFailed(because('401'));
  const { since } = shop().report().messages;
  await live.apply(withKey(live.value, 'another'), ['shops[acme].apiKey']);
  expect(shop().report().messages).toEqual({
    ...{ state: 'steady', probing: false, lastDeliveredAt, untried: true },
  });
  shop().health.messages.readsFailed(because('401'));
  expect(shop().report().messages).toMatchObject({ state: 'open', since, lastDeliveredAt });
  await live.apply(withKey(live.value, 'a third one'), ['shops[acme].apiKey']);
  shop().sent('a lane')();
  shop().health.messages.readsFailed(because('401'));
  const ended = shop().report().messages;
  expect(ended.since).not.toBe(since);
  expect(ended.lastDeliveredAt).not.toBe(lastDeliveredAt);
});

test('what is known of a platform stays with other settings, and its trouble is probed at once', async () => {
  const { live, shop, hastened } = await connected();
  const before = shop();
  before.health.messages.failed('a lane', because('503'));
  before.health.media.failed('a lane', because('503'));
  expect(before.health.messages.isProbeDue).toBe(false);
  const { delivery } = live.value;
  const next = { ...live.value, delivery: { ...delivery, requestTimeout: 77_000 } };
  await live.apply(next, ['delivery.requestTimeout']);
  const after = shop();
  expect(after).not.toBe(before);
  expect(after.isSameAs(before)).toBe(true);
  expect(after.health.messages.isProbeDue).toBe(true);
  expect(after.health.media.isProbeDue).toBe(true);
  expect(hastened).toEqual([]);
});

test('a shop whose requests hang leaves sockets of their host to others', async () => {
  const [hanging, other] = [
    'f0000000-0000-4000-8000-000000000001',
    'f0000000-0000-4000-8000-000000000002',
  ] as const;
  const server = createServer((request, response) => {
    if (request.headers['x-shop-id'] === other) {
      response.setHeader('Content-Type', 'application/json').end('{"results":[]}');
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = new AbortController();
  ends(async () => {
    stop.abort();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // Of a server that listens on a port.
  const { port } = server.address() as AddressInfo;
  const config = await someConfig();
  const [shop] = config.shops;
  if (shop === undefined) throw new Error('no shop');
  const { shops } = connectedBy({
    ...config,
    shops: [hanging, other].map((shopId) => ({
      ...{ ...shop, shopId: asShopId(shopId), platformUrl: `http://127.0.0.1:${port}` },
    })),
  });
  const [one, two] = shops.value.map(({ settings }) => settings.client);
  if (one === undefined || two === undefined) throw new Error('no two shops');
  const hung = Array.from({ length: 48 }, () =>
    one.listContacts({ limit: 1 }, AbortSignal.any([stop.signal])),
  );
  void Promise.allSettled(hung);
  expect(await two.listContacts({ limit: 1 }, AbortSignal.timeout(60_000))).toMatchObject({
    results: [],
  });
});

test('an answer of 4 MiB is read, and a larger one is refused', async () => {
  const MIB = 1024 * 1024;
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  const page = JSON.stringify({ results: [], next: null, previous: null });
  platform.script = (_seen, nth) => ({ status: 200, body: page.padEnd(4 * MIB + nth - 1) });
  const platformUrl = await platform.start();
  const config = await someConfig();
  const shops = config.shops.map((shop) => ({ ...shop, platformUrl }));
  const { client } = connectedBy({ ...config, shops }).shop().settings;
  expect(await client.listMessages({})).toMatchObject({ results: [] });
  await expect(client.listMessages({})).rejects.toMatchObject({ code: 'too_large' });
});

test('nothing holds on to a configuration that was replaced, nor to its keys', async () => {
  const stack = new StopStack();
  ends(() => stack.unwind(() => undefined));
  const live = new LiveConfig(await someConfig(), silentLogger);
  const parts = {
    ...{ live, stack, logger: silentLogger, metrics: createMetrics(), clock: Date.now },
    store: {
      spool: {
        hasten: () => Promise.resolve(0),
        laneOf: () => Promise.resolve(undefined),
        personOf: () => Promise.resolve(undefined),
      },
      optOuts: {
        isOptedOut: () => Promise.resolve(false),
        optOut: () => Promise.resolve(),
        optIn: () => Promise.resolve(false),
      },
    },
  };
  const platforms = await connectPlatforms({ ...parts, onBlocked: () => Promise.resolve() });
  const shops = connectShops({ ...parts, share: WHOLE, localUrl: { value: undefined } });
  const replaced: WeakRef<CompleteConfig>[] = [];
  for (const key of ['first', 'second', 'third']) {
    replaced.push(new WeakRef(live.value));
    await live.apply(withKey(live.value, key), ['shops[acme].apiKey']);
  }
  expect(platforms.clients.value).toHaveLength(1);
  expect(shops.value).toHaveLength(1);
  await waitFor('the old ones to go', () => {
    collectGarbage();
    return replaced.slice(0, 2).every((each) => each.deref() === undefined);
  });
});
