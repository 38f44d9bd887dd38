import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { type ChatClient, ConnectRefused } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { silentClient } from '../../support/raw-web-socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from './chat-gateway.ts';

async function start(options: GatewayOptions = {}) {
  let aheadMs = 0;
  const chat = await ChatGateway.start({ ...options, clock: () => Date.now() + aheadMs });
  ends(() => chat.stop());
  return { chat, later: (ms: number) => void (aheadMs += ms) };
}

/** Says one thing after the other until the connection is cut off. @returns how often it could */
async function flood(client: ChatClient, event: string, payload: unknown): Promise<number> {
  const emit = client.socket.emit.bind(client.socket) as (...all: unknown[]) => void;
  let answers = 0;
  for (let nth = 0; client.socket.connected; nth += 1) {
    emit(event, payload, () => (answers += 1));
    if (nth % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
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
    const { chat } = await start();
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
