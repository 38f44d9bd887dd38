import { expect, test } from '@jest/globals';
import { asShopId } from '../../../../../src/domain/ids.ts';
import { ends } from '../../../../support/ends.ts';
import {
  AUTH_TOKEN,
  bodySha256,
  inboundForm,
  postWebhook,
  twilioSignature,
} from '../../../../support/twilio-stand-in.ts';
import { smsShop, startWebhook, TWILIO, WEBHOOK_URL } from '../../running-door.ts';

/** What a rule of Twilio's console adds to a webhook. */
const SETTINGS = 'X-Twilio-Webhooks-Signature-Settings';
const [OLD, NEW, OTHER, THEIRS] = ['1', '2', '3', '4'].map((digit) => `SK${digit.repeat(32)}`);
const KEYS = [
  { sid: OLD ?? '', secret: 'the old secret' },
  { sid: NEW ?? '', secret: 'the new secret' },
];

/** Another shop, with an account and a key of its own. */
const OTHER_ACCOUNT = `AC${'b2'.repeat(16)}`;
const OTHER_SHOP = smsShop({
  ...{ name: 'other', numbers: ['+15550007777'] },
  shopId: asShopId('22222222-2222-4222-8222-222222222222'),
  twilio: {
    ...{ accountSid: OTHER_ACCOUNT, authTokens: ['f'.repeat(32)] },
    sharedKeys: [{ sid: THEIRS ?? '', secret: 'the secret of the other shop' }],
  },
});

const door = async () => {
  const webhook = await startWebhook({
    shops: [smsShop({ twilio: { ...TWILIO, sharedKeys: KEYS } }), OTHER_SHOP],
  });
  ends(() => webhook.close());
  const alarms = async () => {
    const { values } = await webhook.metrics.alarms.get();
    return values.find(({ labels }) => labels.alarm === 'sms_shared_key')?.value ?? 0;
  };
  return { webhook, alarms };
};
const signed = (secret: string, algorithm: string, pairs = inboundForm()) =>
  twilioSignature(secret, WEBHOOK_URL, pairs, algorithm);

test.each([
  ['SHA-256', `key=${NEW},algorithm=HMAC_SHA256`, signed('the new secret', 'sha256')],
  ['SHA-1', `key=${NEW},algorithm=HMAC_SHA1`, signed('the new secret', 'sha1')],
  [
    'the key before a rotation',
    `key=${OLD},algorithm=HMAC_SHA256`,
    signed('the old secret', 'sha256'),
  ],
  [
    'blanks and another order',
    ` algorithm = hmac_sha256 , key = ${NEW} `,
    signed('the new secret', 'sha256'),
  ],
  [
    'names and algorithm in other case',
    `Key=${NEW},ALGORITHM=Hmac_Sha1`,
    signed('the new secret', 'sha1'),
  ],
])('a text signed with a shared key is taken: %s', async (_, settings, signature) => {
  const { webhook, alarms } = await door();
  const answer = await webhook.send(inboundForm(), {
    signature,
    headers: { [SETTINGS]: settings },
  });
  expect(answer.status).toBe(200);
  expect(await alarms()).toBe(0);
});

