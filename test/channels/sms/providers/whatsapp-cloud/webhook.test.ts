import { beforeEach, describe, expect, test } from '@jest/globals';
import type { SmsShop } from '../../../../../src/channels/sms/shop.ts';
import { asShopId } from '../../../../../src/domain/ids.ts';
import { SpoolUnavailable } from '../../../../../src/spool/errors.ts';
import { ends } from '../../../../support/ends.ts';
import { postWebhook } from '../../../../support/twilio-stand-in.ts';
import {
  changeOf,
  contactOf,
  eventOf,
  FAILED,
  type Members,
  messageEvent,
  METADATA,
  PERSON,
  PHONE_NUMBER_ID,
  postEvent,
  signedHeaders,
  statusEvent,
  VERIFY_TOKEN,
  wamid,
  WHATSAPP_NUMBER,
  whatsappAccount,
  whatsappMessage,
  whatsappStatus,
} from '../../../../support/whatsapp-stand-in.ts';
import { type RunningWebhook, smsShop, startWebhook } from '../../running-door.ts';

const SECOND_SHOP = asShopId('22222222-2222-4222-8222-222222222222');
const SECOND_NUMBER = '+15550009876';
const SECOND_ID = '106540352249999';
const SECOND_SECRET = 'the secret of another app';
const SECOND = { display_phone_number: SECOND_NUMBER.slice(1), phone_number_id: SECOND_ID };
const ACCEPTED = { status: 200, body: '{}' };
const NOTED = { status: 200, body: '' };

let webhook: RunningWebhook;

const firstShop = (changes: Parameters<typeof whatsappAccount>[0] = {}): SmsShop => ({
  ...smsShop({ numbers: [WHATSAPP_NUMBER] }),
  services: [PHONE_NUMBER_ID],
  account: whatsappAccount(changes),
});
const secondShop = (secret: string): SmsShop => ({
  ...smsShop({ name: 'second', shopId: SECOND_SHOP, numbers: [SECOND_NUMBER] }),
  services: [SECOND_ID],
  account: whatsappAccount({
    appSecrets: [secret],
    verifyToken: 'the token of the second shop',
    senders: [{ number: SECOND_NUMBER, phoneNumberId: SECOND_ID }],
  }),
});

async function start(
  shops: readonly SmsShop[],
  options: Parameters<typeof startWebhook>[0] = {},
): Promise<void> {
  const running = await startWebhook({ shops, ...options });
  ends(() => running.close());
  webhook = running;
}

beforeEach(() => start([smsShop({ name: 'at Twilio' }), firstShop()]));

const origin = () => new URL(webhook.target).origin;
const post = (body: string | Buffer, headers?: Readonly<Record<string, string>>) =>
  postEvent(origin(), body, headers);
const stored = async () =>
  (await webhook.store.spool.list({ limit: 2000 }))
    .toReversed()
    .map(({ shopId, remoteId }) => [shopId, remoteId]);
const logged = (event: string) =>
  webhook.log.filter((line) => line.event === event).map(({ fields }) => fields);
const alarms = async () =>
  new Map(
    (await webhook.metrics.alarms.get()).values.map(({ labels, value }) => [labels.alarm, value]),
  );
const FIRST = smsShop().shopId;

