// Longer than usual: one table of requests and answers.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { createShopDirectory } from '../../../src/channels/sms/shop.ts';
import { SpoolFull, SpoolUnavailable } from '../../../src/spool/errors.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  bodySha256,
  encodeForm,
  inboundForm,
  messageSid,
  OUR_NUMBER,
  postWebhook,
  twilioSignature,
} from '../../support/twilio-stand-in.ts';
import {
  PUBLIC_URL,
  type RunningWebhook,
  smsShop,
  startWebhook,
  WEBHOOK_URL,
} from './running-door.ts';

const TWIML = '<?xml version="1.0" encoding="UTF-8"?><Response/>';
let webhook: RunningWebhook;

const entries = () => webhook.store.spool.list({ limit: 100 });
const counter = async (name: string): Promise<number> => {
  const metric = await webhook.metrics.registry.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
};

async function restart(options: Parameters<typeof startWebhook>[0]): Promise<void> {
  await webhook.close();
  webhook = await startWebhook(options);
}

beforeEach(async () => {
  webhook = await startWebhook();
});
afterEach(() => webhook.close());

describe('an inbound message', () => {
  it('is answered with empty TwiML once it is in the spool', async () => {
    const answer = await webhook.send(inboundForm());
    expect(answer).toMatchObject({ status: 200, body: TWIML });
    expect(answer.headers['content-type']).toBe('text/xml; charset=utf-8');
    const [entry, ...more] = await entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      channel: 'sms',
      state: 'queued',
      remoteId: messageSid(1),
      lane: `${ACCOUNT_SID}/sms/${OUR_NUMBER}/+14155552671`,
    });
  });

  it('is kept with every parameter as it came and in that order', async () => {
    const form = inboundForm({
      Body: ' two  spaces\r\n&=+%\u0000\u{1F469}\u200D\u{1F469}\u200D\u{1F466} ',
      Repeated: ['b', 'a', 'b'],
      Empty: '',
      '': 'no name',
      __proto__x: '1',
    });
    const pairs = [...form, ['__proto__', 'y'] as const, ['?Body', 'z'] as const];
    expect((await webhook.send(pairs)).status).toBe(200);
    const claimed = await webhook.claim();
    if (claimed?.raw.kind !== 'inline') throw new Error('expected an inline raw form');
    expect(JSON.parse(Buffer.from(claimed.raw.bytes).toString())).toEqual(pairs);
  });

  it('that is delivered again gets the same answer and makes no second entry', async () => {
    const first = await webhook.send(inboundForm());
    const second = await webhook.send(inboundForm());
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(await entries()).toHaveLength(1);
  });

  it.each([
    ['without SmsStatus', { SmsStatus: undefined }],
    ['with an empty SmsStatus', { SmsStatus: '' }],
  ])('%s is a message', async (_label, changes) => {
    expect(await webhook.send(inboundForm(changes))).toMatchObject({ status: 200, body: TWIML });
    expect(await entries()).toHaveLength(1);
  });

  it('keeps the transport in the lane', async () => {
    await webhook.send(
      inboundForm({ From: 'whatsapp:+14155552671', To: `whatsapp:${OUR_NUMBER}` }),
    );
    expect((await entries())[0]?.lane).toBe(`${ACCOUNT_SID}/whatsapp/${OUR_NUMBER}/+14155552671`);
  });
});

