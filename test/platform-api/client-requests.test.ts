import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { PlatformError } from '../../src/platform-api/errors.ts';
import { cursorOf } from '../../src/platform-api/addresses.ts';
import { pages } from '../../src/platform-api/resources.ts';
import { waitFor } from '../support/wait-for.ts';
import { ConnectionPool } from '../../src/platform-api/transport.ts';
import { BadServer } from './bad-server.ts';

const SHOP = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';
const STAMPS = { created_at: '2026-04-01T00:00:00Z', updated_at: '2026-04-01T00:00:00Z' };
const CONTACT = { id: 'c1', parent_contact_id: null, ...STAMPS };
const CONVERSATION = {
  id: 'v1',
  type: 'sms',
  agent_id: null,
  contact_id: 'c1',
  user_id: null,
  ...STAMPS,
};
const MESSAGE = {
  id: 'm1',
  conversation_id: 'v1',
  ticket_id: null,
  contact_id: 'c1',
  agent_id: null,
  user_id: null,
  updated_at: STAMPS.updated_at,
};
const TICKET = {
  id: 't1',
  number: 1,
  name: 'x',
  agent_id: null,
  assignee_id: null,
  contact_id: 'c1',
  conversation_id: 'v1',
  message_id: 'm1',
  label_id: null,
  sublabel_id: null,
  ...STAMPS,
};
const page = (item: object) => ({ results: [item], next: null, previous: null });

let server: BadServer;
let client: PlatformClient;

beforeEach(async () => {
  server = new BadServer();
  client = new PlatformClient({
    baseUrl: `${await server.start()}/base/`,
    apiKey: 'secret',
    shopId: SHOP,
    requestTimeoutMs: 1000,
    mediaTimeoutMs: 1000,
  });
});

afterEach(async () => {
  client.close();
  await server.stop();
});

describe('every operation of the API', () => {
  it.each<[string, (client: PlatformClient) => Promise<unknown>, string, string, object]>([
    [
      'createEvent',
      (c) => c.createEvent({ name: 'x', contact: { phone: '+1' } }),
      'POST',
      '/events/',
      { contact: { id: 'c1' } },
    ],
    [
      'listTickets',
      (c) => c.listTickets({ conversation_id__in: ['a', 'b'], priority: 2, limit: 5 }),
      'GET',
      '/tickets/?conversation_id__in=a%2Cb&priority=2&limit=5',
      page(TICKET),
    ],
    ['getTicket', (c) => c.getTicket('t1'), 'GET', '/tickets/t1/', TICKET],
    [
      'listMessages',
      (c) => c.listMessages({ ticket_id: 't1', cursor: 'x=' }),
      'GET',
      '/messages/?ticket_id=t1&cursor=x%3D',
      page(MESSAGE),
    ],
    ['getMessage', (c) => c.getMessage('m1'), 'GET', '/messages/m1/', MESSAGE],
    ['getConversation', (c) => c.getConversation('v1'), 'GET', '/conversations/v1/', CONVERSATION],
    [
      'listContacts',
      (c) => c.listContacts({ is_archived: false, phone: '+15550001111' }),
      'GET',
      '/contacts/?is_archived=false&phone=%2B15550001111',
      page(CONTACT),
    ],
    ['getContact', (c) => c.getContact('c1'), 'GET', '/contacts/c1/', CONTACT],
  ])('%s', async (_operation, call, method, path, answer) => {
    server.answer = (response) => response.writeHead(200).end(JSON.stringify(answer));
    expect(await call(client)).toMatchObject(answer);
    expect(server.received).toMatchObject([
      {
        method,
        url: `/base/v2026-04${path}`,
        headers: { authorization: 'Bearer secret', 'x-shop-id': SHOP },
      },
    ]);
  });

  it('countTickets', async () => {
    server.answer = (response) => response.writeHead(200).end('{"count":3}');
    expect(await client.countTickets({ created_at__range: 'relative:-7d,' })).toBe(3);
    expect(server.received[0]?.url).toBe(
      '/base/v2026-04/tickets/count/?created_at__range=relative%3A-7d%2C',
    );
  });

  it('createMessage sends JSON with its length, characters intact', async () => {
    server.answer = (response) => response.writeHead(201).end('{"id":"m1"}');
    const request = {
      contact: { name: 'Åsa 🙂' },
      conversation: { direction: 'inbound', type: 'web_chat' },
      message: { content: 'Hej \u2028 då' },
    } as const;
    await client.createMessage(request);
    const [received] = server.received;
    expect(JSON.parse(received?.body.toString() ?? '')).toEqual(request);
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(received?.body.length),
    });
  });
});

