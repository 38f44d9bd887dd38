import { expect, test } from '@jest/globals';
import type { History, Overview } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { consoleClient } from './console-client.ts';
import { consoleScene, PASSWORD } from './console-scene.ts';
import { EventStream } from './event-stream.ts';

test('tells how the gateway is, and which entries are new or changed', async () => {
  const { gateway, operator } = await consoleScene();
  const stream = new EventStream(operator);
  await waitFor('the first overview', () => stream.of('overview').length > 0, 50);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  expect(stream.headers['content-length']).toBeUndefined();
  await sendSms(gateway.httpUrl, { MessageSid: sidOf('live'), Body: 'Hello' });
  const ids = await waitFor(
    'the entry',
    () => stream.of<{ ids: string[] }>('entries').at(0)?.ids,
    50,
  );
  expect(ids).toHaveLength(1);
  const overview = await waitFor(
    'the message in the figures',
    () =>
      stream.of<Overview>('overview').find(
        ({ channels, latency, shops }) =>
          latency !== undefined &&
          channels[1]?.deliveredPerMinute === 1 &&
          // Looked at less often than the rest.
          shops[0]?.lastDeliveredAt !== undefined,
      ),
    50,
  );
  expect(overview).toMatchObject({
    demo: false,
    deliveryPaused: false,
    alerts: [],
    latency: { count: 1, p50: expect.any(Number), p99: expect.any(Number) },
    shops: [{ shop: 'acme', dead: 0, held: 0, lastDeliveredAt: expect.any(Number) }],
  });
  expect(overview.channels.find(({ channel }) => channel === 'sms')).toEqual({
    channel: 'sms',
    enabled: true,
    acceptedPerMinute: 1,
    deliveredPerMinute: 1,
    refusedPerMinute: 0,
    accepted: 1,
  });
  const history = (await operator.get('/api/history')).body as History;
  expect(history).toMatchObject({ stepMs: 10_000, points: expect.any(Array) });
});

test('ends at sign-out for those who signed out, and for nobody else', async () => {
  const { gateway, operator } = await consoleScene();
  const other = consoleClient(gateway.adminUrl);
  await other.signIn(PASSWORD);
  const mine = new EventStream(operator);
  const others = new EventStream(other);
  await waitFor('both', () => mine.events.length > 0 && others.events.length > 0, 50);
  await operator.post('/api/logout');
  await waitFor('the end', () => mine.ended, 50);
  expect(mine.events.at(-1)).toEqual({ event: 'signed_out', data: {} });
  expect(others.ended).toBe(false);
});

test('has room for many, and says so when it has not', async () => {
  const { gateway, operator } = await consoleScene();
  const others = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const other = consoleClient(gateway.adminUrl);
      await other.signIn(PASSWORD);
      return other;
    }),
  );
  const streams = others.flatMap((other) =>
    Array.from({ length: 10 }, () => new EventStream(other)),
  );
  await waitFor('all', () => streams.every(({ status }) => status === 200), 50);
  const answer = await operator.get('/api/stream');
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable', retryAfter: 10 } });
  streams[0]?.close();
  const again = await waitFor(
    'the room of one',
    async () => {
      const stream = new EventStream(operator);
      await waitFor('an answer', () => stream.status !== undefined, 50);
      return stream.status === 200 && stream;
    },
    50,
  );
  again.close();
});

test('leaves room for others, whatever one opens', async () => {
  const { gateway, operator } = await consoleScene();
  const greedy = Array.from({ length: 60 }, () => new EventStream(operator));
  await waitFor('all answers', () => greedy.every(({ status }) => status !== undefined), 50);
  expect(greedy.filter(({ status }) => status === 200)).toHaveLength(12);
  const other = consoleClient(gateway.adminUrl);
  await other.signIn(PASSWORD);
  const stream = new EventStream(other);
  await waitFor('an answer', () => stream.status !== undefined, 50);
  expect(stream.status).toBe(200);
  expect((await other.ask('/api/stream', { method: 'HEAD' })).status).toBe(200);
});

test('ends when the gateway stops, and does not hold it up', async () => {
  const { gateway, operator } = await consoleScene();
  const stream = new EventStream(operator);
  await waitFor('the first event', () => stream.events.length > 0, 50);
  let stopped = false;
  ends(() => expect(stopped).toBe(true));
  await gateway.stop();
  stopped = true;
  await waitFor('the end', () => stream.ended, 50);
});
