import { beforeEach, describe, expect, test } from '@jest/globals';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import { telnyxShopAccount } from '../../../src/channels/sms/providers/telnyx/account.ts';
import { twilioShopAccount } from '../../../src/channels/sms/providers/twilio/account.ts';
import type { BlockedText } from '../../../src/channels/sms/normalize/consent.ts';
import { recordBlocked } from '../../../src/channels/sms/normalize/consent.ts';
import { laneOf } from '../../../src/channels/sms/receive.ts';
import { createIntake } from '../../../src/intake/intake.ts';
import { textSender } from '../../../src/gateway/local.ts';
import { ends } from '../../support/ends.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { sendSms } from '../../support/sms-sender.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import * as telnyx from '../../support/telnyx-stand-in.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  inboundForm,
  messageSid,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import {
  type LogLine,
  recordingLogger,
  type RunningWebhook,
  smsShop,
  startWebhook,
} from './running-door.ts';

const { shopId } = smsShop();
let webhook: RunningWebhook;

beforeEach(async () => {
  const account = telnyxShopAccount({ apiKey: 'KEY', publicKey: telnyx.PUBLIC_KEY });
  const shops = [
    smsShop(),
    { ...smsShop({ name: 'telnyx', numbers: [telnyx.TELNYX_NUMBER] }), account },
  ];
  webhook = await startWebhook({ shops });
  ends(() => webhook.close());
});

const AT_TWILIO = laneOf({ account: ACCOUNT_SID, to: OUR_NUMBER, from: THEIR_NUMBER });
const isOut = (lane = AT_TWILIO) =>
  optOutsOf(webhook.store.optOuts, undefined).isOptedOut(shopId, lane);

/** The names and numbers of the events that wait for the platform. */
async function events(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let next = await webhook.claim(); next !== undefined; next = await webhook.claim()) {
    if (next.entry.kind !== 'event' || next.raw.kind !== 'inline') continue;
    const event = JSON.parse(Buffer.from(next.raw.bytes).toString()) as Record<string, unknown>;
    found.push([event['name'], event['contact']]);
  }
  return found;
}
const OPT_OUT = ['SMS opt-out', { phone: THEIR_NUMBER }];

const statusOf = (ErrorCode: string, changes: Parameters<typeof inboundForm>[0] = {}) =>
  inboundForm({
    ...{ From: OUR_NUMBER, To: THEIR_NUMBER, Body: undefined, ErrorCode },
    ...{ SmsStatus: 'undelivered', MessageStatus: 'undelivered' },
    ...changes,
  });

describe('a report that the provider blocks a text for an opt-out', () => {
  test('records it for this number, once, with an event', async () => {
    expect((await webhook.send(statusOf('21610'))).status).toBe(204);
    expect((await webhook.send(statusOf('21610'))).status).toBe(204);
    expect((await webhook.send(statusOf('21610', { MessageSid: messageSid(2) }))).status).toBe(204);
    expect(await isOut()).toBe(true);
    expect(await events()).toEqual([OPT_OUT]);
  });

  test.each(['30005', '21611', '', 'x'])('is no other one: %j', async (code) => {
    expect((await webhook.send(statusOf(code))).status).toBe(204);
    expect(await isOut()).toBe(false);
    expect(await events()).toEqual([]);
  });

  test('is not believed unsigned, nor for a number that is not ours', async () => {
    expect((await webhook.send(statusOf('21610'), { signature: 'none' })).status).toBe(403);
    const From = '+15550009999';
    expect((await webhook.send(statusOf('21610', { From }))).status).toBe(204);
    expect(await isOut()).toBe(false);
    expect(await events()).toEqual([]);
  });

  test('of Telnyx is recorded, too', async () => {
    const payload = telnyx.outboundPayload({
      to: [{ phone_number: THEIR_NUMBER, status: 'sending_failed' }],
      errors: [{ code: '40300', title: 'Blocked due to STOP message' }],
    });
    const body = telnyx.telnyxEvent(payload, 'message.finalized');
    expect((await telnyx.postEvent(new URL(webhook.target).origin, body)).status).toBe(204);
    const lane = laneOf({ account: 'telnyx', to: telnyx.TELNYX_NUMBER, from: THEIR_NUMBER });
    expect(await isOut(lane)).toBe(true);
    expect(await isOut()).toBe(false);
    expect(await events()).toEqual([OPT_OUT]);
  });

  test('comes again if it could not be stored', async () => {
    await webhook.store.spool.close();
    expect((await webhook.send(statusOf('21610'))).status).toBe(503);
  });
});

