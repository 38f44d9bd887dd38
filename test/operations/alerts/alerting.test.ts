import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { GatewayStatus } from '../../../src/observability/status.ts';
import { type LogFields, silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { AlertFile } from '../../../src/operations/alerts/alert-file.ts';
import {
  Alerting,
  type AlertingOptions,
  RollingCount,
} from '../../../src/operations/alerts/alerting.ts';
import { createEmailTarget } from '../../../src/operations/alerts/email-target.ts';
import type { Target } from '../../../src/operations/alerts/target.ts';
import { createWebhookTarget } from '../../../src/operations/alerts/webhook-target.ts';
import { durableFiles } from '../../../src/runtime/durable-files.ts';
import { type Leases, soleLeases } from '../../../src/runtime/leases.ts';
import { ends } from '../../support/ends.ts';
import { sharedLeases } from '../../support/leases.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { counted, HOUR, MINUTE, RULES, someStatus } from './some-status.ts';
import { startWebhook, TOKEN, type WebhookStandIn } from './webhook-stand-in.ts';

const QUICK: AlertingOptions = {
  ...{ everyMs: 10, settleMs: 20, groupMs: 20, repeatMs: HOUR, source: 'gw.acme.example' },
  rules: { ...RULES, forMs: 0 },
  retries: { times: 0, firstAfterMs: 1 },
};
const isDead = { counts: [counted('dead', 1)] };
const isFull = { disk: { freeBytes: 1e6, totalBytes: 100e9, reserveBytes: 55e6 } };
const isHeld = { counts: [counted('held', 1)] };

let folder: string;
let hook: WebhookStandIn;
let status: Partial<GatewayStatus>;
/** What the gateway's clock is ahead of the machine's. */
let aheadMs: number;
let looks: number;
const logged: { event: string; fields: LogFields | undefined }[] = [];

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  folder = dir.path;
  hook = await startWebhook();
  status = {};
  aheadMs = 0;
  looks = 0;
  logged.length = 0;
});

/** Alerts over the status of this test, as a process would run them. */
async function start(
  options: Partial<AlertingOptions> = {},
  targets?: readonly Target[],
  { dir = folder, leases = soleLeases }: { dir?: string; leases?: Leases } = {},
) {
  const clock = () => Date.now() + aheadMs;
  const metrics = createMetrics();
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const alerting = new Alerting(
    { ...QUICK, ...options },
    {
      status: () => {
        looks += 1;
        return Promise.resolve(someStatus({ ...status, at: clock() }));
      },
      file: new AlertFile(join(dir, 'alerts.json'), durableFiles),
      ...{ leases, incidents: { firing: () => undefined } },
      targets: targets ?? [createWebhookTarget({ url: hook.url, timeoutMs: 20_000 })],
      ...{ metrics, clock, logger: { ...silentLogger, warn: note, error: note } },
    },
  );
  await alerting.start();
  ends(() => alerting.stop());
  return { alerting, metrics };
}

const texts = () => hook.taken.map(({ text }) => text.replace('[Sluice gw.acme.example] ', ''));
const told = (count: number) => waitFor('notices', () => hook.taken.length >= count);
async function looked(times: number): Promise<void> {
  const until = looks + times;
  await waitFor('some looks', () => looks >= until);
}

test('tells the beginning and the end, once each', async () => {
  const { alerting, metrics } = await start();
  await looked(3);
  status = isDead;
  await told(1);
  expect(alerting.current).toMatchObject([{ rule: 'dead', severity: 'critical', shop: 'acme' }]);
  expect(await metrics.registry.metrics()).toContain(
    'sluice_alerts_firing{rule="dead",severity="critical"} 1',
  );
  await looked(5);
  status = {};
  await told(2);
  await looked(5);
  expect(texts()).toEqual(['1 alert: dead acme', '1 alert resolved: dead acme']);
  expect(alerting.current).toEqual([]);
  expect(await metrics.registry.metrics()).toContain(
    'sluice_alert_notifications_total{target="webhook",outcome="sent"} 2',
  );
});

test('of two gateways with one store, one sends what both see in it', async () => {
  const leasesOf = sharedLeases();
  const first = await start({}, undefined, { leases: leasesOf() });
  await looked(3);
  const other = tempDir();
  ends(() => other.remove());
  const second = await start({}, undefined, { dir: other.path, leases: leasesOf() });
  status = { ...isDead, ...isFull };
  // Each has a disk of its own.
  await told(2);
  await waitFor('both', () => second.alerting.current.length === 2);
  await looked(10);
  expect(texts().filter((text) => text.includes('dead acme'))).toHaveLength(1);
  expect(texts().filter((text) => text.includes('disk'))).toHaveLength(2);

  // The other one goes on from there: it does not repeat the beginning, and sends the end.
  await first.alerting.stop();
  const before = texts().length;
  status = isFull;
  await told(before + 1);
  await looked(10);
  expect(texts().slice(before)).toEqual(['1 alert resolved: dead acme']);
});

