import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { io, type Socket } from 'socket.io-client';
import type { Agent } from '../../../src/local-platform/agent/agent.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { shopOfKey } from '../../../src/local-platform/authenticate.ts';
import { ChatSockets, WEB_CHAT_PATH } from '../../../src/local-platform/outbound/chat-sockets.ts';
import { Store } from '../../../src/local-platform/store/store.ts';
import { type Logger, silentLogger } from '../../../src/observability/logger.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  type ErrorBody,
  newFolder,
  OTHER,
  SHOP,
  startPlatform,
} from '../harness.ts';

const NOW = '2026-04-21T09:00:00.000Z';

interface Joined {
  readonly messages: readonly Message[];
  readonly complete: boolean;
}

interface Paused {
  pause(): void;
  resume(): void;
}

interface Client {
  readonly socket: Socket;
  readonly messages: Message[];
  readonly updated: Message[];
  join(what: unknown): Promise<Joined & Partial<ErrorBody>>;
}

const echo: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};
const withAgent = { agent: { kind: 'custom', agent: echo } } as const;

const chat = (content: string, id?: string | null) => ({
  contact: { name: 'Visitor 7F3A' },
  conversation: { direction: 'inbound', type: 'web_chat', ...(id && { id }) },
  message: { content },
});

function connect(
  platform: Pick<LocalPlatform, 'url'>,
  options: Parameters<typeof io>[1] = { auth: { apiKey: SHOP.apiKey, shopId: SHOP.shopId } },
): Client {
  const socket = io(platform.url, { path: WEB_CHAT_PATH, reconnection: false, ...options });
  ends(() => socket.disconnect());
  const client: Client = {
    socket,
    messages: [],
    updated: [],
    join: (what) => socket.timeout(15_000).emitWithAck('join', what) as ReturnType<Client['join']>,
  };
  socket.on('message', (message: Message) => client.messages.push(message));
  socket.on('message_updated', (message: Message) => client.updated.push(message));
  return client;
}

const texts = (messages: readonly Message[]) => messages.map(({ text }) => text);

/** A conversation with some messages of the customer's. */
async function aConversation(platform: LocalPlatform, count = 1, shop = SHOP) {
  const { body: first } = await create(platform, chat('1', null), shop);
  const messages = [first];
  for (let n = 2; n <= count; n += 1) {
    const { body } = await create(platform, chat(String(n), first.conversation_id), shop);
    messages.push(body);
  }
  return { id: first.conversation_id, messages };
}

describe('which clients are accepted', () => {
  test.each<[string, Parameters<typeof io>[1], string]>([
    ['nobody', {}, 'unauthorized'],
    ['an unknown key', { auth: { apiKey: 'x', shopId: SHOP.shopId } }, 'unauthorized'],
    ['a key without a shop', { auth: { apiKey: SHOP.apiKey } }, 'invalid'],
    [
      'the key of another shop',
      { auth: { apiKey: SHOP.apiKey, shopId: OTHER.shopId } },
      'forbidden',
    ],
    ['nonsense', { auth: { apiKey: { a: 1 }, shopId: [SHOP.shopId] } }, 'unauthorized'],
  ])('not %s', async (_title, options, code) => {
    const { socket } = connect(await startPlatform(), options);
    const error = await new Promise<Error & { data?: ErrorBody }>((resolve) => {
      socket.on('connect_error', resolve);
    });
    expect(error.data).toMatchObject({ error: { code, message: expect.any(String) } });
    expect(socket.connected).toBe(false);
  });

  test('a client with the headers of the API', async () => {
    const platform = await startPlatform();
    const { id } = await aConversation(platform);
    const extraHeaders = { Authorization: `Bearer ${SHOP.apiKey}`, 'X-Shop-Id': SHOP.shopId };
    expect(await connect(platform, { extraHeaders }).join({ conversation_id: id })).toEqual({
      messages: [],
      complete: true,
    });
  });

  test('only into conversations of its own shop, and of web chat', async () => {
    const platform = await startPlatform();
    const { id: theirs } = await aConversation(platform, 1, OTHER);
    const { id, messages } = await aConversation(platform);
    const { body: email } = await create(platform, anEmail());
    const client = connect(platform);
    const codeOf = async (what: unknown) => (await client.join(what)).error;
    expect(await codeOf({ conversation_id: theirs })).toMatchObject({ code: 'not_found' });
    expect(await codeOf({ conversation_id: randomUUID() })).toMatchObject({ code: 'not_found' });
    expect(await codeOf({ conversation_id: email.conversation_id })).toMatchObject({
      code: 'invalid',
      fields: { conversation_id: expect.stringContaining('web_chat') },
    });
    expect(await codeOf({ conversation_id: id, after: email.id })).toMatchObject({
      code: 'not_found',
      fields: { after: expect.any(String) },
    });
    for (const what of [null, 'x', {}, { conversation_id: 7 }, { conversation_id: id, after: 1 }]) {
      expect(await codeOf(what)).toMatchObject({ code: 'invalid' });
    }
    // Nothing of the others' arrives.
    await client.join({ conversation_id: id });
    await create(platform, chat('theirs', theirs), OTHER);
    await create(platform, chat('ours', id));
    await waitFor('our message', () => client.messages.length > 0);
    expect(texts(client.messages)).toEqual(['ours']);
    expect(messages).toHaveLength(1);
  });
});

