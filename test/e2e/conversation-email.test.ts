import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { simpleParser } from 'mailparser';
import nodemailer from 'nodemailer';
import type Mail from 'nodemailer/lib/mailer/index.js';
import { ends } from '../support/ends.ts';
import { INBOUND_TOKEN, INBOX } from '../support/gateway-config.ts';
import { type RelayedMail, startMailRelay } from '../support/mail-relay.ts';
import { waitFor } from '../support/wait-for.ts';
import { embeddedScene } from './embedded-scene.ts';

const ANN = { name: 'Ann Lee', address: 'ann@example.com' };
const PASSWORD = 'p@ss word%of:the/relay';

/** Ann's mail server, which brings us her mail. */
function annsServer(port: number) {
  const transport = nodemailer.createTransport({
    ...{ host: '127.0.0.1', port, requireTLS: true, tls: { rejectUnauthorized: false } },
  });
  ends(() => transport.close());
  return (mail: Mail.Options) => transport.sendMail({ from: ANN, to: INBOX, ...mail });
}

/** What Ann's mail program makes of "Reply": its headers, and what she answers to, quoted. */
function answerTo({ mail }: Pick<RelayedMail, 'mail'>, text: string): Mail.Options {
  const quoted = (mail.text ?? '').replace(/^/gm, '> ');
  const references = [mail.references ?? [], mail.messageId ?? ''].flat();
  return {
    subject: mail.subject ?? '',
    inReplyTo: mail.messageId ?? '',
    references,
    text: `${text}\n\nOn Tue, 21 Apr 2026 at 09:30, Acme <${INBOX}> wrote:\n\n${quoted}`,
  };
}

async function aRelay() {
  const logins: string[] = [];
  const relay = await startMailRelay({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username = '', password = '' }, _session, done) => {
      logins.push(`${username}:${password}`);
      done(null, { user: username });
    },
  });
  ends(() => relay.close());
  const url = `smtp://acme:${encodeURIComponent(PASSWORD)}@127.0.0.1:${relay.port}`;
  return { relay, logins, url };
}

test("a conversation by email: the customer's answer to the agent's answer comes back to it", async () => {
  const { relay, logins, url } = await aRelay();
  const scene = await embeddedScene({ replies: { relay: url } });
  const send = annsServer(scene.gateway.smtpPort);
  await send({
    messageId: '<first@example.com>',
    subject: 'My shoes',
    text: 'Hello,\n\nhow can I return my shoes?\n\nAnn',
  });

  const first = await waitFor("the agent's answer", () => relay.taken[0]);
  expect(logins).toEqual([`acme:${PASSWORD}`]);
  expect(first).toMatchObject({ from: INBOX, to: [ANN.address] });
  expect(first.mail).toMatchObject({
    // Nothing confirms that the first is hers, so nothing of it is repeated.
    subject: 'Re: your message',
    from: { value: [{ name: 'acme', address: INBOX }] },
    to: { value: [{ name: '', address: ANN.address }] },
    text: expect.stringMatching(/30 days/),
    html: expect.stringMatching(/<p>[^]*30 days/),
  });
  expect([first.mail.inReplyTo, first.mail.references]).toEqual([undefined, undefined]);
  expect(first.mail.headers.get('auto-submitted')).toBe('auto-replied');
  expect(first.mail.messageId).toMatch(/^<[0-9a-f-]{36}@acme\.example>$/);

  await send({
    messageId: '<second@example.com>',
    ...answerTo(first, 'Thank you. And how long does shipping take?'),
  });
  const second = await waitFor('the next answer', () => relay.taken[1]);
  expect(second.mail).toMatchObject({
    subject: 'Re: your message',
    to: { value: [ANN] },
    inReplyTo: '<second@example.com>',
    references: [first.mail.messageId, '<second@example.com>'],
  });

  // A mail program that names the answer alone: the platform knows its own ids.
  const { references: _none, ...alone } = answerTo(second, 'Fine.');
  await send({ messageId: '<alone@example.com>', ...alone });
  await waitFor('the third message', async () => (await scene.messages()).length === 6);
  expect((await scene.messages())[4]?.text).toBe('Fine.');

  const replies = await scene.delivered(3);
  expect(replies.slice(0, 2).map(({ remote_id: id }) => id)).toEqual([
    first.mail.messageId,
    second.mail.messageId,
  ]);
  const messages = await scene.messages();
  const both = ['customer', 'agent'];
  expect(messages.map(({ role }) => role)).toEqual([...both, ...both, ...both]);
  // What she quoted stays out.
  expect(messages[2]?.text).toBe('Thank you. And how long does shipping take?');
  expect(new Set(messages.map(({ conversation_id: id }) => id)).size).toBe(1);
  const tickets = await scene.tickets();
  expect(tickets).toMatchObject([{ id: messages[3]?.ticket_id, status: 'WaitingContact' }]);

  // The gateway takes the relay's mail for what it is, should it come back.
  const before = (await scene.messages()).length;
  const back = nodemailer.createTransport({
    ...{ host: '127.0.0.1', port: scene.gateway.smtpPort, tls: { rejectUnauthorized: false } },
  });
  ends(() => back.close());
  await back.sendMail({ envelope: { from: ANN.address, to: INBOX }, raw: second.raw });
  await send({ messageId: '<third@example.com>', subject: 'Opening hours?', text: 'When?' });
  await scene.delivered(4);
  expect(await scene.messages()).toHaveLength(before + 2);

  const log = scene.log.join('\n');
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), ANN.address, '30 days']) {
    expect(log).not.toContain(secret);
  }
});

