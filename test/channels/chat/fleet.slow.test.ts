import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { PostgresSignals } from '../../../src/spool/postgres/signals.ts';
import { type ChatClient, ConnectRefused } from '../../support/chat-client.ts';
import { PostgresProxy, withoutNotifications } from '../../support/postgres-proxy.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, ROOMY, SECRET } from './chat-gateway.ts';

let cluster: Cluster;
let url: string;
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());
afterEach(() => emptyStore(url));

interface Member {
  readonly chat: ChatGateway;
  readonly store: PostgresStore;
}

async function startGateway(database = url): Promise<Member> {
  const dir = tempDir();
  const scratchFolder = join(dir.path, 'scratch');
  const store = await openPostgresStore({ url: database, instance: randomUUID(), scratchFolder });
  const chat = await ChatGateway.start({
    ...{ store, dir: dir.path, shops: [aShop({ limits: ROOMY })] },
  });
  ends(() => dir.remove());
  ends(() => store.spool.close());
  ends(() => chat.stop());
  return { chat, store };
}

/** Two gateways, when each hears the other. */
async function startTwo(): Promise<[Member, Member]> {
  const both: [Member, Member] = [await startGateway(), await startGateway()];
  await waitFor('both to hear', () =>
    both.every(({ store: { signals } }) => signals instanceof PostgresSignals && signals.isHearing),
  );
  return both;
}

const visitorOf = (client: ChatClient) => asVisitorId(client.session.visitorId);
const again = (member: Member, client: ChatClient): Promise<ChatClient> =>
  member.chat.connect({ auth: { key: 'demo', token: client.session.token } });

/** What a gateway does when its poller has read a reply. */
async function reply(
  { chat, store }: Member,
  client: ChatClient,
  text: string,
  platformMessageId = text,
): Promise<void> {
  const visitorId = visitorOf(client);
  const appended = await store.chat.storeReply({
    ...{ shopId: SHOP, visitorId, platformMessageId, text, format: 'TEXT', at: Date.now() },
  });
  if (appended) chat.server.publish(SHOP, appended);
}

async function identified(member: Member, token?: string): Promise<ChatClient> {
  const identity = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('ada')
    .setAudience('demo')
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(SECRET));
  return member.chat.connect({ auth: { key: 'demo', identity, token } });
}

test('two tabs at two gateways have the same lines in the same order, each once', async () => {
  const [one, two] = await startTwo();
  const left = await one.chat.connect();
  await left.send('first');
  const right = await again(two, left);
  await Promise.all([
    ...Array.from({ length: 15 }, (_, n) => left.send(`left ${n}`)),
    ...Array.from({ length: 15 }, (_, n) => right.send(`right ${n}`)),
    ...Array.from({ length: 10 }, (_, n) => reply(n % 2 === 0 ? one : two, left, `reply ${n}`)),
  ]);
  for (const tab of [left, right]) {
    await waitFor('all lines', () => tab.messages.length >= 41);
    expect(tab.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 41 }, (_, n) => n + 1));
  }
  expect(right.texts).toEqual(left.texts);
});

test('a text that changes is changed in the tabs of every gateway, and the last one last', async () => {
  const [one, two] = await startTwo();
  const left = await one.chat.connect();
  await left.send('hello');
  const right = await again(two, left);
  await reply(one, left, 'on Monday', 'r1');
  await Promise.all([
    reply(one, left, 'on Tuesday', 'r1'),
    reply(two, left, 'on Wednesday', 'r1'),
    reply(one, left, 'on Thursday', 'r1'),
  ]);
  await reply(two, left, 'on Friday', 'r1');
  for (const tab of [left, right]) {
    await waitFor('the last text', () => tab.updates.at(-1)?.text === 'on Friday');
    const revs = tab.updates.map(({ rev }) => rev);
    expect(revs).toEqual(revs.toSorted((a, b) => a - b));
  }
});

test('a reply that one gateway reads is at once on the screen of a tab at the other', async () => {
  const [one, two] = await startTwo();
  const tab = await two.chat.connect();
  await tab.send('hello');
  const times: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const started = performance.now();
    await reply(one, tab, `reply ${n}`);
    await waitFor('the reply', () => tab.texts.at(-1) === `reply ${n}`);
    times.push(performance.now() - started);
  }
  const [slowest] = times.sort((a, b) => a - b).slice(-2);
  expect(slowest).toBeLessThan(1000);
});

test('and within seconds when no hint arrives there', async () => {
  const pooler = await PostgresProxy.start(url, () => withoutNotifications);
  ends(() => pooler.stop());
  const [one, two] = [await startGateway(), await startGateway(pooler.url)];
  const tab = await two.chat.connect();
  await tab.send('hello');
  const started = performance.now();
  await reply(one, tab, 'reply');
  await waitFor('the reply', () => tab.texts.at(-1) === 'reply');
  expect(performance.now() - started).toBeLessThan(6000);
});