describe('invalid ids', () => {
  const gets: [string, (id: string) => Promise<unknown>][] = [
    ['tickets', (id) => client.getTicket(id)],
    ['messages', (id) => client.getMessage(id)],
    ['conversations', (id) => client.getConversation(id)],
    ['contacts', (id) => client.getContact(id)],
  ];

  it.each(gets)('an id that would be another path: %s', async (list, get) => {
    for (const id of ['', '.', '..', '\ud800', '../m1', 'a?b', 'é', 'a'.repeat(129)]) {
      const caught: unknown = await get(id).catch((error: unknown) => error);
      if (!(caught instanceof PlatformError)) throw new Error('no PlatformError');
      expect(caught).toMatchObject({ code: 'invalid', retryable: false });
      expect(caught.path).toBe(`/v2026-04/${list}/`);
    }
    expect(server.received).toEqual([]);
  });

  it('a filter without a value is left out', async () => {
    server.answer = (response) => response.writeHead(200).end(JSON.stringify(page(MESSAGE)));
    // What a caller without types may pass.
    await client.listMessages({ ticket_id: null, conversation_id: undefined } as object);
    expect(server.received[0]?.url).toBe('/base/v2026-04/messages/');
  });

  it.each([
    '',
    'not a url',
    'localhost:8082',
    'ftp://127.0.0.1',
    'http://u:p@127.0.0.1',
    'http://:p@127.0.0.1',
    'http://127.0.0.1/?a=b',
    'http://127.0.0.1/#a',
    'http://127.0.0.1 ',
  ])('a base URL is refused when the client is made: %p', (baseUrl) => {
    expect(() => new PlatformClient({ baseUrl, apiKey: 'k', shopId: SHOP })).toThrow(TypeError);
  });
});

describe('answers are read tolerantly', () => {
  it('unknown fields and values are kept, and null is absent', async () => {
    const answer = {
      ...MESSAGE,
      content: null,
      format: 'ADAPTIVE_CARD',
      type: 'External',
      sentiment: 1,
    };
    server.answer = (response) => response.writeHead(200).end(JSON.stringify(answer));
    const message = await client.getMessage('m1');
    expect(message).toMatchObject({ format: 'ADAPTIVE_CARD', type: 'External', sentiment: 1 });
    expect(message.content).toBeUndefined();
  });
});

describe('pages', () => {
  it('follows the cursor, and only the cursor, of the next link', async () => {
    server.answer = (response, request) => {
      const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor');
      const next = {
        '': 'https://evil.example/?cursor=b',
        b: '/x?limit=1&cursor=c%3D',
        'c=': null,
      };
      response.end(
        JSON.stringify({
          results: [{ ...CONTACT, id: cursor ?? 'a' }],
          next: next[(cursor ?? '') as keyof typeof next],
        }),
      );
    };
    const ids: string[] = [];
    for await (const { results } of pages((query) => client.listContacts(query), { limit: 1 })) {
      ids.push(...results.map(({ id }) => id));
    }
    expect(ids).toEqual(['a', 'b', 'c=']);
    expect(server.received.every(({ url }) => url.includes('limit=1'))).toBe(true);
  });

  it('ends when a server repeats a cursor', async () => {
    server.answer = (response) =>
      response.end(JSON.stringify({ results: [CONTACT], next: 'http://x/?cursor=same' }));
    let count = 0;
    for await (const { results } of pages((query) => client.listContacts(query), {})) {
      count += results.length;
    }
    expect(count).toBe(2);
  });

  it.each([
    ['http://h/p?cursor=a%2Bb', 'a+b'],
    ['?cursor=z', 'z'],
    ['/p', undefined],
    ['http://[', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('cursor of %p', (link, cursor) => {
    expect(cursorOf(link)).toBe(cursor);
  });
});

it('a request that waits for a connection ends at its own deadline', async () => {
  const baseUrl = await server.stop().then(() => server.start());
  server.answer = () => undefined;
  const pool = new ConnectionPool(1);
  const client = (requestTimeoutMs: number) =>
    new PlatformClient({ baseUrl, apiKey: 'k', shopId: SHOP, requestTimeoutMs, pool });
  let isFirstOver = false;
  const first = client(60_000)
    .countTickets()
    .catch((error: unknown) => {
      isFirstOver = true;
      return error;
    });
  await waitFor('the first request', () => server.received.length === 1);
  await expect(client(50).countTickets()).rejects.toMatchObject({ code: 'timeout' });
  expect(isFirstOver).toBe(false);
  pool.close();
  expect(await first).toMatchObject({ code: 'network' });
});

it('clients share the sockets of one pool, and closing a client leaves it open', async () => {
  server.answer = (response) => response.writeHead(200).end('{"count":0}');
  const pool = new ConnectionPool();
  const baseUrl = await server.stop().then(() => server.start());
  const options = {
    baseUrl,
    apiKey: 'k',
    shopId: SHOP,
    requestTimeoutMs: 1000,
    mediaTimeoutMs: 1000,
  };
  const [a, b] = [
    new PlatformClient({ ...options, pool }),
    new PlatformClient({ ...options, pool }),
  ];
  for (let n = 0; n < 3; n += 1) await a.countTickets();
  a.close();
  for (let n = 0; n < 3; n += 1) await b.countTickets();
  expect(server.connections).toBeLessThanOrEqual(2);
  pool.close();
});
