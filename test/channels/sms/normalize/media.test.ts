// Longer than usual: one stand-in, and every way in which media can fail played against it.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createSmsNormalizer } from '../../../../src/channels/sms/normalize.ts';
import type { SmsNormalizerOptions } from '../../../../src/channels/sms/normalize.ts';
import type { TwilioAccount } from '../../../../src/channels/sms/providers/twilio/account.ts';
import {
  AttachmentLate,
  AttachmentUnavailable,
  type Normalized,
} from '../../../../src/intake/normalizer.ts';
import type { Claimed } from '../../../../src/spool/entry.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  inboundForm,
  mediaPath,
  mediaSid,
  messageSid,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../../support/twilio-stand-in.ts';
import {
  type LogLine,
  recordingLogger,
  type RunningWebhook,
  smsShop,
  startWebhook,
} from '../running-door.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MMS = messageSid(1, 'MM');
const ME = mediaSid(1);
const PATH = mediaPath(MMS, ME);
const MEDIA_URL = `https://api.twilio.com${PATH}`;
const PLACEHOLDER = `[attachment could not be retrieved: image/jpeg, ${ME}]`;

let webhook: RunningWebhook;
let twilio: TwilioStandIn;
let claimed: Claimed;
let normalized: Normalized;
let now: number;
const log: LogLine[] = [];

beforeEach(async () => {
  [webhook, twilio] = await Promise.all([startWebhook(), startTwilioStandIn()]);
  log.length = 0;
});
afterEach(async () => {
  await normalized.dispose();
  await Promise.all([webhook.close(), twilio.close()]);
});

interface Setting {
  readonly form?: Parameters<typeof inboundForm>[0];
  readonly account?: Partial<TwilioAccount>;
  readonly media?: SmsNormalizerOptions['media'];
  readonly lookup?: LookupFunction;
  /** Without a base URL: at Twilio itself. */
  readonly direct?: boolean;
}

/** An MMS with one image goes through the webhook; what it becomes is in `normalized`. */
async function arrive({
  form,
  account,
  media,
  lookup,
  direct = false,
}: Setting = {}): Promise<void> {
  const answer = await webhook.send(
    inboundForm({
      MessageSid: MMS,
      NumMedia: '1',
      MediaUrl0: MEDIA_URL,
      MediaContentType0: 'image/jpeg',
      ...form,
    }),
  );
  expect(answer.status).toBe(200);
  const next = await webhook.claim();
  if (next === undefined) throw new Error('nothing to claim');
  claimed = next;
  now = claimed.entry.receivedAt;
  const shop = smsShop({
    twilio: {
      accountSid: ACCOUNT_SID,
      authTokens: [AUTH_TOKEN],
      ...(!direct && { apiBaseUrl: twilio.baseUrl }),
      ...account,
    },
  });
  const normalize = createSmsNormalizer(
    {
      shops: [shop],
      scratchDir: join(webhook.dir, 'scratch'),
      media: { retry: { retries: 3, minTimeoutMs: 1 }, ...media },
    },
    {
      optOuts: webhook.store.optOuts,
      personOf: (lane) => webhook.store.spool.personOf(lane),
      countMessage: () => Promise.resolve(undefined),
      clock: () => now,
      logger: recordingLogger(log),
      metrics: webhook.metrics,
      ...(lookup && { lookup }),
    },
  );
  normalized = await normalize(claimed, new AbortController().signal);
}

function attachment(index = 0) {
  const found = normalized.attachments[index];
  if (found === undefined) throw new Error('no such attachment');
  return found;
}

const open = (index = 0) => attachment(index).open(new AbortController().signal);
const failure = (index = 0): Promise<unknown> => open(index).catch((error: unknown) => error);
const redirect = (Location: string, status = 307) => ({ status, headers: { Location } });
const paths = () => twilio.requests.map(({ path }) => path);
const alarms = async (): Promise<number> => {
  const { values } = await webhook.metrics.alarms.get();
  return values.reduce((sum, { value }) => sum + value, 0);
};

