import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { SHOP } from '../../../support/entries.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, ROOMY } from '../chat-gateway.ts';
import { deliverAll, repliesTo } from './conversation.ts';
import { ListedMessages, type Order } from './listed-messages.ts';
import { aReply } from './platform-messages.ts';

let gateway: ChatGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** A gateway that reads nine messages of a list at a time. */
async function start(order: Order) {
  const source = new ListedMessages();
  source.order = order;
  const shops = [aShop({ limits: ROOMY })];
  gateway = await ChatGateway.start({ shops, source, replies: { maxPages: 3 } });
  return { source, chat: gateway };
}

async function talking(chat: ChatGateway) {
  const client = await chat.connect();
  await client.send('hello?');
  const conversation = randomUUID();
  await deliverAll(chat, conversation);
  return { client, conversation };
}

function addReplies(source: ListedMessages, conversation: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const content = `reply ${index}`;
    source.add(aReply({ conversation_id: conversation, content }));
    return content;
  });
}

test('a page that cannot be read holds up nobody else, and its list goes on when it can be', async () => {
  const { source, chat } = await start('oldest first');
  const long = await talking(chat);
  const other = await talking(chat);
  let isBroken = true;
  source.fails = (ids, at) => isBroken && ids.includes(long.conversation) && at >= 12;
  const expected = addReplies(source, long.conversation, 40);
  const failed = (): number =>
    source.requests.filter(({ ids, cursor }) => source.fails(ids, Number(cursor ?? 0))).length;
  await waitFor('the first part', () => repliesTo(long.client).length >= 9);
  for (let index = 0; index < 3; index += 1) {
    const before = failed();
    await waitFor('another failure', () => failed() > before);
    // The failing list is left alone for ever longer: this one is answered between its readings.
    source.add(aReply({ conversation_id: other.conversation, content: `other ${index}` }));
    await waitFor(`other ${index}`, () => repliesTo(other.client).length > index);
  }
  expect(repliesTo(long.client).length).toBeLessThan(expected.length);
  const asked = source.requests.length;
  isBroken = false;
  await waitFor('the rest', () => repliesTo(long.client).length >= expected.length);
  expect(repliesTo(long.client)).toEqual(expected);
  // It went on where it was left.
  const since = source.requests.slice(asked).filter(({ ids }) => ids.includes(long.conversation));
  expect(since.map(({ cursor }) => Number(cursor ?? 0) >= 9)).not.toContain(false);
});

test('newer replies of another conversation wait for the rest of a long one', async () => {
  const { source, chat } = await start('oldest first');
  const { client, conversation } = await talking(chat);
  const { visitorId } = client.session;
  const second = randomUUID();
  const lane = { shopId: SHOP, channel: 'web_chat', lane: `${visitorId}/2` } as const;
  await chat.store.spool.rememberConversation(lane, second);
  const expected = addReplies(source, conversation, 20);
  source.add(aReply({ conversation_id: second, content: 'in between' }));
  const rest = addReplies(source, conversation, 20);
  source.add(aReply({ conversation_id: second, content: 'the newest' }));
  const all = [...expected, 'in between', ...rest, 'the newest'];
  await waitFor('all of them', () => repliesTo(client).length >= all.length);
  expect(repliesTo(client)).toEqual(all);
});

test('more replies than one reading takes were missed of a list that is newest first', async () => {
  const { source, chat } = await start('newest first');
  const { client, conversation } = await talking(chat);
  const before = addReplies(source, conversation, 40);
  await waitFor('the first ones', () => repliesTo(client).length === before.length);
  const { token } = client.session;
  client.close();
  await waitFor('him to leave', async () => (await chat.connections) === 0);
  const missed = Array.from({ length: 30 }, (_, index) => `missed ${index}`);
  for (const content of missed) source.add(aReply({ conversation_id: conversation, content }));
  const lastSeq = client.messages.at(-1)?.seq;
  const back = await chat.connect({ auth: { key: 'demo', token, lastSeq } });
  await waitFor('all he missed', () => repliesTo(back).length >= missed.length);
  expect(repliesTo(back).toSorted()).toEqual(missed.toSorted());
  source.add(aReply({ conversation_id: conversation, content: 'and now' }));
  await waitFor('the newest', () => repliesTo(back).at(-1) === 'and now');
});