describe('the signature', () => {
  const body = messageEvent();
  const withSignature = (signature: string) => ({
    'Content-Type': 'application/json',
    'X-Hub-Signature-256': signature,
  });
  const right = signedHeaders(body)['X-Hub-Signature-256'];

  test.each<[label: string, headers: Readonly<Record<string, string>>, logged: string]>([
    ['of another app', signedHeaders(body, 'another'), 'wrong'],
    ['of another body', signedHeaders(`${body} `), 'wrong'],
    ['with SHA-1', withSignature(right.replace('sha256', 'sha1')), 'wrong'],
    ['without its name', withSignature(right.slice('sha256='.length)), 'wrong'],
    ['that is too short', withSignature(right.slice(0, -2)), 'wrong'],
    ['that is too long', withSignature(`${right}00`), 'wrong'],
    ['that is empty', withSignature(''), 'wrong'],
    ['that is missing', { 'Content-Type': 'application/json' }, 'missing'],
  ])('%s is refused', async (_label, headers, signature) => {
    const answer = await post(body, headers);
    expect(answer).toMatchObject({ status: 403, body: 'The signature does not match\n' });
    expect(logged('sms.signature_refused')).toEqual([
      { url: 'https://sms.acme.example/sms/whatsapp', signature, shops: 1 },
    ]);
    expect(await stored()).toEqual([]);
  });

  test('covers the bytes, however they are written', async () => {
    const escaped = Buffer.from(
      messageEvent({ text: { body: 'Grüße 👍' } }).replace('ü', '\\u00fc'),
    );
    expect(await post(escaped)).toMatchObject(ACCEPTED);
    expect(await post(escaped.toString('latin1'), signedHeaders(escaped))).toMatchObject({
      status: 403,
    });
  });

  test('may be of each secret during a rotation', async () => {
    await start([firstShop({ appSecrets: ['the new one', 'the old one'] })]);
    for (const [n, secret] of ['the old one', 'the new one'].entries()) {
      const event = messageEvent({ id: wamid(n) });
      expect(await post(event, signedHeaders(event, secret))).toMatchObject(ACCEPTED);
    }
    expect(await post(body)).toMatchObject({ status: 403 });
  });

  test('is checked before anything is read', async () => {
    for (const unread of ['{', '[]']) {
      expect(await post(unread, signedHeaders('another body'))).toMatchObject({ status: 403 });
    }
    expect(logged('sms.signature_refused')).toHaveLength(2);
  });

  test('is checked once for a request of many messages', async () => {
    const many = Array.from({ length: 20 }, (_, n) => whatsappMessage({ id: wamid(n) }));
    const event = eventOf(changeOf({ contacts: [contactOf()], messages: many }));
    expect(await post(event, signedHeaders(event, 'another'))).toMatchObject({ status: 403 });
    expect(logged('sms.signature_refused')).toHaveLength(1);
  });
});

