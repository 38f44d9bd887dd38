import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SpoolFull, SpoolUnavailable } from '../../../src/spool/errors.ts';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from './chat-gateway.ts';

let gateway: ChatGateway | undefined;
const start = async (options: GatewayOptions = {}): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], ...options });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

describe('a message', () => {
  test('is acknowledged with its number when its entry is durable', async () => {
    const chat = await start();
    const client = await chat.connect();
    const id = randomUUID();
    expect(await client.send('Where is my order?', { id })).toEqual({ ok: true, seq: 1 });

    const visitor = client.session.visitorId;
    const [entry, ...others] = await chat.entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      channel: 'web_chat',
      lane: `${visitor}/1`,
      remoteId: `chat:${visitor}:${id}`,
      state: 'queued',
      meta: { visitorId: visitor, messageId: id, verified: false },
    });
    const { values } = await chat.metrics.ackSeconds.get();
    expect(values.find(({ metricName }) => metricName?.endsWith('_count'))).toMatchObject({
      ...{ labels: { channel: 'web_chat' }, value: 1 },
    });
  });

  test('sent again gets the same answer and makes no second entry', async () => {
    const chat = await start();
    const client = await chat.connect();
    const id = randomUUID();
    const answers = await Promise.all([
      client.send('hello', { id }),
      client.send('hello', { id }),
      client.send('hello', { id }),
    ]);
    answers.push(await client.send('hello, but changed', { id }));
    expect(answers).toEqual(answers.map(() => ({ ok: true, seq: 1 })));
    expect(await chat.entries()).toHaveLength(1);
    await client.send('next');
    await waitFor('the second line', () => client.messages.length === 2);
    expect(client.texts).toEqual(['hello', 'next']);
  });

  test('of another visitor may carry the same id', async () => {
    const chat = await start();
    const [one, other] = [await chat.connect(), await chat.connect()];
    const id = randomUUID();
    expect(await one.send('one', { id })).toEqual({ ok: true, seq: 1 });
    expect(await other.send('other', { id })).toEqual({ ok: true, seq: 1 });
    expect(await chat.entries()).toHaveLength(2);
  });

  test('needs no acknowledgement to be taken', async () => {
    const chat = await start();
    const client = await chat.connect();
    client.socket.emit('message', { id: randomUUID(), text: 'no answer, please' });
    await waitFor('the echo', () => client.messages.length === 1);
    expect(client.texts).toEqual(['no answer, please']);
  });

  test('keeps its place among those that its socket sent before and after', async () => {
    const chat = await start();
    const client = await chat.connect();
    const texts = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const answers = await Promise.all(texts.map((text) => client.send(text)));
    expect(answers.map((answer) => answer.ok && answer.seq)).toEqual(texts.map((_, i) => i + 1));
    await waitFor('all echoes', () => client.messages.length === texts.length);
    expect(client.messages.map(({ text }) => text)).toEqual(texts);
  });

  test.each<[string, Error]>([
    ['the disk is full', new SpoolFull('full')],
    ['the store is gone', new SpoolUnavailable('gone')],
    ['something unforeseen happens', new Error('unforeseen')],
  ])('is answered busy when %s, and the next one is taken', async (_case, error) => {
    let failing = true;
    const chat = await start({
      intake: (intake) => ({
        acceptChat: (...args) => (failing ? Promise.reject(error) : intake.acceptChat(...args)),
      }),
    });
    const client = await chat.connect();
    const id = randomUUID();
    expect(await client.send('hello', { id })).toEqual({ ok: false, error: 'busy' });
    failing = false;
    expect(await client.send('hello', { id })).toEqual({ ok: true, seq: 1 });
  });
});

