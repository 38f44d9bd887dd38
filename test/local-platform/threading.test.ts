import { expect, test } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import { anEmail, create, messagesOf, OTHER, SHOP, startPlatform } from './harness.ts';

const BOB = { email: 'bob@example.com', name: 'Bob' };

/** Ann's first email, with the addresses in Cc. */
async function annWrites(platform: LocalPlatform, email: object = {}) {
  const request = anEmail({ message: { remote_id: '<first@example.com>', email } });
  return (await create(platform, request)).body;
}

async function answer(platform: LocalPlatform, contact: object, email: object, shop = SHOP) {
  return (await create(platform, anEmail({ contact, message: { email } }), shop)).body;
}

/** The message-id of the agent's reply, once there is one. */
function replyIn(platform: LocalPlatform, conversationId: string | null): Promise<string> {
  return waitFor('the reply', async () => {
    const messages = await messagesOf(platform, conversationId);
    return messages.find(({ role }) => role === 'agent')?.remote_id ?? undefined;
  });
}

test('a stranger who quotes a message-id gets a new conversation', async () => {
  const platform = await startPlatform();
  const first = await annWrites(platform);
  const id = '<first@example.com>';
  for (const email of [{ in_reply_to: id }, { references: [id] }, { references: [id, '<x@y>'] }]) {
    const stranger = await answer(platform, BOB, email);
    expect(stranger.conversation_id).not.toBe(first.conversation_id);
    expect(stranger.ticket_id).not.toBe(first.ticket_id);
  }
  expect(await messagesOf(platform, first.conversation_id)).toHaveLength(1);
});

test.each(['cc', 'bcc'])('whom a customer names in %s may go on with the thread', async (field) => {
  const platform = await startPlatform();
  const first = await annWrites(platform, { [field]: [{ email: 'BOB@example.com' }] });
  const copied = await answer(platform, BOB, { in_reply_to: '<first@example.com>' });
  expect(copied.conversation_id).toBe(first.conversation_id);
});

test('a recipient of a reply can add others to the thread; knowing a customer’s message-id is not enough', async () => {
  const agent = { answer: () => Promise.resolve({ text: 'On its way.', escalate: false }) };
  const platform = await startPlatform({ agent: { kind: 'custom', agent } });
  const first = await annWrites(platform);
  const reply = await replyIn(platform, first.conversation_id);
  const ann = { email: 'ann@example.com' };
  const joins = async (email: string) => {
    const mail = { in_reply_to: '<first@example.com>' };
    return (await answer(platform, { email }, mail)).conversation_id === first.conversation_id;
  };
  // A sender can forge Ann's address.
  await answer(platform, ann, {
    in_reply_to: '<first@example.com>',
    cc: [{ email: 'eve@evil.example' }],
    bcc: [{ email: 'eva@evil.example' }],
  });
  expect([await joins('eve@evil.example'), await joins('eva@evil.example')]).toEqual([
    false,
    false,
  ]);
  await answer(platform, ann, {
    references: ['<first@example.com>', reply],
    cc: [{ email: 'carol@example.com' }],
  });
  expect(await joins('carol@example.com')).toBe(true);
});

test('a shared or claimed phone number gives no access to a thread', async () => {
  const platform = await startPlatform();
  const request = anEmail({
    contact: { phone: '+15550002222' },
    message: { remote_id: '<first@example.com>' },
  });
  const { body: first } = await create(platform, request);
  const contact = { email: 'eve@evil.example', phone: '+1 555 000 2222' };
  const second = await answer(platform, contact, { in_reply_to: '<first@example.com>' });
  expect(second.conversation_id).not.toBe(first.conversation_id);
  expect(second.contact_id).not.toBe(first.contact_id);
});

test('an answer to the agent’s reply joins its conversation', async () => {
  const agent = { answer: () => Promise.resolve({ text: 'On its way.', escalate: false }) };
  const platform = await startPlatform({ agent: { kind: 'custom', agent } });
  const first = await annWrites(platform);
  const reply = await replyIn(platform, first.conversation_id);
  const ann = { email: 'ann@example.com' };
  const second = await answer(platform, ann, { in_reply_to: reply });
  expect(second.conversation_id).toBe(first.conversation_id);
  const stranger = await answer(platform, BOB, { in_reply_to: reply });
  expect(stranger.conversation_id).not.toBe(first.conversation_id);
});

test('angle brackets and white space around an id do not matter', async () => {
  const platform = await startPlatform();
  const first = await annWrites(platform);
  const ann = { email: 'ann@example.com' };
  for (const id of ['first@example.com', ' <first@example.com> ', '<first@example.com>\r\n']) {
    const next = await answer(platform, ann, { in_reply_to: id });
    expect([id, next.conversation_id]).toEqual([id, first.conversation_id]);
  }
});

test('In-Reply-To takes precedence over References, and later references over earlier ones', async () => {
  const platform = await startPlatform();
  const made: Record<string, string | null> = {};
  for (const id of ['<a@x>', '<b@x>', '<c@x>']) {
    const { body } = await create(platform, anEmail({ message: { remote_id: id } }));
    made[id] = body.conversation_id;
  }
  const ann = { email: 'ann@example.com' };
  const references = ['<a@x>', '<b@x>', '<unknown@x>'];
  const both = await answer(platform, ann, { in_reply_to: '<c@x>', references });
  expect(both.conversation_id).toBe(made['<c@x>']);
  const last = await answer(platform, ann, { references });
  expect(last.conversation_id).toBe(made['<b@x>']);
});

test('ids of text messages, chats and other shops do not thread an email', async () => {
  const platform = await startPlatform();
  const text = await create(platform, {
    contact: { email: 'ann@example.com' },
    conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
    message: { content: 'x', remote_id: '<first@example.com>' },
  });
  const ann = { email: 'ann@example.com' };
  const mail = await answer(platform, ann, { in_reply_to: '<first@example.com>' });
  expect(mail.conversation_id).not.toBe(text.body.conversation_id);
  const foreign = await answer(platform, ann, { in_reply_to: '<first@example.com>' }, OTHER);
  expect(foreign.conversation_id).not.toBe(mail.conversation_id);
});

test('an email and the answer to it that arrive in one commit are one thread', async () => {
  const platform = await startPlatform();
  const first = anEmail({ message: { remote_id: '<one@x>' } });
  const second = anEmail({ message: { remote_id: '<two@x>', email: { in_reply_to: '<one@x>' } } });
  const answers = await Promise.all([create(platform, first), create(platform, second)]);
  // The requests use two connections, so either may be read first.
  const [one, two] = await Promise.all([create(platform, first), create(platform, second)]);
  expect([one.body, two.body]).toEqual(answers.map(({ body }) => body));
});
