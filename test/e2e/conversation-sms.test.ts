import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { serveMessages } from '../support/twilio-messages.ts';
import {
  AUTH_TOKEN,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { embeddedScene } from './embedded-scene.ts';

async function aTwilio() {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  return { ...serveMessages(standIn), url: standIn.baseUrl };
}

test('a conversation by SMS: a signed text in, the answer out through Twilio, and again', async () => {
  const twilio = await aTwilio();
  const scene = await embeddedScene({ twilioUrl: twilio.url, replies: { sms: 'twilio' } });
  const say = async (Body: string) =>
    expect(await sendSms(scene.gateway.httpUrl, { MessageSid: sidOf(Body), Body })).toMatchObject({
      status: 200,
    });

  await say('How can I return my shoes?');
  const first = await waitFor('the answer', () => twilio.sent[0]);
  expect(first).toMatchObject({ from: OUR_NUMBER, to: THEIR_NUMBER });
  expect(first.body).toMatch(/30 days/);
  // Plain words: a telephone shows no Markdown.
  expect(first.body).not.toMatch(/\*\*|\]\(/);
  expect(first.body.length).toBeLessThanOrEqual(1600);

  await say('And which sizes do you have?');
  await waitFor('the next answer', () => twilio.sent[1]);
  const replies = await scene.delivered(2);
  expect(replies.map(({ remote_id: id }) => id)).toEqual(twilio.sent.map(({ sid }) => sid));
  expect(replies.map(({ text }) => text)).toEqual(twilio.sent.map(({ body }) => body));

  const messages = await scene.messages();
  expect(messages.map(({ role }) => role)).toEqual(['customer', 'agent', 'customer', 'agent']);
  expect(new Set(messages.map(({ conversation_id: id }) => id)).size).toBe(1);
  expect(await scene.tickets()).toMatchObject([{ id: messages[0]?.ticket_id }]);

  const log = scene.log.join('\n');
  for (const secret of [AUTH_TOKEN, THEIR_NUMBER, '30 days']) expect(log).not.toContain(secret);
});

test('who opted out is not written to, and the answer is FAILED', async () => {
  const twilio = await aTwilio();
  twilio.optedOut.add(THEIR_NUMBER);
  const scene = await embeddedScene({ twilioUrl: twilio.url, replies: { sms: 'twilio' } });
  await sendSms(scene.gateway.httpUrl, { MessageSid: sidOf('a'), Body: 'Where is my order?' });
  await waitFor('the refusal', async () =>
    (await scene.messages()).some(({ role, status }) => role === 'agent' && status === 'FAILED'),
  );
  expect(twilio.sent).toEqual([]);
  expect(scene.log.find((line) => line.includes('reply.failed'))).toContain('21610');
});

test('who wrote STOP gets nothing until START, whoever would answer', async () => {
  const twilio = await aTwilio();
  const scene = await embeddedScene({ twilioUrl: twilio.url, replies: { sms: 'twilio' } });
  const say = (Body: string, name = Body) =>
    sendSms(scene.gateway.httpUrl, { MessageSid: sidOf(name), Body });
  await say('STOP');
  await say('Where is my order?');
  await waitFor('the refusal', async () =>
    (await scene.messages()).some(({ role, status }) => role === 'agent' && status === 'FAILED'),
  );
  expect(twilio.sent).toEqual([]);
  expect(scene.log.find((line) => line.includes('reply.failed'))).toContain('opted_out');
  expect(await scene.tickets()).toMatchObject([{ status: 'WaitingUser' }]);

  await say('START');
  await say('How can I return my shoes?');
  await waitFor('the answer', () => twilio.sent[0]);
  expect(scene.log.join('\n')).not.toContain(THEIR_NUMBER);
});

test('without Twilio, who wrote STOP is not answered in the log either', async () => {
  const scene = await embeddedScene();
  const say = (Body: string) => sendSms(scene.gateway.httpUrl, { MessageSid: sidOf(Body), Body });
  await say('STOP');
  await say('Where is my order?');
  await waitFor('the refusal', async () =>
    (await scene.messages()).some(({ role, status }) => role === 'agent' && status === 'FAILED'),
  );
  expect(existsSync(join(scene.dataDir, 'platform', 'outbox', 'sms.log'))).toBe(false);
});

test.each([
  ['WhatsApp', `whatsapp:${THEIR_NUMBER}`, `whatsapp:${OUR_NUMBER}`],
  ['RCS', `rcs:${THEIR_NUMBER}`, 'rcs:Acme_Agent'],
  ['WhatsApp without a number', 'whatsapp:US.13491208655302741918', `whatsapp:${OUR_NUMBER}`],
])('what comes over %s is answered the same way', async (_label, From, To) => {
  const twilio = await aTwilio();
  const scene = await embeddedScene({
    twilioUrl: twilio.url,
    replies: { sms: 'twilio' },
    sms: { numbers: [OUR_NUMBER, 'rcs:Acme_Agent'] },
  });
  const say = (Body: string) =>
    sendSms(scene.gateway.httpUrl, { MessageSid: sidOf(From + Body), From, To, Body });
  await say('How can I return my shoes?');
  await waitFor('the answer', () => twilio.sent[0]);
  await say('And which sizes do you have?');
  await waitFor('the next answer', () => twilio.sent[1]);
  expect(twilio.sent).toMatchObject([1, 2].map(() => ({ from: To, to: From })));
  await scene.delivered(2);
  const messages = await scene.messages();
  expect(new Set(messages.map(({ conversation_id: id }) => id)).size).toBe(1);
  expect(new Set(messages.map(({ contact_id: id }) => id)).size).toBe(1);
});

test('without Twilio, the answers are lines of the log', async () => {
  const scene = await embeddedScene();
  await sendSms(scene.gateway.httpUrl, { MessageSid: sidOf('a'), Body: 'How can I return them?' });
  const [reply] = await scene.delivered(1);
  const log = readFileSync(join(scene.dataDir, 'platform', 'outbox', 'sms.log'), 'utf8');
  expect(JSON.parse(log)).toMatchObject({
    ...{ id: reply?.id, from: OUR_NUMBER, to: THEIR_NUMBER, text: reply?.text },
  });
});
