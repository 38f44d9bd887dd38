import { describe, expect, it } from '@jest/globals';
import type { Conversation, MediaRecord, Message } from '../../../src/platform-api/resources.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  KNOWLEDGE,
  messagesOf,
  startPlatform,
  ticketOf,
} from '../harness.ts';

const withTexts = () => startPlatform({ agent: { kind: 'builtin', knowledgeDir: KNOWLEDGE } });

const chat = (content: string, more: object = {}, id?: string | null) => ({
  contact: { name: 'Visitor 7F3A' },
  conversation: { direction: 'inbound', type: 'web_chat', ...(id && { id }) },
  message: { content, ...more },
});

async function picture(platform: LocalPlatform): Promise<string> {
  const body = new FormData();
  body.set('file', new Blob(['GIF89a']), 'shoe.gif');
  return (await call<MediaRecord>(platform, 'POST', '/media/', { body })).body.id;
}

const answers = async (platform: LocalPlatform, message: Message) =>
  (await messagesOf(platform, message.conversation_id)).filter(({ role }) => role === 'agent');

/** The only answer: a person takes over. */
async function handedOver(platform: LocalPlatform, message: Message) {
  const answer = await waitFor('the answer', async () => (await answers(platform, message))[0]);
  const path = `/conversations/${String(message.conversation_id)}/`;
  const { resolution } = (await call<Conversation>(platform, 'GET', path)).body;
  const { status } = await ticketOf(platform, message);
  expect([resolution, status]).toEqual(['escalated', 'WaitingUser']);
  return answer.text;
}

describe('a person takes over', () => {
  it.each(['How can I return my shoes?', 'When are you open?', 'PayPal?', 'Tell me about Mars'])(
    'without texts, from "%s", and nothing of the sample shop is said',
    async (question) => {
      const platform = await startPlatform({ agent: { kind: 'builtin' } });
      const { body } = await create(platform, chat(question));
      expect(await handedOver(platform, body)).toBe(
        'Thank you for your message. I’ve passed it on to my colleagues, and one of them will reply here.',
      );
    },
  );

  it('from a greeting and the question after it, without texts', async () => {
    const platform = await startPlatform({ agent: { kind: 'builtin' } });
    const { body } = await create(platform, chat('Hello!'));
    const [greeting] = await waitFor('the greeting', async () => {
      const said = await answers(platform, body);
      return said.length === 1 ? said : undefined;
    });
    expect(greeting?.text).toBe('Hi! How can I help?');
    await create(platform, chat('Do you sell bags?', {}, body.conversation_id));
    await waitFor('the second answer', async () => (await answers(platform, body)).length === 2);
    expect((await ticketOf(platform, body)).status).toBe('WaitingUser');
  });

  it.each([
    ['(no text)', 1],
    ['', 1],
  ])('from a picture with the text %j', async (content, files) => {
    const platform = await withTexts();
    const attachments = [await picture(platform)].slice(0, files);
    const { body } = await create(platform, chat(content, { attachments }));
    expect(await handedOver(platform, body)).toContain('passed it on to my colleagues');
  });

  it.each([
    '[WhatsApp: call permission reply]\n\n[response: accept]',
    '(no text)\n\n[Voice message]',
  ])('from a message in which only its channel says what it is: %j', async (content) => {
    const platform = await withTexts();
    const { body } = await create(platform, chat(content));
    expect(await handedOver(platform, body)).toContain('passed it on to my colleagues');
  });

  it('from the pictures of a text that came later, which is not answered again', async () => {
    const platform = await withTexts();
    const text = (message: object, id?: string | null) => ({
      contact: { phone: '+12125550100' },
      conversation: {
        ...{ direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
        ...(id && { id }),
      },
      message,
    });
    const first = { content: 'When are you open?', remote_id: 'SM1' };
    const { body: asked } = await create(platform, text(first));
    await waitFor('the answer', async () => (await answers(platform, asked)).length === 1);
    const attachments = [await picture(platform)];
    const late = 'Picture for: \u201CWhen are you open?\u201D';
    const { body } = await create(
      platform,
      text({ content: late, remote_id: 'SM1/media', attachments }, asked.conversation_id),
    );
    await waitFor('the second answer', async () => (await answers(platform, body)).length === 2);
    const [second] = await answers(platform, body);
    expect(second?.text).toContain('passed it on to my colleagues');
    expect((await ticketOf(platform, body)).status).toBe('WaitingUser');
  });

  it('from an email without a text, but not from one whose subject asks', async () => {
    const platform = await withTexts();
    const email = (subject: string) =>
      anEmail({ message: { content: '(no text)', email: { subject } } });
    const { body: silent } = await create(platform, email(''));
    await handedOver(platform, silent);
    const { body: asking } = await create(platform, email('Opening hours on Saturday?'));
    const [answer] = await waitFor('the answer', async () => {
      const said = await answers(platform, asking);
      return said.length === 1 ? said : undefined;
    });
    expect(answer?.text).toContain('Saturday from 10:00');
  });

  it.each([
    'No',
    'no.',
    'Not really',
    'Nein',
    'leider nicht',
    'Non',
    'pas vraiment',
    'No, gracias',
    '👎🏽',
  ])('after "Does that answer your question?" from "%s"', async (no) => {
    const platform = await withTexts();
    const { body } = await create(platform, chat('When are you open?'));
    await waitFor('the answer', async () => (await answers(platform, body)).length === 1);
    await create(platform, chat(no, {}, body.conversation_id));
    await waitFor('the second answer', async () => (await answers(platform, body)).length === 2);
    expect((await ticketOf(platform, body)).status).toBe('WaitingUser');
  });
});

it.each([
  ['When are you open?', '👍', 'You’re welcome!'],
  ['Wann haben Sie geöffnet?', '👍🏿', 'Gern geschehen!'],
])(
  'after "%s" and its answer, %s is a yes, and other emoji get no answer',
  async (question, thumb, welcome) => {
    const platform = await withTexts();
    const { body } = await create(platform, chat(question));
    await waitFor('the answer', async () => (await answers(platform, body)).length === 1);
    await create(platform, chat(thumb, {}, body.conversation_id));
    await waitFor('the second answer', async () => (await answers(platform, body)).length === 2);
    const said = async () => (await answers(platform, body)).map(({ text }) => text);
    expect(await said()).toContain(welcome);
    await create(platform, chat(thumb, {}, body.conversation_id));
    await create(platform, chat('human', {}, body.conversation_id));
    await waitFor('the third answer', async () => (await answers(platform, body)).length === 3);
    expect((await said()).filter((text) => text === welcome)).toHaveLength(1);
  },
);
