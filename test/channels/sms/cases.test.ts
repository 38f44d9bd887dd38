import { beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { consentOf } from '../../../src/channels/sms/normalize/consent.ts';
import { twilioTexts } from '../../../src/channels/sms/providers/twilio/texts.ts';
import { asksToStop } from '../../../src/domain/opt-out-words.ts';
import { readStored } from '../../../src/channels/sms/stored.ts';
import { telnyxShopAccount } from '../../../src/channels/sms/providers/telnyx/account.ts';
import type { Claimed } from '../../../src/spool/entry.ts';
import { ends } from '../../support/ends.ts';
import * as telnyx from '../../support/telnyx-stand-in.ts';
import {
  AUTH_TOKEN,
  encodeForm,
  inboundForm,
  messageSid,
  type Pairs,
  postWebhook,
  twilioSignature,
} from '../../support/twilio-stand-in.ts';
import * as meta from '../../support/whatsapp-stand-in.ts';
import { MESSAGING_SERVICE } from './inbound-cases.ts';
import { type RunningWebhook, smsShop, startWebhook } from './running-door.ts';

/** Requests of providers that were once answered wrongly: `test/fixtures/texts/`. */
const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/texts/${name}`, import.meta.url), 'utf8').trim();

const PUBLIC_URL = 'https://gw.acme.example';
const TELNYX_NUMBER = '+15550003333';
let webhook: RunningWebhook;

async function start(hasNotes: boolean): Promise<void> {
  const telnyxAccount = telnyxShopAccount({ apiKey: 'KEY', publicKey: telnyx.PUBLIC_KEY });
  const shops = [
    smsShop({ messagingServiceSids: [MESSAGING_SERVICE] }),
    { ...smsShop({ name: 'telnyx', numbers: [TELNYX_NUMBER], hasNotes }), account: telnyxAccount },
    {
      ...smsShop({ name: 'whatsapp', numbers: [meta.WHATSAPP_NUMBER], hasNotes }),
      services: [meta.PHONE_NUMBER_ID],
      account: meta.whatsappAccount(),
    },
  ];
  const running = await startWebhook({ shops, publicUrl: PUBLIC_URL });
  ends(() => running.close());
  webhook = running;
}

beforeEach(() => start(true));

const alarms = async () =>
  (await webhook.metrics.alarms.get()).values.map(({ labels }) => labels.alarm);
const logged = (event: string) => webhook.log.filter((line) => line.event === event).length;

/** All that is stored, in the order of arrival, with the time of writing. */
async function stored() {
  const all: Claimed[] = [];
  for (let next = await webhook.claim(); next !== undefined; next = await webhook.claim()) {
    all.push(next);
  }
  return all.map((claimed) => ({ ...readStored(claimed).message, lane: claimed.entry.lane }));
}

async function postToMeta(name: string, headersOf = meta.signedHeaders): Promise<number[]> {
  const answers: number[] = [];
  for (const body of meta.requestsOf(name)) {
    const { status } = await meta.postEvent(new URL(webhook.target).origin, body, headersOf(body));
    answers.push(status);
  }
  return answers;
}

const secondsAgo = ({ writtenAt = NaN }) => meta.NOW - writtenAt / 1000;

describe('WhatsApp', () => {
  test('W1: a text has the time at which it was written', async () => {
    expect(await postToMeta('W1.json')).toEqual([200]);
    const [text] = await stored();
    expect(text).toMatchObject({ words: 'written two hours ago' });
    expect(secondsAgo(text ?? {})).toBe(7200);
  });

  test('W3: texts that come in another order are stored as they come, with their times', async () => {
    expect(await postToMeta('W3.json')).toEqual([200, 200]);
    const first = await webhook.claim();
    expect(first && readStored(first).message.words).toBe('SECOND');
    expect(secondsAgo((first && readStored(first).message) ?? {})).toBe(3000);
  });

  test("W6: the sample of Meta's dashboard is answered 200, stored nowhere and noted once", async () => {
    expect(await postToMeta('W6.json')).toEqual([200]);
    expect(await postToMeta('W6.json')).toEqual([200]);
    expect(await alarms()).toEqual([]);
    expect(logged('sms.test_request')).toBe(1);
    expect(await stored()).toEqual([]);
  });

  test('W6, unsigned, is refused', async () => {
    const forged = (body: string | Buffer) => meta.signedHeaders(body, 'another secret');
    expect(await postToMeta('W6.json', forged)).toEqual([403]);
    expect(logged('sms.test_request')).toBe(0);
  });

  test('W7: a number with and without the ninth digit is one lane', async () => {
    expect(await postToMeta('W7.json')).toEqual([200, 200]);
    const lanes = (await webhook.store.spool.list({ limit: 10 })).map(({ lane }) => lane);
    expect(lanes).toHaveLength(2);
    expect(new Set(lanes).size).toBe(1);
  });

  test('W9: what the shop writes on its own phone is stored once, in the lane of the customer', async () => {
    expect(await postToMeta('W9.json')).toEqual([200]);
    expect(await postToMeta('W9.json')).toEqual([200]);
    const [entry, ...more] = await webhook.store.spool.list({ limit: 10 });
    expect(more).toEqual([]);
    const lane = `whatsapp/whatsapp/${meta.WHATSAPP_NUMBER}/+16315551234`;
    expect(entry).toMatchObject({ remoteId: 'wamid.W9', lane, meta: { echo: true } });
    expect(await stored()).toMatchObject([
      { words: 'I answer from my phone', from: 'whatsapp:+16315551234', name: 'Kerry' },
    ]);
  });

  test('W9 is not acknowledged while the store is closed', async () => {
    await webhook.store.spool.close();
    expect(await postToMeta('W9.json')).toEqual([503]);
  });

  test('W9, of a shop with another platform, is counted', async () => {
    await start(false);
    expect(await postToMeta('W9.json')).toEqual([200]);
    expect(await stored()).toEqual([]);
    const { values } = await webhook.metrics.smsEchoes.get();
    expect(values).toMatchObject([{ labels: { shop: 'whatsapp' }, value: 1 }]);
  });

  test('W9, unsigned, is refused', async () => {
    const forged = (body: string | Buffer) => meta.signedHeaders(body, 'another secret');
    expect(await postToMeta('W9.json', forged)).toEqual([403]);
    expect(await stored()).toEqual([]);
  });

  test('W10: what our own number wrote is no message of a customer', async () => {
    expect(await postToMeta('W10.json')).toEqual([200]);
    expect(await stored()).toEqual([]);
    expect(await alarms()).toEqual([]);
    expect(logged('sms.echo')).toBe(1);
  });
});

interface Sent {
  readonly query?: string;
  /** In place of the public URL with the query. */
  readonly signed?: string;
  readonly form?: Pairs;
}

async function postToTwilio({ query = '', signed, form = inboundForm() }: Sent): Promise<number> {
  const { status } = await postWebhook({
    target: webhook.target + query,
    body: encodeForm(form),
    signature: twilioSignature(AUTH_TOKEN, signed ?? `${PUBLIC_URL}/sms/twilio${query}`, form),
  });
  return status;
}

describe('Twilio', () => {
  test('T1: an apostrophe in the query may be signed as it is, or encoded', async () => {
    const [query = ''] = /\?\S+/.exec(fixture('T1.txt')) ?? [];
    expect(query).toBe("?who=O'Brien");
    const url = `${PUBLIC_URL}/sms/twilio`;
    for (const signed of [query, query.replace("'", '%27')]) {
      expect(await postToTwilio({ query, signed: url + signed })).toBe(200);
    }
    expect(await postToTwilio({ query, signed: `${url}?who=OBrien` })).toBe(403);
  });

  test.each([
    ['T2.txt', 200],
    ['T4.txt', 403],
  ])('%s: the URL that was signed decides: %d', async (name, status) => {
    expect(await postToTwilio({ signed: fixture(name).replace('sign ', '') })).toBe(status);
  });

  test('T5: without To it is refused', async () => {
    expect(fixture('T5.txt')).toBe('To missing');
    expect(await postToTwilio({ form: inboundForm({ To: undefined }) })).toBe(400);
  });

  test('T7: "Stop." is kept as an opt-out and reaches a person', async () => {
    const Body = fixture('T7.txt').replace('Body=', '');
    expect(await postToTwilio({ form: inboundForm({ Body }) })).toBe(200);
    const [text] = await stored();
    expect(consentOf({ body: text?.body ?? '', optOutType: '' }, twilioTexts.keywords)).toBe(
      'said-stop',
    );
    expect(asksToStop(text?.words ?? '')).toBe(true);
  });

  test('T8: what only resembles a keyword goes to a person, and the consent stays', () => {
    const bodies = fixture('T8.txt').replace('Body=', '').split(' | ');
    expect(bodies).toEqual(['Opt-out', 'remove me', 'ALTO']);
    for (const body of bodies) {
      expect(asksToStop(body)).toBe(true);
      expect(consentOf({ body, optOutType: '' }, twilioTexts.keywords)).toBe('none');
    }
  });

  test('T10: a text for a number that nobody has raises an alarm; unsigned it is refused', async () => {
    const form = inboundForm({ To: fixture('T10.txt').replace('To=', '') });
    expect(await postToTwilio({ form })).toBe(403);
    expect(await alarms()).toEqual(['sms_unknown_number']);
    expect(await postToTwilio({ form, signed: 'https://elsewhere.example' })).toBe(403);
    expect(await alarms()).toEqual(['sms_unknown_number']);
    expect(logged('sms.unknown_number')).toBe(1);
  });

  test('T11: a number of the messaging service is ours', async () => {
    const [, To] = /^To=(\+\d+)&MessagingServiceSid=/.exec(fixture('T11.txt')) ?? [];
    const form = inboundForm({ To, MessagingServiceSid: MESSAGING_SERVICE });
    expect(await postToTwilio({ form })).toBe(200);
    expect(await alarms()).toEqual([]);
    const other = inboundForm({ To, MessagingServiceSid: `MG${'0'.repeat(31)}1` });
    expect(await postToTwilio({ form: other })).toBe(403);
    expect(await alarms()).toEqual(['sms_unknown_number']);
  });

  test('a text from one of our own numbers is no message of a customer', async () => {
    const form = inboundForm({ From: smsShop().numbers[0], MessageSid: messageSid(9) });
    expect(await postToTwilio({ form })).toBe(204);
    expect(await stored()).toEqual([]);
    expect(logged('sms.echo')).toBe(1);
  });
});

describe('Telnyx', () => {
  const post = async (payload: object, type = 'message.received'): Promise<number> => {
    const body = telnyx.telnyxEvent({ id: telnyx.telnyxId(1), ...payload }, type);
    const origin = new URL(webhook.target).origin;
    return (await telnyx.postEvent(origin, body, telnyx.signedHeaders(body))).status;
  };
  const payloadOf = (name: string): object =>
    (JSON.parse(fixture(name)) as { data: { payload: object } }).data.payload;

  test.each([
    ['X1.json', 'Broken lamp', '+14155554001'],
    ['X2.json', 'hi', 'whatsapp:+14155554001'],
  ])('%s says %s', async (name, words, from) => {
    expect(await post(payloadOf(name))).toBe(200);
    expect(await stored()).toMatchObject([{ words, from }]);
  });

  test('what the shop writes in the WhatsApp app is stored once, in the lane of the customer', async () => {
    const echo = {
      ...{ direction: 'outbound', type: 'WHATSAPP', origin: 'whatsapp_business_app' },
      ...{ from: { phone_number: TELNYX_NUMBER }, to: [{ phone_number: '+14155554001' }] },
      body: { type: 'text', text: { body: 'I answer from my phone' } },
    };
    expect(await post(echo, 'message.echo')).toBe(200);
    expect(await post(echo, 'message.echo')).toBe(200);
    const lane = `telnyx/whatsapp/${TELNYX_NUMBER}/+14155554001`;
    expect(await stored()).toMatchObject([
      { words: 'I answer from my phone', from: 'whatsapp:+14155554001', lane },
    ]);
  });

  test('a text for a number that nobody has raises an alarm', async () => {
    expect(await post(telnyx.inboundPayload({ to: [{ phone_number: '+15550009999' }] }))).toBe(403);
    expect(await alarms()).toEqual(['sms_unknown_number']);
  });

  test('a text from our own number is no message of a customer', async () => {
    const ours = { phone_number: TELNYX_NUMBER };
    expect(await post(telnyx.inboundPayload({ from: ours, to: [ours] }))).toBe(204);
    expect(await stored()).toEqual([]);
  });
});
