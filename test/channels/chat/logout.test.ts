import { afterEach, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { asVisitorId } from '../../../src/domain/ids.ts';
import type { ChatClient } from '../../support/chat-client.ts';
import { ConnectRefused } from '../../support/chat-client.ts';
import { SHOP } from '../../support/entries.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY, SECRET } from './chat-gateway.ts';

let gateway: ChatGateway | undefined;
const start = async (options: GatewayOptions = {}): Promise<ChatGateway> =>
  (gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], ...options }));
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

const jwt = (lifetime = '10m', sub = 'ada'): Promise<string> =>
  new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience('demo')
    .setExpirationTime(lifetime)
    .sign(new TextEncoder().encode(SECRET));

const verified = async (chat: ChatGateway, token?: string): Promise<ChatClient> =>
  chat.connect({ auth: { key: 'demo', identity: await jwt(), token } });
const withToken = (chat: ChatGateway, token: string, more: object = {}): Promise<ChatClient> =>
  chat.connect({ auth: { key: 'demo', token, ...more } });
const logout = (client: ChatClient) => client.request('logout');
const disconnected = (client: ChatClient) =>
  waitFor('the connection to be closed', () => !client.socket.connected);

/** That a token is nobody's: its bearer is a new visitor without a line. */
async function expectEnded(chat: ChatGateway, token: string, visitorId: string): Promise<void> {
  const { session } = await withToken(chat, token);
  expect(session).toMatchObject({ verified: false, lastSeq: 0 });
  expect(session.visitorId).not.toBe(visitorId);
}

describe('logout', () => {
  test('ends the token of every device, and of the same one, for sockets and files', async () => {
    const chat = await start();
    const phone = await verified(chat);
    await phone.send('secret');
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('secret') };
    const { id } = (await (await phone.upload(file)).json()) as { id: string };
    const laptop = await verified(chat);
    const tokens = [phone.session.token, laptop.session.token];
    expect(await logout(phone)).toEqual({ ok: true });
    for (const client of [phone, laptop]) {
      await disconnected(client);
      // Not "io server disconnect": from that one clients do not come back.
      expect(client.disconnects).toEqual(['transport close']);
    }
    for (const token of tokens) {
      await expectEnded(chat, token, phone.session.visitorId);
      expect((await phone.upload(file, token)).status).toBe(401);
      for (const method of ['GET', 'DELETE']) {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`${chat.url}/chat/uploads/${id}`, { method, headers });
        expect({ method, status: answer.status }).toEqual({ method, status: 401 });
      }
    }
  });

  test('leaves the history to the same customer, whose next token is good until the next one', async () => {
    const chat = await start();
    const before = await verified(chat);
    await before.send('hello');
    await logout(before);
    const again = await verified(chat, before.session.token);
    expect(again.session).toMatchObject({
      visitorId: before.session.visitorId,
      verified: true,
      lastSeq: 1,
    });
    const { token } = again.session;
    expect((await withToken(chat, token)).session.visitorId).toBe(before.session.visitorId);
    expect((await again.upload({ name: 'a.txt', bytes: Buffer.from('a') })).status).toBe(201);
    await expectEnded(chat, before.session.token, before.session.visitorId);
    await logout(again);
    await expectEnded(chat, token, before.session.visitorId);
  });

  test('does not leave an expired JWT a token to stand on', async () => {
    const chat = await start();
    const client = await verified(chat);
    await client.send('hello');
    const { token } = client.session;
    const identity = await jwt('-10m');
    expect((await withToken(chat, token, { identity })).session.verified).toBe(true);
    await logout(client);
    await expect(withToken(chat, token, { identity })).rejects.toThrow(ConnectRefused);
  });

  test('ends a guest, whose lines nobody who identifies themselves takes over', async () => {
    const chat = await start();
    const guest = await chat.connect();
    await guest.send('as a guest');
    const { token, visitorId } = guest.session;
    expect(await logout(guest)).toEqual({ ok: true });
    await disconnected(guest);
    const someone = await verified(chat, token);
    expect(someone.session).toMatchObject({ verified: true, lastSeq: 0 });
    expect(someone.session.visitorId).not.toBe(visitorId);
    await expectEnded(chat, token, visitorId);
  });

  test('of somebody who has stored nothing stores nothing', async () => {
    const chat = await start();
    const guest = await chat.connect();
    expect(await logout(guest)).toEqual({ ok: true });
    const id = asVisitorId(guest.session.visitorId);
    expect(await chat.store.chat.visitor(SHOP, id)).toBeUndefined();
  });

  test('closes no tab of the next session, however late its hint comes', async () => {
    const chat = await start();
    const old = await verified(chat);
    await old.send('hello');
    const visitorId = asVisitorId(old.session.visitorId);
    await chat.store.chat.logOut(SHOP, visitorId);
    const next = await verified(chat);
    chat.store.signals.publish({ shopId: SHOP, visitorId, what: 'logged_out' });
    await disconnected(old);
    expect(await next.send('again')).toEqual({ ok: true, seq: 2 });
  });

  test('also reaches a tab whose handshake had read the visitor before', async () => {
    const held: (() => void)[] = [];
    let isHolding = false;
    const chat = await start();
    const { store } = chat;
    const visitor = store.chat.visitor.bind(store.chat);
    store.chat.visitor = async (...of) => {
      const record = await visitor(...of);
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return record;
    };
    const client = await verified(chat);
    await client.send('hello');
    isHolding = true;
    const late = chat.client({ auth: { key: 'demo', token: client.session.token } });
    const opened = late.open();
    await waitFor('the handshake to have read', () => held.length === 1);
    isHolding = false;
    await logout(client);
    await disconnected(client);
    held[0]?.();
    await opened;
    await disconnected(late);
    await expectEnded(chat, late.session.token, client.session.visitorId);
  });

  test('outlives a restart', async () => {
    const chat = await start();
    const client = await verified(chat);
    await client.send('hello');
    const { token, visitorId } = client.session;
    await logout(client);
    const second = await ChatGateway.start({
      ...{ shops: [aShop({ limits: ROOMY })], store: chat.store, dir: chat.dir },
    });
    try {
      await expectEnded(second, token, visitorId);
    } finally {
      await second.stop();
    }
  });
});
