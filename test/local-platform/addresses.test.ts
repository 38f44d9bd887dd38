import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import type { Contact, Message } from '../../src/platform-api/resources.ts';
import { ends } from '../support/ends.ts';
import { startMailRelay } from '../support/mail-relay.ts';
import { waitFor } from '../support/wait-for.ts';
import { anEmail, call, create, messagesOf, newFolder, startPlatform } from './harness.ts';
import { isAutomatedAddress, normalPhone } from '../../src/local-platform/addresses.ts';

const agent: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};
const PHONE = '+14155550001';

async function withRelay() {
  const relay = await startMailRelay();
  ends(() => relay.close());
  const replies = {
    relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' as const },
  };
  const platform = await startPlatform({ agent: { kind: 'custom', agent }, replies });
  return { platform, relay };
}

/** The reply to this message. */
const settled = (platform: LocalPlatform, question: Message) =>
  waitFor('the reply', async () => {
    const messages = await messagesOf(platform, question.conversation_id);
    const at = messages.findIndex(({ id }) => id === question.id);
    const reply = messages.slice(0, at).findLast(({ role }) => role === 'agent');
    return reply?.status === 'PENDING' ? undefined : reply;
  });

async function write(platform: LocalPlatform, ...request: Parameters<typeof anEmail>) {
  const { status, body } = await create(platform, anEmail(...request));
  expect(status).toBe(201);
  return body;
}

const aText = (contact: object, to = '+1 (415) 555-0100') => ({
  contact,
  conversation: { direction: 'inbound', type: 'sms', agent_contact: to },
  message: { content: 'Hi' },
});

const aChat = (contact: object) => ({
  contact,
  conversation: { direction: 'inbound', type: 'web_chat' },
  message: { content: 'Hi' },
});

const contactOf = async (platform: LocalPlatform, { contact_id: id }: Message) =>
  (await call<Contact>(platform, 'GET', `/contacts/${String(id)}/`)).body;

