import { describe, expect, it } from '@jest/globals';
import type { Contact, Message, Page } from '../../src/platform-api/resources.ts';
import {
  anEmail,
  call,
  create,
  type ErrorBody,
  messagesOf,
  startPlatform,
  ticketOf,
} from './harness.ts';

describe('create message (API §4.7)', () => {
  it('takes the message of ten parallel identical creates once: one 201, nine 200', async () => {
    const platform = await startPlatform();
    const request = anEmail();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(platform, request)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(9).fill(200),
      201,
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await messagesOf(platform, answers[0]?.body.conversation_id ?? null)).toHaveLength(1);
  });

  it('keeps messages without a remote_id apart', async () => {
    const platform = await startPlatform();
    const request = anEmail({ message: { remote_id: null } });
    const [a, b] = [await create(platform, request), await create(platform, request)];
    expect([a.status, b.status]).toEqual([201, 201]);
    expect(a.body.id).not.toBe(b.body.id);
  });

  it('appends to the conversation given, on its channel, and opens the ticket again', async () => {
    const platform = await startPlatform();
    const sms = {
      contact: { phone: '+15550002222' },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
      message: { content: 'one', remote_id: 'SM1' },
    };
    const first = await create(platform, sms);
    const second = await create(platform, {
      contact: sms.contact,
      conversation: { direction: 'inbound', id: first.body.conversation_id },
      message: { content: 'two', remote_id: 'SM2' },
    });
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({
      conversation_id: first.body.conversation_id,
      ticket_id: first.body.ticket_id,
      contact_id: first.body.contact_id,
    });
    expect(await ticketOf(platform, second.body)).toMatchObject({
      status: 'Open',
      last_message_content: 'two',
    });
    // Newest first.
    const listed = await messagesOf(platform, first.body.conversation_id);
    expect(listed.map(({ content }) => content)).toEqual(['two', 'one']);
  });

  it('threads an email by an earlier one of References when In-Reply-To is unknown', async () => {
    const platform = await startPlatform();
    const cc = [{ email: 'Bob@example.com' }];
    const first = await create(
      platform,
      anEmail({ message: { remote_id: '<first@example.com>', email: { cc } } }),
    );
    const email = { in_reply_to: '<nobody@x>', references: ['<first@example.com>', '<unknown@x>'] };
    const answer = await create(
      platform,
      anEmail({ contact: { email: 'bob@example.com' }, message: { email } }),
    );
    expect(answer.body.conversation_id).toBe(first.body.conversation_id);
    expect(answer.body.contact_id).not.toBe(first.body.contact_id);
  });

  it('threads an email by an id in an element of References that holds several', async () => {
    const platform = await startPlatform();
    const first = await create(
      platform,
      anEmail({ message: { remote_id: '<first@example.com>' } }),
    );
    const references = ['<old@x> <first@example.com>\r\n <unknown@x>'];
    const answer = await create(platform, anEmail({ message: { email: { references } } }));
    expect(answer.body.conversation_id).toBe(first.body.conversation_id);
  });

  it('stores a lone surrogate as one U+FFFD', async () => {
    const platform = await startPlatform();
    const written = JSON.stringify(anEmail({ message: { content: 'a-b' } })).replace(
      'a-b',
      String.raw`a\ud800b`,
    );
    const { status, body } = await create(platform, written);
    expect(status).toBe(201);
    const [stored] = await messagesOf(platform, body.conversation_id);
    expect(stored).toMatchObject({ content: 'a\ufffdb', text: 'a\ufffdb' });
    expect(body).toMatchObject({ content: 'a\ufffdb', text: 'a\ufffdb' });
  });

  it('reduces a limit of any size to the largest page', async () => {
    const platform = await startPlatform();
    await create(platform, anEmail());
    const page = await call<Page<Message>>(platform, 'GET', `/messages/?limit=${'9'.repeat(400)}`);
    expect(page).toMatchObject({ status: 200, body: { results: [{}] } });
  });

  it('finds the contact by email in any case, then by phone, and fills in what was missing', async () => {
    const platform = await startPlatform();
    const a = await create(platform, anEmail());
    const b = await create(
      platform,
      anEmail({ contact: { email: 'ANN@Example.com', phone: '+15551', name: 'Other' } }),
    );
    const c = await create(platform, {
      contact: { phone: '+15551' },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: '+1' },
      message: { content: 'x' },
    });
    expect(new Set([a, b, c].map(({ body }) => body.contact_id)).size).toBe(1);
    const contact = await call<Contact>(platform, 'GET', `/contacts/${String(a.body.contact_id)}/`);
    expect(contact.body).toMatchObject({
      email: 'ann@example.com',
      phone: '+15551',
      name: 'Ann Lee',
    });
  });

  it('knows a chat visitor without an address by his conversation', async () => {
    const platform = await startPlatform();
    const chat = (id?: string | null, contact: object = { name: 'Visitor 7F3A' }) => ({
      contact,
      conversation: { direction: 'inbound', type: 'web_chat', ...(id && { id }) },
      message: { content: 'x' },
    });
    const first = await create(platform, chat());
    const second = await create(platform, chat(first.body.conversation_id));
    const third = await create(
      platform,
      chat(first.body.conversation_id, { email: 'v@example.com' }),
    );
    const stranger = await create(platform, chat());
    expect(second.body.contact_id).toBe(first.body.contact_id);
    expect(third.body.contact_id).toBe(first.body.contact_id);
    expect(stranger.body.contact_id).not.toBe(first.body.contact_id);
  });

  it('dates the message by its timestamp, and tells HTML as text', async () => {
    const platform = await startPlatform();
    const { body } = await create(
      platform,
      anEmail({
        message: {
          timestamp: '2026-03-31T10:00:00+02:00',
          format: 'HTML',
          content: '<p>a &lt; b</p><script>x</script><p>c</p>',
        },
      }),
    );
    expect(body).toMatchObject({
      created_at: '2026-03-31T08:00:00.000Z',
      format: 'HTML',
      text: 'a < b\nc',
    });
  });

  it('keeps every character', async () => {
    const platform = await startPlatform();
    const content = 'Zażółć 🙂 \u0000 \u2028 "quotes" \\ – ' + 'x'.repeat(1_000_000);
    const { body } = await create(platform, anEmail({ message: { content } }));
    expect(body.content).toBe(content);
  });
});

describe('create message refuses', () => {
  const nowhere = '00000000-0000-4000-8000-00000000dead';
  it.each<[string, unknown, number, string]>([
    [
      'an attachment that is not there',
      anEmail({ message: { attachments: [nowhere] } }),
      400,
      'message.attachments.0',
    ],
    [
      'a conversation that is not there',
      anEmail({ conversation: { id: nowhere } }),
      404,
      'conversation.id',
    ],
  ])('%s', async (_title, body, status, field) => {
    const platform = await startPlatform();
    const answer = await call<ErrorBody>(platform, 'POST', '/messages/', { body });
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body.error.fields)).toContain(field);
    expect(platform.inspect.messages('0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11')).toHaveLength(0);
  });

  it('one bad message among many that share a commit, alone', async () => {
    const platform = await startPlatform();
    const nobody = anEmail({ conversation: { id: nowhere } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => create(platform, n % 4 === 0 ? nobody : anEmail())),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(10);
  });
});
