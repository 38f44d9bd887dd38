import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ReplySource } from '../../../../src/channels/chat/replies/message-reader.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import { ends } from '../../../support/ends.ts';
import { SHOP } from '../../../support/entries.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from '../chat-gateway.ts';
import { deliverAll, repliesTo } from './conversation.ts';
import { ListedMessages, type Order } from './listed-messages.ts';
import { aReply, bareMessage } from './platform-messages.ts';

let gateway: ChatGateway | undefined;
const start = async (source: ReplySource, more: GatewayOptions = {}): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], source, ...more });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** A visitor with two tabs and a conversation on the platform. */
async function talking(chat: ChatGateway) {
  const one = await chat.connect();
  await one.send('hello?');
  const conversation = randomUUID();
  await deliverAll(chat, conversation);
  const other = await chat.connect({ auth: { key: 'demo', token: one.session.token } });
  return { one, other, conversation };
}

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

  test.each<[Order]>([['newest first'], ['oldest first']])(
    'of one moment, listed %s, come in the order in which they were written',
    async (order) => {
      const source = new ListedMessages();
      source.order = order;
      const chat = await start(source);
      const { one, conversation } = await talking(chat);
      // Its earlier time shows which way the list runs.
      source.add(aReply({ conversation_id: conversation, role: 'contact', content: 'hello?' }));
      const created_at = new Date(Date.UTC(2026, 0, 2)).toISOString();
      const expected = ['first', 'second', 'third'];
      for (const content of expected) {
        source.add(aReply({ conversation_id: conversation, content, created_at }));
      }
      await waitFor('the replies', () => repliesTo(one).length === expected.length);
      expect(repliesTo(one)).toEqual(expected);
    },
  );

  test('are there at once if the platform tells of them', async () => {
    const source = new ListedMessages();
    // Nothing is due for ten minutes.
    const chat = await start(source, { replies: { fastestMs: 600_000 } });
    const { one, conversation } = await talking(chat);
    const tell = (visitor: string) => chat.poller?.replied(SHOP, asVisitorId(visitor));
    for (const content of ['I have found it', 'It is blue']) {
      source.add(aReply({ conversation_id: conversation, content }));
      tell(randomUUID());
      tell(one.session.visitorId);
      await waitFor(content, () => repliesTo(one).at(-1) === content);
    }
  });

  test('that come second are found as soon as the first, in a shop with one visitor', async () => {
    const source = new ListedMessages();
    // A look further back every 30 s: only what is due in between finds the second one in time.
    const chat = await start(source, { replies: { fastestMs: 1_000 } });
    const { one, conversation } = await talking(chat);
    for (const question of ['Where is it?', 'And when?']) {
      await one.send(question);
      await deliverAll(chat, conversation);
      for (const content of [`Let me see: ${question}`, `Tomorrow: ${question}`]) {
        source.add(aReply({ conversation_id: conversation, content }));
        await waitFor(content, () => repliesTo(one).at(-1) === content);
      }
    }
  });

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

  test('whose text changes reach every tab as an update, the last text last', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, other, conversation } = await talking(chat);
    const change = (at: number, content: string): void => {
      const before = source.messages[at];
      if (before !== undefined) source.messages[at] = { ...before, content };
    };
    source.add(aReply({ conversation_id: conversation, content: 'on Monday' }));
    source.add(aReply({ conversation_id: conversation, content: 'at nine' }));
    await waitFor(
      'the replies',
      () => repliesTo(one).length === 2 && repliesTo(other).length === 2,
    );
    change(0, 'on Tuesday');
    change(0, 'on Wednesday');
    for (const tab of [one, other]) {
      await waitFor('the change', () => tab.updates.at(-1)?.text === 'on Wednesday');
      expect(tab.updates.at(-1)).toEqual({ seq: 2, rev: 1, text: 'on Wednesday', format: 'TEXT' });
    }
    other.close();
    change(1, 'at ten');
    await waitFor('the change', () => one.updates.at(-1)?.text === 'at ten');
    expect(repliesTo(one)).toEqual(['on Monday', 'at nine']);

    // Who was away gets what they missed, and who has nothing yet the last texts.
    const { token } = one.session;
    const back = await chat.connect({ auth: { key: 'demo', token, lastSeq: 3 } });
    await waitFor('what was missed', () => back.updates.length === 2);
    expect(back.updates.map(({ seq, rev, text }) => [seq, rev, text])).toEqual([
      [2, 1, 'on Wednesday'],
      [3, 2, 'at ten'],
    ]);
    const fresh = await chat.connect({ auth: { key: 'demo', token } });
    await waitFor('the record', () => fresh.messages.length === 3);
    expect(fresh.messages.slice(1)).toMatchObject([
      { text: 'on Wednesday', rev: 1 },
      { text: 'at ten', rev: 2 },
    ]);
    expect(await one.history()).toMatchObject({
      messages: [{}, { text: 'on Wednesday', rev: 1 }, { text: 'at ten', rev: 2 }],
    });
    expect(fresh.updates).toEqual([]);
  });

  test('that have changed while the gateway was down are updated when it is back', async () => {
    const source = new ListedMessages();
    const dir = tempDir();
    ends(() => dir.remove());
    const before = await start(source, { dir: dir.path });
    const { one, conversation } = await talking(before);
    const reply = source.add(aReply({ conversation_id: conversation, content: 'on Monday' }));
    await waitFor('the reply', () => repliesTo(one).length === 1);
    const { token } = one.session;
    await before.stop();
    source.messages[0] = { ...reply, content: 'on Tuesday' };
    const after = await start(source, { dir: dir.path });
    const back = await after.connect({ auth: { key: 'demo', token, lastSeq: 2 } });
    await waitFor('the change', () => back.updates.length === 1);
    expect(back.updates).toEqual([{ seq: 2, rev: 1, text: 'on Tuesday', format: 'TEXT' }]);
    expect(repliesTo(back)).toEqual([]);
  });

  test('that are PENDING are withheld until they settle', async () => {
    const source = new ListedMessages();
    const chat = await start(source, { replies: { pendingWaitMs: 600_000 } });
    const { one, conversation } = await talking(chat);
    const inIt = { conversation_id: conversation };
    const write = (content: string, status: 'PENDING' | 'DELIVERED') => {
      const before = source.messages[0];
      if (before !== undefined) source.messages[0] = { ...before, content, status };
    };
    /** The poller has listed what is there. */
    const listed = async (): Promise<void> => {
      const asked = source.requests.length;
      await waitFor('two lists', () => source.requests.length >= asked + 2);
    };
    source.add(aReply({ ...inIt, content: 'Your', status: 'PENDING' }));
    source.add(aReply({ ...inIt, content: 'Anything else?' }));
    for (const content of ['Your order', 'Your order is', 'Your order is here']) {
      await listed();
      write(content, 'PENDING');
    }
    await listed();
    expect(repliesTo(one)).toEqual([]);
    write('Your order is here.', 'DELIVERED');
    await waitFor('both', () => repliesTo(one).length === 2);
    expect(repliesTo(one)).toEqual(['Your order is here.', 'Anything else?']);
  });

  test('that stay PENDING and the same are shown, and change afterwards', async () => {
    const source = new ListedMessages();
    const chat = await start(source, { replies: { pendingWaitMs: 50 } });
    const { one, conversation } = await talking(chat);
    const reply = aReply({
      conversation_id: conversation,
      content: 'never settled',
      status: 'PENDING',
    });
    source.add(reply);
    await waitFor('it', () => repliesTo(one).length === 1);
    source.messages[0] = { ...reply, content: 'never settled, but longer' };
    await waitFor('the change', () => one.updates.length > 0);
    expect(one.updates).toMatchObject([{ text: 'never settled, but longer' }]);
  });

  test('name their authors, and not by the platform’s ids', async () => {
    const source = new ListedMessages();
    const people = new Map([['3f0c2a4e-5b7d-4c1a-9e8f-6a2b1d0c4e5f', { name: 'Tom' }]]);
    const widget = { agent: { name: 'Mia', kind: 'ai' } } as const;
    const chat = await start(source, { shops: [aShop({ limits: ROOMY, widget, people })] });
    const { one, conversation } = await talking(chat);
    const [user_id = ''] = people.keys();
    source.add(aReply({ conversation_id: conversation }));
    source.add(aReply({ conversation_id: conversation, user_id }));
    source.add(aReply({ conversation_id: conversation, agent_id: null }));
    await waitFor('the replies', () => one.messages.length === 4);
    const authors = [
      undefined,
      { name: 'Mia', kind: 'ai' },
      { name: 'Tom', kind: 'person' },
      undefined,
    ];
    expect(one.messages.map(({ author }) => author)).toEqual(authors);
    const history = await one.history();
    expect(history.ok && history.messages.map(({ author }) => author)).toEqual(authors);
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

  test.each<[Order]>([['oldest first'], ['by id']])(
    'of a conversation that is longer than one reading all come, listed %s, and nobody waits for them',
    async (order) => {
      const source = new ListedMessages();
      source.order = order;
      const chat = await start(source, { replies: { maxPages: 3 } });
      const { one, conversation } = await talking(chat);
      const stranger = await chat.connect();
      await stranger.send('me too');
      const short = randomUUID();
      await deliverAll(chat, short);
      const expected: string[] = [];
      for (let index = 0; index < 40; index += 1) {
        const content = `reply ${index}`;
        source.add(aReply({ conversation_id: conversation, content }));
        expected.push(content);
      }
      source.add(aReply({ conversation_id: short, content: 'for the other' }));
      await waitFor('the reply of the other', () => repliesTo(stranger).length === 1);
      await waitFor('all replies', () => repliesTo(one).length >= expected.length);
      // Without an order, what is read first comes first.
      if (order === 'by id') expect(repliesTo(one).sort()).toEqual([...expected].sort());
      else expect(repliesTo(one)).toEqual(expected);

      const before = source.requests.length;
      source.add(aReply({ conversation_id: conversation, content: 'one more' }));
      await waitFor('one more', () => repliesTo(one).length > expected.length);
      expect(repliesTo(one).at(-1)).toBe('one more');
      if (order === 'by id') return;
      // Its beginning is not read again.
      const since = source.requests.slice(before).filter(({ ids }) => ids.includes(conversation));
      expect(since.map(({ cursor }) => Number(cursor ?? 0) > 30)).not.toContain(false);
    },
  );

  test('of a conversation that is found late are read from its beginning', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, conversation } = await talking(chat);
    const expected = ['early, in the second conversation'];
    const second = randomUUID();
    source.add(
      aReply({
        ...{ conversation_id: second, content: expected[0] },
        created_at: new Date(Date.UTC(2025, 11, 1)).toISOString(),
      }),
    );
    // Several pages of what is known by then lie before it.
    for (let index = 0; index < 9; index += 1) {
      source.add(
        aReply({
          ...{ conversation_id: conversation, content: `reply ${index}` },
          created_at: new Date(Date.UTC(2026, 0, index + 1)).toISOString(),
        }),
      );
    }
    await waitFor('the replies', () => repliesTo(one).length === 9);
    // Read once more, so that all of it is known.
    const asked = source.requests.length;
    await waitFor('two readings', () => source.requests.length >= asked + 6);
    const lane = { shopId: SHOP, channel: 'web_chat', lane: `${one.session.visitorId}/2` } as const;
    await chat.store.spool.rememberConversation(lane, second);
    await waitFor('the early one', () => repliesTo(one).length === 10);
    expect(repliesTo(one).slice(9)).toEqual(expected);
  });

  test('that say they were written tomorrow hide none of today', async () => {
    const source = new ListedMessages();
    const chat = await start(source);
    const { one, conversation } = await talking(chat);
    for (let index = 0; index < 4; index += 1) {
      const content = `tomorrow ${index}`;
      const tomorrow = new Date(Date.now() + 86_400_000 + index * 3_600_000).toISOString();
      source.add(aReply({ conversation_id: conversation, content, created_at: tomorrow }));
    }
    const today = (index: number): void => {
      // Sorted by their times: behind those of tomorrow when the newest are listed first.
      const created = new Date(Date.UTC(2026, 1, index + 1)).toISOString();
      const content = `today ${index}`;
      const reply = aReply({ conversation_id: conversation, content, created_at: created });
      source.messages.splice(-4, 0, reply);
    };
    await waitFor('the first', () => repliesTo(one).length === 4);
    const asked = source.requests.length;
    await waitFor('two readings', () => source.requests.length >= asked + 4);
    for (let index = 0; index < 3; index += 1) {
      today(index);
      await waitFor(`today ${index}`, () => repliesTo(one).at(-1) === `today ${index}`);
    }
  });

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
    let open: () => void = () => undefined;
    source.gate = new Promise((resolve) => (open = resolve));
    const tabs = await Promise.all(
      visitors.map(({ session }) => chat.connect({ auth: { key: 'demo', token: session.token } })),
    );
    expect(tabs).toHaveLength(9);
    // Most of them have come while one was read: they are read together.
    open();
    await waitFor('all conversations', () => {
      const asked = new Set(source.requests.flatMap(({ ids }) => ids));
      return asked.size === 180;
    });
    expect(Math.max(...source.requests.map(({ ids }) => ids.length))).toBeLessThanOrEqual(150);
    // His replies are numbered by their times, which shows only when all of them are there: those
    // that are looked at as a rule, or all when he returns.
    for (const { session } of visitors) {
      const own = await store.conversationsOf(SHOP, [asVisitorId(session.visitorId)]);
      const asked = source.requests.map(
        ({ ids }) => own.filter(({ conversationId }) => ids.includes(conversationId)).length,
      );
      // What was asked before may have been of the time when he had fewer.
      const since = asked.slice(asked.indexOf(20));
      expect([0, 3, 20]).toEqual(expect.arrayContaining(since));
    }
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
    await waitFor('the question', () => asked.length > 0);
    expect(await one.send('still there?')).toEqual({ ok: true, seq: 2 });
    await chat.stop();
    gateway = undefined;
    expect(asked.every(({ aborted }) => aborted)).toBe(true);
  });
});
