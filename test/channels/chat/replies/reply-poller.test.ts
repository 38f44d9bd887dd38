import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Message } from '../../../../src/platform-api/resources.ts';
import type {
  MessagePage,
  ReplySource,
} from '../../../../src/channels/chat/replies/reply-source.ts';
import { asVisitorId } from '../../../../src/types/ids.ts';
import type { ChatClient } from '../../../support/chat-client.ts';
import { SHOP } from '../../../support/entries.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from '../chat-gateway.ts';
import { aReply, bareMessage } from './platform-messages.ts';

type Order = 'newest first' | 'oldest first';

/** A platform that lists messages in an order of its own, in small pages, and fails at will. */
class ListedMessages implements ReplySource {
  readonly messages: Message[] = [];
  readonly requests: { ids: readonly string[]; at: number }[] = [];
  order: Order = 'newest first';
  pageSize = 3;
  /** Every so many requests one fails; 0 for none. */
  failEvery = 0;
  #now = Date.UTC(2026, 0, 1);

  add(message: Message): Message {
    this.#now += 1_000;
    const dated = {
      ...message,
      created_at: message.created_at ?? new Date(this.#now).toISOString(),
    };
    this.messages.push(dated);
    return dated;
  }

  listMessages(
    _shop: string,
    ids: readonly string[],
    cursor: string | undefined,
  ): Promise<MessagePage> {
    this.requests.push({ ids, at: performance.now() });
    if (this.failEvery > 0 && this.requests.length % this.failEvery === 0) {
      return Promise.reject(new Error('500'));
    }
    const listed = this.messages.filter((message) => ids.includes(message.conversation_id ?? ''));
    if (this.order === 'newest first') listed.reverse();
    const start = Number(cursor ?? 0);
    // Each page repeats the last message of the one before, as pages do when rows are added.
    const results = listed.slice(Math.max(0, start - 1), start + this.pageSize);
    const next = start + this.pageSize < listed.length ? String(start + this.pageSize) : null;
    return Promise.resolve({ results, next });
  }
}

let gateway: ChatGateway | undefined;
const start = async (source: ReplySource, more: GatewayOptions = {}): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], source, ...more });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** Delivers what waits, as delivery would: settled, and the conversation remembered. */
async function deliverAll(chat: ChatGateway, conversationId: string): Promise<void> {
  const { spool } = chat.store;
  for (const { entry, lease } of await spool.claim(SHOP, 10, 60_000)) {
    const lane = { shopId: SHOP, channel: entry.channel, lane: entry.lane };
    await spool.rememberConversation(lane, conversationId);
    const platformMessageId = `own-${entry.id}`;
    await spool.settle(lease, { state: 'delivered', platformMessageId, conversationId }, []);
    const visitorId = asVisitorId(String(entry.meta['visitorId']));
    const messageId = String(entry.meta['messageId']);
    await chat.server.messageSettled({ shopId: SHOP, visitorId, messageId, state: 'delivered' });
  }
}

/** A visitor with two tabs and a conversation on the platform. */
async function talking(chat: ChatGateway) {
  const one = await chat.connect();
  await one.send('hello?');
  const conversation = randomUUID();
  await deliverAll(chat, conversation);
  const other = await chat.connect({ auth: { key: 'demo', token: one.session.token } });
  return { one, other, conversation };
}

const repliesTo = (client: ChatClient): string[] =>
  client.messages.filter(({ from }) => from === 'agent').map(({ text }) => text);

