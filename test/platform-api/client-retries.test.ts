import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { MediaSourceError, PlatformError } from '../../src/platform-api/errors.ts';
import { type RetryOptions, withRetries } from '../../src/platform-api/retries.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import { waitFor } from '../support/wait-for.ts';
import { BadServer } from './bad-server.ts';

const ID = '5b0f9b0e-0000-4000-8000-000000000003';
const SHOP = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';

let server: BadServer;
let baseUrl: string;
const clients: PlatformClient[] = [];

beforeEach(async () => {
  server = new BadServer();
  baseUrl = await server.start();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server.stop();
});

function clientWith(retry: Partial<RetryOptions> = {}, url = baseUrl): PlatformClient {
  const client = new PlatformClient({
    baseUrl: url,
    apiKey: 'k',
    shopId: SHOP,
    requestTimeoutMs: 5000,
    retry: { retries: 3, minDelayMs: 1, ...retry },
  });
  clients.push(client);
  return client;
}

type Step = (response: ServerResponse) => void;
const says =
  (status: number, body = '', headers: Record<string, string> = {}): Step =>
  (response) =>
    void response.writeHead(status, headers).end(body);
const resets: Step = (response) => response.destroy();

/** Answers each request with the next step, and every further one with the last. */
function script(...steps: Step[]): void {
  let at = 0;
  server.answer = (response) => {
    const step = steps[Math.min(at, steps.length - 1)];
    at += 1;
    step?.(response);
  };
}

const COUNTED = says(200, '{"count":7}');
const CREATED = says(201, `{"id":"${ID}"}`);
const aMessage = (remoteId?: string): CreateMessageRequest => ({
  contact: { email: 'ann@example.com' },
  conversation: { direction: 'inbound', type: 'web_chat' },
  message: { content: 'hi', ...(remoteId !== undefined && { remote_id: remoteId }) },
});
const aFile = (opened: () => void = () => undefined) => ({
  name: 'a.txt',
  type: 'text/plain',
  size: 5,
  stream: () => {
    opened();
    return Readable.from([Buffer.from('hello')]);
  },
});

describe('repeatable calls are retried', () => {
  test.each<[string, Step]>([
    ['503', says(503)],
    ['408', says(408)],
    ['429', says(429)],
    ['a maintenance page', says(200, '<html>')],
    ['a reset connection', resets],
  ])('after %s', async (_what, failing) => {
    script(failing, failing, COUNTED);
    expect(await clientWith().countTickets()).toBe(7);
    expect(server.received).toHaveLength(3);
  });

  test('a message with a remote id', async () => {
    script(resets, says(502), CREATED);
    expect(await clientWith().createMessage(aMessage('<1@x>'))).toMatchObject({ status: 201 });
    const bodies = server.received.map(({ body }) => body.toString());
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
  });

  test('every page of a list', async () => {
    const page = (next: string | null) => says(200, JSON.stringify({ results: [], next }));
    script(says(500), page('/v2026-04/contacts/?cursor=b'), says(500), page(null));
    let count = 0;
    for await (const each of clientWith().contactPages()) count += each.results.length + 1;
    expect(count).toBe(2);
    expect(server.received.map(({ url }) => new URL(url, baseUrl).search)).toEqual([
      '',
      '',
      '?cursor=b',
      '?cursor=b',
    ]);
  });
});

describe('calls that could take effect twice are not retried', () => {
  test.each<[string, (client: PlatformClient) => Promise<unknown>]>([
    ['a message without a remote id', (client) => client.createMessage(aMessage())],
    ['an event', (client) => client.createEvent({ name: 'x', contact: { phone: '+1' } })],
    ['an upload', (client) => client.uploadMedia(aFile())],
  ])('%s', async (_what, call) => {
    for (const failing of [says(503), resets]) {
      server.received.length = 0;
      script(failing, CREATED);
      await expect(call(clientWith())).rejects.toBeInstanceOf(PlatformError);
      expect(server.received).toHaveLength(1);
    }
  });

  test('unless the first was not processed: 429', async () => {
    let opened = 0;
    script(says(429), CREATED);
    const media = await clientWith().uploadMedia(aFile(() => (opened += 1)));
    expect(media.id).toBe(ID);
    expect(opened).toBe(2);
  });

  test('unless the first was not sent: the connection was refused', async () => {
    // Nobody listens on the discard port.
    const away = clientWith({ retries: 0 }, 'http://127.0.0.1:9');
    const there = clientWith({ retries: 0 });
    script(CREATED);
    let attempts = 0;
    const result = await withRetries(
      () => (attempts++ === 0 ? away : there).createMessage(aMessage()),
      { retries: 1, minDelayMs: 1 },
      'single',
      { method: 'POST', path: '/v2026-04/messages/' },
    );
    expect(result).toMatchObject({ status: 201 });
    expect(attempts).toBe(2);
  });
});

test.each<[string, Step, number]>([
  ['a refusal', says(400, '{}'), 1],
  ['other JSON', says(200, '{"total":7}'), 1],
  ['what fails to the end', says(503), 4],
])('%s is the last word', async (_what, failing, requests) => {
  script(failing);
  await expect(clientWith().countTickets()).rejects.toBeInstanceOf(PlatformError);
  expect(server.received).toHaveLength(requests);
});