describe('messages', () => {
  test('of both sides are sent when they are stored, in order, each once', async () => {
    const platform = await startPlatform(withAgent);
    const { id } = await aConversation(platform);
    const client = connect(platform);
    // The agent may have answered the first one by now, or not.
    const { messages } = await client.join({ conversation_id: id, after: null });
    expect(messages).toEqual([]);
    const question = await create(platform, chat('Where is it?', id));
    await waitFor('the answer', () =>
      client.updated.some(({ text }) => text === 'You said: Where is it?'),
    );
    const seen = client.messages.filter(({ text }) => text?.includes('Where'));
    expect(texts(seen)).toEqual(['Where is it?', 'You said: Where is it?']);
    expect(seen[0]).toEqual(question.body);
    expect(seen[1]).toMatchObject({ role: 'agent', status: 'PENDING', conversation_id: id });
    const last = client.updated.at(-1);
    expect(last).toMatchObject({ id: seen[1]?.id, status: 'DELIVERED' });
    expect((await call<Message>(platform, 'GET', `/messages/${String(last?.id)}/`)).body).toEqual(
      last,
    );
    const ids = client.messages.map((message) => message.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('are sent to every client that has joined, and to none that has left', async () => {
    const platform = await startPlatform();
    const { id } = await aConversation(platform);
    const [one, two, gone] = [connect(platform), connect(platform), connect(platform)];
    for (const client of [one, two, gone])
      await client.join({ conversation_id: id?.toUpperCase() });
    await gone.socket.timeout(15_000).emitWithAck('leave', { conversation_id: id });
    await create(platform, chat('hello', id));
    await waitFor('both', () => one.messages.length === 1 && two.messages.length === 1);
    await gone.join({ conversation_id: id });
    expect(gone.messages).toEqual([]);
  });

  test('that a client has missed are sent page by page after its last one', async () => {
    const platform = await startPlatform();
    const { id, messages } = await aConversation(platform, 130);
    const client = connect(platform);
    const seen: Message[] = [];
    let after = messages[4]?.id;
    for (let complete = false; !complete;) {
      const page = await client.join({ conversation_id: id, after });
      expect(page.messages.length).toBeLessThanOrEqual(50);
      seen.push(...page.messages);
      after = page.messages.at(-1)?.id ?? after;
      ({ complete } = page);
    }
    expect(seen).toEqual(messages.slice(5));
    expect(client.messages).toEqual([]);
    await create(platform, chat('live', id));
    await waitFor('the live one', () => client.messages.length === 1);
  });

  test('that are large come in separate pages', async () => {
    const platform = await startPlatform();
    const { id, messages } = await aConversation(platform);
    const large = ['a', 'b', 'c'].map((letter) => letter.repeat(600_000));
    for (const text of large) await create(platform, chat(text, id));
    await create(platform, chat('small', id));
    const client = connect(platform);
    const pages: (string | null | undefined)[][] = [];
    let after = messages[0]?.id;
    for (let complete = false; !complete;) {
      const page = await client.join({ conversation_id: id, after });
      pages.push(page.messages.map(({ text }) => text?.slice(0, 5)));
      after = page.messages.at(-1)?.id ?? after;
      ({ complete } = page);
    }
    expect(pages).toEqual([['aaaaa'], ['bbbbb'], ['ccccc'], ['small']]);
  });

  test('are neither missed nor repeated while a client joins and others write', async () => {
    const platform = await startPlatform();
    const { id, messages } = await aConversation(platform);
    const joined = new AbortController();
    const writer = (async () => {
      for (let n = 0; !joined.signal.aborted || n < 20; n += 1) {
        await create(platform, chat(`w${n}`, id));
      }
    })();
    const clients = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = connect(platform);
        const missed: Message[] = [];
        let after = messages[0]?.id;
        for (let complete = false; !complete;) {
          const page = await client.join({ conversation_id: id, after });
          missed.push(...page.messages);
          after = page.messages.at(-1)?.id ?? after;
          ({ complete } = page);
        }
        return { client, missed };
      }),
    );
    joined.abort();
    await writer;
    const all = platform.inspect.messages(SHOP.shopId).map((message) => message.id);
    for (const { client, missed } of clients) {
      const seen = () => [...missed, ...client.messages].map((message) => message.id);
      await waitFor('all messages', () => seen().length >= all.length - 1);
      expect(seen()).toEqual(all.slice(1));
    }
  });
});

