import { beforeEach, describe, expect, test } from '@jest/globals';
import { telnyxShopAccount } from '../../../../../src/channels/sms/providers/telnyx/account.ts';
import type { SmsShop } from '../../../../../src/channels/sms/shop.ts';
import { asShopId } from '../../../../../src/domain/ids.ts';
import { ends } from '../../../../support/ends.ts';
import {
  ANOTHER_KEY,
  ANOTHER_PUBLIC_KEY,
  API_KEY,
  inboundPayload,
  type Members,
  outboundPayload,
  postEvent,
  PUBLIC_KEY,
  signedHeaders,
  TELNYX_NUMBER,
  telnyxEvent,
  telnyxId,
  timestampOf,
} from '../../../../support/telnyx-stand-in.ts';
import { type RunningWebhook, smsShop, startWebhook } from '../../running-door.ts';

let webhook: RunningWebhook;
const accountOf = (publicKey: string) => telnyxShopAccount({ apiKey: API_KEY, publicKey });

beforeEach(async () => {
  const account = accountOf(PUBLIC_KEY);
  await start([
    smsShop({ name: 'at Twilio' }),
    { ...smsShop({ numbers: [TELNYX_NUMBER] }), account },
  ]);
});

async function start(shops: readonly SmsShop[]) {
  const running = await startWebhook({ shops });
  ends(() => running.close());
  webhook = running;
}

const post = (body: string, headers?: ReturnType<typeof signedHeaders>) =>
  postEvent(new URL(webhook.target).origin, body, headers);

const counts = async () =>
  new Map(
    (await webhook.metrics.smsStatusCallbacks.get()).values.map(({ labels, value }) => [
      labels.status,
      value,
    ]),
  );
const logged = (event: string) =>
  webhook.log.filter((line) => line.event === event).map(({ fields }) => fields);

const statusOf = (...statuses: readonly unknown[]): Members => ({
  to: statuses.map((status) => ({ phone_number: '+14155552671', status })),
});
const ERROR = { errors: [{ code: '40008', title: 'Undeliverable', detail: 'of a person' }] };

test.each<[type: string, payload: Members, status: string, code: string | undefined]>([
  ['message.sent', statusOf('sent'), 'sent', undefined],
  ['message.sent', statusOf('queued'), 'queued', undefined],
  ['message.finalized', statusOf('delivered'), 'delivered', undefined],
  ['message.finalized', statusOf('delivery_unconfirmed'), 'delivery_unconfirmed', undefined],
  ['message.finalized', { ...statusOf('delivery_failed'), ...ERROR }, 'delivery_failed', '40008'],
  ['message.finalized', { ...statusOf('sending_failed'), ...ERROR }, 'sending_failed', '40008'],
  ['message.finalized', { ...statusOf('delivered'), ...ERROR }, 'delivered', undefined],
  ['message.finalized', statusOf('delivery_failed'), 'delivery_failed', undefined],
  [
    'message.finalized',
    { ...statusOf('sending_failed'), errors: [{}] },
    'sending_failed',
    undefined,
  ],
  ['message.finalized', statusOf('teleported'), 'other', undefined],
  ['message.finalized', statusOf(7), 'other', undefined],
  ['message.finalized', { to: [] }, 'other', undefined],
  ['message.finalized', { to: 'nobody' }, 'other', undefined],
])('%s with %j is counted as %s, with the code %s', async (type, payload, status, code) => {
  const id = telnyxId(5);
  const answer = await post(telnyxEvent(outboundPayload({ id, ...payload }), type));
  expect(answer).toMatchObject({ status: 204, body: '' });
  expect(await counts()).toEqual(new Map([[status, 1]]));
  expect(logged('sms.not_delivered')).toEqual(
    code === undefined ? [] : [{ messageSid: id, status, code }],
  );
  expect(await webhook.store.spool.list({ limit: 10 })).toEqual([]);
});

test('each recipient of one of our messages is counted', async () => {
  const payload = outboundPayload(statusOf('delivered', 'delivery_failed', 'delivered'));
  await post(telnyxEvent(payload, 'message.finalized'));
  expect(await counts()).toEqual(
    new Map([
      ['delivered', 2],
      ['delivery_failed', 1],
    ]),
  );
});

