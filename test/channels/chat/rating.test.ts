import { afterEach, expect, test } from '@jest/globals';
import { createEventRequestSchema } from '../../../src/platform-api/schemas.ts';
import { SHOP } from '../../support/entries.ts';
import { aShop, ChatGateway, ROOMY } from './chat-gateway.ts';

const CONVERSATION = '6f1c2a52-6ad5-4b0b-9a3a-1f7a6f6f3b11';
const OTHER = '0b8f1a3e-58c5-4a54-8f2c-8d1f8a6f2c22';

let gateway: ChatGateway | undefined;
const start = async (): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })] });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** As delivery does with the platform's answer. */
const assign = (chat: ChatGateway, lane: string, id: string): Promise<boolean> =>
  chat.store.spool.rememberConversation({ shopId: SHOP, channel: 'web_chat', lane }, id);

const ratings = async (chat: ChatGateway) => {
  const events = (await chat.entries()).filter(({ kind }) => kind === 'event');
  return Promise.all(
    events.map(async ({ id }) => {
      const raw = (await chat.store.spool.raw(id)) ?? { kind: 'none' };
      if (raw.kind !== 'inline') throw new Error('an event is stored inline');
      return createEventRequestSchema.parse(JSON.parse(Buffer.from(raw.bytes).toString()));
    }),
  );
};

test('a rating becomes one metric event on the conversation', async () => {
  const chat = await start();
  const client = await chat.connect();
  await client.send('Where is my order?');
  const { visitorId } = client.session;
  await assign(chat, `${visitorId}/1`, CONVERSATION);
  expect(await client.request('rate', { value: 4, comment: ' Quick. ' })).toEqual({ ok: true });
  expect(await client.request('rate', { value: 1 })).toEqual({ ok: true });
  expect(await ratings(chat)).toEqual([
    {
      name: 'Chat rated 4 of 5',
      description: 'Quick.',
      event_time: expect.any(String),
      metric: {
        metric_name: 'chat_rating',
        value: 4,
        deduping_key: `chat:rating/${visitorId}/1`,
        metric_object_type: 'conversation',
        metric_object_id: CONVERSATION,
      },
    },
  ]);
});

test('each conversation has its own', async () => {
  const chat = await start();
  const client = await chat.connect();
  await client.send('the first matter');
  const { visitorId } = client.session;
  await assign(chat, `${visitorId}/1`, CONVERSATION);
  await client.request('rate', { value: 5 });
  await client.newConversation();
  await client.send('the second matter');
  expect(await client.request('rate', { value: 2 })).toMatchObject({
    error: 'busy',
    retryAfter: 5,
  });
  await assign(chat, `${visitorId}/2`, OTHER);
  expect(await client.request('rate', { value: 2 })).toEqual({ ok: true });
  const rated = (await ratings(chat)).map(({ metric }) => [
    metric?.metric_object_id,
    metric?.value,
  ]);
  expect(new Map(rated as [string, number][])).toEqual(
    new Map([
      [CONVERSATION, 5],
      [OTHER, 2],
    ]),
  );
});

test.each([
  ['no value', {}],
  ['a value beyond the scale', { value: 6 }],
  ['a fraction', { value: 4.5 }],
  ['a comment that is too long', { value: 3, comment: 'x'.repeat(1_001) }],
])('%s is invalid', async (_name, request) => {
  const chat = await start();
  const client = await chat.connect();
  await client.send('hello');
  expect(await client.request('rate', request)).toEqual({ ok: false, error: 'invalid' });
});

test('of a visitor who has not written is invalid', async () => {
  const chat = await start();
  const client = await chat.connect();
  expect(await client.request('rate', { value: 3 })).toEqual({ ok: false, error: 'invalid' });
  expect(await chat.entries()).toEqual([]);
});
