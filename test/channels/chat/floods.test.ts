import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { type ChatClient, ConnectRefused } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { RawWebSocket, silentClient } from '../../support/raw-web-socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from './chat-gateway.ts';

const MIB = 1024 * 1024;

/** Time passes when a test says so, however busy the machine is. */
async function start(options: GatewayOptions = {}) {
  let now = Date.now();
  const chat = await ChatGateway.start({ ...options, clock: () => now });
  ends(() => chat.stop());
  return { chat, later: (ms: number) => void (now += ms) };
}

/** Says one thing after the other until the connection is cut off. @returns how often it could */
async function flood(client: ChatClient, event: string, payload: unknown): Promise<number> {
  const emit = client.socket.emit.bind(client.socket) as (...all: unknown[]) => void;
  let answers = 0;
  for (let nth = 0; nth < 5_000 && client.socket.connected; nth += 1) {
    emit(event, payload, () => (answers += 1));
    if (nth % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor('the connection to be cut off', () => !client.socket.connected);
  return answers;
}

const waitOf = (attempt: Promise<unknown>): Promise<number | undefined> =>
  attempt.then(
    () => undefined,
    (error: unknown) => (error instanceof ConnectRefused ? error.data.retryAfter : NaN),
  );

test.each([
  ['an event that nobody knows', 'shutdown', { now: true }],
  ['payloads that are wrong', 'message', {}],
  ['what is over its rate', 'seen', { seq: 0 }],
])(
  'a socket that goes on with %s is cut off, and the others live on',
  async (_, event, payload) => {
    // The bound of all packets is far: it is the refusals that count.
    const { chat } = await start({ shops: [aShop({ limits: ROOMY })] });
    const other = await chat.connect();
    expect(await other.send('before')).toMatchObject({ ok: true });
    const rude = await chat.connect();
    const answers = await flood(rude, event, payload);
    expect(answers).toBeLessThanOrEqual(50 + 60);
    expect(await other.send('after')).toMatchObject({ ok: true });
  },
);

test('an event that nobody knows is answered like any other that is wrong', async () => {
  const { chat } = await start();
  const client = await chat.connect();
  expect(await client.request('shutdown', { now: true })).toEqual({ ok: false, error: 'invalid' });
});

test('packets that are no events are cut off too, before a handshake and after one', async () => {
  for (const packet of ['40/nowhere,', '43[1]']) {
    const { chat } = await start();
    const client = packet.startsWith('43') ? await chat.connect() : chat.client();
    const { io } = client.socket;
    const closed = new Promise((resolve) => io.on('close', resolve));
    if (packet.startsWith('40'))
      await new Promise<void>((resolve) => void io.open(() => resolve()));
    for (let nth = 0; nth < 300; nth += 1) io.engine.write(packet.slice(1));
    await closed;
  }
});

test('who was cut off waits, by visitor and by address, ever longer', async () => {
  let ip = '192.0.2.1';
  const { chat, later } = await start({ clientIp: () => ip });
  const known = await chat.connect();
  await known.send('hello');
  const rude = await chat.connect();
  await rude.send('hello');
  const auth = { key: 'demo', token: rude.session.token };
  for (const seconds of [5, 10, 20]) {
    const client = await chat.connect({ auth });
    await flood(client, 'shutdown', {});
    await waitFor('the wait', async () => (await waitOf(chat.connect({ auth }))) === seconds);
    // A stranger of this address, and the visitor from anywhere.
    expect(await waitOf(chat.connect())).toBe(seconds);
    ip = '192.0.2.2';
    expect(await waitOf(chat.connect({ auth }))).toBe(seconds);
    expect(await waitOf(chat.connect())).toBeUndefined();
    ip = '192.0.2.1';
    // Somebody else in the same office, who has written before.
    const token = known.session.token;
    expect(await waitOf(chat.connect({ auth: { key: 'demo', token } }))).toBeUndefined();
    later(seconds * 1_000);
  }
});

test('who keeps trying meanwhile does not get as far as a handshake', async () => {
  const { chat } = await start();
  const rude = await chat.connect();
  await flood(rude, 'shutdown', {});
  const tries = Array.from({ length: 25 }, async () => {
    return (await fetch(`${chat.url}/chat/?EIO=4&transport=polling`)).status;
  });
  const statuses = await Promise.all(tries);
  expect(statuses.filter((status) => status === 403)).toHaveLength(5);
});

test('a tab that does not read for ten seconds is cut off', async () => {
  const { chat, later } = await start({ shops: [aShop({ limits: ROOMY })] });
  const writer = await chat.connect();
  await writer.send('hello');
  const auth = JSON.stringify({ key: 'demo', token: writer.session.token, lastSeq: 1 });
  const silent = await silentClient(chat.url, `40${auth}`);
  ends(() => silent.destroy());
  silent.pause();
  // More than the kernel takes on its way.
  const text = '😀'.repeat(8_000);
  for (let nth = 0; nth < 600; nth += 1) await writer.send(text);
  const closed = once(silent, 'close');
  silent.resume();
  silent.pause();
  later(15_000);
  await waitFor('it to be cut off', async () => (await chat.connections) === 1);
  silent.resume();
  await closed;
  expect(await writer.send('still there')).toMatchObject({ ok: true });
});

test('a tab that does not ask for what came is cut off too, over long polling', async () => {
  const { chat, later } = await start({ shops: [aShop({ limits: ROOMY })] });
  const writer = await chat.connect();
  await writer.send('hello');
  const polling = `${chat.url}/chat/?EIO=4&transport=polling`;
  const opened = await (await fetch(polling)).text();
  const sid = /"sid":"([^"]+)"/.exec(opened)?.[1];
  const post = async (packet: string): Promise<number> =>
    (await fetch(`${polling}&sid=${sid}`, { method: 'POST', body: packet })).status;
  const auth = JSON.stringify({ key: 'demo', token: writer.session.token, lastSeq: 1 });
  expect(await post(`40${auth}`)).toBe(200);
  // From here on it is sent what comes; what came before would be sent in steps, as it reads.
  const read = async (): Promise<string> => (await fetch(`${polling}&sid=${sid}`)).text();
  await waitFor('its session', async () => (await read()).includes('42["session"'));
  const text = '😀'.repeat(8_000);
  for (let nth = 0; nth < 60; nth += 1) await writer.send(text);
  const PONG = '3';
  await waitFor('it to be cut off', async () => {
    later(11_000);
    return (await post(PONG)) === 400;
  });
});