describe('limits of a client', () => {
  test('an invalid packet closes only its own connection', async () => {
    const platform = await startPlatform();
    const { id } = await aConversation(platform);
    const [rude, polite] = [connect(platform), connect(platform)];
    await polite.join({ conversation_id: id });
    await rude.join({ conversation_id: id });
    rude.socket.emit('join', { conversation_id: id }, 'no function');
    rude.socket.emit('leave');
    rude.socket.emit('nonsense', 1);
    rude.socket.emit('join', { conversation_id: 'x'.repeat(100_000) });
    await waitFor('its end', () => rude.socket.disconnected);
    await create(platform, chat('hello', id));
    await waitFor('the message', () => polite.messages.length === 1);
  });

  test('a client that does not read is disconnected, and gets the missed messages when it is back', async () => {
    const platform = await startPlatform();
    const { id, messages } = await aConversation(platform);
    const slow = connect(platform, {
      auth: { apiKey: SHOP.apiKey, shopId: SHOP.shopId },
      transports: ['websocket'],
    });
    await slow.join({ conversation_id: id });
    // Public in ws, and not in the declarations of its user.
    const { transport } = slow.socket.io.engine as unknown as { transport: { ws: Paused } };
    transport.ws.pause();
    const text = 'x'.repeat(100_000);
    for (let batch = 0; batch < 10; batch += 1) {
      await Promise.all(Array.from({ length: 30 }, () => create(platform, chat(text, id))));
    }
    transport.ws.resume();
    await waitFor('the end', () => slow.socket.disconnected);
    expect(slow.messages.length).toBeLessThan(300);

    const back = connect(platform);
    const seen = slow.messages.map((message) => message.id);
    let after = seen.at(-1) ?? messages[0]?.id;
    for (let complete = false; !complete;) {
      const page = await back.join({ conversation_id: id, after });
      seen.push(...page.messages.map((message) => message.id));
      after = seen.at(-1);
      ({ complete } = page);
    }
    const all = platform.inspect.messages(SHOP.shopId).map((message) => message.id);
    expect(seen).toEqual(all.slice(1));
  });

  test('no more than 200 conversations on one socket', async () => {
    const platform = await startPlatform();
    const client = connect(platform);
    const conversations = await Promise.all(
      Array.from({ length: 201 }, async (_, n) => (await create(platform, chat(String(n)))).body),
    );
    const joined = [];
    for (const { conversation_id } of conversations)
      joined.push(await client.join({ conversation_id }));
    expect(joined.filter(({ complete }) => complete)).toHaveLength(200);
    expect(joined.at(-1)?.error).toMatchObject({ code: 'rate_limited' });
    // Those that it is in can be joined again.
    const [first] = conversations;
    expect(await client.join({ conversation_id: first?.conversation_id })).toMatchObject({
      complete: true,
    });
  });

  test('clients do not delay the stop of the platform', async () => {
    const platform = await startPlatform();
    const { id } = await aConversation(platform);
    const client = connect(platform);
    await client.join({ conversation_id: id });
    const before = performance.now();
    await platform.stop();
    expect(performance.now() - before).toBeLessThan(10_000);
    await waitFor('the end', () => client.socket.disconnected);
  });
});