test('an undefined option has its default', async () => {
  script(says(503), COUNTED);
  // What a caller without exact types may pass.
  const absent = { maxRetryAfterMs: undefined, maxDelayMs: undefined } as object;
  expect(await clientWith(absent).countTickets()).toBe(7);
  expect(server.received).toHaveLength(2);
});

test.each([
  { retries: -1 },
  { retries: NaN },
  { minDelayMs: -1 },
  { minDelayMs: Infinity },
  { maxDelayMs: NaN },
  { maxRetryAfterMs: -1 },
])('%p is refused when the client is created', (retry) => {
  expect(() => clientWith(retry)).toThrow(
    new TypeError(`retry.${Object.keys(retry).join()}: expected a number of at least 0`),
  );
});

test('a client with retries can be had from one without', async () => {
  const client = new PlatformClient({ baseUrl, apiKey: 'k', shopId: SHOP });
  clients.push(client);
  script(resets, COUNTED);
  expect(await client.retrying({ retries: 1, minDelayMs: 1 }).countTickets()).toBe(7);
});

test('without the option, every call is one request', async () => {
  script(says(503), COUNTED);
  const client = new PlatformClient({ baseUrl, apiKey: 'k', shopId: SHOP });
  clients.push(client);
  await expect(client.countTickets()).rejects.toMatchObject({ status: 503, retryable: true });
  expect(server.received).toHaveLength(1);
});

test('an upload of an unreadable file is not retried', async () => {
  script(CREATED);
  const file = { ...aFile(), size: 9 };
  await expect(clientWith().uploadMedia(file)).rejects.toBeInstanceOf(MediaSourceError);
});

describe('Retry-After', () => {
  test('is waited for', async () => {
    script(says(429, '', { 'retry-after': '1' }), COUNTED);
    const started = performance.now();
    expect(await clientWith().countTickets()).toBe(7);
    // A timer may come a millisecond early.
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
  });

  test('a long one is passed to the caller', async () => {
    script(says(503, '', { 'retry-after': '120' }), COUNTED);
    const call = clientWith({ maxRetryAfterMs: 60_000 }).countTickets();
    await expect(call).rejects.toMatchObject({ status: 503, retryAfterMs: 120_000 });
    expect(server.received).toHaveLength(1);
  });
});

test.each<[string, Step]>([
  ['a delay', says(503)],
  ['a Retry-After', says(503, '', { 'retry-after': '50' })],
])('an abort ends the wait for %s', async (_what, failing) => {
  script(failing);
  const controller = new AbortController();
  const call = clientWith({ minDelayMs: 60_000, maxDelayMs: 60_000 }).countTickets(
    {},
    controller.signal,
  );
  const caught = call.catch((error: unknown) => error);
  await waitFor('the first request', () => server.received.length === 1);
  controller.abort();
  expect(await caught).toMatchObject({ name: 'PlatformError', code: 'aborted' });
  expect(server.received).toHaveLength(1);
});

test('an answer that comes while the call is aborted is not lost', async () => {
  const controller = new AbortController();
  const call = { method: 'POST', path: '/', signal: controller.signal };
  const answering = withRetries(
    () => {
      controller.abort();
      return Promise.resolve('created');
    },
    { retries: 1 },
    'single',
    call,
  );
  expect(await answering).toBe('created');
});

test('an abort ends the pages', async () => {
  script(says(200, JSON.stringify({ results: [], next: '/?cursor=b' })));
  const controller = new AbortController();
  const walk = async () => {
    for await (const each of clientWith().messagePages({}, controller.signal)) {
      if (each.next) controller.abort();
    }
  };
  await expect(walk()).rejects.toMatchObject({ name: 'PlatformError', code: 'aborted' });
  expect(server.received).toHaveLength(1);
});

test('the problem in an answer can be read, and is not printed', async () => {
  const fields = { 'contact.email': 'expected an email address' };
  const error = { code: 'invalid', message: 'the request is not valid', fields };
  script(says(400, JSON.stringify({ error })));
  const caught: unknown = await clientWith()
    .createMessage(aMessage('<1@x>'))
    .catch((thrown: unknown) => thrown);
  if (!(caught instanceof PlatformError)) throw new Error('no PlatformError');
  expect(caught.problem).toEqual({ ...error, named: ['contact.email'] });
  expect(JSON.stringify(caught) + String(caught)).not.toContain('email address');
});

test.each(['', 'no', '[]', '{"error":"no"}', '{"detail":"no"}', '{"error":{"fields":{"a":1}}}'])(
  'an error of an unknown format has no problem: %s',
  async (body) => {
    script(says(400, body));
    const caught: unknown = await clientWith()
      .countTickets()
      .catch((thrown: unknown) => thrown);
    expect(caught).toMatchObject({ status: 400 });
    const { problem } = caught instanceof PlatformError ? caught : {};
    expect(problem ?? { named: [], fields: {} }).toEqual({ named: [], fields: {} });
  },
);
