import { expect, test } from '@jest/globals';
import { transcript } from '../../src/console/page/platform/transcript.ts';
import { ends } from '../support/ends.ts';
import { serveGraph, VERSION } from '../support/graph-api.ts';
import { startGateway } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';
import { postWebhook, startTwilioStandIn } from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  changeOf,
  contactOf,
  eventOf,
  messageEvent,
  PERSON,
  PHONE_NUMBER_ID,
  postEvent,
  statusEvent,
  VERIFY_TOKEN,
  wamid,
  WHATSAPP_NUMBER,
  whatsappMessage,
} from '../support/whatsapp-stand-in.ts';
import { embeddedScene } from './embedded-scene.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { type LogLine, recordingLogger } from '../channels/sms/running-door.ts';
import { ACME } from '../support/gateway-config.ts';
import { scene } from './scene.ts';

const ACCEPTED = { status: 200, body: '{}' };

async function aMeta() {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  const whatsappCloud = {
    phoneNumberIds: [PHONE_NUMBER_ID],
    accessToken: ACCESS_TOKEN,
    appSecrets: [APP_SECRET],
    verifyToken: VERIFY_TOKEN,
    baseUrl: standIn.baseUrl + VERSION,
  };
  /** The keys of a shop's texts in a configuration, in place of those for Twilio. */
  const sms = { numbers: [WHATSAPP_NUMBER], whatsappCloud, twilio: undefined };
  return { graph: serveGraph(standIn), sms };
}

