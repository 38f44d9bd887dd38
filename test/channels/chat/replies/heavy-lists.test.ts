import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type Logger, silentLogger } from '../../../../src/observability/logger.ts';
import { ends } from '../../../support/ends.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, ROOMY } from '../chat-gateway.ts';
import { deliverAll, repliesTo } from './conversation.ts';
import { ListedMessages, type Order } from './listed-messages.ts';
import { aReply } from './platform-messages.ts';

/** A platform with pages of 200 messages, of which a reader takes 4,000 characters. */
async function start(order: Order) {
  const source = new ListedMessages();
  Object.assign(source, { order, pageSize: 200, mostChars: 4_000 });
  const shops = [aShop({ limits: ROOMY })];
  /** How long the whole shop was left alone, each time. */
  const backOffs: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (event, { waitMs } = {}) => {
      if (event === 'chat.replies_failed' && waitMs !== undefined) backOffs.push(waitMs);
    },
  };
  const chat = await ChatGateway.start({ shops, source, logger });
  ends(() => chat.stop());
  const talking = async () => {
    const client = await chat.connect();
    await client.send('hello?');
    const conversation = randomUUID();
    await deliverAll(chat, conversation);
    const answered = async (content: string): Promise<void> => {
      source.add(aReply({ conversation_id: conversation, content }));
      await waitFor(content.slice(0, 20), () => repliesTo(client).at(-1) === content);
    };
    return { client, conversation, answered };
  };
  return { source, talking, backOffs };
}

const ORDERS: [Order][] = [['newest first'], ['oldest first']];

test.each(ORDERS)(
  'pages that one visitor makes too large, listed %s, are read in parts, and hold up nobody else',
  async (order) => {
    const { source, talking } = await start(order);
    const [heavy, other] = [await talking(), await talking()];
    for (let nth = 0; nth < 40; nth += 1) {
      const content = `${nth} `.padEnd(300, 'x');
      source.add(aReply({ conversation_id: heavy.conversation, role: 'contact', content }));
    }
    await other.answered('for the other');
    await heavy.answered('for the heavy one');
    await other.answered('and again');
    // From then on it is alone, and in pages that fit.
    const asked = source.requests.length;
    await heavy.answered('and again');
    await waitFor('some readings', () => source.requests.length > asked + 10);
    const since = source.requests.slice(asked);
    const own = since.filter(({ ids }) => ids.includes(heavy.conversation));
    expect(own.length).toBeGreaterThan(0);
    expect(own.map(({ ids }) => ids.length)).toEqual(own.map(() => 1));
    expect(Math.max(...own.map(({ limit = Infinity }) => limit))).toBeLessThanOrEqual(12);
    const others = since.filter(({ ids }) => ids.includes(other.conversation));
    expect(others.every(({ limit }) => limit === undefined)).toBe(true);
  },
);

test.each(ORDERS)(
  'a message that is too large by itself, listed %s, stops its own conversation at most',
  async (order) => {
    const { source, talking, backOffs } = await start(order);
    const all = [await talking(), await talking(), await talking()];
    const [heavy, ...others] = all;
    if (heavy === undefined) throw new Error('there are three');
    source.add(aReply({ conversation_id: heavy.conversation, content: 'x'.repeat(5_000) }));
    for (let round = 0; round < 4; round += 1) {
      for (const other of others) await other.answered(`round ${round}`);
    }
    expect(repliesTo(heavy.client)).toEqual([]);
    expect(backOffs).toEqual([]);
    source.mostChars = 10_000;
    await waitFor('the large one', () => repliesTo(heavy.client).length === 1);
  },
);

test('a visitor alone in a shop gets the replies of pages that are too large', async () => {
  const { source, talking } = await start('newest first');
  const { client, conversation } = await talking();
  const texts = Array.from({ length: 30 }, (_, nth) => `${nth} `.padEnd(300, 'x'));
  for (const content of texts) source.add(aReply({ conversation_id: conversation, content }));
  await waitFor('all of them', () => repliesTo(client).length >= texts.length);
  expect(repliesTo(client).toSorted()).toEqual(texts.toSorted());
});
