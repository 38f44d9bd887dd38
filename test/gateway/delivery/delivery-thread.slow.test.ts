import { MessageChannel } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { completeConfig } from '../../../src/config/complete.ts';
import { configSource } from '../../../src/gateway/config-source.ts';
import { fromClone, toClone } from '../../../src/gateway/delivery/cloned-config.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { isOwnShop, sharesOf } from '../../../src/gateway/delivery/share.ts';
import { loadDeliveryThreads } from '../../../src/gateway/delivery/delivery-thread.ts';
import { LiveConfig } from '../../../src/gateway/live-config.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { StopStack } from '../../../src/runtime/stop-stack.ts';
import { ends } from '../../support/ends.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import {
  type ConfigChoices,
  freePorts,
  ownLoopbackAddress,
  shopNamed,
} from '../../support/gateway-config.ts';
import { GatewayProcess } from '../../support/gateway-process.ts';
import { startGateway, writeConfig } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitForEntries } from '../../support/spool-beside.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

async function aPlatform() {
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  return { platform, platformUrl: await platform.start() };
}

async function threaded(platformUrl: string, more: Partial<ConfigChoices> = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  const choices = { dataDir: dir.path, platformUrl, ...more };
  const gateway = await startGateway(choices, silentLogger, { deliversHere: false });
  ends(() => gateway.stop());
  return {
    gateway,
    choices,
    send: (Body: string) => sendSms(gateway.httpUrl, { MessageSid: sidOf(Body), Body }),
    metrics: async () => {
      const authorization = `Basic ${Buffer.from('operator:of-the-console').toString('base64')}`;
      const answer = await fetch(`${gateway.adminUrl}/metrics`, { headers: { authorization } });
      return answer.text();
    },
  };
}