describe('the check of the URL', () => {
  const get = (query: Readonly<Record<string, string>>) =>
    postWebhook({
      target: `${origin()}/sms/whatsapp?${new URLSearchParams(query).toString()}`,
      ...{ body: '', method: 'GET' },
    });
  const RIGHT = {
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': VERIFY_TOKEN,
  };

  test('is answered with the challenge, as text', async () => {
    const answer = await get(RIGHT);
    expect(answer).toMatchObject({ status: 200, body: '1158201444' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  test("has the token of any shop's app", async () => {
    await start([firstShop(), secondShop(SECOND_SECRET)]);
    const query = { ...RIGHT, 'hub.verify_token': 'the token of the second shop' };
    expect(await get(query)).toMatchObject({ status: 200 });
  });

  test.each<[label: string, query: Readonly<Record<string, string>>]>([
    ['another token', { ...RIGHT, 'hub.verify_token': 'guessed' }],
    ['an empty token', { ...RIGHT, 'hub.verify_token': '' }],
    ['another mode', { ...RIGHT, 'hub.mode': 'unsubscribe' }],
    ['no challenge', { ...RIGHT, 'hub.challenge': '' }],
    ['a challenge that is a page', { ...RIGHT, 'hub.challenge': '<script>alert(1)</script>' }],
    ['a challenge that is too long', { ...RIGHT, 'hub.challenge': '1'.repeat(129) }],
    ['nothing', {}],
  ])('is refused with %s', async (_label, query) => {
    const answer = await get(query);
    expect(answer).toMatchObject({ status: 403, body: 'The token is none of a shop\n' });
    expect(answer.headers.allow).toBe('GET, POST');
  });

  test('is refused for everything if no shop is at Meta', async () => {
    await start([smsShop()]);
    expect(await get({ ...RIGHT, 'hub.verify_token': '' })).toMatchObject({ status: 403 });
  });
});

describe('several messages in one request', () => {
  const messageTo = (n: number, metadata: Members = METADATA) =>
    changeOf({ metadata, contacts: [contactOf()], messages: [whatsappMessage({ id: wamid(n) })] });

  test('are stored in their order, each with its sender, before the one answer', async () => {
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '1',
          changes: [
            changeOf({
              contacts: [contactOf(PERSON), contactOf('447400123456', { name: 'Bo' })],
              messages: [
                whatsappMessage({ id: wamid(1) }),
                whatsappMessage({ id: wamid(2), from: '447400123456' }),
              ],
            }),
            messageTo(3),
          ],
        },
        { id: '2', changes: [messageTo(4)] },
      ],
    });
    expect(await post(body)).toMatchObject(ACCEPTED);
    expect(await stored()).toEqual([1, 2, 3, 4].map((n) => [FIRST, wamid(n)]));
    const lanes = (await webhook.store.spool.list({ limit: 10 })).map(({ lane }) => lane);
    expect(lanes.toReversed().slice(0, 2)).toEqual([
      `whatsapp/whatsapp/${WHATSAPP_NUMBER}/+16505551234`,
      `whatsapp/whatsapp/${WHATSAPP_NUMBER}/+447400123456`,
    ]);
  });

  test('find their senders among as many contacts, within seconds', async () => {
    const count = 20_000;
    const contacts = Array.from({ length: count }, (_, n) => ({ wa_id: String(n) }));
    // Without an id, so that only the reading counts.
    const messages = Array.from({ length: count }, () => ({ from: '1' }));
    const since = performance.now();
    expect(await post(eventOf(changeOf({ contacts, messages })))).toMatchObject({ status: 400 });
    const last = [whatsappMessage({ id: wamid(1), from: '19999' })];
    expect(await post(eventOf(changeOf({ contacts, messages: last })))).toMatchObject(ACCEPTED);
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(await stored()).toEqual([[FIRST, wamid(1)]]);
  });

  test.each(['messages', 'contacts', 'statuses', 'message_echoes', 'user_id_update'])(
    'are refused within seconds if small %s fill the request, but for those of other changes',
    async (list) => {
      const small = { [list]: Array.from({ length: 900_000 }, () => 1) };
      const since = performance.now();
      const answer = await post(eventOf(messageTo(1), changeOf(small), messageTo(2)));
      expect(answer).toMatchObject({ status: 400 });
      expect(performance.now() - since).toBeLessThan(10_000);
      expect(await stored()).toEqual([1, 2].map((n) => [FIRST, wamid(n)]));
    },
  );

  test('are refused within seconds if small changes fill the request, but for the first', async () => {
    const small = Array.from({ length: 900_000 }, () => ({}));
    const entry = [{ changes: [messageTo(1), ...small] }];
    const since = performance.now();
    expect(await post(JSON.stringify({ entry }))).toMatchObject({ status: 400 });
    expect(await post(JSON.stringify({ entry: small }))).toMatchObject({ status: 400 });
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(await stored()).toEqual([[FIRST, wamid(1)]]);
  });

  test('are stored but for one that is nested too deeply', async () => {
    const nested = '['.repeat(20_000) + ']'.repeat(20_000);
    const deep = changeOf({ messages: [whatsappMessage({ id: wamid(1), order: 'nested' })] });
    const body = eventOf(deep, messageTo(2)).replace('"nested"', nested);
    expect(await post(body)).toMatchObject({ status: 400 });
    expect(await stored()).toEqual([[FIRST, wamid(2)]]);
  });

  test('are of several people, also with the contact of one', async () => {
    const theirs = { ...contactOf(PERSON), user_id: 'US.1' };
    const system = { type: 'user_changed_number', body: 'changed', wa_id: '447400123459' };
    const messages = [
      whatsappMessage({ id: wamid(1) }),
      whatsappMessage({ id: wamid(2), from: '447400123456' }),
      whatsappMessage({ id: wamid(3), from: '447400123458', type: 'system', system }),
      whatsappMessage({ id: wamid(4), from: undefined, from_user_id: 'US.1' }),
    ];
    expect(await post(eventOf(changeOf({ contacts: [theirs], messages })))).toMatchObject(ACCEPTED);
    const lanes = (await webhook.store.spool.list({ limit: 10 })).map(({ lane }) => lane);
    expect(lanes.toReversed().map((lane) => lane.split('/').at(-1))).toEqual([
      '+16505551234',
      '+447400123456',
      '+447400123459',
      '+16505551234',
    ]);
  });

  test('do not each store a name that fills the request', async () => {
    const contacts = [contactOf(PERSON, { name: 'x'.repeat(100_000) })];
    const messages = [1, 2].map((n) => whatsappMessage({ id: wamid(n) }));
    expect(await post(eventOf(changeOf({ contacts, messages })))).toMatchObject(ACCEPTED);
    const { spool } = webhook.store;
    const entries = await spool.list({ limit: 10 });
    expect(entries).toHaveLength(2);
    for (const { id } of entries) {
      const raw = await spool.raw(id);
      expect(raw?.kind === 'file' ? raw.size : raw?.bytes.length).toBeLessThan(1000);
    }
  });

  test('are one if they are the same, now or later', async () => {
    const body = eventOf(messageTo(1), messageTo(1), messageTo(2));
    for (const again of [body, body]) expect(await post(again)).toMatchObject(ACCEPTED);
    expect(await stored()).toEqual([1, 2].map((n) => [FIRST, wamid(n)]));
  });

  test('each find their shop', async () => {
    await start([firstShop({ appSecrets: ['of both'] }), secondShop('of both')]);
    const body = eventOf(messageTo(1, SECOND), messageTo(2), messageTo(3, SECOND));
    expect(await post(body, signedHeaders(body, 'of both'))).toMatchObject(ACCEPTED);
    expect(await stored()).toEqual([
      [SECOND_SHOP, wamid(1)],
      [FIRST, wamid(2)],
      [SECOND_SHOP, wamid(3)],
    ]);
  });

  test('of an app cannot be for the shop of another app', async () => {
    await start([firstShop(), secondShop(SECOND_SECRET)]);
    const body = eventOf(messageTo(1), messageTo(2, SECOND));
    expect(await post(body)).toMatchObject({ status: 403 });
    expect(await stored()).toEqual([[FIRST, wamid(1)]]);
    expect(await post(body, signedHeaders(body, SECOND_SECRET))).toMatchObject({ status: 403 });
    expect(await stored()).toEqual([
      [FIRST, wamid(1)],
      [SECOND_SHOP, wamid(2)],
    ]);
  });

  test('are stored beside one of a number that no shop has, which is refused', async () => {
    const nobodys = { display_phone_number: '15550000000', phone_number_id: '999999' };
    const body = eventOf(messageTo(1, nobodys), messageTo(2));
    expect(await post(body)).toMatchObject({
      status: 403,
      body: 'No shop has this account and number\n',
    });
    expect(await stored()).toEqual([[FIRST, wamid(2)]]);
    expect(await alarms()).toEqual(new Map([['sms_unknown_number', 1]]));
    expect(logged('sms.unknown_number')).toEqual([
      { accountSid: 'whatsapp', messageSid: wamid(1) },
    ]);
  });

  test.each<[label: string, change: unknown, parameter: string]>([
    ['a message without an id', changeOf({ messages: [{ from: PERSON }] }), 'messages.id'],
    ['a message from nobody', changeOf({ messages: [{ id: 'wamid.x' }] }), 'messages.from'],
    ['a message that is none', changeOf({ messages: ['x'] }), 'messages.'],
    ['a number without an id', changeOf({ metadata: {}, messages: [{}] }), 'metadata'],
    ['a change that is none', 'x', 'changes'],
  ])('are stored beside %s, which is repeated', async (_label, change, parameter) => {
    const body = eventOf(messageTo(1), change as Members, messageTo(2));
    expect(await post(body)).toMatchObject({
      status: 400,
      body: `${parameter} must be given, in Meta's format\n`,
    });
    expect(await stored()).toEqual([1, 2].map((n) => [FIRST, wamid(n)]));
    expect(await alarms()).toEqual(new Map([['sms_unreadable_message', 1]]));
    expect(logged('sms.unreadable_message')).toEqual([{ parameter }]);
  });

  test('are not acknowledged, nor are statuses counted, while the store is closed', async () => {
    const unavailable = () => Promise.reject(new SpoolUnavailable('closed'));
    await start([firstShop()], { intake: { accept: unavailable } });
    const body = eventOf(messageTo(1), changeOf({ statuses: [whatsappStatus()] }));
    expect(await post(body)).toMatchObject({ status: 503 });
    expect((await webhook.metrics.smsStatusCallbacks.get()).values).toEqual([]);
  });
});