/** A visitor with a tab at each gateway logs out at one of them; how long the other tab lives on. */
async function loggedOut(one: Member, two: Member): Promise<number> {
  const here = await identified(one);
  await here.send('hello');
  const there = await again(two, here);
  const started = performance.now();
  expect(await here.request('logout')).toEqual({ ok: true });
  for (const member of [one, two]) {
    for (const client of [here, there]) {
      const { session } = await again(member, client);
      expect(session).toMatchObject({ verified: false, lastSeq: 0 });
      expect(session.visitorId).not.toBe(here.session.visitorId);
      expect((await there.upload({ name: 'a.txt', bytes: Buffer.from('a') })).status).toBe(401);
    }
  }
  await waitFor('both tabs to be closed', () => ![here, there].some((tab) => tab.socket.connected));
  const lasted = performance.now() - started;
  const next = await identified(two, there.session.token);
  expect(next.session).toMatchObject({ visitorId: here.session.visitorId, lastSeq: 1 });
  return lasted;
}

test('a logout at one gateway ends the tokens at the other, and its open tab', async () => {
  const [one, two] = await startTwo();
  expect(await loggedOut(one, two)).toBeLessThan(5000);
});

test('and within seconds when no hint of it arrives there', async () => {
  const pooler = await PostgresProxy.start(url, () => withoutNotifications);
  ends(() => pooler.stop());
  const [one, two] = [await startGateway(), await startGateway(pooler.url)];
  expect(await loggedOut(one, two)).toBeLessThan(5000);
});

/** A line that is read from the store before that comes as accepted. */
const ticksOf = ({ statuses }: ChatClient) => statuses.filter(({ state }) => state !== 'accepted');

test('a tick reaches the tab at the gateway that did not deliver the message', async () => {
  const [one, two] = await startTwo();
  const tab = await two.chat.connect();
  const messageId = randomUUID();
  await tab.send('hello', { id: messageId });
  await one.chat.server.messageSettled({
    ...{ shopId: SHOP, visitorId: visitorOf(tab), messageId, state: 'delivered' },
  });
  await waitFor('the tick', () => ticksOf(tab).length > 0);
  expect(ticksOf(tab)).toEqual([{ id: messageId, state: 'delivered' }]);
});

test('so does what a person has seen, and a tick that comes late takes it back nowhere', async () => {
  const [one, two] = await startTwo();
  const tab = await two.chat.connect();
  const messageId = randomUUID();
  await tab.send('hello', { id: messageId });
  const message = { shopId: SHOP, visitorId: visitorOf(tab), messageId };
  await one.chat.server.messageSettled({ ...message, state: 'seen' });
  await two.chat.server.messageSettled({ ...message, state: 'delivered' });
  await waitFor('the state', () => ticksOf(tab).length > 0);
  expect(ticksOf(tab)).toEqual([{ id: messageId, state: 'seen' }]);
  const later = await again(one, tab);
  await waitFor('the state again', () => later.statuses.length > 0);
  expect(later.statuses).toEqual(ticksOf(tab));
});

test('a client that comes back at another gateway misses nothing', async () => {
  const [one, two] = await startTwo();
  const tab = await one.chat.connect();
  await tab.send('hello');
  await waitFor('its own line', () => tab.messages.length === 1);
  tab.close();
  await reply(one, tab, 'while away');
  const back = await two.chat.connect({
    auth: { key: 'demo', token: tab.session.token, lastSeq: 1 },
  });
  await waitFor('the reply', () => back.messages.length > 0);
  expect(back.messages).toMatchObject([{ seq: 2, text: 'while away' }]);
});

test('a guest who is identified at one gateway is at the other, too', async () => {
  const [one, two] = await startTwo();
  const known = await identified(two);
  await known.send('from the phone');
  const guest = await one.chat.connect();
  await guest.send('as a guest');
  const tab = await again(two, guest);
  const joined = await identified(one, guest.session.token);
  await waitFor(
    'the guest’s tabs to be closed',
    () => !guest.socket.connected && !tab.socket.connected,
  );
  for (const device of [known, joined]) {
    await waitFor('both lines', () => device.messages.length === 2);
    expect(device.texts).toEqual(['from the phone', 'as a guest']);
  }
  // A tab that comes back before it has heard of the new token is told to ask again.
  const refused = await again(two, tab).catch((error: unknown) => error);
  expect(refused instanceof ConnectRefused && refused.data.code).toBe('busy');
  const back = await again(two, joined);
  expect(back.session.visitorId).toBe(known.session.visitorId);
  await back.send('and on');
  await waitFor('the next line', () => joined.messages.length === 3);
});