test.each([
  [
    'a key that is not configured',
    `key=${OTHER},algorithm=HMAC_SHA256`,
    signed('x', 'sha256'),
    OTHER,
  ],
  [
    "another key's secret",
    `key=${NEW},algorithm=HMAC_SHA256`,
    signed('the old secret', 'sha256'),
    NEW,
  ],
  [
    'another algorithm than it says',
    `key=${NEW},algorithm=HMAC_SHA256`,
    signed('the new secret', 'sha1'),
    NEW,
  ],
  [
    'an unknown algorithm',
    `key=${NEW},algorithm=HMAC_SHA512`,
    signed('the new secret', 'sha512'),
    '',
  ],
  [
    'the auth token in its place',
    `key=${NEW},algorithm=HMAC_SHA1`,
    signed(AUTH_TOKEN, 'sha1'),
    NEW,
  ],
  ['no key', 'algorithm=HMAC_SHA1', signed(AUTH_TOKEN, 'sha1'), ''],
  [
    'two keys',
    `key=${NEW},algorithm=HMAC_SHA256, key=${OLD},algorithm=HMAC_SHA256`,
    signed('the new secret', 'sha256'),
    '',
  ],
  [
    'the header twice, with the same key',
    [`key=${NEW},algorithm=HMAC_SHA256`, `key=${NEW},algorithm=HMAC_SHA256`],
    signed('the new secret', 'sha256'),
    '',
  ],
  ['no algorithm', `key=${NEW}`, signed('the new secret', 'sha1'), ''],
  [
    'a key in other case',
    `key=${NEW?.toLowerCase()},algorithm=HMAC_SHA1`,
    signed('the new secret', 'sha1'),
    NEW?.toLowerCase(),
  ],
  ['an empty key', 'key=,algorithm=HMAC_SHA1', signed('', 'sha1'), ''],
  ['a header that says nothing', ',', signed(AUTH_TOKEN, 'sha1'), ''],
  [
    "another shop's key",
    `key=${THEIRS},algorithm=HMAC_SHA256`,
    signed('the secret of the other shop', 'sha256'),
    THEIRS,
  ],
  [
    'the signature of another body',
    `key=${NEW},algorithm=HMAC_SHA256`,
    signed('the new secret', 'sha256', inboundForm({ Body: 'Other' })),
    NEW,
  ],
  ['no signature', `key=${NEW},algorithm=HMAC_SHA256`, 'none', NEW],
  ['a long name', `key=${'k'.repeat(4000)},algorithm=HMAC_SHA256`, signed('x', 'sha256'), ''],
])('is refused with an alarm that names it: %s', async (_, settings, signature, sharedKey) => {
  const { webhook, alarms } = await door();
  const answer = await webhook.send(inboundForm(), {
    signature,
    headers: { [SETTINGS]: settings },
  });
  expect(answer.status).toBe(403);
  expect(await alarms()).toBe(1);
  expect(webhook.log).toContainEqual({
    ...{ level: 'error', event: 'sms.shared_key_refused' },
    fields: { sharedKey, setting: 'twilio.sharedKeys' },
  });
});

test('without the header the token counts, and never a shared key', async () => {
  const { webhook } = await door();
  const form = inboundForm();
  expect((await webhook.send(form, { headers: { [SETTINGS]: '' } })).status).toBe(200);
  expect((await webhook.send(form, { signature: signed('the new secret', 'sha1') })).status).toBe(
    403,
  );
});

test('status callbacks and JSON bodies are signed so, too', async () => {
  const { webhook } = await door();
  const headers = { [SETTINGS]: `key=${NEW},algorithm=HMAC_SHA256` };
  const status = inboundForm({ SmsStatus: 'delivered', MessageStatus: 'delivered' });
  const signature = signed('the new secret', 'sha256', status);
  expect((await webhook.send(status, { signature, headers })).status).toBe(204);
  const body = JSON.stringify(Object.fromEntries(inboundForm()));
  const query = `?bodySHA256=${bodySha256(body)}`;
  const answer = await postWebhook({
    target: webhook.target + query,
    body,
    signature: twilioSignature('the new secret', WEBHOOK_URL + query, [], 'sha256'),
    headers: { ...headers, 'Content-Type': 'application/json' },
  });
  expect(answer.status).toBe(200);
});

test('each shop has its own keys', async () => {
  const { webhook } = await door();
  const form = inboundForm({ AccountSid: OTHER_ACCOUNT, To: '+15550007777' });
  const send = (key: string | undefined, secret: string) =>
    webhook.send(form, {
      signature: signed(secret, 'sha256', form),
      headers: { [SETTINGS]: `key=${key},algorithm=HMAC_SHA256` },
    });
  expect((await send(NEW, 'the new secret')).status).toBe(403);
  expect((await send(THEIRS, 'the secret of the other shop')).status).toBe(200);
});

test.each([
  ['another key', `key=${OTHER},algorithm=HMAC_SHA256`, 'sha256'],
  ['another algorithm', `key=${NEW},algorithm=HMAC_SHA1`, 'sha256'],
])('status callbacks and JSON bodies with %s are refused', async (_, settings, algorithm) => {
  const { webhook } = await door();
  const headers = { [SETTINGS]: settings };
  const status = inboundForm({ SmsStatus: 'delivered', MessageStatus: 'delivered' });
  const signature = signed('the new secret', algorithm, status);
  expect((await webhook.send(status, { signature, headers })).status).toBe(403);
  const body = JSON.stringify(Object.fromEntries(inboundForm()));
  const query = `?bodySHA256=${bodySha256(body)}`;
  const answer = await postWebhook({
    target: webhook.target + query,
    body,
    signature: twilioSignature('the new secret', WEBHOOK_URL + query, [], algorithm),
    headers: { ...headers, 'Content-Type': 'application/json' },
  });
  expect(answer.status).toBe(403);
});