describe('a request', () => {
  test('of up to 3 MiB is read, a larger one is not', async () => {
    const filled = (length: number) => {
      const empty = messageEvent({ text: { body: '' } });
      return messageEvent({ text: { body: 'x'.repeat(length - empty.length) } });
    };
    const limit = 3 * 1024 * 1024;
    expect(await post(filled(limit))).toMatchObject(ACCEPTED);
    expect(await post(filled(limit + 1))).toMatchObject({ status: 413 });
  });

  test.each([
    ['no JSON', '{', 400],
    ['no object', '[]', 400],
    ['no entries', '{"object":"whatsapp_business_account"}', 400],
    ['an empty list of entries', '{"entry":[]}', 200],
  ])('with %s', async (_label, body, status) => {
    expect(await post(body)).toMatchObject({ status });
    expect(await stored()).toEqual([]);
  });

  test('with an empty list must be signed, too', async () => {
    expect(await post('{"entry":[]}', signedHeaders('x'))).toMatchObject({ status: 403 });
  });

  test('with a form is refused', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await post('a=b', headers)).toMatchObject({ status: 415 });
  });

  test.each([
    ['errors of the account', changeOf({ errors: [{ code: 130429, title: 'Rate' }] }), 'errors'],
    [
      'an echo of the app that names nobody',
      changeOf({ message_echoes: [{}] }, 'smb_message_echoes'),
      'smb_message_echoes',
    ],
    [
      'a template',
      { field: 'message_template_status_update', value: {} },
      'message_template_status_update',
    ],
  ])('about %s is acknowledged', async (_label, change, event) => {
    expect(await post(eventOf(change))).toMatchObject(NOTED);
    expect(logged('sms.event_ignored')).toEqual([{ event }]);
  });
});

