import { expect, test } from '@jest/globals';
import { io } from 'socket.io-client';
import { WEB_CHAT_PATH } from '../../src/local-platform/outbound/chat-sockets.ts';
import type { Message } from '../../src/platform-api/resources.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { ACME, CHAT_KEY } from '../support/gateway-config.ts';
import { waitFor } from '../support/wait-for.ts';
import { embeddedScene } from './embedded-scene.ts';

test("a conversation in the chat: a message, the answer in the widget's channel, and again", async () => {
  const scene = await embeddedScene();
  const visitor = await ChatClient.connect({
    url: scene.gateway.httpUrl,
    auth: { key: CHAT_KEY },
  });
  ends(() => visitor.close());
  const answers = () => visitor.messages.filter(({ from }) => from === 'agent');

  await visitor.send('How can I return my shoes?');
  const first = await waitFor('the answer', () => answers()[0]);
  expect(first.text).toMatch(/30 days/);

  // Whoever develops against the platform sees the same conversation on its own socket.
  const [question] = await scene.messages();
  const watcher = io(scene.platformUrl, {
    path: WEB_CHAT_PATH,
    auth: { apiKey: ACME.apiKey, shopId: ACME.shopId },
  });
  ends(() => watcher.disconnect());
  const seen: Message[] = [];
  watcher.on('message', (message: Message) => seen.push(message));
  const joined: unknown = await watcher
    .timeout(15_000)
    .emitWithAck('join', { conversation_id: question?.conversation_id, after: question?.id });
  expect(joined).toMatchObject({
    messages: [{ role: 'agent', content: first.text }],
    complete: true,
  });

  await visitor.send('And which sizes do you have?');
  const second = await waitFor('the next answer', () => answers()[1]);
  await waitFor('both on the socket', () => seen.length === 2);
  expect(seen.map(({ role, content }) => [role, content])).toEqual([
    ['customer', 'And which sizes do you have?'],
    ['agent', second.text],
  ]);

  await scene.delivered(2);
  const messages = await scene.messages();
  expect(messages.map(({ role }) => role)).toEqual(['customer', 'agent', 'customer', 'agent']);
  expect(new Set(messages.map(({ conversation_id: id }) => id)).size).toBe(1);
  expect(await scene.tickets()).toMatchObject([{ id: question?.ticket_id }]);
  // The visitor is shown the Markdown; `text` is without it.
  expect(visitor.texts).toEqual(messages.map(({ content }) => content));
  for (const { text } of messages) expect(text).not.toContain('**');
});

test('a visitor in a loop of new conversations gets 20 answers, and another one is answered meanwhile', async () => {
  const scene = await embeddedScene();
  const connect = async () => {
    const visitor = await ChatClient.connect({
      url: scene.gateway.httpUrl,
      auth: { key: CHAT_KEY },
    });
    ends(() => visitor.close());
    return visitor;
  };
  const looping = await connect();
  for (let n = 0; n < 30; n += 1) {
    await looping.send('How can I return my shoes?');
    await looping.newConversation();
  }
  await waitFor('the tickets', async () => {
    const statuses = (await scene.tickets()).map(({ status }) => status);
    return statuses.length === 30 && statuses.every((status) => status?.startsWith('Waiting'));
  });
  const other = await connect();
  await other.send('How can I return my shoes?');
  await waitFor('the answer', () => other.messages.some(({ from }) => from === 'agent'));
  const replies = (await scene.messages()).filter(({ role }) => role === 'agent');
  expect(replies).toHaveLength(21);
});
