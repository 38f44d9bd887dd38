import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { PlatformError } from '../../src/platform-api/errors.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import { BadServer, trickle } from './bad-server.ts';

const KEY = 'key-that-nobody-may-see';
const SHOP = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';
const REQUEST: CreateMessageRequest = {
  contact: { email: 'ann@example.com' },
  conversation: { direction: 'inbound', type: 'email', agent_contact: 'support@acme.example' },
  message: { content: 'Where is it?', format: 'TEXT', remote_id: '<1@example.com>' },
};
const MESSAGE = {
  id: '5b0f9b0e-0000-4000-8000-000000000001',
  conversation_id: '5b0f9b0e-0000-4000-8000-000000000002',
  updated_at: '2026-04-01T12:00:00Z',
};

let server: BadServer;
let client: PlatformClient;
let observed: [string, string][];
let baseUrl: string;

beforeEach(async () => {
  server = new BadServer();
  observed = [];
  baseUrl = await server.start();
  client = new PlatformClient({
    baseUrl,
    apiKey: KEY,
    shopId: SHOP,
    requestTimeoutMs: 300,
    mediaTimeoutMs: 5000,
    onRequest: (operation, status) => observed.push([operation, status]),
  });
});

afterEach(async () => {
  client.close();
  await server.stop();
});

async function failureOf(call: Promise<unknown>): Promise<PlatformError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PlatformError)) throw new Error(`not a PlatformError: ${inspect(error)}`);
  const printed = inspect(error, { depth: 20, showHidden: true, getters: false });
  expect(printed).not.toContain(KEY);
  expect(JSON.stringify(error)).not.toContain(KEY);
  expect(`${String(error.stack)}${String(error.cause)}`).not.toContain(KEY);
  return error;
}

describe('createMessage accepts as success', () => {
  it.each([
    ['201 with the message', 201, MESSAGE],
    ['200 with the existing message', 200, MESSAGE],
    ['409 whose body is the message', 409, MESSAGE],
    ['201 with the message in data', 201, { data: MESSAGE, meta: {} }],
    ['201 with the message in message', 201, { ok: true, message: MESSAGE }],
    ['409 with the message in data', 409, { data: MESSAGE }],
    ['409 with an error that is none', 409, { ...MESSAGE, error: null }],
    ['201 that says how it went', 201, { ...MESSAGE, ok: true, success: true }],
    ...[null, false, 0, '', [], {}].map((none): [string, number, object] => [
      ...([`201 with the error ${JSON.stringify(none)}`, 201] as const),
      { ...MESSAGE, error: none, errors: none },
    ]),
  ])('%s', async (_title, status, body) => {
    server.answer = (response) => response.writeHead(status).end(JSON.stringify(body));
    expect(await client.createMessage(REQUEST)).toMatchObject({ status, message: MESSAGE });
    expect(observed).toEqual([['createMessage', String(status)]]);
  });

  it('201 with an id alone', async () => {
    server.answer = (response) => response.writeHead(201).end('{"id":"m1","conversation_id":7}');
    expect(await client.createMessage(REQUEST)).toMatchObject({ message: { id: 'm1' } });
  });
});

describe('createMessage returns the form of a 2xx without a message', () => {
  it.each([
    ['no body', 201, '', 'empty'],
    ['blanks', 200, ' \n', 'empty'],
    ['null', 202, 'null', 'empty'],
    ['204', 204, '', 'empty'],
    ['an object', 201, '{"ok":true}', 'ok'],
    ['its keys in order', 201, '{"status":"x","ok":true}', 'ok status'],
    ['an empty object', 201, '{}', 'object'],
    ['a list', 200, '[1,2]', 'array'],
    ['a list of messages', 200, JSON.stringify([MESSAGE]), 'array'],
    ['a text', 200, '"created"', 'string'],
    ['a number', 200, '7', 'number'],
    ['an envelope of something else', 200, '{"data":{"ok":true}}', 'data'],
    ['two envelopes', 200, JSON.stringify({ data: { message: MESSAGE } }), 'data'],
    ['a key that is an address', 201, '{"alice@example.com":"queued"}', 'object'],
    ['a key that is an id', 201, '{"7f3c":1,"b2":2,"status":"queued"}', 'status'],
    ['a key that is a sentence', 201, '{"Thank you Ann":true}', 'object'],
    ['a message without an id', 201, '{"conversation_id":"c"}', 'conversation_id'],
  ])('%s', async (_title, status, body, form) => {
    server.answer = (response) => response.writeHead(status).end(body);
    expect(await client.createMessage(REQUEST)).toEqual({ status, form });
  });

  it('with a few keys at most', async () => {
    const keys = Array.from({ length: 500 }, (_, n) => [`k${'e'.repeat(n % 30)}y`, n]);
    const body = JSON.stringify(Object.fromEntries(keys));
    server.answer = (response) => response.writeHead(201).end(body);
    const { form = '' } = await client.createMessage(REQUEST);
    expect(form.split(' ')).toHaveLength(8);
  });
});