describe('tabs of one visitor', () => {
  test('all see every message, the sender included, once and in order', async () => {
    const chat = await start();
    const one = await chat.connect();
    await one.send('first');
    const other = await chat.connect({ auth: { key: 'demo', token: one.session.token } });
    expect(other.session.visitorId).toBe(one.session.visitorId);
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => one.send(`one ${index}`)),
      ...Array.from({ length: 20 }, (_, index) => other.send(`other ${index}`)),
    ]);
    for (const tab of [one, other]) {
      await waitFor('every line', () => tab.messages.length === 41);
      expect(tab.messages.map(({ seq }) => seq)).toEqual(tab.messages.map((_, i) => i + 1));
    }
    expect(one.messages).toEqual(other.messages);
  });

  test('get the ticks of what becomes of a message, now and on the next connect', async () => {
    const chat = await start();
    const client = await chat.connect();
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    for (const id of ids) await client.send('text', { id });
    const visitorId = asVisitorId(client.session.visitorId);
    const settle = (messageId: string, state: 'delivered' | 'failed') =>
      chat.server.messageSettled({ shopId: SHOP, visitorId, messageId, state });
    await settle(ids[0], 'delivered');
    await settle(ids[1], 'failed');
    await waitFor('two ticks', () => client.statuses.length === 2);

    const later = await chat.connect({ auth: { key: 'demo', token: client.session.token } });
    await waitFor('three states', () => later.statuses.length === 3);
    expect(later.statuses).toEqual([
      { id: ids[0], state: 'delivered' },
      { id: ids[1], state: 'failed' },
      { id: ids[2], state: 'accepted' },
    ]);
    expect(later.statuses).toEqual(expect.arrayContaining(client.statuses));
  });

  test('hear that a message was seen, and not of its delivery afterwards', async () => {
    const chat = await start();
    const client = await chat.connect();
    const id = randomUUID();
    await client.send('text', { id });
    const visitorId = asVisitorId(client.session.visitorId);
    const marked = { shopId: SHOP, visitorId, messageId: id };
    await chat.server.messageSettled({ ...marked, state: 'seen' });
    await chat.server.messageSettled({ ...marked, state: 'delivered' });
    await chat.server.messageSettled({ ...marked, state: 'failed' });
    const auth = { key: 'demo', token: client.session.token };
    const later = await chat.connect({ auth });
    // A client that has the line already gets its state with the history.
    const back = await chat.connect({ auth: { ...auth, lastSeq: 1 } });
    await back.history({ limit: 1 });
    for (const tab of [client, later, back]) {
      await waitFor('the state', () => tab.statuses.length > 0);
      expect(tab.statuses).toEqual([{ id, state: 'seen' }]);
    }
  });
});

