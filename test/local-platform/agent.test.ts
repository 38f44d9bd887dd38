import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { describe, expect, it } from '@jest/globals';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import type { ReplyNotice } from '../../src/local-platform/outbound/reply-sender.ts';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import { type SlowTurn, watchMainThread } from '../../src/runtime/main-thread.ts';
import type { Message } from '../../src/platform-api/resources.ts';
import { ends } from '../support/ends.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  anEmail,
  create,
  KNOWLEDGE,
  messagesOf,
  newFolder,
  startPlatform,
  ticketOf,
} from './harness.ts';

const builtin = { kind: 'builtin', knowledgeDir: KNOWLEDGE } as const;

async function withReplies(options: Parameters<typeof startPlatform>[0] = {}) {
  const replies: ReplyNotice[] = [];
  const platform = await startPlatform({
    agent: builtin,
    onReply: (reply) => replies.push(reply),
    ...options,
  });
  return { platform, replies };
}

const answersIn = async (platform: LocalPlatform, message: Message) =>
  (await messagesOf(platform, message.conversation_id)).filter(({ role }) => role === 'agent');

const chat = (content: string, id?: string | null) => ({
  contact: { name: 'Visitor 7F3A' },
  conversation: { direction: 'inbound', type: 'web_chat', ...(id && { id }) },
  message: { content },
});

describe('the agent answers', () => {
  it('an email with an email that the customer can answer', async () => {
    const { platform, replies } = await withReplies();
    const { body } = await create(
      platform,
      anEmail({
        message: {
          content: 'How can I return my shoes?',
          remote_id: '<q2@example.com>',
          email: {
            subject: 'Returning',
            in_reply_to: '<q1@example.com>',
            references: ['<q0@example.com>', '<q1@example.com>'],
          },
        },
      }),
    );
    const reply = await waitFor('the reply', () => replies[0]);
    expect(reply).toMatchObject({ channel: 'email', conversationId: body.conversation_id });

    const mail = await simpleParser(await readFile(reply.outboxPath ?? ''));
    expect(mail.subject).toBe('Re: Returning');
    expect(mail.from?.value).toEqual([{ name: 'Acme Shoes', address: 'support@acme.example' }]);
    expect(mail.to).toMatchObject({ value: [{ name: 'Ann Lee', address: 'ann@example.com' }] });
    expect(mail.inReplyTo).toBe('<q2@example.com>');
    expect(mail.references).toEqual(['<q0@example.com>', '<q1@example.com>', '<q2@example.com>']);
    expect(mail.headers.get('auto-submitted')).toBe('auto-replied');
    expect(mail.text).toMatch(/Hello Ann,[^]*within 30 days[^]*Acme Shoes/);
    expect(mail.messageId).toMatch(/^<[0-9a-f-]{36}@acme\.example>$/);

    const [stored] = await answersIn(platform, body);
    expect(stored).toMatchObject({
      id: reply.messageId,
      remote_id: mail.messageId,
      status: 'DELIVERED',
      type: 'External',
      role: 'agent',
      agent_id: expect.any(String),
    });
    expect(await ticketOf(platform, body)).toMatchObject({ status: 'WaitingContact' });

    const answer = anEmail({
      message: { content: 'And the refund?', email: { in_reply_to: mail.messageId ?? '' } },
    });
    expect((await create(platform, answer)).body.conversation_id).toBe(body.conversation_id);
    await waitFor('the second reply', () => replies[1]);
  });

  it('never puts anything but a message-id into a header', async () => {
    const { platform, replies } = await withReplies();
    await create(
      platform,
      anEmail({
        contact: { name: 'Ann\r\nBcc: all@example.com' },
        message: {
          remote_id: '<a@x>#0123456789ab',
          email: {
            subject: 'Hi\r\nBcc: all@example.com',
            references: ['no id', '<b@x>\r\nBcc: all@example.com'],
          },
        },
      }),
    );
    const reply = await waitFor('the reply', () => replies[0]);
    const mail = await simpleParser(await readFile(reply.outboxPath ?? ''));
    expect(mail.inReplyTo).toBe('<a@x>');
    expect(mail.references).toEqual(['<b@x>', '<a@x>']);
    expect(mail.headers.has('bcc')).toBe(false);
  });

  it('from its knowledge, in the chat', async () => {
    const { platform, replies } = await withReplies();
    const { body } = await create(platform, chat('Can I pay with PayPal'));
    await waitFor('the reply', () => replies[0]);
    const [answer] = await answersIn(platform, body);
    expect(answer?.text).toMatch(/PayPal, Apple Pay/);
    expect(answer).toMatchObject({ status: 'DELIVERED', format: 'MARKDOWN' });
    // Without the marks of the Markdown (API §2.2).
    expect(answer?.text).not.toContain('**');
    expect(answer?.text).not.toContain('Visitor');
  });

  it('every message of a conversation once, in order', async () => {
    const { platform, replies } = await withReplies();
    const { body } = await create(platform, chat('Which size do I need?'));
    await Promise.all(
      ['When are you open?', 'How can I pay?'].map((text) =>
        create(platform, chat(text, body.conversation_id)),
      ),
    );
    await waitFor('three replies', () => replies.length === 3);
    const all = platform.inspect.messages('0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11');
    const questions = all.filter(({ role }) => role === 'customer').map(({ id }) => id);
    expect(all.flatMap(({ in_reply_to: id }) => id ?? [])).toEqual(questions);
  });
});