test('what changes together is one message', async () => {
  await start({ groupMs: MINUTE });
  status = isDead;
  await looked(2);
  status = { counts: [...isDead.counts, ...isHeld.counts] };
  await looked(2);
  expect(texts()).toEqual([]);
  aheadMs = MINUTE;
  await told(1);
  expect(texts()).toEqual(['2 alerts: dead acme, held acme']);
});

test('a restart neither repeats nor forgets', async () => {
  const first = await start();
  status = isDead;
  await told(1);
  await first.alerting.stop();
  const second = await start();
  await looked(5);
  expect(second.alerting.current).toMatchObject([{ rule: 'dead' }]);
  await second.alerting.stop();
  expect(texts()).toEqual(['1 alert: dead acme']);
  status = {};
  await start();
  await told(2);
  expect(texts()).toEqual(['1 alert: dead acme', '1 alert resolved: dead acme']);
});

test('what could not be told before a restart is told after it', async () => {
  hook.answerNext(500);
  const first = await start();
  status = isDead;
  await waitFor('the refusal', () => hook.requests === 1);
  await first.alerting.stop();
  await start();
  await told(1);
  expect(texts()).toEqual(['1 alert: dead acme']);
});

test('a clock that was ahead before a restart keeps no news back', async () => {
  aheadMs = 48 * HOUR;
  hook.answerNext(500);
  const first = await start();
  status = isDead;
  await waitFor('the refusal', () => hook.requests === 1);
  await first.alerting.stop();
  aheadMs = 0;
  const second = await start();
  await told(1);
  expect(second.alerting.current[0]?.since).toBeLessThanOrEqual(Date.now());
  aheadMs = HOUR + 1000;
  await told(2);
  expect(texts()).toEqual(['1 alert: dead acme', '1 alert still firing: dead acme']);
});

test('what goes on is told again after the time for it', async () => {
  await start();
  status = isDead;
  await told(1);
  aheadMs = HOUR + 1000;
  await told(2);
  expect(texts()[1]).toBe('1 alert still firing: dead acme');
});

test('a target that fails is left alone for a while, is counted by kind, and holds up no other', async () => {
  const relay = await startMailRelay();
  ends(() => relay.close());
  hook.answerNext(404, 'hang');
  const { metrics } = await start({}, [
    createWebhookTarget({ url: hook.url, timeoutMs: 20_000 }),
    createEmailTarget({
      to: ['oncall@ops.example'],
      from: 'sluice@acme.example',
      relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'auto' },
    }),
  ]);
  status = isDead;
  await waitFor('the email', () => relay.taken.length === 1);
  await waitFor('the refusal', () => logged.some(({ event }) => event === 'alerts.not_sent'));
  await looked(10);
  expect(hook.requests).toBe(1);
  expect(logged.find(({ event }) => event === 'alerts.not_sent')?.fields).toEqual({
    ...{ target: 'webhook', kind: 'refused', code: '404' },
  });
  expect(await metrics.registry.metrics()).toContain(
    'sluice_alert_notifications_total{target="webhook",outcome="refused"} 1',
  );
  // The next one hangs; the end is told by email all the same.
  aheadMs = 31_000;
  await waitFor('another try', () => hook.requests === 2);
  status = {};
  await waitFor('the end by email', () => relay.taken.length === 2);
  expect(JSON.stringify(logged)).not.toContain(TOKEN);
});

test('a damaged file is said, and everything is told anew', async () => {
  writeFileSync(join(folder, 'alerts.json'), '{"version": 1, "alerts": [');
  status = isDead;
  await start();
  await told(1);
  expect(logged.map(({ event }) => event)).toContain('alerts.state_unreadable');
  const kept: unknown = JSON.parse(readFileSync(join(folder, 'alerts.json'), 'utf8'));
  expect(kept).toMatchObject({ version: 1, alerts: [{ key: 'dead/acme' }] });
});

test('status that cannot be collected end nothing and begin nothing', async () => {
  const { alerting } = await start();
  status = isDead;
  await told(1);
  const broken = { ...status };
  status = Object.defineProperty(broken, 'counts', {
    enumerable: true,
    get: () => {
      throw new Error('the store is gone');
    },
  });
  await looked(5);
  expect(alerting.current).toMatchObject([{ rule: 'dead' }]);
  expect(logged.map(({ event }) => event)).toContain('alerts.failed');
});

test('counts what rose within the window', () => {
  const count = new RollingCount(100, 0);
  expect(count.add(10, 3)).toBe(3);
  expect(count.isWhole(10)).toBe(false);
  expect(count.add(90, 5)).toBe(5);
  expect(count.add(115, 5)).toBe(2);
  expect(count.isWhole(115)).toBe(true);
  expect(count.add(189, 5)).toBe(2);
  expect(count.add(190, 5)).toBe(0);
  expect(count.add(300, 9)).toBe(4);
});

test('what rose long before anybody looked is not of late', () => {
  const count = new RollingCount(100, 0);
  expect(count.add(1000, 50)).toBe(0);
  expect(count.isWhole(1050)).toBe(false);
  expect(count.add(1050, 53)).toBe(3);
});