describe('replies', () => {
  test.each<[Order]>([['newest first'], ['oldest first']])(
    'listed %s reach every tab once, in the order in which they were written',
    async (order) => {
      const source = new ListedMessages();
      source.order = order;
      source.failEvery = 4;
      const chat = await start(source);
      const { one, other, conversation } = await talking(chat);
      const expected: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        for (let index = 0; index < 5; index += 1) {
          const content = `reply ${round}.${index}`;
          source.add(aReply({ conversation_id: conversation, content }));
          expected.push(content);
        }
        for (const tab of [one, other]) {
          await waitFor('the replies', () => repliesTo(tab).length >= expected.length);
          expect(repliesTo(tab)).toEqual(expected);
          expect(tab.messages.map(({ seq }) => seq)).toEqual(tab.messages.map((_, i) => i + 1));
        }
      }
    },
  );

  test('are told from what is internal, hidden or the visitor’s own', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, conversation } = await talking(chat);
    const [entry] = await chat.entries();
    const inIt = { conversation_id: conversation };
    source.add(aReply({ ...inIt, id: `own-${entry?.id}`, content: 'own, by id' }));
    source.add(aReply({ ...inIt, remote_id: entry?.remoteId, content: 'own, by remote id' }));
    source.add(aReply({ ...inIt, role: 'contact', content: 'own, by role' }));
    source.add(aReply({ ...inIt, type: 'Internal', content: 'between us' }));
    source.add(aReply({ ...inIt, status: 'HIDDEN', content: 'hidden' }));
    source.add(aReply({ conversation_id: randomUUID(), content: 'for someone else' }));
    source.add(bareMessage({ ...inIt, type: 'External', content: 'unsigned' }));
    source.add(aReply({ ...inIt, content: 'for the visitor' }));
    // What nobody signed may be the visitor's own for a while; what came after it keeps its place.
    await waitFor('both', () => repliesTo(one).length > 1);
    expect(repliesTo(one)).toEqual(['unsigned', 'for the visitor']);
  });

  test('that are unhidden or written later are found', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, conversation } = await talking(chat);
    const draft = source.add(
      aReply({ conversation_id: conversation, content: '', status: 'PENDING' }),
    );
    source.add(aReply({ conversation_id: conversation, content: 'one moment' }));
    await waitFor('the first reply', () => repliesTo(one).length === 1);
    source.messages[0] = { ...draft, content: 'now it is there' };
    await waitFor('the second reply', () => repliesTo(one).length === 2);
    expect(repliesTo(one)).toEqual(['one moment', 'now it is there']);
  });

  test('that the agent edits later stay as they were read, once', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, conversation } = await talking(chat);
    const first = source.add(aReply({ conversation_id: conversation, content: 'on Monday' }));
    await waitFor('the reply', () => repliesTo(one).length === 1);
    source.messages[0] = { ...first, content: 'on Tuesday' };
    source.add(aReply({ conversation_id: conversation, content: 'sorry, on Tuesday' }));
    await waitFor('the correction', () => repliesTo(one).length === 2);
    expect(repliesTo(one)).toEqual(['on Monday', 'sorry, on Tuesday']);
  });

  test.each<[Order]>([['newest first'], ['oldest first']])(
    'that appear behind newer ones are found, listed %s, and come last',
    async (order) => {
      const source = new ListedMessages();
      source.order = order;
      const chat = await start(source);
      const { one, conversation } = await talking(chat);
      const expected: string[] = [];
      // Several pages of what is known by then: the late one is on none of the first.
      for (let index = 0; index < 9; index += 1) {
        const content = `reply ${index}`;
        source.add(aReply({ conversation_id: conversation, content }));
        expected.push(content);
      }
      await waitFor('the replies', () => repliesTo(one).length === expected.length);
      const late = aReply({
        conversation_id: conversation,
        content: 'written before the others',
        created_at: new Date(Date.UTC(2026, 0, 1) + 500).toISOString(),
      });
      source.messages.unshift(late);
      await waitFor('the late one', () => repliesTo(one).length > expected.length);
      expect(repliesTo(one)).toEqual([...expected, 'written before the others']);
      expect(one.messages.at(-1)?.at).toBe(Date.UTC(2026, 0, 1) + 500);
    },
  );

  test('are not repeated after a restart, and those in between are caught up', async () => {
    const temp = tempDir();
    const source = new ListedMessages();
    const first = await start(source, { dir: temp.path });
    const { one, conversation } = await talking(first);
    for (let index = 0; index < 4; index += 1) {
      source.add(aReply({ conversation_id: conversation, content: `reply ${index}` }));
    }
    await waitFor('the replies', () => repliesTo(one).length === 4);
    const { token } = one.session;
    const lastSeq = one.messages.at(-1)?.seq;
    await first.stop();
    source.add(aReply({ conversation_id: conversation, content: 'while you were away' }));

    const second = await start(source, { dir: temp.path });
    const later = await second.connect({ auth: { key: 'demo', token, lastSeq } });
    await waitFor('the missed reply', () => later.messages.length > 0);
    source.add(aReply({ conversation_id: conversation, content: 'and now' }));
    await waitFor('the new reply', () => later.messages.length > 1);
    expect(repliesTo(later)).toEqual(['while you were away', 'and now']);
    const everything = await second.connect({ auth: { key: 'demo', token } });
    await waitFor('the record', () => everything.messages.length === 7);
    expect(new Set(everything.messages.map(({ id }) => id)).size).toBe(7);
    await second.stop();
    gateway = undefined;
    temp.remove();
  });

  test('wait for nobody: without an open tab the platform is left alone', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, other } = await talking(chat);
    await waitFor('a request', () => source.requests.length > 0);
    one.close();
    other.close();
    await waitFor('both to leave', async () => (await chat.connections) === 0);
    const stranger = await chat.connect();
    const before = source.requests.length;
    // A visitor without a conversation is nothing to ask for; his answer takes a turn of the loop.
    await stranger.history();
    expect(source.requests.length - before).toBeLessThanOrEqual(1);
    const settled = source.requests.length;
    await waitFor(
      'ten intervals',
      () => performance.now() - (source.requests.at(-1)?.at ?? 0) > 500,
    );
    expect(source.requests).toHaveLength(settled);
  });

  test('of many visitors are asked for in batches of at most 150 conversations', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { chat: store, spool } = chat.store;
    const first = await chat.connect();
    await first.send('hello');
    const visitorId = asVisitorId(first.session.visitorId);
    // 20 conversations each are looked at when a visitor returns.
    const visitors = [first];
    for (let index = 1; index < 9; index += 1) {
      const client = await chat.connect();
      await client.send('hello');
      visitors.push(client);
    }
    for (const client of visitors) {
      for (let conversation = 1; conversation <= 20; conversation += 1) {
        const lane = `${client.session.visitorId}/${conversation}`;
        await spool.rememberConversation({ shopId: SHOP, channel: 'web_chat', lane }, randomUUID());
      }
    }
    expect(await store.conversationsOf(SHOP, [visitorId])).toHaveLength(20);
    source.requests.length = 0;
    const tabs = await Promise.all(
      visitors.map(({ session }) => chat.connect({ auth: { key: 'demo', token: session.token } })),
    );
    expect(tabs).toHaveLength(9);
    await waitFor('all conversations', () => {
      const asked = new Set(source.requests.flatMap(({ ids }) => ids));
      return asked.size === 180;
    });
    expect(Math.max(...source.requests.map(({ ids }) => ids.length))).toBeLessThanOrEqual(150);
  });

  test('never come faster than two list requests a second, and stop ends them', async () => {
    const source = new ListedMessages();
    source.pageSize = 1;
    source.order = 'oldest first';
    const chat = await start(source, { replies: { requestsPerSecond: 2 } });
    const { one, conversation } = await talking(chat);
    for (let index = 0; index < 3; index += 1) {
      source.add(aReply({ conversation_id: conversation, content: `reply ${index}` }));
    }
    await waitFor('the replies', () => repliesTo(one).length === 3);
    const times = source.requests.map(({ at }) => at);
    // A request that a busy machine delays may be closer to the next; all of them together not.
    const elapsed = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(elapsed).toBeGreaterThan((times.length - 1) * 500 - 150);
    await chat.stop();
    gateway = undefined;
    const after = source.requests.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(source.requests).toHaveLength(after);
  });

  test('of a platform that never answers hold up neither messages nor the stop', async () => {
    const asked: AbortSignal[] = [];
    const chat = await start({
      listMessages: (_shop, _ids, _cursor, signal) => {
        asked.push(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
      },
    });
    const { one } = await talking(chat);
    await waitFor('the question', () => asked.length === 1);
    expect(await one.send('still there?')).toEqual({ ok: true, seq: 2 });
    await chat.stop();
    gateway = undefined;
    expect(asked.every(({ aborted }) => aborted)).toBe(true);
  });
});