test('who asks for history again and again and does not read it is told to wait', async () => {
  const { chat } = await start({ shops: [aShop({ limits: ROOMY })] });
  const writer = await chat.connect();
  const text = '😀'.repeat(8_000);
  for (let nth = 1; nth <= 10; nth += 1) await writer.send(text);
  const client = await RawWebSocket.open(chat.url);
  ends(() => client.close());
  client.send(`40${JSON.stringify({ key: 'demo', token: writer.session.token, lastSeq: 10 })}`);
  await client.next('42["session"');
  client.socket.pause();
  // Together more than the kernel takes on its way.
  for (let nth = 1; nth <= 60; nth += 1) client.send(`42${nth}["history",{}]`);
  await waitFor('a refusal', async () => {
    const { values } = await chat.metrics.refused.get();
    return values.some(({ labels }) => labels.reason === 'busy');
  });
  client.socket.resume();
  await waitFor('all answers', () => client.frames.filter(isAnswer).length === 60);
  expect(client.frames.some((frame) => frame.endsWith('"busy","retryAfter":1}]'))).toBe(true);
});

const isAnswer = (frame: string): boolean => frame.startsWith('43');

/** What is in use, without what is only not collected yet. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  // The flag counts for contexts that are made after it.
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('ten tabs that do not read are sent 20 MB each, of which the process keeps little', () => {
  const LINES = 100;

  async function scene() {
    const { chat } = await start({ shops: [aShop({ limits: ROOMY })] });
    const writer = await chat.connect();
    await writer.send('hello');
    writer.close();
    const visitorId = asVisitorId(writer.session.visitorId);
    const text = '😀'.repeat(50_000);
    const reply = async (nth: number): Promise<void> => {
      const message = { platformMessageId: String(nth), text, format: 'TEXT', at: nth } as const;
      const to = { shopId: SHOP, visitorId };
      const appended = await chat.store.chat.storeReply({ ...to, ...message });
      if (appended !== undefined) chat.server.publish(SHOP, appended);
    };
    const openTabs = async (lastSeq: number): Promise<void> => {
      const auth = JSON.stringify({ key: 'demo', token: writer.session.token, lastSeq });
      for (let nth = 0; nth < 10; nth += 1) {
        const tab = await silentClient(chat.url, `40${auth}`);
        ends(() => tab.destroy());
        tab.pause();
      }
    };
    /** The store has answered somebody else so often: each replay had its turns. */
    const othersWereServed = async (): Promise<void> => {
      const other = await chat.connect();
      for (let nth = 0; nth < 50; nth += 1) await other.history();
      other.close();
    };
    return { reply, openTabs, othersWereServed };
  }

  test('live', async () => {
    const { reply, openTabs } = await scene();
    await openTabs(1);
    const before = usedBytes();
    for (let nth = 1; nth <= LINES; nth += 1) await reply(nth);
    expect(usedBytes() - before).toBeLessThan(40 * MIB);
  });

  test('as a replay', async () => {
    const { reply, openTabs, othersWereServed } = await scene();
    for (let nth = 1; nth <= LINES; nth += 1) await reply(nth);
    const before = usedBytes();
    await openTabs(0);
    await othersWereServed();
    expect(usedBytes() - before).toBeLessThan(40 * MIB);
  });
});

test('a replay comes whole to a client that reads slowly, and history in parts', async () => {
  const { chat } = await start({ shops: [aShop({ limits: ROOMY })] });
  const writer = await chat.connect();
  const text = '😀'.repeat(8_000);
  for (let nth = 0; nth < 100; nth += 1) await writer.send(text);
  const { token } = writer.session;
  for (const transports of [['websocket'], ['polling']] as const) {
    const client = await chat.connect({
      auth: { key: 'demo', token },
      transports: [...transports],
    });
    await waitFor('the record', () => client.messages.length === 100);
    expect(client.messages.map(({ seq }) => seq)).toEqual(client.messages.map((_, nth) => nth + 1));
    const seqs: number[] = [];
    for (let before: number | undefined; before !== 1; before = seqs[0]) {
      const answer = await client.history(before === undefined ? {} : { before, limit: 100 });
      if (!answer.ok) throw new Error(answer.error);
      expect(Buffer.byteLength(JSON.stringify(answer.messages))).toBeLessThan(300_000);
      seqs.unshift(...answer.messages.map(({ seq }) => seq));
      expect(answer.more).toBe(seqs[0] !== 1);
    }
    expect(seqs).toEqual(client.messages.map(({ seq }) => seq));
    client.close();
  }
});
