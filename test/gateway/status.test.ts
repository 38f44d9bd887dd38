import { because } from '../support/entries.ts';
import { expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { certificateStatus, createStatusCollector } from '../../src/gateway/status.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { ConnectionPool } from '../../src/platform-api/transport.ts';
import type { EntryCount } from '../../src/spool/spool.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { ends } from '../support/ends.ts';
import { ACME } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';

function setting() {
  const dir = tempDir();
  ends(() => dir.remove());
  const pool = new ConnectionPool();
  ends(() => pool.close());
  const time = { now: 1_000_000, countingMs: 0 };
  const clock = () => time.now;
  const shopId = asShopId(ACME.shopId);
  const shop = new ShopPlatform(
    {
      ...{ shopId, name: 'acme', platformUrl: 'http://127.0.0.1:9' },
      mediaPermission: { email: 'private', sms: 'private', web_chat: 'private' },
      client: new PlatformClient({
        ...{ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', shopId, pool },
        ...{ requestTimeoutMs: 1000, mediaTimeoutMs: 1000 },
      }),
    },
    { clock, random: () => 0 },
  );
  let counted = 0;
  const counts: EntryCount[] = [
    { shopId, channel: 'email', state: 'dead', count: 2, oldestAt: 5 },
    { shopId: asShopId('gone'), channel: 'sms', state: 'held', count: 1, oldestAt: 6 },
  ];
  const metrics = createMetrics();
  const status = createStatusCollector({
    spool: {
      counts: () => {
        counted += 1;
        time.now += time.countingMs;
        return Promise.resolve(counts);
      },
    },
    ...{ dataDir: dir.path, reserveBytes: () => 55, metrics, clock },
    shops: () => [{ shopId, name: 'acme' }],
    health: () => Promise.resolve(new Map([[shopId, shop.report()]])),
    tls: () => undefined,
    deliveryPaused: () => false,
    fleet: () => undefined,
    refusedPages: () => [],
    waitingTickets: () => [{ shop: 'acme', waiting: 2, oldestAt: time.now - 5000 }],
  });
  return { status, shop, metrics, time, counted: () => counted };
}

test('tells of shops by name, of breakers, disk, signatures and sockets', async () => {
  const { status, shop, metrics, time } = setting();
  shop.health.messages.readsFailed(because('the platform answered 401 (http) to /contacts/'));
  shop.health.media.failed('a lane', because('503'));
  metrics.webhookSignatureFailures.inc(3);
  metrics.chatSockets.inc(2);
  metrics.smtpConnections.set(4);
  const found = await status();
  expect(found).toMatchObject({
    at: time.now,
    startedAt: time.now,
    counts: [
      { shop: 'acme', state: 'dead', count: 2 },
      { shop: 'gone', state: 'held', count: 1 },
    ],
    shops: [
      {
        shop: 'acme',
        shopId: ACME.shopId,
        breakers: [
          {
            ...{ part: 'messages', state: 'open', since: time.now, nextProbeAt: time.now + 1000 },
            reason: 'the platform answered 401 (http) to /contacts/',
          },
          // One upload that failed is no breaker.
          { part: 'media', state: 'closed' },
        ],
        refusedAlike: [],
      },
    ],
    disk: { reserveBytes: 55 },
    badSignatures: 3,
    sockets: { chat: 2, smtp: 4 },
  });
  expect(found.disk.freeBytes).toBeGreaterThan(0);
  expect(found.disk.totalBytes).toBeGreaterThanOrEqual(found.disk.freeBytes ?? Infinity);
  expect(found.shops[0]).not.toHaveProperty('lastDeliveredAt');
  expect(found).not.toHaveProperty('certificate');

  time.now += 2000;
  const end = shop.health.messages.beginProbe();
  expect((await status()).shops[0]?.breakers[0]).toMatchObject({ state: 'probing' });
  end();
  time.now += 2000;
  shop.sent('a lane')();
  expect((await status()).shops[0]).toMatchObject({
    lastDeliveredAt: time.now,
    breakers: [{ state: 'closed' }, { state: 'closed' }],
  });
});

test('tells of a refusal that many messages got alike', async () => {
  const { status, shop, time } = setting();
  const refusal = { words: '422 invalid message.format', since: time.now, count: 6 };
  shop.alike.know([{ ...refusal, shopId: shop.settings.shopId, number: 7 }]);
  expect((await status()).shops[0]?.refusedAlike).toEqual([refusal]);
});

test('many who ask share one collection, and counting takes little of the store', async () => {
  const { status, time, counted } = setting();
  time.countingMs = 400;
  await Promise.all(Array.from({ length: 20 }, () => status()));
  expect(counted()).toBe(1);
  time.now += 2000;
  await status();
  expect(counted()).toBe(1);
  time.now += 8000;
  await status();
  expect(counted()).toBe(2);
});

test('a certificate is told by the name it is for and by its end', async () => {
  const notAfterDate = new Date('2027-03-01T00:00:00Z');
  const { cert } = await generate([{ name: 'commonName', value: 'old.acme.example' }], {
    ...{ keyType: 'ec', algorithm: 'sha256', notAfterDate },
    extensions: [
      // As the gateway makes its own: it may sign no certificate.
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'mx.acme.example' }] },
    ],
  });
  expect(certificateStatus(cert)).toEqual({
    ...{ subject: 'mx.acme.example', endsAt: notAfterDate.getTime(), selfSigned: true },
  });
});