test('two messages of one request become two create-message requests, in one conversation', async () => {
  const { sms } = await aMeta();
  const { platform, gateway } = await scene({ sms });
  const messages = ['Where is my order?', 'It is number 7.'].map((body, n) =>
    whatsappMessage({ id: wamid(n), text: { body } }),
  );
  const body = eventOf(changeOf({ contacts: [contactOf()], messages }));
  for (const again of [body, body]) {
    expect(await postEvent(gateway.httpUrl, again)).toMatchObject(ACCEPTED);
  }
  await waitFor('both messages', () => platform.messages.length === 2);
  expect(platform.payloads[0]).toEqual({
    contact: { phone: `+${PERSON}`, name: 'Sheena Nelson' },
    conversation: { direction: 'inbound', type: 'sms', agent_contact: WHATSAPP_NUMBER },
    message: {
      content: 'Where is my order?',
      format: 'TEXT',
      remote_id: wamid(0),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  });
  const [first, second] = platform.messages;
  expect(second?.conversation_id).toBe(first?.conversation_id);
});

test('Meta may check the URL', async () => {
  const { sms } = await aMeta();
  const { gateway } = await scene({ sms });
  const query = `hub.mode=subscribe&hub.challenge=7&hub.verify_token=${VERIFY_TOKEN}`;
  const target = `${gateway.httpUrl}/sms/whatsapp?${query}`;
  expect(await postWebhook({ target, body: '', method: 'GET' })).toMatchObject({
    ...{ status: 200, body: '7' },
  });
});

const ECHO = eventOf(
  changeOf(
    {
      message_echoes: [
        {
          ...{ from: WHATSAPP_NUMBER.slice(1), to: PERSON, id: wamid(90), type: 'text' },
          timestamp: String(Math.floor(Date.now() / 1000)),
          text: { body: 'I answer from my phone' },
        },
      ],
    },
    'smb_message_echoes',
  ),
);

test('what the shop writes on its own phone is a note, and the agent is silent', async () => {
  const { graph, sms } = await aMeta();
  const dir = tempDir();
  ends(() => dir.remove());
  const log: LogLine[] = [];
  const gateway = await startGateway(
    { dataDir: dir.path, replies: { sms: 'provider' }, sms },
    recordingLogger(log),
  );
  ends(() => gateway.stop());
  expect(await postEvent(gateway.httpUrl, ECHO)).toMatchObject(ACCEPTED);
  expect(await postEvent(gateway.httpUrl, messageEvent({ id: wamid(2) }))).toMatchObject(ACCEPTED);
  expect(await postEvent(gateway.httpUrl, ECHO)).toMatchObject(ACCEPTED);
  const logged = (event: string) => log.find((line) => line.event === event)?.fields;
  await waitFor('the agent', () => logged('agent.silent') !== undefined, 30);
  expect(logged('agent.silent')).toMatchObject({ reason: 'echo' });
  expect(graph.sent).toEqual([]);
  const client = new PlatformClient({
    ...{ baseUrl: String(logged('platform.listening')?.['url']), apiKey: ACME.apiKey },
    ...{ shopId: asShopId(ACME.shopId), requestTimeoutMs: 5000, mediaTimeoutMs: 5000 },
  });
  ends(() => client.close());
  const [question, note, ...more] = (await client.listMessages()).results;
  expect(more).toEqual([]);
  expect(note).toMatchObject({
    ...{ type: 'Internal', conversation_id: question?.conversation_id },
    text: 'I answer from my phone\n\n[Written on your own phone]',
  });
  expect(question).toMatchObject({ type: 'External', role: 'customer' });
});

test('another platform than the local one gets nothing of it', async () => {
  const { sms } = await aMeta();
  const { platform, gateway } = await scene({ sms });
  expect(await postEvent(gateway.httpUrl, ECHO)).toMatchObject({ status: 200, body: '' });
  expect(await postEvent(gateway.httpUrl, messageEvent())).toMatchObject(ACCEPTED);
  await waitFor('the message', () => platform.messages.length === 1);
  expect(platform.payloads).toMatchObject([{ message: { remote_id: wamid(1) } }]);
});

test('the local platform answers over WhatsApp, from the number that was written to', async () => {
  const { graph, sms } = await aMeta();
  const dir = tempDir();
  ends(() => dir.remove());
  const gateway = await startGateway({ dataDir: dir.path, replies: { sms: 'provider' }, sms });
  ends(() => gateway.stop());
  await postEvent(gateway.httpUrl, messageEvent());
  const [answer] = await waitFor('an answer', () => graph.sent[0] && graph.sent, 30);
  expect(answer).toMatchObject({ type: 'text', to: `+${PERSON}` });
  const status = statusEvent({ id: answer?.id, status: 'read' });
  expect(await postEvent(gateway.httpUrl, status)).toMatchObject({ status: 200, body: '' });

  const hidden = { from: undefined, from_user_id: 'US.13491208655302741918' };
  await postEvent(gateway.httpUrl, messageEvent({ id: wamid(2), ...hidden }, {}));
  const [, toId] = await waitFor('another answer', () => graph.sent[1] && graph.sent, 30);
  expect(toId).toMatchObject({ type: 'text', recipient: 'US.13491208655302741918' });
});

test('texts that Meta brings in the wrong order are shown in that of writing', async () => {
  const { sms } = await aMeta();
  const { gateway, messages } = await embeddedScene({ sms });
  const minutesAgo = (minutes: number) => Math.floor(Date.now() / 1000) - minutes * 60;
  const texts = [
    ['SECOND', minutesAgo(50)],
    ['FIRST', minutesAgo(60)],
  ] as const;
  for (const [n, [body, timestamp]] of texts.entries()) {
    await postEvent(
      gateway.httpUrl,
      messageEvent({ id: wamid(n), timestamp: String(timestamp), text: { body } }),
    );
  }
  const stored = await waitFor('both texts', async () => {
    const ours = (await messages()).filter(({ role }) => role === 'customer');
    return ours.length === 2 ? ours : undefined;
  });
  expect(stored.map(({ text }) => text)).toEqual(['SECOND', 'FIRST']);
  expect(new Set(stored.map(({ conversation_id: id }) => id)).size).toBe(1);
  expect(transcript(stored).map(({ text, at }) => [text, at])).toEqual(
    texts.toReversed().map(([body, timestamp]) => [body, timestamp * 1000]),
  );
});