describe('the signature', () => {
  it('of the library is the one that the stand-in makes', () => {
    const form = inboundForm({ Body: 'ü \u{1F600}' });
    expect(twilioSignature(AUTH_TOKEN, WEBHOOK_URL, form)).toBe(
      getExpectedTwilioSignature(AUTH_TOKEN, WEBHOOK_URL, Object.fromEntries(form)),
    );
  });

  const form = inboundForm();
  const sign = (url: string, token = AUTH_TOKEN) => twilioSignature(token, url, form);

  it.each([
    ['missing', 'none'],
    ['empty', ''],
    ['not base64', '\u00e9\u00e9'],
    ['of another token', sign(WEBHOOK_URL, 'other')],
    ['of another path', sign(`${PUBLIC_URL}/sms/other`)],
    ['of the address that it listens on', sign('http://127.0.0.1/sms/twilio')],
    ['of another query', sign(`${WEBHOOK_URL}?a=1`)],
    ['given twice', `${sign(WEBHOOK_URL)}, ${sign(WEBHOOK_URL)}`],
  ])('%s is refused with 403', async (_label, signature) => {
    const answer = await webhook.send(form, { signature });
    expect(answer.status).toBe(403);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).not.toContain('<');
    expect(await entries()).toEqual([]);
    expect(await counter('sluice_webhook_signature_failures_total')).toBe(1);
  });

  it('that fails is logged with the URL that was used, and never with a token', async () => {
    await restart({ publicUrl: 'https://user:secret@sms.acme.example/base/' });
    await webhook.send(form, { signature: 'x', query: '?shop=1&Body=where%20is%20it?&flag' });
    const line = webhook.log.find(({ event }) => event === 'sms.signature_refused');
    expect(line?.fields['url']).toBe(
      'https://sms.acme.example/base/sms/twilio?shop=...&Body=...&flag',
    );
    expect(JSON.stringify(webhook.log)).not.toContain(AUTH_TOKEN);
    expect(JSON.stringify(webhook.log)).not.toContain('secret');
  });

  it('is checked against the public URL whatever the Host header says', async () => {
    const answer = await postWebhook({
      target: webhook.target,
      body: encodeForm(form),
      signature: twilioSignature(AUTH_TOKEN, 'https://evil.example/sms/twilio', form),
      headers: { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' },
    });
    expect(answer.status).toBe(403);
  });

  it('covers the query as it was sent, not as a parser would write it', async () => {
    const query = "?b=%7e&a=1+2&a=%2B'&empty=";
    expect((await webhook.send(form, { query })).status).toBe(200);
  });

  it.each([
    ['with the default port', 'https://sms.acme.example:443/sms/twilio', PUBLIC_URL],
    ['without the port', WEBHOOK_URL, 'https://sms.acme.example:443'],
    ['with another port', 'https://sms.acme.example:8443/sms/twilio', `${PUBLIC_URL}:8443`],
    [
      'with user and password',
      'https://u:p@sms.acme.example/sms/twilio',
      'https://u:p@sms.acme.example',
    ],
    ['under a path', `${PUBLIC_URL}/gateway/sms/twilio`, `${PUBLIC_URL}/gateway`],
  ])('is accepted for the public URL %s', async (_label, signedUrl, publicUrl) => {
    await restart({ publicUrl });
    expect((await webhook.send(form, { signature: sign(signedUrl) })).status).toBe(200);
  });

  it('may be of any of the tokens while one is being rotated', async () => {
    const shop = smsShop({
      twilio: { accountSid: ACCOUNT_SID, authTokens: ['new', AUTH_TOKEN] },
    });
    await restart({ shops: [shop] });
    for (const [n, token] of ['new', AUTH_TOKEN].entries()) {
      const pairs = inboundForm({ MessageSid: messageSid(n) });
      const signature = twilioSignature(token, WEBHOOK_URL, pairs);
      expect((await webhook.send(pairs, { signature })).status).toBe(200);
    }
  });

  it('does not depend on TWILIO_AUTH_TOKEN', async () => {
    process.env['TWILIO_AUTH_TOKEN'] = 'environment';
    try {
      const signature = sign(WEBHOOK_URL, 'environment');
      expect((await webhook.send(form, { signature })).status).toBe(403);
      expect((await webhook.send(form)).status).toBe(200);
    } finally {
      delete process.env['TWILIO_AUTH_TOKEN'];
    }
  });
});