describe('the status of our messages', () => {
  const counts = async () =>
    new Map(
      (await webhook.metrics.smsStatusCallbacks.get()).values.map(({ labels, value }) => [
        labels.status,
        value,
      ]),
    );

  test.each<[label: string, status: Members, counted: string, code: string | undefined]>([
    ['sent', { status: 'sent' }, 'sent', undefined],
    ['delivered', {}, 'delivered', undefined],
    ['read', { status: 'read' }, 'read', undefined],
    ['failed', FAILED, 'failed', '131026'],
    ['failed without a title', { status: 'failed', errors: [{ code: 1 }] }, 'failed', '1'],
    ['failed without a code', { status: 'failed', errors: [{}] }, 'failed', undefined],
    ['played', { status: 'played' }, 'other', undefined],
    ['without one', { status: 7 }, 'other', undefined],
  ])('is counted: %s', async (_label, status, counted, code) => {
    expect(await post(statusEvent(status))).toMatchObject(NOTED);
    expect(await counts()).toEqual(new Map([[counted, 1]]));
    expect(logged('sms.not_delivered')).toEqual(
      code === undefined ? [] : [{ messageSid: wamid(500), status: counted, code }],
    );
  });

  test.each<[label: string, status: Members, told: Members | undefined]>([
    ['sent', { status: 'sent' }, { state: 'sent' }],
    ['delivered', {}, { state: 'delivered' }],
    ['read', { status: 'read' }, { state: 'read' }],
    ['failed', FAILED, { state: 'failed', code: '131026', reason: 'Message undeliverable' }],
    ['failed without a reason', { status: 'failed' }, { state: 'failed' }],
    ['played', { status: 'played' }, undefined],
  ])('is told to the platform: %s', async (_label, status, told) => {
    const reports: unknown[] = [];
    await start([firstShop(), secondShop(SECOND_SECRET)], {
      onStatus: (report) => Promise.resolve(void reports.push(report)),
    });
    expect(await post(statusEvent(status))).toMatchObject(NOTED);
    expect(reports).toEqual(
      told === undefined ? [] : [{ remoteId: wamid(500), shops: [FIRST], ...told }],
    );
  });

  test('comes with messages, and for several messages', async () => {
    const body = eventOf(
      changeOf({
        contacts: [contactOf()],
        messages: [whatsappMessage()],
        statuses: [whatsappStatus(), 'x', whatsappStatus({ status: 'read' })],
      }),
    );
    expect(await post(body)).toMatchObject(ACCEPTED);
    expect(await stored()).toEqual([[FIRST, wamid(1)]]);
    expect(await counts()).toEqual(
      new Map([
        ['delivered', 1],
        ['read', 1],
      ]),
    );
  });
});

