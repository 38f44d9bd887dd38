import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import type {
  CannedTexts,
  DeskFile,
  DeskMessage,
  DeskQueue,
  DeskSummary,
  DeskTicketView,
  MadeApiToken,
  Present,
  Problem,
} from '../../../src/console/contract.ts';
import { ACME, ACME_SHOP, CHAT_KEY, INBOX, shopNamed } from '../../support/gateway-config.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { ends } from '../../support/ends.ts';
import { type RunningGateway } from '../../support/running-gateway.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { auditOf, consoleScene, sharedConsole } from './console-scene.ts';
import { EventStream } from './event-stream.ts';

const DORA = { name: 'dora', password: 'of-the-support-desk', role: 'desk' };
const NOBODYS = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c99';
const BEN = { name: 'ben', password: 'of-the-other-one', role: 'desk' };

/** The local platform, and two people at its desk. */
const TWO_AT_DESK = { admin: { operators: [DORA, BEN] }, localAgent: { kind: 'builtin' } };

const shared = sharedConsole(TWO_AT_DESK);

/** A new question for a person, at a gateway with two people at its desk. */
async function deskScene(console = shared()) {
  const scene = await console;
  const [dora, ben] = await Promise.all(
    [DORA, BEN].map(async ({ name, password }) => {
      const client = consoleClient(scene.gateway.adminUrl);
      await client.signIn(password, name);
      return client;
    }),
  );
  if (dora === undefined || ben === undefined) throw new Error('nobody signed in');
  const id = await askForPerson(scene.gateway);
  const ticket = await waitFor(
    'the ticket',
    async () => (await queueOf(dora)).tickets.find(({ name }) => name === `A lamp, ${id}`),
    50,
  );
  return { ...scene, dora, ben, id, path: `/api/platform/desk/acme/tickets/${ticket.id}` };
}

/** @returns what the mail's Message-ID and subject end with */
async function askForPerson({ smtpPort }: RunningGateway): Promise<string> {
  const id = randomUUID();
  const client = await SmtpClient.connect(smtpPort);
  try {
    await client.reply();
    await client.envelope([INBOX]);
    await client.say('DATA');
    const lines = [
      ...['From: Ann <ann@example.com>', `To: ${INBOX}`, `Message-ID: <${id}@example.com>`],
      ...[`Subject: A lamp, ${id}`, '', 'I want to talk to a human, please.'],
    ];
    client.send(Buffer.from(lines.join('\r\n')));
    expect(await client.say('\r\n.')).toMatch(/^250/);
  } finally {
    client.destroy();
  }
  return id;
}

const queueOf = async (client: ConsoleClient) =>
  (await client.get('/api/platform/desk/queue')).body as DeskQueue;
const read = async (client: ConsoleClient, path: string) =>
  (await client.get(path)).body as DeskTicketView;
const problemOf = ({ body }: { readonly body: unknown }) => body as Problem;