describe('the shop', () => {
  const other = smsShop({
    name: 'other',
    shopId: asShopId('22222222-2222-4222-8222-222222222222'),
    numbers: ['+15550002222'],
    messagingServiceSids: ['MGother'],
    twilio: { accountSid: ACCOUNT_SID, authTokens: ['other-token'] },
  });

  const sendAs = (token: string, changes: Parameters<typeof inboundForm>[0]) => {
    const pairs = inboundForm(changes);
    return webhook.send(pairs, { signature: twilioSignature(token, WEBHOOK_URL, pairs) });
  };

  it.each([
    ['the number', { To: '+15550002222' }],
    ['the number on WhatsApp', { To: 'whatsapp:+15550002222' }],
    ['the messaging service', { To: '+15550003333', MessagingServiceSid: 'MGother' }],
  ])('is found by account and %s', async (_label, changes) => {
    await restart({ shops: [smsShop(), other] });
    expect((await sendAs('other-token', changes)).status).toBe(200);
    expect((await entries())[0]?.shopId).toBe(other.shopId);
  });

  it('of the number goes before that of the messaging service', async () => {
    await restart({ shops: [smsShop(), other] });
    await webhook.send(inboundForm({ MessagingServiceSid: 'MGother' }));
    expect((await entries())[0]?.shopId).toBe(smsShop().shopId);
  });

  it('is not opened by the token of another shop', async () => {
    await restart({ shops: [smsShop(), other] });
    expect((await sendAs(AUTH_TOKEN, { To: '+15550002222' })).status).toBe(403);
  });

  it('that has no such number refuses a signed message and raises an alarm', async () => {
    expect((await webhook.send(inboundForm({ To: '+15550009999' }))).status).toBe(403);
    expect(await counter('sluice_alarms_total')).toBe(1);
    expect(await counter('sluice_webhook_signature_failures_total')).toBe(0);
    expect(JSON.stringify(webhook.log)).not.toContain('5550009999');
  });

  it('cannot share a number with another', () => {
    const twin = smsShop({ name: 'twin', shopId: other.shopId });
    expect(() => createShopDirectory([smsShop(), twin])).toThrow('"acme" and "twin"');
  });
});

