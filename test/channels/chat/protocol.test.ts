import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ends } from '../../support/ends.ts';
import { RawWebSocket } from '../../support/raw-web-socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, ROOMY } from './chat-gateway.ts';

/**
 * The cases of the engine.io protocol's test suite (https://github.com/socketio/engine.io-protocol,
 * v4) and of the socket.io protocol's (https://github.com/socketio/socket.io-protocol, v5) that
 * apply to a server with one namespace and a handshake, on raw frames.
 */

let chat: ChatGateway;
beforeAll(async () => {
  chat = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })] });
});
afterAll(() => chat.stop());

const CONNECT = '40{"key":"demo"}';
/** Between packets of one payload (engine.io protocol, "Packet encoding", HTTP long-polling). */
const SEPARATOR = '\u001e';

const poll = (query: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${chat.url}/chat/?${query}`, init);

interface Handshake {
  readonly sid: string;
  readonly upgrades: readonly string[];
  readonly pingInterval: number;
  readonly pingTimeout: number;
  readonly maxPayload: number;
}

/** A long-polling session. */
async function polling() {
  const opened = await (await poll('EIO=4&transport=polling')).text();
  // What the library's server answers; the tests of the handshake look at it.
  const handshake = JSON.parse(opened.slice(1)) as Handshake;
  const query = `EIO=4&transport=polling&sid=${handshake.sid}`;
  return {
    ...{ handshake, opened, query },
    post: (body: string, method = 'POST') => poll(query, { method, body }),
    get: async () => (await poll(query)).text(),
  };
}

async function websocket(query?: string): Promise<RawWebSocket> {
  const client = await RawWebSocket.open(chat.url, query);
  ends(() => client.close());
  return client;
}

const sockets = async () => (await chat.metrics.chatSockets.get()).values[0]?.value;

async function connected() {
  const client = await websocket();
  client.send(CONNECT);
  await client.next('42["session"');
  return client;
}

describe('engine.io: a handshake by long polling', () => {
  test('opens a session', async () => {
    const { opened, handshake } = await polling();
    expect(opened).toMatch(/^0\{/);
    expect(handshake).toEqual({
      sid: expect.any(String),
      upgrades: ['websocket'],
      pingInterval: 25_000,
      pingTimeout: 20_000,
      maxPayload: 128 * 1024,
    });
  });

  test.each([
    ['no transport', 'EIO=4', 'GET'],
    ['a transport that nobody knows', 'EIO=4&transport=abc', 'GET'],
    ['WebTransport', 'EIO=4&transport=webtransport', 'GET'],
    ['no version', 'transport=polling', 'GET'],
    ['a version that nobody knows', 'EIO=abc&transport=polling', 'GET'],
    ['version 3', 'EIO=3&transport=polling', 'GET'],
    ['POST', 'EIO=4&transport=polling', 'POST'],
    ['PUT', 'EIO=4&transport=polling', 'PUT'],
    ['a session that is not there', 'EIO=4&transport=polling&sid=abc', 'GET'],
    ['a session that is none', 'EIO=4&transport=polling&sid=__proto__', 'POST'],
  ])('with %s is refused', async (_case, query, method) => {
    const answer = await poll(query, { method });
    expect(answer.status).toBe(400);
    await answer.text();
  });
});

describe('engine.io: messages by long polling', () => {
  test('go in payloads of several packets', async () => {
    const { post, get } = await polling();
    expect(await (await post(CONNECT)).text()).toBe('ok');
    let heard = '';
    while (!heard.includes('42["session"')) heard += await get();
    expect(heard).toMatch(/^40\{"sid":"[^"]+"\}/);
    const asks = [1, 2].map((id) => `42${id}["history",{}]`).join(SEPARATOR);
    await post(asks);
    while (!/431\[.*432\[/s.test(heard)) heard += SEPARATOR + (await get());
    const packets = heard.split(SEPARATOR).filter((packet) => packet.startsWith('43'));
    expect(packets).toEqual([
      '431[{"ok":true,"messages":[],"more":false}]',
      '432[{"ok":true,"messages":[],"more":false}]',
    ]);
  });

  test('answer 400 and end the session when they cannot be read', async () => {
    const { post, query } = await polling();
    expect((await post('abc')).status).toBe(200);
    expect((await poll(query)).status).toBe(400);
  });

  test('end with 413 when they are larger than 128 KiB', async () => {
    const { post } = await polling();
    expect((await post(`4${'x'.repeat(129 * 1024)}`)).status).toBe(413);
  });

  test('are answered once: a second request for the same is an error', async () => {
    const { query } = await polling();
    const first = poll(query);
    const second = poll(query);
    const statuses = await Promise.all([first, second].map(async (each) => (await each).status));
    expect(statuses).toContain(400);
  });

  test('end with the packet that closes', async () => {
    const { post, get, query } = await polling();
    const waiting = get();
    await post('1');
    expect(await waiting).toBe('6');
    expect((await poll(query)).status).toBe(400);
  });
});

describe('engine.io: WebSockets', () => {
  test('open with the handshake', async () => {
    const client = await websocket();
    expect(JSON.parse((await client.next('0')).slice(1))).toMatchObject({ upgrades: [] });
  });

  test.each(['transport=websocket', 'EIO=abc&transport=websocket', 'EIO=4&transport=abc'])(
    'with %s are refused',
    async (query) => {
      // By the status, or by an end that comes at once.
      const client = await websocket(query).catch(() => undefined);
      await client?.closed;
    },
  );

  test.each(['1', '2', '2probe'])('end with the packet %s', async (packet) => {
    const client = await websocket();
    await client.next('0');
    client.send(packet);
    await client.closed;
  });

  test('take the place of long polling, which ends with that', async () => {
    const { handshake, post, get, query } = await polling();
    await post(CONNECT);
    let heard = '';
    while (!heard.includes('42["session"')) heard += await get();
    const waiting = get();
    const client = await websocket(`EIO=4&transport=websocket&sid=${handshake.sid}`);
    client.send('2probe');
    await client.next('3probe');
    // The poll that waits is answered with nothing.
    expect(await waiting).toBe('6');
    client.send('5');
    client.send('421["history",{}]');
    await client.next('431[{"ok":true');
    expect((await poll(query)).status).toBe(400);
    // Nor does a second WebSocket take it over.
    const other = await websocket(`EIO=4&transport=websocket&sid=${handshake.sid}`).catch(
      () => undefined,
    );
    await other?.closed;
    client.send('422["history",{}]');
    await client.next('432[{"ok":true');
  });

  test('that send a frame without a mask are cut off (RFC 6455 §5.1)', async () => {
    const client = await websocket();
    await client.next('0');
    client.socket.write(Buffer.from([0x81, 1, 0x31]));
    await client.closed;
  });
});

describe('socket.io', () => {
  test('connects to the one namespace, and answers who may not with a word', async () => {
    const client = await websocket();
    client.send('40');
    expect(await client.next('44')).toBe(
      '44{"message":"unknown_key","data":{"code":"unknown_key"}}',
    );
    client.send(CONNECT);
    expect(await client.next('40')).toMatch(/^40\{"sid":"[^"]+"\}$/);
  });

  test('has no other namespace', async () => {
    const client = await websocket();
    client.send('40/random');
    expect(await client.next('44/random')).toBe('44/random,{"message":"Invalid namespace"}');
  });

  test.each([
    ['an event before the handshake', '42["history",{}]'],
    ['a type that nobody knows', '4abc'],
    ['a type beyond the last one', '47'],
    ['an event without a name', '42{}'],
    ['an event whose name is an object', '42[{}]'],
    ['an event of the library’s own', '42["connect"]'],
    ['JSON that is none', '42["history"'],
    ['an answer before the handshake', '431[]'],
  ])('ends the connection after %s', async (_case, packet) => {
    const client = await websocket();
    await client.next('0');
    client.send(packet);
    await client.closed;
  });

  test.each([
    ['JSON that is none', '42["history"'],
    ['an event without a name', '42[]'],
    ['more attachments than come', '451-["history",{}]|42["history",{}]'],
    ['attachments without a number', '45["history"]'],
  ])('ends the connection after %s, connected as well', async (_case, packets) => {
    const client = await connected();
    for (const packet of packets.split('|')) client.send(packet);
    await client.closed;
  });

  test('leaves the namespace, and the connection may join it again', async () => {
    const client = await connected();
    client.send('41');
    // socket.io closes a connection that joins while it leaves, which takes a tick.
    await waitFor('the leaving', async () => (await sockets()) === 0);
    client.send(CONNECT);
    await waitFor(
      'a second session',
      () => client.frames.filter((f) => f.startsWith('42["session"')).length === 2,
    );
  });

  test('answers an event that asks for it, by its number', async () => {
    const client = await connected();
    client.send('42["history",{}]');
    client.send('42789["history",{}]');
    expect(await client.next('43')).toBe('43789[{"ok":true,"messages":[],"more":false}]');
    expect(client.frames.filter((frame) => frame.startsWith('43'))).toHaveLength(1);
  });

  test('takes bytes for a payload that is wrong, and answers', async () => {
    const client = await connected();
    client.send('451-1["seen",{"_placeholder":true,"num":0}]');
    client.send(Uint8Array.from([1, 2, 3]));
    expect(await client.next('431')).toBe('431[{"ok":false,"error":"invalid"}]');
  });

  test('ignores an answer that nobody asked for', async () => {
    const client = await connected();
    client.send('43999[{"ok":true}]');
    client.send('421["history",{}]');
    await client.next('431[{"ok":true');
  });
});