describe('the desk', () => {
  test('lists what waits, shows the conversation, and sends a reply with a file', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    const replies = { relay: `smtp://127.0.0.1:${relay.port}`, relayTls: 'off' };
    const { dora, operator, id, path } = await deskScene(consoleScene({ ...TWO_AT_DESK, replies }));
    expect(await queueOf(dora)).toMatchObject({
      tickets: [{ shop: 'acme', name: `A lamp, ${id}`, channel: 'email', customer: 'Ann' }],
    });
    const ticket = await read(dora, path);
    expect(ticket).toMatchObject({
      ...{ shop: 'acme', status: 'WaitingUser', agent: 'silent', replyTo: 'ann@example.com' },
      assignable: ['operator', 'dora', 'ben'],
      messages: [{ from: 'customer' }, { from: 'agent' }],
      present: [],
    });
    const uploaded = await dora.ask('/api/platform/desk/acme/files?name=size%20chart.txt', {
      ...{ method: 'POST', body: '41 42', headers: { 'content-type': 'text/plain' } },
    });
    expect(uploaded.status).toBe(201);
    const file = uploaded.body as DeskFile;
    expect(file).toEqual({
      ...{ id: expect.any(String), name: 'size chart.txt', type: 'text/plain', bytes: 5 },
    });
    const download = await dora.get(`/api/platform/desk/acme/files/${file.id}`);
    expect([download.status, download.text]).toEqual([200, '41 42']);
    expect(download.headers['content-disposition']).toBe('attachment; filename="size chart.txt"');
    expect((await dora.get(`/api/platform/desk/acme/files/${file.id}/picture`)).status).toBe(404);
    const answer = await dora.post(`${path}/reply`, {
      ...{ version: ticket.version, text: 'We have 41.', files: [file.id] },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'WaitingContact' });
    const sent = await waitFor('the mail', () =>
      relay.taken.find(({ mail }) => mail.text?.startsWith('We have 41.')),
    );
    expect(sent.mail).toMatchObject({
      inReplyTo: `<${id}@example.com>`,
      attachments: [{ filename: 'size chart.txt' }],
    });
    const { lines } = await auditOf(operator);
    expect(lines).toContainEqual(
      expect.objectContaining({
        ...{ who: 'dora', action: 'ticket_reply', target: 'acme ticket 1', outcome: 'ok' },
      }),
    );
    expect(await queueOf(dora)).toEqual({ tickets: [] });
  });

  test.each([
    ['multipart/related', 'application/octet-stream'],
    ['Message/rfc822', 'application/octet-stream'],
    ['text/html; charset=utf-8', 'text/html'],
    ['', 'application/octet-stream'],
  ])('stores a file of the type %j as %s', async (given, type) => {
    const { dora } = await deskScene();
    const uploaded = await dora.ask('/api/platform/desk/acme/files?name=page.mhtml', {
      ...{ method: 'POST', body: 'a page', headers: { 'content-type': given } },
    });
    expect(uploaded.body).toMatchObject({ type });
  });

  test('shows a picture by its bytes, and nothing that only says that it is one', async () => {
    const { dora } = await deskScene();
    const pictureOf = async (body: string) => {
      const headers = { 'content-type': 'image/gif' };
      const path = '/api/platform/desk/acme/files';
      const uploaded = await dora.ask(`${path}?name=lamp.gif`, { method: 'POST', body, headers });
      return dora.get(`${path}/${(uploaded.body as DeskFile).id}/picture`);
    };
    const gif = 'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;';
    const shown = await pictureOf(gif);
    expect([shown.status, shown.headers['content-type']]).toEqual([200, 'image/gif']);
    expect(shown.headers['x-content-type-options']).toBe('nosniff');
    for (const other of [
      '<svg onload="alert(1)">',
      '<html>',
      `GIF8<script>alert(1)</script>`,
      '',
    ]) {
      expect((await pictureOf(other)).status).toBe(404);
    }
  });

  test('refuses a change of what somebody has not read, and says what happened', async () => {
    const { dora, ben, path } = await deskScene();
    const { version } = await read(ben, path);
    expect((await dora.post(`${path}/assign`, { version, to: 'dora' })).status).toBe(200);
    const refused = await ben.post(`${path}/reply`, { version, text: 'From Ben' });
    expect(refused.status).toBe(409);
    expect(problemOf(refused)).toEqual({
      code: 'conflict',
      message: 'The ticket has changed since you read it',
      changes: [{ what: 'assigned', who: 'dora', to: 'dora', at: expect.any(Number) }],
    });
    const { version: newer } = await read(ben, path);
    const done = await ben.post(`${path}/reply`, { version: newer, text: 'From Ben' });
    expect(done.body).toMatchObject({ assignee: 'dora' });
  });

  test('makes every change, each with a line in the audit log', async () => {
    const { dora, operator, path } = await deskScene();
    const change = async (name: string, body: object = {}) => {
      const { version } = await read(dora, path);
      const answer = await dora.post(`${path}/${name}`, { version, ...body });
      expect([name, answer.status]).toEqual([name, 200]);
      return answer.body as DeskTicketView;
    };
    expect(await change('assign', { to: 'ben' })).toMatchObject({ assignee: 'ben' });
    expect(await change('assign', { to: null })).not.toHaveProperty('assignee');
    const noted = await change('note', { text: 'They called.' });
    expect(noted.messages.at(-1)).toMatchObject({ who: 'dora', isInternal: true });
    expect(await change('complete')).toMatchObject({ status: 'Completed' });
    expect(await change('reopen')).toMatchObject({ status: 'WaitingUser' });
    const { number, ...last } = await change('hand-back');
    expect(last).toMatchObject({ agent: 'answers' });
    const { lines } = await auditOf(operator);
    const own = lines.filter(({ target }) => target === `acme ticket ${number}`);
    expect(own.map(({ action, outcome }) => `${action}: ${outcome}`).toReversed()).toEqual([
      ...['ticket_assign: to ben', 'ticket_assign: to nobody', 'ticket_note: ok'],
      ...['ticket_complete: ok', 'ticket_reopen: ok', 'ticket_hand_back: ok'],
    ]);
    // Never the text, nor who the customer is.
    expect(JSON.stringify(own)).not.toMatch(/called|ann@|Ann/);
  });

  test.each([
    ['reply', { text: 'x' }, 400, 'version is not valid'],
    ['reply', { version: 'x', text: 'x' }, 400, 'The version is not valid'],
    ['reply', { version: '0.0.New', text: '' }, 400, 'text is not valid'],
    ['reply', { version: '0.0.New', text: 'x', more: 1 }, 400, 'The request is not valid'],
    ['reply', { version: '0.0.New', text: 'x'.repeat(100_001) }, 400, 'text is not valid'],
    ['assign', { version: '0.0.New', to: 'nobody' }, 400, 'There is no such person'],
    ['presence', { writing: 'yes' }, 400, 'writing is not valid'],
    ['seen', {}, 400, 'message is not valid'],
    ['seen', { message: 'the last one' }, 400, 'message is not valid'],
    ['seen', { message: NOBODYS, more: 1 }, 400, 'The request is not valid'],
    ['seen', { message: NOBODYS }, 404, 'Message not found'],
  ])('refuses a wrong %s: %j', async (name, body, status, words) => {
    const { dora, path } = await deskScene();
    const answer = await dora.post(`${path}/${name}`, body);
    expect(answer.status).toBe(status);
    expect(problemOf(answer).message).toContain(words);
  });

  test('refuses changes without the header of the page, and by a token that may only read', async () => {
    const { dora, operator, stranger, path } = await deskScene();
    const { version } = await read(dora, path);
    const body = { version };
    const bare = { method: 'POST', body, headers: { 'x-sluice-console': undefined } };
    expect((await dora.ask(`${path}/complete`, bare)).status).toBe(403);
    const wanted = { name: 'ci', scope: 'read', lifetimeMs: null };
    const { secret } = (await operator.post('/api/tokens', wanted)).body as MadeApiToken;
    const headers = { authorization: `Bearer ${secret}` };
    expect((await stranger.ask(path, { headers })).status).toBe(200);
    const refused = await stranger.ask(`${path}/complete`, { method: 'POST', body, headers });
    expect(refused.status).toBe(403);
    expect(await read(dora, path)).toMatchObject({ version, status: 'WaitingUser' });
  });

  test('shows live who has a ticket open, and what has changed', async () => {
    const { dora, ben, gateway, path } = await deskScene(consoleScene(TWO_AT_DESK));
    const stream = new EventStream(ben);
    await waitFor('the first summary', () => stream.of('desk').length > 0, 50);
    expect(stream.of<DeskSummary>('desk')[0]).toMatchObject({
      shops: [{ shop: 'acme', isLocal: true, waiting: 1, oldestAt: expect.any(Number) }],
    });
    expect((await dora.post(`${path}/presence`, { writing: true })).status).toBe(204);
    const { present } = await waitFor(
      'the presence',
      () => stream.of<{ present: Present[] }>('presence')[0],
      50,
    );
    expect(present).toEqual([{ who: 'dora', writing: true, until: expect.any(Number) }]);
    expect(await read(ben, path)).toMatchObject({ present });
    await askForPerson(gateway);
    await waitFor('the change', () => stream.of('tickets').length > 0, 50);
    await waitFor(
      'the count',
      () => stream.of<DeskSummary>('desk').at(-1)?.shops[0]?.waiting === 2,
      50,
    );
    // Nothing of what the role may not request.
    expect([...new Set(stream.events.map(({ event }) => event))].toSorted()).toEqual([
      ...['desk', 'presence', 'tickets'],
    ]);
  });

  test('has no texts of the sample shop for a shop of one’s own', async () => {
    const { dora } = await deskScene();
    const found = (await dora.get('/api/platform/desk/texts?words=shipping')).body as CannedTexts;
    expect(found).toEqual({ texts: [] });
  });
});