it('a long turn of the agent is reported as its work', async () => {
  const turns: SlowTurn[] = [];
  const { stop } = watchMainThread((turn) => turns.push(turn));
  ends(stop);
  const busy: Agent = {
    answer: () => {
      const used = process.cpuUsage();
      for (let ms = 0; ms < 700;) ms = process.cpuUsage(used).user / 1000;
      return Promise.resolve({ text: 'Yes.', escalate: false });
    },
  };
  const { platform } = await withReplies({ agent: { kind: 'custom', agent: busy } });
  await create(platform, chat('When are you open?'));
  const turn = await waitFor('the report', () => turns.find(({ ms }) => ms >= 600));
  expect(turn.work).toBe('agent');
});

describe('the agent does not answer', () => {
  it.each([
    ["one of the shop's own addresses", 'Support@acme.example'],
    ['an address that takes no answer', 'no-reply@shop.example'],
  ])('toward %s', async (_title, email) => {
    const { platform, replies } = await withReplies();
    const { body } = await create(platform, anEmail({ contact: { email } }));
    const other = await create(platform, anEmail({ contact: { email: 'bob@example.com' } }));
    await waitFor('the reply to someone else', () => replies[0]);
    expect(replies[0]?.conversationId).toBe(other.body.conversation_id);
    await platform.stop();
    expect(replies).toHaveLength(1);
    expect(body.conversation_id).not.toBe(other.body.conversation_id);
  });
});

describe('a restart', () => {
  it('answers messages that were unanswered', async () => {
    const dir = newFolder();
    const never: Agent = {
      answer: (_context, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        }),
    };
    const first = await startPlatform({ dir, agent: { kind: 'custom', agent: never } });
    const { body } = await create(first, chat('Where is my order?'));
    await first.stop();

    const { platform, replies } = await withReplies({ dir });
    await waitFor('the reply', () => replies[0]);
    expect(await answersIn(platform, body)).toHaveLength(1);
  });

  it('sends a stored reply that was not sent, as the same message', async () => {
    const dir = newFolder();
    const first = await withReplies({ dir });
    const { body } = await create(first.platform, anEmail());
    const sent = await waitFor('the reply', () => first.replies[0]);
    await first.platform.stop();
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(join(dir, 'platform.sqlite'));
    db.exec(`UPDATE messages SET status = 'PENDING' WHERE role = 'agent'`);
    db.close();

    const second = await withReplies({ dir });
    const again = await waitFor('the reply', () => second.replies[0]);
    expect(again).toEqual(sent);
    expect(await answersIn(second.platform, body)).toMatchObject([{ status: 'DELIVERED' }]);
  });
});

it('a reply that cannot be sent is FAILED, and the conversation continues', async () => {
  const { platform } = await withReplies();
  const { body } = await create(platform, {
    contact: { name: 'Nobody' },
    conversation: { direction: 'inbound', type: 'sms', agent_contact: '+1' },
    message: { content: 'opening hours?' },
  });
  await waitFor(
    'the failure',
    async () => (await answersIn(platform, body))[0]?.status === 'FAILED',
  );
  expect(await ticketOf(platform, body)).toMatchObject({ status: 'WaitingUser' });
});