describe('a bad request', () => {
  it.each([
    ['an empty MessageSid', { MessageSid: '' }],
    ['a MessageSid with a line break', { MessageSid: `${messageSid(1)}\n` }],
    ['a MessageSid with a space', { MessageSid: ` ${messageSid(1)}` }],
    ['the same MessageSid twice', { MessageSid: [messageSid(1), messageSid(1)] }],
    ['a malformed AccountSid', { AccountSid: 'ACxyz' }],
    ['two AccountSids', { AccountSid: [ACCOUNT_SID, ACCOUNT_SID] }],
    ['an empty From', { From: '' }],
    ['a From that is a bare prefix', { From: 'whatsapp:' }],
    ['a From with a NUL', { From: '+1415\u0000' }],
    ['a very long From', { From: 'x'.repeat(400) }],
    ['no To', { To: undefined }],
    ['two different statuses', { SmsStatus: ['received', 'delivered'] }],
  ])('with %s is answered 400, signed or not', async (_label, changes) => {
    const pairs = inboundForm(changes);
    for (const options of [{}, { signature: 'none' }]) {
      const answer = await webhook.send(pairs, options);
      expect(answer.status).toBe(400);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
    expect(await entries()).toEqual([]);
  });

  const post = (changes: Partial<Parameters<typeof postWebhook>[0]>) =>
    postWebhook({ target: webhook.target, body: '', signature: 'x', ...changes });

  it.each([
    ['an empty body', {}, 400],
    ['too many parameters', { body: 'a=1&'.repeat(1001) }, 400],
    ['no content type', { headers: { 'Content-Type': '' } }, 415],
    ['a compressed body', { body: 'x', headers: { 'Content-Encoding': 'gzip' } }, 415],
    ['PUT', { method: 'PUT' }, 405],
    ['OPTIONS', { method: 'OPTIONS' }, 405],
    ['a JSON list', { body: '[]', headers: { 'Content-Type': 'application/json' } }, 400],
    [
      'JSON as deep as it is long',
      {
        body: `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
        headers: { 'Content-Type': 'application/json' },
      },
      400,
    ],
  ])(
    'with %s is refused in plain text, and the next message is accepted',
    async (_label, changes, status) => {
      const answer = await post(changes);
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect((await webhook.send(inboundForm())).status).toBe(200);
    },
  );

  it('in chunks that never stop is cut off at 64 KiB', async () => {
    const request = http.request(webhook.target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    request.on('error', () => undefined);
    const answered = once(request, 'response');
    request.write('Body=');
    request.write('x'.repeat(100_000));
    const [response] = (await answered) as [http.IncomingMessage];
    expect(response.statusCode).toBe(413);
    response.resume();
    request.destroy();
  });

  it('that breaks off in the middle leaves the server as it was', async () => {
    const { hostname, port } = new URL(webhook.target);
    const socket = net.connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      'POST /sms/twilio HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n' +
        'Content-Type: application/x-www-form-urlencoded\r\n\r\nMessageSid=',
    );
    socket.destroy();
    await once(socket, 'close');
    expect((await webhook.send(inboundForm())).status).toBe(200);
  });

  it('whose target is a whole URL cannot choose what the signature is checked against', async () => {
    const { hostname, port } = new URL(webhook.target);
    const pairs = inboundForm();
    const body = encodeForm(pairs);
    const signature = twilioSignature(AUTH_TOKEN, 'http://evil.example/sms/twilio', pairs);
    const request = http.request({
      hostname,
      port,
      method: 'POST',
      path: 'http://evil.example/sms/twilio',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': Buffer.byteLength(body),
        'X-Twilio-Signature': signature,
      },
    });
    const answered = once(request, 'response');
    request.end(body);
    const [response] = (await answered) as [http.IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(403);
  });
});

describe('a JSON body', () => {
  const json = JSON.stringify({ ...Object.fromEntries(inboundForm()), NumMedia: 0, Extra: null });
  const signed = (body: string, sent = body) => {
    const query = `?bodySHA256=${bodySha256(body)}`;
    return postWebhook({
      target: webhook.target + query,
      body: sent,
      headers: { 'Content-Type': 'application/json' },
      signature: twilioSignature(AUTH_TOKEN, WEBHOOK_URL + query, []),
    });
  };

  it('is accepted when its hash stands in the signed URL', async () => {
    expect((await signed(json)).status).toBe(200);
    expect(await entries()).toHaveLength(1);
  });
});

describe('a status callback', () => {
  const callback = (changes: Parameters<typeof inboundForm>[0]) =>
    inboundForm({
      From: OUR_NUMBER,
      To: '+14155552671',
      Body: undefined,
      SmsStatus: 'delivered',
      MessageStatus: 'delivered',
      ...changes,
    });

  it('is answered 204, counted, and makes no entry', async () => {
    const answer = await webhook.send(callback({}));
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(await entries()).toEqual([]);
    expect(await counter('sluice_sms_status_callbacks_total')).toBe(1);
  });

  it('of a message that has no sender yet is answered 204', async () => {
    const status = { SmsStatus: 'accepted', MessageStatus: 'accepted', From: undefined };
    expect((await webhook.send(callback(status))).status).toBe(204);
  });

  it('is refused when it is not signed', async () => {
    expect((await webhook.send(callback({}), { signature: 'none' })).status).toBe(403);
    expect(await counter('sluice_sms_status_callbacks_total')).toBe(0);
  });
});

describe('a spool that cannot accept', () => {
  it.each<[string, Error]>([
    ['unavailable', new SpoolUnavailable('down')],
    ['full', new SpoolFull('no space')],
  ])('(%s) is answered 503 with Retry-After and plain text', async (_label, error) => {
    await restart({ intake: { accept: () => Promise.reject(error) } });
    const answer = await webhook.send(inboundForm());
    expect(answer.status).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('for a reason nobody expected is answered 500 without details', async () => {
    await restart({ intake: { accept: () => Promise.reject(new Error('secret detail')) } });
    const answer = await webhook.send(inboundForm());
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('secret');
    expect(webhook.log.map(({ event }) => event)).toContain('sms.webhook_failed');
  });
});