test('forged mails get ten answers in an hour from one network, and tell their victims nothing of the forger', async () => {
  const { relay, url } = await aRelay();
  const scene = await embeddedScene({
    replies: { relay: url },
    // Nobody answers there.
    dns: { servers: ['127.0.0.1:9'] },
    smtp: { trustedRelays: [] },
  });
  const send = annsServer(scene.gateway.smtpPort);
  const forged = (n: number): Mail.Options => ({
    from: { name: `Cheap pills ${n}`, address: `victim-${n}@example.net` },
    subject: `Cheap pills at https://pills.example/${n}`,
    text: 'Can I return my shoes?',
  });
  for (let n = 0; n < 14; n += 1) await send(forged(n));
  const statuses = await waitFor('the agent', async () => {
    const all = (await scene.tickets()).map(({ status }) => status);
    const isDone = all.every((status) => status === 'WaitingContact' || status === 'WaitingUser');
    return all.length === 14 && isDone && all;
  });
  expect(statuses.filter((status) => status === 'WaitingContact')).toHaveLength(10);
  await waitFor('the answers', () => relay.taken.length === 10);
  for (const { raw } of relay.taken) expect(raw).not.toMatch(/pills/i);
  // One by a relay of many senders has the budget of the shop alone.
  const body = 'From: Ann <ann@example.org>\r\nSubject: Shoes\r\n\r\nCan I return my shoes?\r\n';
  const headers = { 'content-type': 'message/rfc822', authorization: `Bearer ${INBOUND_TOKEN}` };
  const inbound = `${scene.gateway.httpUrl}/email/inbound?from=ann@example.org&to=${INBOX}`;
  expect((await fetch(inbound, { method: 'POST', headers, body })).status).toBe(202);
  await waitFor('its answer', () => relay.taken.length === 11);
});

test('while the relay is down, the answer waits, and it goes out once when it is back', async () => {
  const { relay, url } = await aRelay();
  relay.answerNext('connect', 421);
  const scene = await embeddedScene({ replies: { relay: url } });
  const send = annsServer(scene.gateway.smtpPort);
  await send({ messageId: '<one@example.com>', subject: 'Returns', text: 'How to return?' });
  await waitFor('the refusal', () => scene.log.some((line) => line.includes('reply.deferred')));
  const waiting = (await scene.messages()).find(({ role }) => role === 'agent');
  expect(waiting).toMatchObject({ status: 'PENDING' });
  // Its own time is a minute away; the next one finds the relay as it is now.
  await send({ messageId: '<two@example.com>', subject: 'Sizes', text: 'Which sizes?' });
  await waitFor('the other answer', () => relay.taken.length === 1);
  expect(relay.taken[0]?.mail.text).toMatch(/size/i);

  // The minute is over; the program looks when the next reply leaves, or by itself.
  const db = new Database(join(scene.dataDir, 'platform', 'platform.sqlite'));
  db.exec('UPDATE departures SET next_at = 1');
  db.close();
  await send({ messageId: '<three@example.com>', subject: 'Hours', text: 'Opening hours?' });
  const replies = await scene.delivered(3);
  expect(relay.taken).toHaveLength(3);
  const sent = relay.taken.find(({ mail }) => mail.text?.includes('30 days'));
  expect(sent?.mail.messageId).toBe(replies.find(({ id }) => id === waiting?.id)?.remote_id);
});

test('without a relay, the answer is an .eml file, and an answer to it comes back as well', async () => {
  const scene = await embeddedScene();
  const send = annsServer(scene.gateway.smtpPort);
  await send({ messageId: '<first@example.com>', subject: 'Returns', text: 'How to return?' });
  const [reply] = await scene.delivered(1);
  const outbox = join(scene.dataDir, 'platform', 'outbox');
  expect(readdirSync(outbox)).toEqual([`${String(reply?.id)}.eml`]);
  const raw = readFileSync(join(outbox, `${String(reply?.id)}.eml`), 'utf8');
  const mail = await simpleParser(raw);
  await send({
    messageId: '<second@example.com>',
    ...answerTo({ mail }, 'What about sale items?'),
  });
  const replies = await scene.delivered(2);
  expect(new Set(replies.map(({ conversation_id: id }) => id)).size).toBe(1);
  expect(await scene.tickets()).toHaveLength(1);
});
