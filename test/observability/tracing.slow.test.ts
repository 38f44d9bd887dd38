import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isSampled, madeAt, traceIdOf } from '../../src/observability/open-telemetry.ts';
import { scene } from '../e2e/scene.ts';
import { ends } from '../support/ends.ts';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCollector, trees } from './collector.ts';
import { INBOX } from '../support/gateway-config.ts';

const CANARY = 'canary';

async function greeted(port: number): Promise<SmtpClient> {
  const client = await SmtpClient.connect(port);
  ends(() => client.destroy());
  await client.reply();
  return client;
}

const withFile = [
  `From: Ann ${CANARY}-name <${CANARY}-address@example.com>`,
  `To: ${INBOX}`,
  `Message-ID: <${CANARY}-id@example.com>`,
  `Subject: ${CANARY}-subject`,
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  `${CANARY}-body`,
  '--b',
  'Content-Type: application/pdf',
  `Content-Disposition: attachment; filename="${CANARY}-file.pdf"`,
  '',
  `%PDF-1.4 ${CANARY}-content`,
  '--b--',
].join('\r\n');

test('one trace for each message of each channel, and nothing of a person in any', async () => {
  const collector = await startCollector();
  const { gateway, platform, chat } = await scene({
    tracing: { endpoint: collector.url, headers: ['Authorization: Bearer canary-of-otlp'] },
  });
  const client = await greeted(gateway.smtpPort);
  await client.envelope([INBOX]);
  await client.say('DATA');
  client.send(withFile);
  expect(await client.say('\r\n.')).toMatch(/^250/);
  await sendSms(gateway.httpUrl, {
    MessageSid: sidOf('one'),
    From: '+14155550123',
    Body: `${CANARY}-text`,
  });
  const visitor = await chat({ name: `${CANARY}-visitor`, email: `${CANARY}@example.com` });
  await visitor.send(`${CANARY}-chat`);
  await waitFor('all three', () => platform.messages.length === 3, 20);
  await gateway.stop();

  const all = trees(collector.spans);
  expect(all.toSorted()).toEqual([
    'intake(attempt(normalize conversation submit settle))',
    'intake(attempt(normalize conversation submit settle))',
    'intake(attempt(normalize upload conversation submit settle))',
  ]);
  const attempts = collector.spans.filter(({ name }) => name === 'attempt');
  expect(attempts.map(({ attributes }) => attributes['sluice.channel']).toSorted()).toEqual([
    'email',
    'sms',
    'web_chat',
  ]);
  for (const { attributes, traceId } of attempts) {
    expect(attributes).toEqual({
      'sluice.entry': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'sluice.channel': expect.any(String),
      'sluice.shop': 'acme',
      'sluice.shop_id': expect.any(String),
      'sluice.kind': 'message',
      'sluice.claim': expect.anything(),
      'sluice.state': 'delivered',
    });
    expect(String(attributes['sluice.entry']).replaceAll('-', '')).toBe(traceId);
  }
  for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans) {
    expect(endTimeUnixNano).toBeGreaterThanOrEqual(startTimeUnixNano);
    expect(Math.abs(Number(startTimeUnixNano / 1_000_000n) - Date.now())).toBeLessThan(600_000);
  }
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'sluice' });
  expect(collector.headers[0]?.authorization).toBe('Bearer canary-of-otlp');
  expect(collector.bodies.join()).not.toMatch(/canary|4155550123|example\.com/i);
});

test('a retry is another attempt of the same trace, with the status it met', async () => {
  const collector = await startCollector();
  const { gateway, platform } = await scene({ tracing: { endpoint: collector.url } });
  let failures = 2;
  platform.faults = ({ method, path }) =>
    method === 'POST' && path.endsWith('/messages/') && failures-- > 0
      ? { kind: 'status', status: 503 }
      : undefined;
  await sendEmail(await greeted(gateway.smtpPort), 'first');
  await waitFor('the message', () => platform.messages.length === 1, 20);
  await gateway.stop();
  expect(trees(collector.spans)).toEqual([
    'intake(attempt!(normalize conversation submit! settle) attempt(normalize conversation submit settle))',
  ]);
  const failed = collector.spans.find(({ name, status }) => name === 'submit' && status.code === 2);
  expect(failed?.attributes).toMatchObject({ 'error.type': 'Later' });
  expect(Number(failed?.attributes['http.response.status_code'])).toBe(503);
});

test('a trace goes on in the process that comes after', async () => {
  const collector = await startCollector();
  const setting = await gatewaySetting({ tracing: { endpoint: collector.url } });
  setting.platform.faults = () => ({ kind: 'status', status: 503 });
  const first = await setting.start();
  await sendEmail(await setting.greeted(), 'first');
  await waitFor('an attempt', () => setting.platform.calls.length > 1, 20);
  await first.terminate();
  setting.platform.faults = () => undefined;
  const second = await setting.start();
  await waitFor('the message', () => setting.platform.messages.length === 1, 20);
  await second.terminate();
  const [tree = '', ...others] = trees(collector.spans);
  expect(others).toEqual([]);
  expect(tree).toMatch(
    /^intake\((?:attempt!\(.*?\) )+attempt\(normalize conversation submit settle\)\)$/,
  );
});

test('a collector that is down or silent costs nothing but its spans, and the stop ends', async () => {
  const collector = await startCollector();
  collector.status = 'hang';
  const { gateway, platform } = await scene({ tracing: { endpoint: collector.url } });
  const client = await greeted(gateway.smtpPort);
  for (let n = 0; n < 20; n += 1) await sendEmail(client, `m${n}`);
  await waitFor('all of them', () => platform.messages.length === 20, 20);
  const started = performance.now();
  await gateway.stop();
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(collector.spans).toEqual([]);
});

test('without an endpoint the library is not even loaded', async () => {
  const setting = await gatewaySetting();
  const folder = join(setting.dataDir, 'coverage');
  mkdirSync(folder);
  // Node writes the address of every script that it has loaded.
  const gateway = await setting.start({ env: { NODE_V8_COVERAGE: folder } });
  await sendEmail(await setting.greeted(), 'first');
  await waitFor('the message', () => setting.platform.messages.length === 1, 20);
  await gateway.terminate();
  const loaded = readdirSync(folder).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/"url":"(file:[^"]*)"/g)].map(
      ([, url = '']) => url,
    ),
  );
  expect(loaded.filter((url) => url.endsWith('/dist/program/start.js'))).not.toEqual([]);
  // prom-client brings the API, which does nothing by itself.
  expect(loaded.filter((url) => /@opentelemetry\/(?!api\/)|open-telemetry/.test(url))).toEqual([]);
});

test('the id of an entry is the id of its trace, and decides whether it is traced', () => {
  const id = '019f9c2e-8a57-7b06-9d3e-2f1c7a6b5d40';
  expect(traceIdOf(id)).toBe('019f9c2e8a577b069d3e2f1c7a6b5d40');
  expect(traceIdOf('no uuid')).toMatch(/^[0-9a-f]{32}$/);
  expect(new Date(madeAt(id) ?? 0).getUTCFullYear()).toBe(2026);
  expect(madeAt('4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40')).toBeUndefined();
  const ids = Array.from({ length: 2000 }, (_, n) => `entry ${n}`);
  const sampled = ids.filter((each) => isSampled(each, 0.1));
  expect(sampled.length).toBeGreaterThan(120);
  expect(sampled.length).toBeLessThan(280);
  expect(ids.filter((each) => isSampled(each, 0.1))).toEqual(sampled);
  expect(ids.every((each) => isSampled(each, 1))).toBe(true);
});
