import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { ChatClient } from '../support/chat-client.ts';
import { randomFaults, seededRandom } from '../support/random-faults.ts';
import { waitFor } from '../support/wait-for.ts';
import { echoAgent } from './scene.ts';
import { sharedGateway } from './shared-gateway.ts';

/** A shop for each test. */
const scene = sharedGateway({
  first: {},
  together: {},
  tabs: { agent: echoAgent },
  repeated: {},
  files: {},
  failing: { agent: echoAgent },
});

/** What an agent said, in the order of the visitor's record. */
const repliesTo = (tab: ChatClient): string[] =>
  tab.messages.filter(({ from }) => from === 'agent').map(({ text }) => text);

test('a chat message becomes one create-message request', async () => {
  const { platform, chat } = scene('first');
  const visitor = await chat();
  const id = randomUUID();
  expect(await visitor.send('Where is my order?', { id })).toEqual({ ok: true, seq: 1 });

  await waitFor('the message', () => platform.messages.length === 1);
  const { visitorId } = visitor.session;
  expect(platform.payloads).toEqual([
    {
      contact: { name: `Visitor ${visitorId.slice(0, 4).toUpperCase()}` },
      conversation: { direction: 'inbound', type: 'web_chat' },
      message: {
        content: 'Where is my order?',
        format: 'TEXT',
        remote_id: `chat:${visitorId}:${id}`,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    },
  ]);
  await waitFor('the delivered tick', () =>
    visitor.statuses.some((status) => status.id === id && status.state === 'delivered'),
  );
});

test('messages of one visitor go into one conversation, also two sent together', async () => {
  const { platform, chat } = scene('together');
  const [ann, bob] = [await chat(), await chat()];
  await Promise.all([ann.send('ann 1'), ann.send('ann 2'), bob.send('bob 1')]);
  await waitFor('three messages', () => platform.messages.length === 3);
  await ann.send('ann 3');
  await waitFor('the fourth', () => platform.messages.length === 4);

  const conversationOf = new Map(
    platform.messages.map((message) => [message.content, message.conversation_id]),
  );
  const first = conversationOf.get('ann 1');
  expect(conversationOf.get('ann 2')).toBe(first);
  expect(conversationOf.get('ann 3')).toBe(first);
  expect(conversationOf.get('bob 1')).not.toBe(first);
  expect(platform.payloads.at(-1)?.conversation).toEqual({
    direction: 'inbound',
    type: 'web_chat',
    id: first,
  });
});

test("the agent's reply comes once to each of two tabs, and again to none that reconnects", async () => {
  const { platform, chat } = scene('tabs');
  const first = await chat();
  const second = await chat({ token: first.session.token });
  await first.send('one');
  await waitFor('the reply in both tabs', () =>
    [first, second].every((tab) => repliesTo(tab).includes('You said: one')),
  );
  await second.send('two');
  await waitFor('the second reply in both tabs', () =>
    [first, second].every((tab) => repliesTo(tab).includes('You said: two')),
  );
  const lines = ['one', 'You said: one', 'two', 'You said: two'];
  for (const tab of [first, second]) {
    expect(tab.messages.map(({ text }) => text)).toEqual(lines);
    expect(tab.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(tab.messages.map(({ from }) => from)).toEqual(['visitor', 'agent', 'visitor', 'agent']);
  }

  first.close();
  const again = await chat({ token: first.session.token, lastSeq: 3 });
  await again.send('three');
  await waitFor('the third reply', () => repliesTo(again).includes('You said: three'));
  expect(again.messages.map(({ text }) => text)).toEqual([
    'You said: two',
    'three',
    'You said: three',
  ]);
  expect(second.messages.map(({ text }) => text)).toEqual([...lines, 'three', 'You said: three']);
  expect(platform.messages).toHaveLength(3);
});

test('the same message five times at once is one message, each acknowledged alike', async () => {
  const { platform, chat, entries } = scene('repeated');
  const visitor = await chat();
  const tab = await chat({ token: visitor.session.token });
  const id = randomUUID();
  const acks = await Promise.all(
    [visitor, tab, visitor, tab, visitor].map((each) => each.send('again', { id })),
  );
  expect(acks).toEqual(Array.from({ length: 5 }, () => ({ ok: true, seq: 1 })));
  await visitor.send('next');
  await waitFor('the next message', () => platform.messages.at(-1)?.content === 'next');
  expect(platform.messages.map(({ content }) => content)).toEqual(['again', 'next']);
  expect(await entries()).toHaveLength(2);
  expect(tab.texts).toEqual(['again', 'next']);
});

test("a visitor's files are uploaded first, with the very bytes that he gave", async () => {
  const { platform, chat } = scene('files');
  const visitor = await chat();
  const files = [
    {
      name: 'receipt.png',
      type: 'image/png',
      bytes: Buffer.concat([
        Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
        randomBytes(300_000),
      ]),
    },
    { name: 'notes.txt', type: 'text/plain', bytes: Buffer.from('line one\r\nline two\n') },
  ];
  const uploads: string[] = [];
  for (const file of files) {
    const answer = await visitor.upload(file);
    expect(answer.status).toBe(201);
    // The upload's answer, as chat.md has it.
    const { id } = (await answer.json()) as { id: string };
    uploads.push(id);
  }
  expect(await visitor.send('', { uploads })).toMatchObject({ ok: true });

  const [message] = await waitFor('the message', () => platform.messages[0] && platform.messages);
  expect(platform.posts).toEqual(['POST /media/', 'POST /media/', 'POST /messages/']);
  expect(platform.payloads[0]?.message.content).toBe('(no text)');
  const stored = platform.inspect.attachments(message?.id ?? '');
  expect(platform.payloads[0]?.message.attachments).toEqual(stored.map(({ id }) => id));
  const arrived = stored.map(({ path }) => readFileSync(path));
  expect(files.map(({ bytes }, n) => arrived[n] && bytes.equals(arrived[n]))).toEqual([true, true]);
  expect(stored.map(({ name, permission }) => [name, permission])).toEqual([
    ['receipt.png', 'private'],
    ['notes.txt', 'private'],
  ]);
});

test('order within a conversation is kept while the platform fails at random', async () => {
  const { platform, chat } = scene('failing');
  const faults = randomFaults(seededRandom(11), 0.25);
  platform.faults = faults.hook;
  const visitors = await Promise.all([chat(), chat(), chat()]);
  const said = (who: number) => Array.from({ length: 8 }, (_, n) => `visitor ${who}, line ${n}`);
  await Promise.all(
    visitors.map(async (visitor, who) => {
      for (const text of said(who)) expect(await visitor.send(text)).toMatchObject({ ok: true });
    }),
  );
  await waitFor('all messages', () => platform.messages.length >= 24);

  const { messages } = platform;
  expect(messages).toHaveLength(24);
  expect(new Set(messages.map(({ remote_id }) => remote_id)).size).toBe(24);
  for (const who of visitors.keys()) {
    const own = messages.filter(({ content }) => content.startsWith(`visitor ${who},`));
    expect(own.map(({ content }) => content)).toEqual(said(who));
    expect(new Set(own.map(({ conversation_id }) => conversation_id)).size).toBe(1);
  }
  platform.faults = () => undefined;
  for (const [who, visitor] of visitors.entries()) {
    await waitFor('every reply', () => repliesTo(visitor).length >= 8);
    expect(repliesTo(visitor)).toEqual(said(who).map((text) => `You said: ${text}`));
    expect(visitor.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 16 }, (_, n) => n + 1),
    );
  }
});
