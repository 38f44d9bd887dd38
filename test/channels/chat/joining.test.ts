import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { type ChatClient, ConnectRefused } from '../../support/chat-client.ts';
import { SHOP } from '../../support/entries.ts';
import { waitFor } from '../../support/wait-for.ts';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY, SECRET } from './chat-gateway.ts';
import { aReply } from './replies/platform-messages.ts';

let gateway: ChatGateway | undefined;
const start = async (options: GatewayOptions = {}): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], ...options });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

const jwt = (sub = 'ada'): Promise<string> =>
  new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience('demo')
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(SECRET));

const as = async (chat: ChatGateway, sub: string, token?: string): Promise<ChatClient> =>
  chat.connect({ auth: { key: 'demo', identity: await jwt(sub), token } });
const withToken = (chat: ChatGateway, token: string): Promise<ChatClient> =>
  chat.connect({ auth: { key: 'demo', token } });
const refusalOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'connected',
    (error: unknown) => (error instanceof ConnectRefused ? error.data : String(error)),
  );

/** A verified visitor with one line, and a guest with another. */
async function both(chat: ChatGateway) {
  const known = await as(chat, 'ada');
  await known.send('from the phone');
  const guest = await chat.connect();
  await guest.send('as a guest');
  return { known, guest };
}

describe('a guest who turns out to be a known visitor', () => {
  test('brings his lines along, to every device of the visitor at once', async () => {
    const chat = await start();
    const { known, guest } = await both(chat);
    const joined = await as(chat, 'ada', guest.session.token);
    expect(joined.session).toMatchObject({
      visitorId: known.session.visitorId,
      verified: true,
      lastSeq: 2,
    });
    for (const device of [known, joined]) {
      await waitFor('both lines', () => device.messages.length === 2);
      expect(device.texts).toEqual(['from the phone', 'as a guest']);
      expect(device.messages.map(({ seq }) => seq)).toEqual([1, 2]);
    }
    await joined.send('and on');
    await waitFor('the next line', () => known.messages.length === 3);
  });

  test('loses his other tabs, and their old token, to the new one', async () => {
    let now = Date.now();
    const chat = await start({ clock: () => now });
    const { known, guest } = await both(chat);
    const { token } = guest.session;
    const tab = await withToken(chat, token);
    const joined = await as(chat, 'ada', token);
    await waitFor('both tabs to be closed', () => !guest.socket.connected && !tab.socket.connected);
    // Not "io server disconnect": from that one clients do not come back.
    expect(tab.disconnects).toEqual(['transport close']);
    // The tab that comes back before it has heard of the new token is told to ask again.
    expect(await refusalOf(withToken(chat, token))).toEqual({ code: 'busy', retryAfter: 1 });
    const back = await withToken(chat, joined.session.token);
    expect(back.session.visitorId).toBe(known.session.visitorId);
    now += 120_000;
    const later = await withToken(chat, token);
    expect(later.session).toMatchObject({ verified: false, lastSeq: 0 });
    expect(later.session.visitorId).not.toBe(known.session.visitorId);
    expect(await later.history()).toEqual({ ok: true, messages: [], more: false });
  });

  test('may send again what was not acknowledged: it is one message', async () => {
    const chat = await start();
    const { guest } = await both(chat);
    const id = randomUUID();
    expect(await guest.send('once', { id })).toEqual({ ok: true, seq: 2 });
    const joined = await as(chat, 'ada', guest.session.token);
    // Behind the visitor's one line, and the guest's first.
    expect(await joined.send('once', { id })).toEqual({ ok: true, seq: 3 });
    expect(await joined.send('next')).toEqual({ ok: true, seq: 4 });
    await waitFor('the record', () => joined.messages.length === 4);
    expect(joined.texts).toEqual(['from the phone', 'as a guest', 'once', 'next']);
    expect(await chat.entries()).toHaveLength(4);
  });

  test('is not acknowledged in his own name any more, and loses nothing', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const chat = await start({
      intake: (intake) => ({
        acceptChat: async (arrival, message) => {
          if (message.text === 'on its way') await gate;
          return intake.acceptChat(arrival, message);
        },
      }),
    });
    const { guest } = await both(chat);
    const tab = await withToken(chat, guest.session.token);
    const id = randomUUID();
    let answered = false;
    tab.socket.emit('message', { id, text: 'on its way' }, () => (answered = true));
    await tab.history();
    const joined = await as(chat, 'ada', guest.session.token);
    open();
    await waitFor('the tab to be closed', () => !tab.socket.connected);
    const [, other] = await Promise.all([
      joined.send('on its way', { id }),
      joined.send('on its way', { id }),
    ]);
    expect(other).toEqual({ ok: true, seq: 3 });
    expect(answered).toBe(false);
    await waitFor('the record', () => joined.messages.length === 3);
    expect(joined.texts).toEqual(['from the phone', 'as a guest', 'on its way']);
  });

  test('gets the ticks and replies of the guest’s messages, on every device', async () => {
    const conversation = randomUUID();
    const reply = aReply({ conversation_id: conversation, content: 'for the guest' });
    let isWritten = false;
    const chat = await start({
      source: {
        listMessages: (_shop, ids) =>
          Promise.resolve({
            results: isWritten && ids.includes(conversation) ? [reply] : [],
            next: null,
          }),
      },
    });
    const { known, guest } = await both(chat);
    const guestId = asVisitorId(guest.session.visitorId);
    const messageId = guest.messages[0]?.id ?? '';
    const joined = await as(chat, 'ada', guest.session.token);
    // Delivered only now, under the guest's own lane.
    const lane = { shopId: SHOP, channel: 'web_chat', lane: `${guestId}/1` } as const;
    await chat.store.spool.rememberConversation(lane, conversation);
    await chat.server.messageSettled({
      ...{ shopId: SHOP, visitorId: guestId, messageId, state: 'delivered' },
    });
    isWritten = true;
    for (const device of [known, joined]) {
      await waitFor('the reply', () => device.texts.includes('for the guest'));
      await waitFor('the tick', () =>
        device.statuses.some(({ id, state }) => id === messageId && state === 'delivered'),
      );
      expect(device.texts).toEqual(['from the phone', 'as a guest', 'for the guest']);
    }
  });
});