test('what is stored is the value of its change, with this message and its sender only', async () => {
  const other = whatsappMessage({ id: wamid(2), from: '447400123456' });
  const contacts = [contactOf(), contactOf('447400123456')];
  await post(eventOf(changeOf({ contacts, messages: [whatsappMessage(), other] })));
  const { entry, raw } = (await webhook.claim()) ?? {};
  expect(entry).toMatchObject({
    lane: `whatsapp/whatsapp/${WHATSAPP_NUMBER}/+16505551234`,
    remoteId: wamid(1),
    meta: {
      provider: 'whatsapp',
      from: 'whatsapp:+16505551234',
      to: `whatsapp:${WHATSAPP_NUMBER}`,
    },
  });
  const text = raw?.kind === 'inline' ? Buffer.from(raw.bytes).toString() : '';
  expect(JSON.parse(text)).toMatchObject({
    metadata: METADATA,
    contacts: [{ wa_id: PERSON }],
    messages: [whatsappMessage()],
  });
  expect(text).not.toContain('447400123456');
});

describe('what a person decides about marketing messages', () => {
  const preference = (changes: Members = {}): string =>
    eventOf(
      changeOf(
        {
          contacts: [contactOf()],
          user_preferences: [
            {
              wa_id: PERSON,
              detail: 'User requested to stop marketing messages',
              category: 'marketing_messages',
              value: 'stop',
              timestamp: 1749416383,
              ...changes,
            },
          ],
        },
        'user_preferences',
      ),
    );
  const events = async () =>
    (await webhook.store.spool.list({ limit: 10 })).filter(({ kind }) => kind === 'event');

  test('is an event of their timeline, once, and no opt-out', async () => {
    expect(await post(preference())).toMatchObject(ACCEPTED);
    expect(await post(preference())).toMatchObject(ACCEPTED);
    expect(await post(preference({ value: 'resume' }))).toMatchObject(ACCEPTED);
    expect(await events()).toHaveLength(2);
    const { raw, entry } = (await webhook.claim()) ?? {};
    expect(entry).toMatchObject({ kind: 'event', shopId: FIRST });
    expect(JSON.parse(raw?.kind === 'inline' ? Buffer.from(raw.bytes).toString() : '')).toEqual({
      name: 'WhatsApp marketing stopped',
      description: 'User requested to stop marketing messages',
      event_time: '2025-06-08T20:59:43.000Z',
      contact: { phone: `+${PERSON}` },
    });
  });

  test.each([{ value: 'ponder' }, { wa_id: undefined }, { wa_id: 'US.1' }])(
    'is logged if it cannot be one: %j',
    async (changes) => {
      expect(await post(preference(changes))).toMatchObject(NOTED);
      expect(logged('sms.event_ignored')).toEqual([{ event: 'user_preferences' }]);
      expect(await events()).toEqual([]);
    },
  );

  test('is refused unsigned', async () => {
    expect((await post(preference(), signedHeaders(preference(), 'another'))).status).toBe(403);
    expect(await events()).toEqual([]);
  });
});

test('a number that is shown otherwise is found by its id', async () => {
  const metadata = { display_phone_number: '+1 (555) 000-1111', phone_number_id: PHONE_NUMBER_ID };
  const change = changeOf({ metadata, contacts: [contactOf()], messages: [whatsappMessage()] });
  expect(await post(eventOf(change))).toMatchObject(ACCEPTED);
  expect(await stored()).toEqual([[FIRST, wamid(1)]]);
});
