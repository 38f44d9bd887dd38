import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { startGateway } from '../support/running-gateway.ts';
import { entriesOf } from '../support/spool-beside.ts';
import { serveTelnyx } from '../support/telnyx-api.ts';
import {
  API_KEY,
  inboundPayload,
  outboundPayload,
  postEvent,
  PUBLIC_KEY,
  TELNYX_NUMBER,
  telnyxEvent,
  telnyxId,
} from '../support/telnyx-stand-in.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startTwilioStandIn, THEIR_NUMBER } from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene } from './scene.ts';

const ACCEPTED = { status: 200, body: '{}' };

async function aTelnyx() {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  const telnyx = { apiKey: API_KEY, publicKey: PUBLIC_KEY, baseUrl: standIn.baseUrl };
  return { standIn, api: serveTelnyx(standIn), sms: { numbers: [TELNYX_NUMBER], telnyx } };
}

/** The keys of a shop's texts in a configuration, in place of those for Twilio. */
const atTelnyx = (sms: Awaited<ReturnType<typeof aTelnyx>>['sms']) => ({
  sms: { ...sms, twilio: undefined },
});

test('a text becomes one create-message request, also if it comes ten times', async () => {
  const { sms } = await aTelnyx();
  const { dataDir, platform, gateway } = await scene(atTelnyx(sms));
  const body = telnyxEvent(inboundPayload({ text: 'Where is my order?\nAnn' }));
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => postEvent(gateway.httpUrl, body)),
  );
  for (const answer of answers) expect(answer).toMatchObject(ACCEPTED);
  // The same person's next message comes after whatever the duplicates made.
  const next = telnyxEvent(inboundPayload({ id: telnyxId(2), text: 'next' }));
  expect(await postEvent(gateway.httpUrl, next)).toMatchObject(ACCEPTED);

  await waitFor('both messages', () => platform.messages.length === 2);
  expect(platform.payloads[0]).toEqual({
    contact: { phone: THEIR_NUMBER },
    conversation: { direction: 'inbound', type: 'sms', agent_contact: TELNYX_NUMBER },
    message: {
      content: 'Where is my order?\nAnn',
      format: 'TEXT',
      remote_id: telnyxId(1),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  });
  const [first, second] = platform.messages;
  expect(second?.conversation_id).toBe(first?.conversation_id);
  expect(await entriesOf(dataDir)).toHaveLength(2);
});

test("an MMS's media are uploaded first, with the very bytes that Telnyx kept", async () => {
  const { standIn, sms } = await aTelnyx();
  const png = Buffer.concat([
    // A head of one pixel, and the start of its data (PNG §5.3).
    Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
    Buffer.from('0000400049444154', 'hex'),
    randomBytes(40_000),
  ]);
  standIn.script('/media/1.png', 'reset', { status: 200, body: png });
  const { platform, gateway } = await scene(atTelnyx(sms));
  const media = [
    { url: `${standIn.baseUrl}/media/1.png`, content_type: 'image/png', size: 40_041 },
  ];
  const event = telnyxEvent(inboundPayload({ type: 'MMS', text: 'See this', media }));
  expect(await postEvent(gateway.httpUrl, event)).toMatchObject(ACCEPTED);

  const [message] = await waitFor('the message', () => platform.messages[0] && platform.messages);
  const [stored] = platform.inspect.attachments(message?.id ?? '');
  expect(stored).toMatchObject({ name: 'image-1.png', type: 'image/png' });
  expect(readFileSync(stored?.path ?? '')).toEqual(png);
});

test('the local platform answers through Telnyx, until the person writes STOP', async () => {
  const { api, sms } = await aTelnyx();
  const dir = tempDir();
  ends(() => dir.remove());
  const gateway = await startGateway({
    dataDir: dir.path,
    replies: { sms: 'provider' },
    ...atTelnyx(sms),
  });
  ends(() => gateway.stop());
  await postEvent(gateway.httpUrl, telnyxEvent(inboundPayload()));
  const [answer] = await waitFor('an answer', () => api.sent[0] && api.sent, 30);
  expect(answer).toMatchObject({ from: TELNYX_NUMBER, to: THEIR_NUMBER });

  const status = telnyxEvent(outboundPayload({ id: answer?.id }), 'message.finalized');
  expect(await postEvent(gateway.httpUrl, status)).toMatchObject({ status: 204 });

  const stop = inboundPayload({ id: telnyxId(2), text: 'STOP', autoresponse_type: 'STOP' });
  await postEvent(gateway.httpUrl, telnyxEvent(stop));
  await waitFor(
    'the opt-out',
    async () => (await entriesOf(dir.path)).some(({ state }) => state === 'suppressed'),
    10,
  );
  expect(api.sent).toHaveLength(1);
});

test('a text that came while the gateway was down is found at its start', async () => {
  const { api, sms } = await aTelnyx();
  const at = Date.now() - 60_000;
  api.keep({ id: telnyxId(7), at, to: TELNYX_NUMBER, payload: { text: 'Are you there?' } });
  const { platform } = await scene(atTelnyx(sms));
  await waitFor('the message', () => platform.messages.length === 1);
  expect(platform.payloads[0]?.message).toMatchObject({
    content: 'Are you there?',
    remote_id: telnyxId(7),
    timestamp: new Date(at).toISOString(),
  });
});