describe('a reply goes', () => {
  test('to the address that the message came from, though two share a telephone', async () => {
    const { platform, relay } = await withRelay();
    const ann = await write(platform, { contact: { email: 'ann@home.example', phone: PHONE } });
    const bob = await write(platform, { contact: { email: 'Bob@home.example', phone: PHONE } });
    for (const message of [ann, bob]) {
      expect((await settled(platform, message)).status).toBe('DELIVERED');
    }
    expect(relay.taken.flatMap(({ to }) => to).sort()).toEqual([
      'Bob@home.example',
      'ann@home.example',
    ]);
    expect(bob.contact_id).not.toBe(ann.contact_id);
    expect(await contactOf(platform, bob)).toMatchObject({ phone: null });
  });

  test('to the number that a text came from, and from the number that it went to', async () => {
    const dir = newFolder();
    const platform = await startPlatform({ dir, agent: { kind: 'custom', agent } });
    const email = 'ann@home.example';
    await create(platform, anEmail({ contact: { email, phone: PHONE } }));
    const { body } = await create(platform, aText({ email, phone: '+1 415 555 9999' }));
    await settled(platform, body);
    const [line = ''] = readFileSync(join(dir, 'outbox', 'sms.log'), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({ from: '+14155550100', to: '+14155559999' });
  });

  test('from the address that the message went to, which is ours from then on', async () => {
    const { platform, relay } = await withRelay();
    const first = await write(platform, { message: { remote_id: '<one@x>' } });
    await settled(platform, first);
    const second = await write(platform, {
      conversation: { agent_contact: 'Sales@Acme.example' },
      message: { remote_id: '<two@x>', email: { in_reply_to: '<one@x>' } },
    });
    expect(second.conversation_id).toBe(first.conversation_id);
    const reply = await settled(platform, second);
    expect(reply.status).toBe('DELIVERED');
    expect(relay.taken.map(({ from }) => from)).toEqual([
      'support@acme.example',
      'sales@acme.example',
    ]);
    expect(reply.remote_id).toMatch(/@acme\.example>$/);
    // An email from the shop's own address is a reply that came back.
    const own = await write(platform, { contact: { email: 'SALES@acme.example' } });
    const last = await write(platform, { contact: { email: 'zoe@example.com' } });
    await settled(platform, last);
    expect(await messagesOf(platform, own.conversation_id)).toHaveLength(1);
  });

  test('nowhere when a text comes from our own number, written in another way', async () => {
    const platform = await startPlatform({ agent: { kind: 'custom', agent } });
    const { body } = await create(platform, aText({ phone: '+1 415-555-0100' }));
    const other = await create(platform, aText({ phone: PHONE }));
    await settled(platform, other.body);
    expect(await messagesOf(platform, body.conversation_id)).toHaveLength(1);
  });
});

describe('a contact', () => {
  test('is not taken over by a chat that gives his number beside an email', async () => {
    const platform = await startPlatform();
    const victim = await create(platform, aText({ phone: PHONE }));
    const chat = await create(platform, aChat({ email: 'eve@evil.example', phone: PHONE }));
    expect(chat.body.contact_id).not.toBe(victim.body.contact_id);
    expect(await contactOf(platform, victim.body)).toMatchObject({ phone: PHONE, email: null });
    const mail = await write(platform, { contact: { email: 'eve@evil.example' } });
    expect(mail.contact_id).toBe(chat.body.contact_id);
  });

  test('is not taken over by a text from another number that gives his email', async () => {
    const platform = await startPlatform();
    const email = 'ann@home.example';
    const ann = await write(platform, { contact: { email, phone: PHONE } });
    const eve = await create(platform, aText({ email, phone: '+14155559999' }));
    expect(eve.body.contact_id).not.toBe(ann.contact_id);
    expect(await contactOf(platform, eve.body)).toMatchObject({ email: null });
    // Each is found as the same contact.
    const again = await create(platform, aText({ email, phone: '+14155559999' }));
    expect(again.body.contact_id).toBe(eve.body.contact_id);
    const text = await create(platform, aText({ email, phone: PHONE }));
    expect(text.body.contact_id).toBe(ann.contact_id);
  });

  test('is found by email, then by phone, and what was missing is filled in', async () => {
    const platform = await startPlatform();
    const text = await create(platform, aText({ phone: PHONE }));
    const mail = await write(platform, { contact: { email: 'ann@home.example', phone: PHONE } });
    expect(mail.contact_id).toBe(text.body.contact_id);
    expect(await contactOf(platform, mail)).toMatchObject({
      email: 'ann@home.example',
      phone: PHONE,
    });
    const chat = await create(platform, aChat({ email: 'ANN@home.example' }));
    expect(chat.body.contact_id).toBe(mail.contact_id);
  });
});

test.each([
  ['+15550002222', '+15550002222'],
  [' +1 (555) 000-2222 ', '+15550002222'],
  ['+49 (0) 30 901820', '+4930901820'],
  ['+44 20 7946 0958', '+442079460958'],
  // Numbers without a known country are kept as they are.
  ['555 000 2222', '555 000 2222'],
  ['12345', '12345'],
  ['ACME', 'ACME'],
  ['whatsapp:+15550002222', 'whatsapp:+15550002222'],
  ['+1 555 000 2222 ext. 5', '+1 555 000 2222 ext. 5'],
  ['', ''],
])('%j is stored as %j', (given, stored) => {
  expect(normalPhone(given)).toBe(stored);
});

test.each([
  '',
  '<>',
  'no-reply@shop.example',
  'NoReply@shop.example',
  'do-not-reply@shop.example',
  'donotreply@shop.example',
  'no_reply+abc@shop.example',
  'orders-noreply@shop.example',
  'noreply2@shop.example',
  'never-reply@shop.example',
  'no-responda@shop.example',
  'notifications@shop.example',
  'nobody@shop.example',
  'MAILER-DAEMON@mx.example',
  'postmaster@mx.example',
  'bounce@mx.example',
  'bounces+ann=example.com@mx.example',
  'list-bounces@lists.example',
  'owner-list@lists.example',
  'list-request@lists.example',
  'listserv@lists.example',
  'majordomo@lists.example',
])('%s is an automated address', (address) => expect(isAutomatedAddress(address)).toBe(true));

test.each([
  'ann@example.com',
  'ann.noreplyson@example.com',
  'john.bounce@example.com',
  'reply@example.com',
  'replies@example.com',
  'nora.eply@example.com',
  'request@example.com',
  'owner@example.com',
  'anowner-x@example.com',
  'ann.nobody@example.com',
  'notifier@example.com',
  'ann@no-reply.example',
  'ann@postmaster.example',
])('%s is not an automated address', (address) => expect(isAutomatedAddress(address)).toBe(false));

test('a long address takes no time', () => {
  expect(isAutomatedAddress(`${'-no'.repeat(100_000)}@example.com`)).toBe(false);
});
