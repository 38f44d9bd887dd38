import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { gatewaySetting } from '../support/gateway-setting.ts';
import type { PlatformFront } from '../support/platform-front.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitForEntries } from '../support/spool-beside.ts';
import {
  mediaForm,
  mediaPath,
  mediaSid,
  type StandInAnswer,
  startTwilioStandIn,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene } from './scene.ts';

const PNG = Buffer.concat([
  // A head of one pixel, and the start of its data (PNG §5.3).
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.from('0000400049444154', 'hex'),
  randomBytes(20_000),
]);
const picture: StandInAnswer = { status: 200, headers: { 'Content-Type': 'image/png' }, body: PNG };
const MMS = sidOf('mms', 'MM');
const path = (n: number) => mediaPath(MMS, mediaSid(n));
const lost = (n: number) => `[attachment could not be retrieved: image/png, ${mediaSid(n)}]`;

/** An MMS with so many pictures, as Twilio posts it. */
const mms = (pictures: number, Body: string) => ({
  ...mediaForm(MMS, pictures, 'image/png'),
  ...{ MessageSid: MMS, SmsMessageSid: MMS, Body },
});

async function twilioStandIn() {
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  return twilio;
}

const message = (platform: PlatformFront, remoteId: string) =>
  waitFor('a message', () => platform.messages.find(({ remote_id }) => remote_id === remoteId));

test('a picture that answers 401 holds no text; late pictures follow as one message', async () => {
  const twilio = await twilioStandIn();
  twilio.script(path(1), picture);
  twilio.script(path(2), { status: 401 }, picture);
  twilio.script(path(3), { status: 403 }, picture);
  const { platform, gateway } = await scene({ twilioUrl: twilio.baseUrl });
  await sendSms(gateway.httpUrl, mms(3, 'My lamp, from three sides'));
  await sendSms(gateway.httpUrl, { MessageSid: sidOf('next'), Body: 'Did you see it?' });

  const text = await message(platform, MMS);
  const followUp = await message(platform, `${MMS}/media`);
  const next = await message(platform, sidOf('next'));
  expect(text.content).toBe(`My lamp, from three sides\n\n${lost(2)}\n${lost(3)}`);
  expect(followUp.content).toBe('Picture for: \u201CMy lamp, from three sides\u201D');
  expect(platform.messages).toHaveLength(3);
  for (const { conversation_id } of [followUp, next]) {
    expect(conversation_id).toBe(text.conversation_id);
  }
  const filesOf = ({ id }: { id: string }) =>
    platform.inspect.attachments(id).map(({ name, path: file }) => [name, readFileSync(file)]);
  expect(filesOf(text)).toEqual([['image-1.png', PNG]]);
  expect(filesOf(followUp)).toEqual([
    ['image-2.png', PNG],
    ['image-3.png', PNG],
  ]);
});

test('a late picture that is not there yet holds no later text, and is not given up', async () => {
  const twilio = await twilioStandIn();
  twilio.script(path(1), { status: 401 });
  const { dataDir, platform, gateway } = await scene({ twilioUrl: twilio.baseUrl });
  await sendSms(gateway.httpUrl, mms(1, 'My lamp'));
  await message(platform, MMS);
  const waiting = await waitForEntries(dataDir, 'the follow-up to wait', (entries) =>
    entries.find(
      ({ remoteId, state, lastAttemptAt }) =>
        remoteId === `${MMS}/media` && state === 'queued' && lastAttemptAt > 0,
    ),
  );
  expect(waiting).toMatchObject({ detached: true, attempts: 0 });
  for (const name of ['one', 'two', 'three']) {
    await sendSms(gateway.httpUrl, { MessageSid: sidOf(name), Body: name });
    await message(platform, sidOf(name));
  }
  expect(platform.messages).toHaveLength(4);
});

test('a late picture follows after the gateway was killed', async () => {
  const twilio = await twilioStandIn();
  twilio.script(path(1), { status: 401 }, 'stall');
  const { platform, start, httpUrl } = await gatewaySetting({ twilioUrl: twilio.baseUrl });
  const gateway = await start();
  await sendSms(httpUrl, mms(1, 'My lamp'));
  const asked = () => twilio.requests.filter((request) => request.path === path(1)).length;
  await waitFor('the follow-up to be under way', () => asked() === 2);
  await gateway.kill();
  expect(platform.messages.map(({ remote_id }) => remote_id)).toEqual([MMS]);
  twilio.script(path(1), picture);
  await start();
  const followUp = await message(platform, `${MMS}/media`);
  expect(platform.inspect.attachments(followUp.id)).toHaveLength(1);
  expect(platform.messages).toHaveLength(2);
});