test('delivers as soon as a message is accepted, and its counts are among the metrics', async () => {
  const { platform, platformUrl } = await aPlatform();
  const { send, metrics } = await threaded(platformUrl);
  for (const body of ['one', 'two', 'three']) await send(body);
  await waitFor('the messages', () => platform.messages.length === 3);
  const delivered = 'sluice_settled_total{shop="acme",channel="sms",outcome="delivered"} 3';
  await waitFor('the counts', async () => (await metrics()).includes(delivered));
  const text = await metrics();
  // Those of the main thread, and each name once.
  expect(text).toContain('sluice_accepted_total{channel="sms",duplicate="false"} 3');
  expect(text.match(/^# TYPE sluice_settled_total/gm)).toHaveLength(1);
  expect(text.match(/^# TYPE process_resident_memory_bytes/gm)).toHaveLength(1);
  expect(text).not.toMatch(/sluice_spool_commit_seconds_count 0$/m);
});

test('follows a reload: what waited goes to the new platform', async () => {
  const before = await aPlatform();
  const after = await aPlatform();
  const { gateway, choices, send } = await threaded(before.platformUrl, { paused: true });
  await send('waits');
  writeConfig({ ...choices, platformUrl: after.platformUrl, paused: false });
  expect(await gateway.reload()).toMatchObject({ ok: true });
  await waitFor('the message', () => after.platform.messages.length === 1);
  expect(before.platform.messages).toEqual([]);
});

test('knows the embedded platform that a reload has started', async () => {
  const { platform, platformUrl } = await aPlatform();
  const { gateway, choices, send } = await threaded(platformUrl, { paused: true });
  await send('waits');
  writeConfig({ dataDir: choices.dataDir, paused: false });
  expect(await gateway.reload()).toMatchObject({ ok: true });
  await waitForEntries(choices.dataDir, 'the delivery', ([entry]) => entry?.state === 'delivered');
  expect(platform.messages).toEqual([]);
});

test('several threads deliver, each for its own shops, and follow a reload', async () => {
  const { platform, platformUrl } = await aPlatform();
  const shops = Array.from({ length: 6 }, (_, n) => shopNamed(`shop${n}`, n));
  const shares = sharesOf({ threads: 3, concurrency: 16 }).map((share) =>
    shops.filter(({ shopId }) => isOwnShop(share, asShopId(shopId))),
  );
  expect(shares.flat()).toHaveLength(shops.length);
  expect(shares.filter((own) => own.length > 0).length).toBeGreaterThan(1);
  const { gateway, choices, metrics } = await threaded(platformUrl, {
    ...{ shops, deliveryThreads: 3, paused: true },
  });
  for (const { name, number } of shops) {
    await sendSms(gateway.httpUrl, { MessageSid: sidOf(name), To: number, Body: name });
  }
  writeConfig({ ...choices, paused: false });
  expect(await gateway.reload()).toMatchObject({ ok: true, changed: ['delivery.paused'] });
  await waitFor('the messages', () => platform.messages.length === shops.length);
  expect(platform.messages.map(({ message }) => message.content).toSorted()).toEqual(
    shops.map(({ name }) => name),
  );
  await waitFor('the counts', async () => {
    const text = await metrics();
    return shops.every(({ name }) =>
      text.includes(`sluice_settled_total{shop="${name}",channel="sms",outcome="delivered"} 1`),
    );
  });
});

test('goes on when nobody reads the log any more', async () => {
  const { platform, platformUrl } = await aPlatform();
  const dir = tempDir();
  ends(() => dir.remove());
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({ dataDir: dir.path, platformUrl, host, ports });
  const gateway = await GatewayProcess.start({ configFile, host, ports });
  ends(() => gateway.kill());
  gateway.closeLog();
  const httpUrl = `http://${host}:${ports.http}`;
  for (const Body of ['one', 'two', 'three']) {
    await sendSms(httpUrl, { MessageSid: sidOf(Body), Body });
    await waitFor(Body, () => platform.messages.some(({ message }) => message.content === Body));
  }
  expect(await gateway.terminate()).toEqual({ code: 0, signal: null });
});

async function aConfig() {
  const dir = tempDir();
  ends(() => dir.remove());
  const loaded = configSource({ file: writeConfig({ dataDir: dir.path }), env: {} }).load();
  if (!loaded.ok) throw new Error('a configuration with mistakes');
  return completeConfig(loaded.config);
}

test.each([
  ['its end', 'data:text/javascript,throw new TypeError("a bug")', 'a bug'],
  ['a thread that hangs', './hanging-thread.mjs', 'the delivery thread does not answer'],
])('%s is the end of the gateway', async (_name, worker, message) => {
  const config = await aConfig();
  const { port1, port2 } = new MessageChannel();
  ends(() => port2.close());
  const stack = new StopStack();
  const failed = await new Promise<Error>((resolve) => {
    const thread = loadDeliveryThreads({
      ...{ config, stack, grace: { ms: 0 }, fail: resolve, pingEveryMs: 20 },
      worker: new URL(worker, import.meta.url),
    });
    const starting = thread.deliver({
      live: new LiveConfig(config, silentLogger),
      sharing: {
        share: () => ({ dir: config.dataDir, port: port1, failed: new SharedArrayBuffer(4) }),
        makeSpace: () => Promise.resolve(),
      },
      intake: { accept: () => Promise.resolve([]) },
      localUrl: { value: undefined },
      hasReply: () => false,
      onSettled: () => undefined,
    });
    starting.catch(() => undefined);
  });
  expect(failed).toMatchObject({ message });
  // The stop does not wait for it.
  await stack.unwind((part, error) => {
    throw new Error(part, { cause: error });
  });
});

test('a configuration is the same in the thread, with its secrets', async () => {
  const config = await aConfig();
  const there = fromClone(structuredClone(toClone(config)));
  expect(there).toEqual(config);
  expect(there.shops[0]?.apiKey.reveal()).toBe('key-of-acme');
  expect(JSON.stringify(there)).not.toContain('key-of-acme');
});