describe('whoever had the token before the visitor said who he is', () => {
  test('does not read on, write on or fetch a file', async () => {
    let now = Date.now();
    const chat = await start({ clock: () => now });
    const guest = await chat.connect();
    await guest.send('before');
    const stolen = guest.session.token;
    const eavesdropper = await withToken(chat, stolen);
    const ada = await as(chat, 'ada', stolen);
    // The same visitor: nobody had that identity yet.
    expect(ada.session.visitorId).toBe(guest.session.visitorId);
    await waitFor('the eavesdropper to go', () => !eavesdropper.socket.connected);
    await ada.send('private');
    expect(eavesdropper.texts).toEqual(['before']);
    const upload = await ada.upload({ name: 'a.txt', bytes: Buffer.from('mine') });
    const { id } = (await upload.json()) as { id: string };
    for (const [method, path] of [
      ['GET', `/chat/uploads/${id}`],
      ['POST', '/chat/uploads'],
    ] as const) {
      const headers = { authorization: `Bearer ${stolen}` };
      const answer = await fetch(chat.url + path, { method, headers });
      expect(answer.status).toBe(401);
    }
    now += 120_000;
    const later = await withToken(chat, stolen);
    expect(later.session.visitorId).not.toBe(ada.session.visitorId);
    // The visitor's own new token stands.
    const back = await withToken(chat, ada.session.token);
    expect(back.session).toMatchObject({ visitorId: ada.session.visitorId, verified: true });
  });

  test('does not get the history by saying that he is somebody else', async () => {
    const chat = await start();
    const { known, guest } = await both(chat);
    const stolen = guest.session.token;
    await as(chat, 'ada', stolen);
    const eve = await as(chat, 'eve', stolen);
    const again = await as(chat, 'eve', known.session.token);
    for (const client of [eve, again]) {
      expect(client.session.visitorId).not.toBe(known.session.visitorId);
      expect(await client.history()).toEqual({ ok: true, messages: [], more: false });
    }
    expect(again.session.visitorId).toBe(eve.session.visitorId);
    expect(await known.history()).toMatchObject({ messages: [{ seq: 1 }, { seq: 2 }] });
  });
});

test('a guest who has written nothing keeps nothing open under his old name', async () => {
  const chat = await start();
  const known = await as(chat, 'ada');
  const guest = await chat.connect();
  const tab = await withToken(chat, guest.session.token);
  await as(chat, 'ada', guest.session.token);
  await waitFor('the tab to be closed', () => !tab.socket.connected);
  expect(await refusalOf(withToken(chat, guest.session.token))).toMatchObject({ code: 'busy' });
  expect(known.socket.connected).toBe(true);
});