describe('what a person has read', () => {
  /** Two shops, and a visitor of the first one's chat who has asked for a person. */
  async function chatScene() {
    const shops = [ACME_SHOP, shopNamed('other', 1)];
    const scene = await consoleScene({ admin: { operators: [DORA] }, shops });
    const { dataDir, gateway, operator } = scene;
    // Every write of a line's state.
    const db = new Database(join(dataDir, 'spool.db'));
    ends(() => db.close());
    db.exec(`CREATE TABLE state_writes (state TEXT);
      CREATE TRIGGER marked AFTER UPDATE ON journal
      BEGIN INSERT INTO state_writes VALUES (new.state); END`);
    const marks = () => db.prepare('SELECT state FROM state_writes').pluck().all();
    const dora = consoleClient(gateway.adminUrl);
    await dora.signIn(DORA.password, DORA.name);
    const connect = async (token?: string) => {
      const auth = { key: CHAT_KEY, ...(token !== undefined && { token }) };
      const client = await ChatClient.connect({ url: gateway.httpUrl, auth });
      ends(() => client.close());
      return client;
    };
    const visitor = await connect();
    const id = randomUUID();
    await visitor.send('I want to talk to a human', { id });
    const ticket = await waitFor(
      'the ticket',
      async () => (await queueOf(operator)).tickets[0],
      50,
    );
    await waitFor('the tick', () => visitor.statuses.some(({ state }) => state === 'delivered'));
    const pathIn = (shop: string) => `/api/platform/desk/${shop}/tickets/${ticket.id}`;
    const path = pathIn('acme');
    const { messages } = await read(operator, path);
    const idOf = (who: DeskMessage['from']) => messages.find(({ from }) => from === who)?.id;
    return { ...scene, dora, visitor, connect, id, path, pathIn, idOf, marks };
  }

  test('the visitor of a chat is told, once, on every tab and the next time too', async () => {
    const { operator, dora, visitor, connect, id, path, idOf, marks } = await chatScene();
    const message = idOf('customer');
    for (const person of [dora, operator, dora]) {
      expect((await person.post(`${path}/seen`, { message })).status).toBe(204);
    }
    await waitFor('the state', () => visitor.statuses.some(({ state }) => state === 'seen'));
    const later = await connect(visitor.session.token);
    await waitFor('the state again', () => later.statuses.length > 0);
    expect(later.statuses).toEqual([{ id, state: 'seen' }]);
    expect(marks()).toEqual(['delivered', 'seen']);
    // It is no step of the ticket, and nobody's change is refused for it.
    expect(await read(dora, path)).toMatchObject({ steps: [] });
  });

  test('is not what somebody fetches, may not say, or names in another shop', async () => {
    const { operator, dora, stranger, visitor, connect, id, ...scene } = await chatScene();
    const { path, pathIn, idOf, marks } = scene;
    const message = idOf('customer');
    const says = async (client: ConsoleClient, at: string, body: object, headers = {}) =>
      (await client.ask(`${at}/seen`, { method: 'POST', body, headers })).status;
    const wanted = { name: 'ci', scope: 'read', lifetimeMs: null };
    const { secret } = (await operator.post('/api/tokens', wanted)).body as MadeApiToken;
    const headers = { authorization: `Bearer ${secret}` };
    expect((await stranger.ask(path, { headers })).status).toBe(200);
    expect((await stranger.ask(`${path}/seen`, { headers })).status).toBe(404);
    expect(await says(stranger, path, { message }, headers)).toBe(403);
    expect(await says(stranger, path, { message })).toBe(401);
    expect((await dora.get(path)).status).toBe(200);
    expect(await says(dora, path, { message }, { 'x-sluice-console': undefined })).toBe(403);
    expect(await says(dora, pathIn('other'), { message })).toBe(404);
    expect(await says(dora, path, { message: idOf('agent') })).toBe(404);
    const later = await connect(visitor.session.token);
    await waitFor('the state', () => later.statuses.length > 0);
    expect(later.statuses).toEqual([{ id, state: 'delivered' }]);
    expect(marks()).toEqual(['delivered']);
  });

  test('of an email changes nothing', async () => {
    const { dora, path } = await deskScene();
    const { version, messages } = await read(dora, path);
    const body = { message: messages[0]?.id };
    expect((await dora.post(`${path}/seen`, body)).status).toBe(204);
    expect(await read(dora, path)).toMatchObject({ version });
  });
});

test('a shop with another platform is not answered here, and its tickets are still shown', async () => {
  const remote = { ...shopNamed('remote', 2), platformUrl: 'http://127.0.0.1:9' };
  const local = { ...shopNamed('acme', 1), ...ACME };
  const { operator } = await consoleScene({ shops: [local, remote] });
  const refused = await operator.get(`/api/platform/desk/remote/tickets/${NOBODYS}`);
  expect(refused.status).toBe(404);
  expect(problemOf(refused).message).toBe(
    'The shop has another platform: answer its tickets there',
  );
  expect((await operator.get(`/api/platform/desk/nobody/tickets/${NOBODYS}`)).status).toBe(404);
  expect((await operator.get('/api/platform/desk/queue')).body).toEqual({ tickets: [] });
});