describe('createMessage reports', () => {
  it.each<[string, number, string, Partial<PlatformError>]>([
    [
      'a maintenance page',
      200,
      '<html>back soon</html>',
      { code: 'not_json', retryable: true, status: 200 },
    ],
    ...[
      { ...MESSAGE, error: { code: 'quota' } },
      { ...MESSAGE, error: 'quota' },
      { ...MESSAGE, errors: ['quota'] },
      { ...MESSAGE, errors: { content: 'too long' } },
      { ...MESSAGE, ok: false },
      { ...MESSAGE, success: false },
      { error: true },
      { data: { ...MESSAGE, success: false } },
      { data: MESSAGE, error: 'quota' },
    ].map((body): [string, number, string, Partial<PlatformError>] => [
      ...([`a sign of an error under 2xx: ${Object.keys(body).join(' ')}`, 200] as const),
      ...([JSON.stringify(body), { code: 'reports_error', status: 200 }] as const),
    ]),
    ['2xx with half an object', 201, '{"id":"5b0', { code: 'not_json', retryable: true }],
    [
      '409 with an error',
      409,
      '{"error":{"code":"conflict"}}',
      { code: 'http', status: 409, retryable: false },
    ],
    [
      '409 with a message and an error',
      409,
      JSON.stringify({ ...MESSAGE, error: 'x' }),
      { code: 'http', status: 409, retryable: false },
    ],
    [
      '409 with an error that has an id',
      409,
      '{"id":"e1","error":"x"}',
      { code: 'http', status: 409, retryable: false },
    ],
    ['400', 400, '{"error":{}}', { code: 'http', status: 400, retryable: false }],
    ['408', 408, '', { code: 'http', status: 408, retryable: true }],
    ['422', 422, '{}', { code: 'http', status: 422, retryable: false }],
    ['425', 425, '', { code: 'http', status: 425, retryable: true }],
    ['429', 429, '', { code: 'http', status: 429, retryable: true }],
    ['500', 500, 'oops', { code: 'http', status: 500, retryable: true }],
  ])('%s', async (_title, status, body, expected) => {
    server.answer = (response) => response.writeHead(status).end(body);
    expect(await failureOf(client.createMessage(REQUEST))).toMatchObject({
      ...expected,
      path: '/v2026-04/messages/',
    });
  });

  it('a redirect, without following it', async () => {
    server.answer = (response) => response.writeHead(308, { location: '/elsewhere' }).end();
    expect(await failureOf(client.createMessage(REQUEST))).toMatchObject({
      code: 'http',
      status: 308,
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
  });

  it('Retry-After in seconds and as a date', async () => {
    server.answer = (response) => response.writeHead(429, { 'retry-after': '12' }).end();
    expect((await failureOf(client.createMessage(REQUEST))).retryAfterMs).toBe(12_000);

    const date = new Date(Date.now() + 60_000).toUTCString();
    server.answer = (response) => response.writeHead(503, { 'retry-after': date }).end();
    const { retryAfterMs = 0 } = await failureOf(client.createMessage(REQUEST));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('an answer of 2 MiB to a new message, without reading all of it', async () => {
    server.answer = (response) => response.writeHead(200).end(Buffer.alloc(2 * 1024 * 1024, 0x20));
    expect(await failureOf(client.createMessage(REQUEST))).toMatchObject({
      code: 'too_large',
      retryable: true,
    });
  });

  it('a connection reset before the answer', async () => {
    server.answer = (response) => response.socket?.resetAndDestroy();
    expect(await failureOf(client.createMessage(REQUEST))).toMatchObject({
      code: 'network',
      retryable: true,
    });
    expect(observed).toEqual([['createMessage', 'network']]);
  });

  it('an incomplete answer', async () => {
    server.answer = (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":', () => response.socket?.destroy());
    };
    expect((await failureOf(client.createMessage(REQUEST))).code).toBe('network');
  });

  it('an answer that is not HTTP', async () => {
    server.answer = (response) => response.socket?.end('220 mail.example ESMTP\r\n');
    expect((await failureOf(client.createMessage(REQUEST))).code).toBe('network');
  });

  it('an endless slow answer, at the deadline of the whole call', async () => {
    server.answer = trickle;
    const error = await failureOf(client.createMessage(REQUEST));
    expect(error).toMatchObject({ code: 'timeout', retryable: true });
  });

  it('an answer that never comes', async () => {
    server.answer = () => undefined;
    expect((await failureOf(client.createMessage(REQUEST))).code).toBe('timeout');
  });

  it("the caller's abort, before and during the call", async () => {
    expect((await failureOf(client.createMessage(REQUEST, AbortSignal.abort()))).code).toBe(
      'aborted',
    );
    expect(server.received).toHaveLength(0);

    const controller = new AbortController();
    server.answer = () => controller.abort();
    const error = await failureOf(client.createMessage(REQUEST, controller.signal));
    expect(error).toMatchObject({ code: 'aborted', retryable: true });
  });

  it('a refused connection', async () => {
    await server.stop();
    const error = await failureOf(client.createMessage(REQUEST));
    expect(error).toMatchObject({ code: 'network', retryable: true });
    expect(error.cause).toMatchObject({ name: 'TransportFailure', code: 'ECONNREFUSED' });
    server = new BadServer();
    await server.start();
  });

  it("at most 500 characters of the platform's answer, for operators only", async () => {
    const quoted = `content: ${'Where is it? '.repeat(100)}`;
    server.answer = (response) => response.writeHead(400).end(quoted);
    const error = await failureOf(client.createMessage(REQUEST));
    expect(error.answer).toBe(quoted.slice(0, 500));
    expect(inspect(error)).not.toContain('Where is it?');
    expect(JSON.stringify(error)).not.toContain('Where is it?');
  });
});

describe('reading', () => {
  it('an answer of the wrong form is an error', async () => {
    server.answer = (response) => response.writeHead(200).end('{"ok":true}');
    expect(await failureOf(client.listMessages())).toMatchObject({
      code: 'unexpected',
      status: 200,
    });
    expect(await failureOf(client.getTicket('t'))).toMatchObject({ code: 'unexpected' });
    expect(await failureOf(client.countTickets())).toMatchObject({ code: 'unexpected' });
    server.answer = (response) => response.writeHead(200).end();
    expect(await failureOf(client.getMessage('m'))).toMatchObject({ code: 'unexpected' });
  });

  it('an error never contains a filter', async () => {
    server.answer = (response) => response.writeHead(404).end();
    const error = await failureOf(client.listContacts({ email: 'ann@example.com' }));
    expect(error.path).toBe('/v2026-04/contacts/');
    expect(inspect(error)).not.toContain('ann@');
    expect(server.received[0]?.url).toBe('/v2026-04/contacts/?email=ann%40example.com');
  });

  it('asks for compressed answers, and reads them within the same limit', async () => {
    const compressed = (note: string) => (response: ServerResponse) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ count: 3, note })));
    server.answer = compressed('short');
    expect(await client.countTickets()).toBe(3);
    expect(server.received[0]?.headers['accept-encoding']).toBe('gzip');
    server.answer = compressed('?'.repeat(200_000));
    const bounded = new PlatformClient({
      ...{ baseUrl, apiKey: KEY, shopId: SHOP, maxAnswerBytes: 100_000 },
    });
    expect(await failureOf(bounded.countTickets())).toMatchObject({ code: 'too_large' });
    bounded.close();
    server.answer = (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not compressed');
    expect(await failureOf(client.countTickets())).toMatchObject({ code: 'network' });
  });

  it('reuses one connection for consecutive calls', async () => {
    server.answer = (response) => response.writeHead(200).end('{"results":[]}');
    for (let i = 0; i < 5; i++) await client.listContacts({ limit: 1 });
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});

describe('timeouts', () => {
  it('an answer that arrived while the process was suspended is read', async () => {
    let answered = false;
    server.answer = (response) => {
      answered = true;
      response.writeHead(201).end(JSON.stringify(MESSAGE));
      // Nothing runs in this process until long after the deadline of 300 ms.
      const until = performance.now() + 1600;
      while (performance.now() < until) continue;
    };
    expect(await client.createMessage(REQUEST)).toEqual({ status: 201, message: MESSAGE });
    expect(answered).toBe(true);
  });

  it('after a suspension, a platform that does not answer is still a timeout', async () => {
    server.answer = () => {
      const until = performance.now() + 1600;
      while (performance.now() < until) continue;
    };
    const started = performance.now();
    expect((await failureOf(client.createMessage(REQUEST))).code).toBe('timeout');
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('a client with shorter timeouts shares everything else', async () => {
    server.answer = () => undefined;
    const ended: string[] = [];
    await Promise.all([
      failureOf(client.createMessage(REQUEST)).then(({ code }) => ended.push(`all: ${code}`)),
      failureOf(client.within(50).createMessage(REQUEST)).then(({ code }) =>
        ended.push(`less: ${code}`),
      ),
    ]);
    expect(ended).toEqual(['less: timeout', 'all: timeout']);
    server.answer = (response) => response.writeHead(201).end(JSON.stringify(MESSAGE));
    const last = { ...REQUEST, message: { ...REQUEST.message, content: 'the last one' } };
    expect(await client.within(60_000).createMessage(last)).toMatchObject({ status: 201 });
    expect(observed.map(([, status]) => status)).toEqual(['timeout', 'timeout', '201']);
    expect(server.received.filter(({ body }) => body.includes('the last one'))).toHaveLength(1);
    // On a busy machine, the request with the shortest timeout may not even have been sent.
    const keys = server.received.map(({ headers }) => headers.authorization);
    expect(new Set(keys)).toEqual(new Set([`Bearer ${KEY}`]));
  });

  it('a derived timeout is never longer than the configured one', async () => {
    server.answer = () => undefined;
    const started = performance.now();
    expect((await failureOf(client.within(60_000).createMessage(REQUEST))).code).toBe('timeout');
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
