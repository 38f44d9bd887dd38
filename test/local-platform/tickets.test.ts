import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '@jest/globals';
import type { Conversation, Message } from '../../src/platform-api/resources.ts';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import { anEmail, call, create, newFolder, OTHER, startPlatform, ticketOf } from './harness.ts';

const conversationOf = async (platform: LocalPlatform, { conversation_id: id }: Message) =>
  (await call<Conversation>(platform, 'GET', `/conversations/${String(id)}/`)).body;

const next = (platform: LocalPlatform, { conversation_id: id }: Message, change: object = {}) =>
  create(platform, anEmail({ conversation: { id }, ...change }));

test('numbers count up in each shop', async () => {
  const platform = await startPlatform();
  const numbers = async (shop?: typeof OTHER) => {
    const { body } = await create(platform, anEmail(), shop);
    const path = `/tickets/${String(body.ticket_id)}/`;
    const ticket = await call<{ number: number }>(platform, 'GET', path, shop ? { shop } : {});
    return ticket.body.number;
  };
  expect([await numbers(), await numbers(OTHER), await numbers(), await numbers(OTHER)]).toEqual([
    1, 1, 2, 2,
  ]);
});

test('a ticket is New, WaitingContact, then Open, and its conversation new, pending, then open', async () => {
  const agent = { answer: () => Promise.resolve({ text: 'On its way.', escalate: false }) };
  const platform = await startPlatform({ agent: { kind: 'custom', agent } });
  const { body: first } = await create(platform, anEmail());
  await waitFor('the answer', async () => (await ticketOf(platform, first)).status !== 'New');
  expect(await ticketOf(platform, first)).toMatchObject({
    status: 'WaitingContact',
    last_message_content: 'On its way.',
  });
  expect(await conversationOf(platform, first)).toMatchObject({ status: 'pending' });
});

test('a ticket that waits for a person stays WaitingUser when the customer writes again', async () => {
  const agent = { answer: () => Promise.resolve({ text: 'A colleague will.', escalate: true }) };
  const platform = await startPlatform({ agent: { kind: 'custom', agent } });
  const { body: first } = await create(platform, anEmail());
  const escalated = async () => (await ticketOf(platform, first)).status === 'WaitingUser';
  await waitFor('the escalation', escalated);
  const again = await next(platform, first, { message: { content: 'Hello?', remote_id: '2' } });
  expect(await ticketOf(platform, again.body)).toMatchObject({
    status: 'WaitingUser',
    last_message_content: 'Hello?',
  });
  expect(await conversationOf(platform, first)).toMatchObject({
    status: 'open',
    resolution: 'escalated',
  });
});

test.each(['Completed', 'Archived'])(
  'a %s ticket is open again with the next message',
  async (status) => {
    const dir = newFolder();
    const platform = await startPlatform({ dir });
    const { body: first } = await create(platform, anEmail());
    const db = new Database(join(dir, 'platform.sqlite'));
    db.prepare(`UPDATE tickets SET status = ?, completed_at = created_at`).run(status);
    db.exec(`UPDATE conversations SET resolution = 'hard', status = 'pending'`);
    db.close();
    expect(await ticketOf(platform, first)).toMatchObject({ status });
    await next(platform, first);
    expect(await ticketOf(platform, first)).toMatchObject({ status: 'Open', completed_at: null });
    const conversation = await conversationOf(platform, first);
    expect(conversation).toMatchObject({ status: 'open' });
    expect(conversation.resolution).toBeUndefined();
  },
);

test('a ticket has the beginning of its first message, and the last message with its time', async () => {
  let now = Date.parse('2026-04-01T00:00:00Z');
  const platform = await startPlatform({ clock: () => now });
  const sms = (content: string, timestamp?: string, id?: string | null) => ({
    contact: { phone: '+15550002222' },
    conversation: {
      direction: 'inbound',
      type: 'sms',
      agent_contact: '+15550001111',
      ...(id && { id }),
    },
    message: { content, ...(timestamp && { timestamp }) },
  });
  const { body } = await create(
    platform,
    sms('\nHello there\nwhere is it?', '2026-03-31T23:00:00Z'),
  );
  expect(await ticketOf(platform, body)).toMatchObject({
    name: 'Hello there',
    last_message_at: '2026-03-31T23:00:00.000Z',
    created_at: '2026-04-01T00:00:00.000Z',
  });
  now += 60_000;
  const id = body.conversation_id;
  // A late message does not move the time back.
  await create(platform, sms('late', '2026-03-31T22:00:00Z', id));
  expect(await ticketOf(platform, body)).toMatchObject({
    name: 'Hello there',
    last_message_content: 'late',
    last_message_at: '2026-03-31T23:00:00.000Z',
    updated_at: '2026-04-01T00:01:00.000Z',
  });
  // A message with a future time does not block later updates.
  await create(platform, sms('ahead', '2036-01-01T00:00:00Z', id));
  expect(await ticketOf(platform, body)).toMatchObject({
    last_message_at: '2026-04-01T00:01:00.000Z',
  });
});