describe('a medium', () => {
  it('is fetched with its bytes as they are, its type by content, a name and a size', async () => {
    twilio.script(PATH, { status: 200, body: PNG, headers: { 'Content-Type': 'image/jpeg' } });
    await arrive();
    expect(attachment()).toMatchObject({ part: ME, placeholder: PLACEHOLDER });
    const opened = await open();
    expect(opened).toMatchObject({ name: 'image-1.png', type: 'image/png', size: PNG.length });
    expect(await buffer(opened.stream())).toEqual(PNG);
    expect(await buffer(opened.stream())).toEqual(PNG);
  });

  it('is not fetched before somebody opens it', async () => {
    await arrive();
    expect(twilio.requests).toEqual([]);
  });

  it.each([
    ['text/vcard', 'BEGIN:VCARD\nEND:VCARD', 'file-1.vcf', 'text/vcard'],
    ['Text/CSV; charset=utf-8', 'a,b', 'file-1.csv', 'text/csv'],
    ['text/x-vcard', 'VERSION:2.1\nEND:VCARD', 'file-1.vcf', 'text/x-vcard'],
    ['text/plain', '1 < 2', 'file-1.txt', 'text/plain'],
  ])(
    'that is a text of a kind that bytes do not tell has its declared type: %s',
    async (declared, body, name, type) => {
      twilio.script(PATH, { status: 200, body });
      await arrive({ form: { MediaContentType0: declared } });
      expect(await open()).toMatchObject({ name, type });
    },
  );

  const UTF16 = Buffer.from('\ufeff<script>alert(1)</script>', 'utf16le');
  it.each<[string, string, string | Buffer]>([
    ['HTML as a JPEG', 'image/jpeg', '<!doctype html><script>alert(1)</script>'],
    ['HTML as a text', 'text/plain', ' \n<script>alert(1)</script>'],
    ['HTML as a contact card', 'text/vcard', '\ufeff<html onload=alert(1)>'],
    ['HTML as HTML', 'text/html', 'hello <script>alert(1)</script>'],
    ['HTML in UTF-16 as a sound', 'audio/mpeg', UTF16],
    ['HTML in UTF-16 as a text', 'text/plain', UTF16],
    ['SVG as a picture', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['SVG as a PNG, behind a long comment', 'image/png', `<!--${'x'.repeat(9000)}--><svg/>`],
    ['XHTML with prefixes', 'application/xml', '<?xml version="1.0"?><h:html/>'],
    ['a page as a script', 'text/javascript', 'alert(1)'],
    ['a broken picture', 'image/jpeg', 'a broken picture'],
    ['a broken sound', 'audio/amr', 'a broken sound'],
    ['what has no type', 'not a type', 'bytes'],
  ])('that no browser may show is bytes and nothing more: %s', async (_label, declared, body) => {
    twilio.script(PATH, { status: 200, body });
    await arrive({ form: { MediaContentType0: declared } });
    const [name, type] = ['file-1.bin', 'application/octet-stream'];
    expect(await open()).toMatchObject({ name, type });
  });

  it('that is empty is not uploaded, and its line stands for it', async () => {
    twilio.script(PATH, { status: 200, body: '' });
    await arrive();
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(paths()).toEqual([PATH]);
    expect(log).toMatchObject([{ event: 'sms.media_failed', fields: { reason: 'empty' } }]);
    const [folder = ''] = await readdir(join(webhook.dir, 'scratch'));
    expect(await readdir(join(webhook.dir, 'scratch', folder))).toEqual([]);
  });

  it('is asked for with the account and its token, or with an API key where there is one', async () => {
    twilio.script(PATH, { status: 200, body: PNG });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    await arrive();
    await open();
    expect(twilio.requests[0]?.authorization).toBe(basic(`${ACCOUNT_SID}:${AUTH_TOKEN}`));
    await normalized.dispose();
    await webhook.close();
    webhook = await startWebhook();
    await arrive({ account: { apiKeySid: 'SK1', apiKeySecret: 's3cret' } });
    await open();
    expect(twilio.requests[1]?.authorization).toBe(basic('SK1:s3cret'));
  });

  it('is one of up to ten, numbered as they came', async () => {
    const form: Record<string, string> = { NumMedia: '11' };
    for (let n = 0; n < 11; n += 1) {
      const path = mediaPath(MMS, mediaSid(n));
      form[`MediaUrl${n}`] = `https://api.twilio.com${path}`;
      twilio.script(path, { status: 200, body: PNG });
    }
    await arrive({ form });
    const opened = await Promise.all(
      normalized.attachments.map((medium) => medium.open(new AbortController().signal)),
    );
    expect(opened.map(({ name }) => name)).toEqual(
      Array.from({ length: 10 }, (_, n) => `image-${n + 1}.png`),
    );
  });

  it('leaves no file behind once it is disposed of', async () => {
    twilio.script(PATH, { status: 200, body: PNG });
    await arrive();
    await open();
    expect(await readdir(join(webhook.dir, 'scratch'))).toHaveLength(1);
    await normalized.dispose();
    expect(await readdir(join(webhook.dir, 'scratch'))).toEqual([]);
  });
});

describe('a redirect', () => {
  it('is followed three times, and only the first request has credentials', async () => {
    twilio.script(PATH, redirect('/one', 302));
    twilio.script('/one', redirect(`${twilio.baseUrl}/two`, 301));
    twilio.script('/two', redirect('/three?signature=a%2Fb', 308));
    twilio.script('/three?signature=a%2Fb', { status: 200, body: PNG });
    await arrive();
    expect((await open()).size).toBe(PNG.length);
    expect(paths()).toEqual([PATH, '/one', '/two', '/three?signature=a%2Fb']);
    expect(twilio.requests.map(({ authorization }) => authorization !== undefined)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('is not followed a fourth time', async () => {
    twilio.script(PATH, redirect('/loop'));
    twilio.script('/loop', redirect('/loop'));
    await arrive();
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(paths()).toEqual([PATH, '/loop', '/loop', '/loop']);
  });

  it.each([
    ['loopback', 'http://127.0.0.1:1/x'],
    ['the metadata service', 'http://169.254.169.254/latest/meta-data/'],
    ['loopback over https', 'https://127.0.0.1/x'],
    ['loopback in IPv6', 'https://[::1]/x'],
    ['another host', 'https://evil.example/x'],
    ['a host that ends like Twilio', 'https://eviltwilio.com/x'],
    ['a host that begins like Twilio', 'https://twilio.com.evil.example/x'],
    ['plain http', 'http://mms.twiliocdn.com/x'],
    ['another port', 'https://mms.twiliocdn.com:8443/x'],
    ['a password', 'https://user:pw@mms.twiliocdn.com/x'],
    ['a file', 'file:///etc/passwd'],
    ['another bucket of the storage', 'https://s3-external-1.amazonaws.com/evil/x'],
    ['nothing readable', 'https://['],
  ])('to %s is refused for good', async (_label, location) => {
    twilio.script(PATH, redirect(location));
    await arrive();
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(paths()).toEqual([PATH]);
    expect(log.find(({ event }) => event === 'sms.media_failed')?.fields['reason']).toBe(
      'redirect_refused',
    );
  });

  it.each([
    ['mms.twiliocdn.com', 'https://mms.twiliocdn.com/x', '10.0.0.5'],
    ['mms.twiliocdn.com', 'https://mms.twiliocdn.com/x', '169.254.169.254'],
    [
      's3-external-1.amazonaws.com',
      'https://s3-external-1.amazonaws.com/media.twiliocdn.com/x',
      '::ffff:127.0.0.1',
    ],
    [
      'media.twiliocdn.com.s3.us-east-1.amazonaws.com',
      'https://media.twiliocdn.com.s3.us-east-1.amazonaws.com/x',
      'fd00:ec2::254',
    ],
  ])(
    'to %s is refused when that resolves to a private address',
    async (host, location, address) => {
      twilio.script(PATH, redirect(location));
      const asked: string[] = [];
      const lookup: LookupFunction = (hostname, _options, callback) => {
        asked.push(hostname);
        // One public address among them makes it no better.
        callback(null, [
          { address: '8.8.8.8', family: 4 },
          { address, family: address.includes(':') ? 6 : 4 },
        ]);
      };
      await arrive({ lookup });
      expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
      expect(asked).toEqual([host]);
      expect(log.find(({ event }) => event === 'sms.media_failed')?.fields['reason']).toBe(
        'private_address',
      );
    },
  );

  it('is taken from the MediaUrl anew on every try', async () => {
    twilio.script(PATH, redirect('/expired'), redirect('/fresh'));
    twilio.script('/expired', { status: 500 });
    twilio.script('/fresh', { status: 200, body: PNG });
    await arrive();
    await open();
    expect(paths()).toEqual([PATH, '/expired', PATH, '/fresh']);
  });
});

describe('a medium that is not there yet', () => {
  it('is asked for again within the attempt', async () => {
    twilio.script(PATH, { status: 404 }, { status: 404 }, { status: 200, body: PNG });
    await arrive();
    expect((await open()).size).toBe(PNG.length);
    expect(paths()).toEqual([PATH, PATH, PATH]);
  });

  it.each<[string, Parameters<TwilioStandIn['script']>[1]]>([
    ['404', { status: 404 }],
    ['429', { status: 429 }],
    ['503', { status: 503 }],
    ['a reset', 'reset'],
    ['an answer of half its length', { status: 200, headers: { 'Content-Length': '9' }, body: '' }],
    ['an empty answer of another kind', { status: 204 }],
  ])('(%s) is late, and nothing makes the text wait for it', async (_label, answer) => {
    twilio.script(PATH, answer);
    await arrive({ media: { retry: { retries: 1, minTimeoutMs: 1 }, tryTimeoutMs: 300 } });
    expect(await failure()).toBeInstanceOf(AttachmentLate);
    expect(log).toMatchObject([{ level: 'warn', event: 'sms.media_failed' }]);
  });

  it('is given up on by the clock when the answer stalls', async () => {
    twilio.script(PATH, 'stall');
    await arrive({ media: { retry: { retries: 0, minTimeoutMs: 1 }, tryTimeoutMs: 100 } });
    expect(await failure()).toBeInstanceOf(AttachmentLate);
  });

  it('stops at once when the attempt is called off', async () => {
    twilio.script(PATH, 'stall');
    await arrive();
    const controller = new AbortController();
    const opening = attachment().open(controller.signal);
    const reason = new Error('shutting down');
    setImmediate(() => controller.abort(reason));
    await expect(opening).rejects.toBe(reason);
  });
});

describe('a medium that cannot be had', () => {
  it.each([401, 403])(
    'because of the credentials (%d) raises an alarm and is late at once',
    async (status) => {
      twilio.script(PATH, { status });
      await arrive();
      expect(await failure()).toBeInstanceOf(AttachmentLate);
      expect(paths()).toEqual([PATH]);
      expect(await alarms()).toBe(1);
      expect(JSON.stringify(log)).not.toContain(AUTH_TOKEN);
    },
  );

  it.each([400, 410])('because the API refuses it (%d) is given up at once', async (status) => {
    twilio.script(PATH, { status });
    await arrive();
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(paths()).toEqual([PATH]);
  });

  it.each([
    ['says so', { 'Content-Length': '2000' }],
    ['does not say so', { 'Transfer-Encoding': 'chunked' }],
  ])('because it is too large and %s is given up at once', async (_label, headers) => {
    twilio.script(PATH, { status: 200, body: Buffer.alloc(2000), headers });
    await arrive({ media: { maxBytes: 1999 } });
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(paths()).toEqual([PATH]);
    expect(await readdir(join(webhook.dir, 'scratch')).then(([dir = '']) => dir)).toMatch(/^sms-/);
  });

  it('keeps no part of what it fetched', async () => {
    twilio.script(PATH, { status: 200, body: Buffer.alloc(2000) });
    await arrive({ media: { maxBytes: 1000 } });
    await failure();
    const [folder = ''] = await readdir(join(webhook.dir, 'scratch'));
    expect(await readdir(join(webhook.dir, 'scratch', folder))).toEqual([]);
  });

  it('at exactly the limit is fetched', async () => {
    twilio.script(PATH, { status: 200, body: Buffer.alloc(2000) });
    await arrive({ media: { maxBytes: 2000 } });
    expect((await open()).size).toBe(2000);
  });
});

describe('a MediaUrl', () => {
  const elsewhere = (path: string) => `https://api.twilio.com${path}`;

  it.each([
    ['of another host', `https://evil.example${PATH}`],
    ['of a host that looks like the API', `https://api.twilio.com.evil.example${PATH}`],
    ['without TLS', `http://api.twilio.com${PATH}`],
    ['with another port', `https://api.twilio.com:8443${PATH}`],
    ['with a user', `https://a@api.twilio.com${PATH}`],
    ['of another account', elsewhere(mediaPath(MMS, ME, `AC${'f'.repeat(32)}`))],
    ['of another message', elsewhere(mediaPath(messageSid(2, 'MM'), ME))],
    ['with a query', `${MEDIA_URL}?x`],
    ['with a fragment', `${MEDIA_URL}#x`],
    ['with more path', `${MEDIA_URL}/x`],
    ['with dots', elsewhere(`/x/..${PATH}`)],
    ['with an escaped path', `${MEDIA_URL.slice(0, -1)}%31`],
    ['of no medium', elsewhere(mediaPath(MMS, 'XX1'))],
    ['that is none', 'nonsense'],
    ['that is a file', 'file:///etc/passwd'],
  ])('%s is never asked for', async (_label, url) => {
    await arrive({ form: { MediaUrl0: url } });
    expect(normalized.findings).toMatchObject({ media: 1, mediaRefused: 1 });
    expect(attachment().placeholder).toBe('[attachment could not be retrieved: image/jpeg]');
    expect(await failure()).toBeInstanceOf(AttachmentUnavailable);
    expect(twilio.requests).toEqual([]);
    expect(existsSync(join(webhook.dir, 'scratch'))).toBe(false);
  });

  it('of a region is asked for there when no base URL is configured', async () => {
    const host = 'api.dublin.ie1.twilio.com';
    const asked: string[] = [];
    const lookup: LookupFunction = (hostname, _options, callback) => {
      asked.push(hostname);
      callback(new Error('no network'), []);
    };
    await arrive({
      form: { MediaUrl0: `https://${host}${PATH}` },
      media: { retry: { retries: 0, minTimeoutMs: 1 } },
      direct: true,
      lookup,
    });
    expect(await failure()).toBeInstanceOf(AttachmentLate);
    expect(asked).toEqual([host]);
  });
});

it('10 MiB arrive byte for byte', async () => {
  const bytes = Buffer.alloc(10 * 1024 * 1024);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at);
  twilio.script(PATH, { status: 200, body: bytes });
  await arrive();
  const opened = await open();
  const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  expect(hash(await buffer(opened.stream()))).toBe(hash(bytes));
});
