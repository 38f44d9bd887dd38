import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomFaults, seededRandom } from '../support/random-faults.ts';
import { sidOf } from '../support/sms-sender.ts';
import {
  ACCOUNT_SID,
  mediaPath,
  mediaSid,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { sharedGateway } from './shared-gateway.ts';

let twilio: Awaited<ReturnType<typeof startTwilioStandIn>>;
beforeAll(async () => {
  twilio = await startTwilioStandIn();
});
afterAll(() => twilio.close());

/** A shop for each test. */
const scene = sharedGateway(
  { first: {}, together: {}, repeated: {}, media: {}, failing: {} },
  () => ({
    twilioUrl: twilio.baseUrl,
  }),
);

const ACCEPTED = { status: 200, body: expect.stringContaining('<Response/>') };
const PNG = Buffer.concat([
  // A head of one pixel, and the start of its data (PNG §5.3).
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.from('0000400049444154', 'hex'),
  randomBytes(40_000),
]);

test('a text becomes one create-message request, as Twilio sent it', async () => {
  const { platform, shop, sms } = scene('first');
  const MessageSid = sidOf('one');
  const before = Date.now();
  const answer = await sms({ MessageSid, Body: 'Where is my order?\nAnn' });
  expect(answer).toMatchObject(ACCEPTED);
  expect(answer.headers['content-type']).toMatch(/^text\/xml/);

  await waitFor('the message', () => platform.messages.length === 1);
  expect(platform.payloads).toEqual([
    {
      contact: { phone: THEIR_NUMBER },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: shop.number },
      message: {
        content: 'Where is my order?\nAnn',
        format: 'TEXT',
        remote_id: MessageSid,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    },
  ]);
  const at = Date.parse(platform.payloads[0]?.message.timestamp ?? '');
  expect(at).toBeGreaterThanOrEqual(before - 1000);
  expect(at).toBeLessThanOrEqual(Date.now() + 1000);
});

test('texts of one person go into one conversation, also two that arrive together', async () => {
  const { platform, shop, sms } = scene('together');
  const text = (name: string, From: string) => sms({ MessageSid: sidOf(name), From, Body: name });
  const other = '+14155550123';
  const answers = await Promise.all([
    text('ann 1', THEIR_NUMBER),
    text('ann 2', THEIR_NUMBER),
    text('bob 1', other),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await waitFor('three messages', () => platform.messages.length === 3);
  await text('ann 3', THEIR_NUMBER);
  await waitFor('the fourth', () => platform.messages.length === 4);

  const conversationOf = new Map(
    platform.messages.map((message) => [message.content, message.conversation_id]),
  );
  const ann = conversationOf.get('ann 1');
  expect(conversationOf.get('ann 2')).toBe(ann);
  expect(conversationOf.get('ann 3')).toBe(ann);
  expect(conversationOf.get('bob 1')).not.toBe(ann);
  const last = platform.payloads.at(-1);
  expect(last?.conversation).toEqual({
    direction: 'inbound',
    type: 'sms',
    agent_contact: shop.number,
    id: ann,
  });
});

test('ten deliveries of one text at once are one message, each acknowledged alike', async () => {
  const { platform, sms, entries } = scene('repeated');
  const MessageSid = sidOf('again');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => sms({ MessageSid, Body: 'again' })),
  );
  for (const { status, body } of answers) {
    expect({ status, body }).toEqual({ status: 200, body: answers[0]?.body });
  }
  // The same person's next message comes after whatever the duplicates made.
  await sms({ MessageSid: sidOf('next'), Body: 'next' });
  await waitFor('the next message', () => platform.messages.at(-1)?.content === 'next');
  expect(platform.messages.map(({ content }) => content)).toEqual(['again', 'next']);
  expect(await entries()).toHaveLength(2);
});

test("an MMS's media are uploaded first, with the very bytes that Twilio kept", async () => {
  const { platform, sms } = scene('media');
  const MessageSid = sidOf('mms', 'MM');
  const paths = [1, 2].map((n) => mediaPath(MessageSid, mediaSid(n)));
  const text = Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann\r\nEND:VCARD\r\n');
  twilio.script(paths[0] ?? '', 'reset', {
    status: 200,
    headers: { 'Content-Type': 'image/png' },
    body: PNG,
  });
  twilio.script(paths[1] ?? '', {
    status: 200,
    headers: { 'Content-Type': 'text/vcard' },
    body: text,
  });
  const answer = await sms({
    MessageSid,
    SmsMessageSid: MessageSid,
    Body: 'See these',
    NumMedia: '2',
    MediaContentType0: 'image/png',
    MediaUrl0: `https://api.twilio.com${paths[0] ?? ''}`,
    MediaContentType1: 'text/vcard',
    MediaUrl1: `https://api.twilio.com${paths[1] ?? ''}`,
  });
  expect(answer).toMatchObject(ACCEPTED);

  const [message] = await waitFor('the message', () => platform.messages[0] && platform.messages);
  expect(platform.posts).toEqual(['POST /media/', 'POST /media/', 'POST /messages/']);
  const stored = platform.inspect.attachments(message?.id ?? '');
  expect(platform.payloads[0]?.message.attachments).toEqual(stored.map(({ id }) => id));
  expect(stored.map(({ path }) => readFileSync(path))).toEqual([PNG, text]);
  expect(stored[0]).toMatchObject({
    name: 'image-1.png',
    type: 'image/png',
    permission: 'private',
  });
  const credentials = Buffer.from(`${ACCOUNT_SID}:0123456789abcdef0123456789abcdef`);
  const asked = twilio.requests.find(({ path }) => path === paths[0]);
  expect(asked?.authorization).toBe(`Basic ${credentials.toString('base64')}`);
});

test('order within a conversation is kept while the platform fails at random', async () => {
  const { platform, sms } = scene('failing');
  const faults = randomFaults(seededRandom(7), 0.25);
  platform.faults = faults.hook;
  const people = ['+14155550101', '+14155550102', '+14155550103', '+14155550104'];
  const expected = people.flatMap((From) =>
    Array.from({ length: 10 }, (_, n) => ({ From, Body: `${From} ${n}` })),
  );
  await Promise.all(
    people.map(async (From) => {
      for (let n = 0; n < 10; n += 1) {
        const Body = `${From} ${n}`;
        const { status } = await sms({ MessageSid: sidOf(Body), From, Body });
        expect(status).toBe(200);
      }
    }),
  );
  await waitFor('all messages', () => platform.messages.length >= expected.length);

  const { messages } = platform;
  expect(messages.map(({ remote_id }) => remote_id).toSorted()).toEqual(
    expected.map(({ Body }) => sidOf(Body)).toSorted(),
  );
  for (const From of people) {
    const own = messages.filter(({ content }) => content.startsWith(From));
    expect(own.map(({ content }) => content)).toEqual(
      Array.from({ length: 10 }, (_, n) => `${From} ${n}`),
    );
    expect(new Set(own.map(({ conversation_id }) => conversation_id)).size).toBe(1);
  }
  expect([...faults.counts.keys()].toSorted()).toEqual(
    ['429', '500', 'empty', 'html', 'reset', 'reset-after-commit'].toSorted(),
  );
});