test('what Telnyx announces otherwise is acknowledged, so that it is not repeated', async () => {
  expect(await post(telnyxEvent({}, 'call.initiated'))).toMatchObject({ status: 204 });
  expect(logged('sms.event_ignored')).toEqual([{ event: 'call.initiated' }]);
  expect(await counts()).toEqual(new Map());
});

test.each([
  ['old', (body: string) => signedHeaders(body, timestampOf(301))],
  ['missing', () => ({ 'Content-Type': 'application/json' })],
  ['wrong', () => signedHeaders('another body')],
])('a signature that is %s is logged as that, with the URL', async (signature, headersOf) => {
  const body = telnyxEvent(inboundPayload());
  const headers: Readonly<Record<string, string>> = headersOf(body);
  const answer = await postEvent(new URL(webhook.target).origin, body, headers);
  expect(answer.status).toBe(403);
  expect(logged('sms.signature_refused')).toEqual([
    { url: 'https://sms.acme.example/sms/telnyx', signature, shops: 1 },
  ]);
});

describe('a group with numbers of two shops', () => {
  const THEIR_SHOP = asShopId('22222222-2222-4222-8222-222222222222');
  const SECOND = '+15550003333';
  const to = [{ phone_number: TELNYX_NUMBER }, { phone_number: SECOND }];

  const twoShops = (publicKey: string) =>
    start([
      { ...smsShop({ numbers: [TELNYX_NUMBER] }), account: accountOf(PUBLIC_KEY) },
      {
        ...smsShop({ name: 'second', shopId: THEIR_SHOP, numbers: [SECOND] }),
        account: accountOf(publicKey),
      },
    ]);
  const receivers = async () =>
    (await webhook.store.spool.list({ limit: 10 }))
      .toReversed()
      .map(({ shopId, lane }) => [shopId, lane]);
  const FIRST = [smsShop().shopId, `telnyx/sms/${TELNYX_NUMBER}/+14155552671`];

  test('of two accounts is for the shop whose key signed', async () => {
    await twoShops(ANOTHER_PUBLIC_KEY);
    const [first, second] = [1, 2].map((n) => telnyxEvent(inboundPayload({ id: telnyxId(n), to })));
    const headers = signedHeaders(second ?? '', timestampOf(), ANOTHER_KEY);
    expect(await post(first ?? '')).toMatchObject({ status: 200 });
    expect(await post(second ?? '', headers)).toMatchObject({ status: 200 });
    expect(await receivers()).toEqual([FIRST, [THEIR_SHOP, `telnyx/sms/${SECOND}/+14155552671`]]);
  });

  test('of one account is for the shop whose number is first', async () => {
    await twoShops(PUBLIC_KEY);
    await post(telnyxEvent(inboundPayload({ to })));
    expect(await receivers()).toEqual([FIRST]);
  });

  test('is refused if neither signed', async () => {
    await twoShops(PUBLIC_KEY);
    const body = telnyxEvent(inboundPayload({ to }));
    const answer = await post(body, signedHeaders(body, timestampOf(), ANOTHER_KEY));
    expect(answer.status).toBe(403);
    expect(logged('sms.signature_refused')).toMatchObject([{ signature: 'wrong', shops: 2 }]);
  });
});

test('what is stored is the event as it came', async () => {
  const body = telnyxEvent(inboundPayload({ text: 'Здравей' }));
  expect(await post(body)).toMatchObject({ status: 200, body: '{}' });
  const claimed = await webhook.claim();
  const { entry, raw } = claimed ?? {};
  expect(entry).toMatchObject({
    lane: `telnyx/sms/${TELNYX_NUMBER}/+14155552671`,
    remoteId: telnyxId(1),
    meta: { provider: 'telnyx', from: '+14155552671', to: TELNYX_NUMBER },
  });
  expect(raw?.kind === 'inline' && Buffer.from(raw.bytes).toString()).toBe(body);
});

test('a number at Twilio has no webhook of Telnyx', async () => {
  const to = [{ phone_number: '+15550001111' }];
  expect(await post(telnyxEvent(inboundPayload({ to })))).toMatchObject({
    status: 403,
    body: 'No shop has this account and number\n',
  });
});