describe('an answer that the provider blocks a text for an opt-out', () => {
  const TEXT = { from: OUR_NUMBER, to: THEIR_NUMBER, body: 'Monday to Friday.' };

  async function sender(code: number, onBlocked: (blocked: BlockedText) => Promise<void>) {
    const standIn = await startTwilioStandIn();
    ends(() => standIn.close());
    standIn.route(({ method }) =>
      method === 'POST'
        ? { status: 400, body: JSON.stringify({ code, message: 'Refused', status: 400 }) }
        : undefined,
    );
    const account = twilioShopAccount({
      ...{ accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl: standIn.baseUrl },
    });
    return textSender(account, {
      onBlocked: ({ from: ours, to: theirs }) =>
        onBlocked({ shopId, account: account.id, ours, theirs, id: 'the refusal' }),
    });
  }
  const recorded = (blocked: BlockedText) => {
    const { spool, chat, optOuts } = webhook.store;
    const { metrics } = webhook;
    const intake = createIntake({
      ...{ spool, chat, metrics, clock: Date.now, onAccepted: () => undefined },
    });
    return recordBlocked(blocked, { optOuts, intake });
  };

  test('records it, and the text is refused for good', async () => {
    const { sendText } = await sender(21_610, recorded);
    await expect(sendText(TEXT)).rejects.toMatchObject({ kind: 'permanent', code: '21610' });
    expect(await isOut()).toBe(true);
    expect(await events()).toEqual([OPT_OUT]);
  });

  test('is met again if it could not be recorded', async () => {
    const { sendText } = await sender(21_610, () => Promise.reject(new Error('full')));
    await expect(sendText(TEXT)).rejects.toMatchObject({ kind: 'transient' });
  });

  test('is no other refusal', async () => {
    const { sendText } = await sender(21_211, recorded);
    await expect(sendText(TEXT)).rejects.toMatchObject({ kind: 'permanent', code: '21211' });
    expect(await isOut()).toBe(false);
  });
});

test('after a blocked reply the whole gateway sends this person nothing more', async () => {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  let posts = 0;
  standIn.route(({ method }) => {
    if (method !== 'POST') return { status: 200, body: '{"messages":[]}' };
    posts += 1;
    return { status: 400, body: JSON.stringify({ code: 21_610, message: 'Out', status: 400 }) };
  });
  const dir = tempDir();
  ends(() => dir.remove());
  const log: LogLine[] = [];
  const gateway = await startGateway(
    { dataDir: dir.path, twilioUrl: standIn.baseUrl, replies: { sms: 'provider' } },
    recordingLogger(log),
  );
  ends(() => gateway.stop());
  const failed = () =>
    log.filter(({ event }) => event === 'reply.failed').map(({ fields }) => fields['code']);
  await sendSms(gateway.httpUrl, { MessageSid: messageSid(1), Body: 'When are you open?' });
  await waitFor('the refusal', () => failed().length === 1, 20);
  await sendSms(gateway.httpUrl, { MessageSid: messageSid(2), Body: 'And where are you?' });
  await waitFor('the next reply', () => failed().length === 2, 20);
  expect(failed()).toEqual(['21610', 'opted_out']);
  expect(posts).toBe(1);
});