describe('the sockets by themselves', () => {
  /** Without the rest of the platform. */
  async function sockets(socketsMax?: number) {
    const store = new Store(newFolder());
    for (const { shopId } of [SHOP, OTHER]) store.shops.add(shopId);
    const failures: string[] = [];
    const logger: Logger = { ...silentLogger, error: (event) => failures.push(event) };
    const chats = new ChatSockets(store, shopOfKey([SHOP, OTHER]), logger, socketsMax);
    const server = createServer();
    chats.attach(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends(async () => {
      chats.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      store.close();
    });
    // A listening TCP server has an AddressInfo.
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { store, chats, failures, at: { url } };
  }
  const of = ({ apiKey, shopId }: typeof SHOP) => ({ auth: { apiKey, shopId } });
  const outcome = ({ socket }: Client) =>
    new Promise<string>((resolve) => {
      socket.on('connect', () => resolve('in'));
      socket.on('connect_error', (error: Error & { data?: ErrorBody }) =>
        resolve(error.data?.error.code ?? error.message),
      );
    });

  test('a shop at its limit of sockets does not affect another shop', async () => {
    const { at } = await sockets(2);
    const first = connect(at, of(SHOP));
    expect(await outcome(first)).toBe('in');
    expect(await outcome(connect(at, of(SHOP)))).toBe('in');
    expect(await outcome(connect(at, of(SHOP)))).toBe('rate_limited');
    expect(await outcome(connect(at, of(OTHER)))).toBe('in');
    first.socket.disconnect();
    await waitFor('its place', async () => (await outcome(connect(at, of(SHOP)))) === 'in');
  });

  test('an unreadable store does not make the notification of a new message throw', async () => {
    const { store, chats, failures, at } = await sockets();
    const { id } = await store.write(() =>
      store.conversations.create({
        ...{ shop: SHOP.shopId, type: 'web_chat', title: null, agentContact: null },
        ...{ agentId: store.shops.agentId(SHOP.shopId), contactId: randomUUID(), now: NOW },
        ...{ userId: null, topicId: null, intentId: null },
      }),
    );
    await connect(at, of(SHOP)).join({ conversation_id: id });
    store.close();
    chats.stored(id);
    expect(failures).toEqual(['platform.socket_failed']);
  });
});

test('a person’s reply is sent to those who joined, and their notes to nobody', async () => {
  const platform = await startPlatform();
  const { body: question } = await create(platform, chat('Anybody there?'));
  const client = connect(platform);
  const id = String(question.conversation_id);
  const seen = () => {
    const { version, id: ticket } = platform.desk.ticket(SHOP.shopId, String(question.ticket_id));
    return { shopId: SHOP.shopId, id: ticket, version, who: 'ann' };
  };
  const note = { text: 'They wrote last week, too.', format: 'TEXT', files: [] } as const;
  await platform.desk.note(seen(), note);
  // The note is the last message, and is not what is waited for.
  expect(await client.join({ conversation_id: id, after: question.id })).toEqual({
    ...{ messages: [], complete: true },
  });
  await platform.desk.note(seen(), note);
  await platform.desk.reply(seen(), { ...note, text: 'I am here.' });
  await waitFor('the reply', () => client.updated.length > 0);
  expect(client.messages).toMatchObject([
    { content: 'I am here.', role: 'agent', user_id: expect.any(String), status: 'PENDING' },
  ]);
  expect(client.updated).toMatchObject([{ content: 'I am here.', status: 'DELIVERED' }]);
});