describe('a client that returns', () => {
  test('is sent exactly what came after its last line', async () => {
    const chat = await start();
    const client = await chat.connect();
    for (const text of ['one', 'two', 'three', 'four']) await client.send(text);
    const { token } = client.session;
    const later = await chat.connect({ auth: { key: 'demo', token, lastSeq: 2 } });
    expect(later.session.lastSeq).toBe(4);
    await waitFor('the missing lines', () => later.messages.length === 2);
    expect(later.messages.map(({ seq, text }) => [seq, text])).toEqual([
      [3, 'three'],
      [4, 'four'],
    ]);
  });

  test('gets a long absence in pages while the other tab goes on writing', async () => {
    const chat = await start();
    const writer = await chat.connect();
    await Promise.all(Array.from({ length: 350 }, (_, index) => writer.send(`old ${index}`)));
    const reader = await chat.connect({ auth: { key: 'demo', token: writer.session.token } });
    await Promise.all(Array.from({ length: 100 }, (_, index) => writer.send(`new ${index}`)));
    await waitFor('all lines', () => reader.messages.length >= 450);
    expect(reader.messages.map(({ seq }) => seq)).toEqual(reader.messages.map((_, i) => i + 1));
  });

  test('with a number from nowhere is sent everything', async () => {
    const chat = await start();
    const client = await chat.connect();
    await client.send('one');
    const { token } = client.session;
    const later = await chat.connect({ auth: { key: 'demo', token, lastSeq: 999 } });
    await waitFor('the line', () => later.messages.length === 1);
  });

  test('finds numbers and history where they were after a restart', async () => {
    const temp = tempDir();
    const first = await start({ dir: temp.path });
    const before = await first.connect();
    const id = randomUUID();
    await before.send('one', { id });
    await before.send('two');
    const { token, visitorId } = before.session;
    await first.stop();

    const second = await start({ dir: temp.path });
    const after = await second.connect({ auth: { key: 'demo', token, lastSeq: 1 } });
    expect(after.session).toMatchObject({ visitorId, lastSeq: 2 });
    expect(await after.send('one', { id })).toEqual({ ok: true, seq: 1 });
    expect(await after.send('three')).toEqual({ ok: true, seq: 3 });
    const history = await after.history();
    expect(history).toMatchObject({ ok: true, more: false });
    expect(history.ok && history.messages.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    await second.stop();
    gateway = undefined;
    temp.remove();
  });

  test('over long polling is served just the same', async () => {
    const chat = await start();
    const client = await chat.connect({ transports: ['polling'] });
    expect(await client.send('slow but sure')).toEqual({ ok: true, seq: 1 });
    await waitFor('the echo', () => client.messages.length === 1);
  });
});

describe('the record of a visitor', () => {
  test('is paged backwards by history', async () => {
    const chat = await start();
    const client = await chat.connect();
    for (let line = 1; line <= 7; line += 1) await client.send(`line ${line}`);
    const pages: number[][] = [];
    let before: number | undefined;
    for (;;) {
      const page = await client.history({ limit: 3, ...(before !== undefined && { before }) });
      if (!page.ok) throw new Error(page.error);
      pages.push(page.messages.map(({ seq }) => seq));
      if (!page.more) break;
      before = page.messages[0]?.seq;
    }
    expect(pages).toEqual([[5, 6, 7], [2, 3, 4], [1]]);
    expect(await client.history()).toMatchObject({ ok: true, more: false });
  });

  test('goes on with a new lane after new_conversation', async () => {
    const chat = await start();
    const client = await chat.connect();
    expect(await client.newConversation()).toEqual({ ok: true });
    await client.send('first matter');
    expect(await client.newConversation()).toEqual({ ok: true });
    expect(await client.newConversation()).toEqual({ ok: true });
    expect(await client.send('second matter')).toEqual({ ok: true, seq: 2 });
    const lanes = (await chat.entries()).map(({ lane }) => lane).sort();
    const { visitorId } = client.session;
    expect(lanes).toEqual([`${visitorId}/1`, `${visitorId}/2`]);
  });

  test('keeps the labels of a profile and what was seen, but never joins by an address', async () => {
    const chat = await start();
    const client = await chat.connect();
    const labels = { name: 'Ada', email: 'ada@customer.example' };
    expect(await client.profile(labels)).toEqual({ ok: true });
    await client.send('hello');
    await waitFor('the echo', () => client.messages.length === 1);
    expect(await client.seen(1)).toEqual({ ok: true });
    expect(await client.seen(99)).toEqual({ ok: true });
    const again = await chat.connect({ auth: { key: 'demo', token: client.session.token } });
    expect(again.session).toMatchObject({ ...labels, verified: false });
    const stranger = await chat.connect();
    await stranger.profile(labels);
    expect(stranger.session.visitorId).not.toBe(client.session.visitorId);
    const record = await chat.store.chat.visitor(SHOP, asVisitorId(client.session.visitorId));
    expect(record).toMatchObject({ ...labels, seenSeq: 1 });
    const [entry] = await chat.entries();
    expect(entry?.meta).toMatchObject({ ...labels, verified: false });
  });

  test('knows on every device what was looked at on any', async () => {
    const chat = await start();
    const phone = await chat.connect();
    for (const text of ['a', 'b', 'c']) await phone.send(text);
    const auth = { key: 'demo', token: phone.session.token };
    const desk = await chat.connect({ auth });
    await waitFor('the lines', () => desk.messages.length === 3);
    expect(desk.session.seenSeq).toBe(0);
    await phone.seen(2);
    expect((await chat.connect({ auth })).session.seenSeq).toBe(2);
    // The desk is behind, and says so late; a label in between takes nothing back.
    await desk.seen(1);
    await desk.profile({ name: 'Ada' });
    expect((await chat.connect({ auth })).session.seenSeq).toBe(2);
    // Nobody has seen what does not exist.
    await desk.seen(1_000);
    expect((await chat.connect({ auth })).session.seenSeq).toBe(3);
  });

  test('begins with the first message, not with a page view', async () => {
    const chat = await start();
    const client = await chat.connect();
    const id = asVisitorId(client.session.visitorId);
    expect(await chat.store.chat.visitor(SHOP, id)).toBeUndefined();
    await client.send('hello');
    expect(await chat.store.chat.visitor(SHOP, id)).toMatchObject({ lastSeq: 1 });
  });
});

describe('a stop', () => {
  test('lets acknowledgements that are due go out, and refuses what comes after', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let waiting = 0;
    const chat = await start({
      intake: (intake) => ({
        acceptChat: async (...args) => {
          waiting += 1;
          await released;
          return intake.acceptChat(...args);
        },
      }),
    });
    const client = await chat.connect();
    const due = client.send('in flight');
    await waitFor('the message', () => waiting === 1);
    const stopped = chat.server.stop();
    expect(await client.send('too late')).toEqual({ ok: false, error: 'busy' });
    release();
    expect(await due).toEqual({ ok: true, seq: 1 });
    await stopped;
    await waitFor('the close', () => !client.socket.connected);
    await expect(chat.connect()).rejects.toThrow();
  });
});
