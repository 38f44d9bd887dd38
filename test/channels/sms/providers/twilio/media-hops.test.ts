import { beforeEach, describe, expect, it } from '@jest/globals';
import diagnostics from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { DownloaderOptions } from '../../../../../src/channels/sms/provider.ts';
import { createDownloader } from '../../../../../src/channels/sms/providers/media-download.ts';
import type { ProviderFailed } from '../../../../../src/channels/sms/providers/requests.ts';
import type { TwilioAccount } from '../../../../../src/channels/sms/providers/twilio/account.ts';
import {
  readMediaUrl,
  readRedirect,
  twilioMedium,
} from '../../../../../src/channels/sms/providers/twilio/media.ts';
import { ends } from '../../../../support/ends.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  mediaPath,
  mediaSid,
  messageSid,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../../../support/twilio-stand-in.ts';

const MMS = messageSid(1, 'MM');
const PATH = mediaPath(MMS, mediaSid(1));
const IDENTITY = { accountSid: ACCOUNT_SID, messageSid: MMS };
const API = 'https://api.twilio.com';

let dir: ReturnType<typeof tempDir>;
let twilio: TwilioStandIn;

beforeEach(async () => {
  dir = tempDir();
  ends(() => dir.remove());
  twilio = await startTwilioStandIn();
  ends(() => twilio.close());
});

const account = (apiBaseUrl?: string): TwilioAccount => ({
  accountSid: ACCOUNT_SID,
  authTokens: [AUTH_TOKEN],
  ...(apiBaseUrl !== undefined && { apiBaseUrl }),
});

/** One try at the medium, by way of the stand-in unless told otherwise. */
async function download(
  options: Partial<DownloaderOptions> = {},
  by: TwilioAccount = account(twilio.baseUrl),
  host = API,
) {
  const source = twilioMedium(host + PATH, IDENTITY, by);
  if (source === undefined) throw new Error('not a MediaUrl');
  const get = createDownloader({
    maxBytes: 1e6,
    tryTimeoutMs: 10_000,
    clock: Date.now,
    ...options,
  });
  const path = join(dir.path, 'file');
  const got = await get(source, path, new AbortController().signal);
  return { ...got, bytes: await readFile(path) };
}

// What a download throws is a ProviderFailed; the test that reads another fails.
const failure = (...args: Parameters<typeof download>): Promise<ProviderFailed> =>
  download(...args).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as ProviderFailed,
  );

const resolvingTo = (...addresses: readonly string[]): LookupFunction => {
  return (_host, _options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    callback(null, found);
  };
};

describe('the first hop goes only to Twilio', () => {
  // As the configuration has it when nothing is configured.
  const byDefault = account(API);

  it.each([['api.twilio.com'], ['api.ie1.twilio.com'], ['api.dublin.ie1.twilio.com']])(
    '%s, in the region of the MediaUrl',
    (host) => {
      const url = `https://${host}${PATH}`;
      for (const by of [byDefault, account(), account('https://api.sydney.au1.twilio.com/')]) {
        const { target } = readMediaUrl(url, IDENTITY, by) ?? {};
        expect({ href: target?.url.href, trusted: target?.trusted }).toEqual({
          href: url,
          trusted: false,
        });
      }
    },
  );

  it.each([
    ['of another host', `https://evil.example${PATH}`],
    ['of www', `https://www.twilio.com${PATH}`],
    ['of a host that ends alike', `https://xapi.twilio.com${PATH}`],
    ['of three labels more', `https://api.a.b.c.twilio.com${PATH}`],
    ['without TLS', `http://api.twilio.com${PATH}`],
    ['with a port', `https://api.twilio.com:8443${PATH}`],
    ['with its own port written', `https://api.twilio.com:443${PATH}`],
    ['in capitals', `https://API.twilio.com${PATH}`],
    ['with a final dot', `https://api.twilio.com.${PATH}`],
    ['of another account', API + mediaPath(MMS, mediaSid(1), `AC${'0'.repeat(32)}`)],
    ['of another message', API + mediaPath(messageSid(2, 'MM'), mediaSid(1))],
    ['of a medium with more behind', `${API}${PATH}.json`],
    ['with a query', `${API}${PATH}?a=b`],
    ['with a backslash', `${API}\\${PATH.slice(1)}`],
    ['with a space before', ` ${API}${PATH}`],
    ['an address', `https://127.0.0.1${PATH}`],
  ])('and to no URL %s', (_label, url) => {
    expect(readMediaUrl(url, IDENTITY, byDefault)).toBeUndefined();
  });

  it.each([
    ['IPv4', '127.0.0.1'],
    ['the metadata service', '169.254.169.254'],
    ['IPv6', '::1'],
    ['unique local', 'fd00::1'],
    ['mapped', '::ffff:10.0.0.1'],
    ['mapped, in hex', '::ffff:a00:1'],
    ['NAT64 of a private address', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::808:808'],
    ['6to4', '2002:a00:1::'],
  ])(
    'not when that resolves to a private address, also by default: %s',
    async (_label, address) => {
      const error = await failure({ lookup: resolvingTo('8.8.8.8', address) }, byDefault);
      expect(error).toMatchObject({ kind: 'never', message: 'private_address' });
    },
  );
});

describe('a redirect', () => {
  const from = new URL(API + PATH);

  it.each([
    'https://mms.twiliocdn.com/x?sig=1',
    'https://twilio.com/x',
    'https://media.us1.twilio.com/x',
    'https://s3.amazonaws.com/media.twiliocdn.com/x',
    'https://s3-external-1.amazonaws.com/media.twiliocdn.com/AC1/x?X-Amz-Signature=1',
    'https://s3-us-west-2.amazonaws.com/media.twiliocdn.com/x',
    'https://s3.dualstack.us-east-1.amazonaws.com/media.twiliocdn.com/x',
    'https://media.twiliocdn.com.s3.ap-southeast-2.amazonaws.com/x',
    'https://media.twiliocdn.com.s3.amazonaws.com/x',
  ])('leads to %s, where no address is trusted', (location) => {
    expect(readRedirect(location, from, account(API))?.trusted).toBe(false);
  });

  it.each([
    ['a decimal host', 'https://2130706433/x'],
    ['an octal host', 'https://0177.0.0.1/x'],
    ['a hex host', 'https://0x7f000001/x'],
    ['a short host', 'https://127.1/x'],
    ['a mapped address', 'https://[::ffff:127.0.0.1]/x'],
    ['NAT64', 'https://[64:ff9b::7f00:1]/x'],
    ['a public address', 'https://8.8.8.8/x'],
    ['localhost', 'https://localhost/x'],
    ['fullwidth letters of another host', 'https://\uFF45vil.example/x'],
    ['Twilio as a user', 'https://mms.twiliocdn.com@evil.example/x'],
    ['Twilio before a backslash', 'https://evil.example\\@mms.twiliocdn.com/x'],
    ['a host with a final dot', 'https://mms.twiliocdn.com./x'],
    ['a path that leaves the bucket', 'https://s3.amazonaws.com/media.twiliocdn.com/../evil/x'],
    ['a bucket that begins alike', 'https://s3.amazonaws.com/media.twiliocdn.com.evil/x'],
    ['another bucket by host', 'https://xmedia.twiliocdn.com.s3.amazonaws.com/x'],
    [
      'an API gateway whose name begins with s3',
      'https://s3abcdefgh.execute-api.us-east-1.amazonaws.com/media.twiliocdn.com/x',
    ],
    [
      'a load balancer whose name begins with s3',
      'https://s3-1.us-east-1.elb.amazonaws.com/media.twiliocdn.com/x',
    ],
    ['data', 'data:image/png;base64,AAAA'],
    ['8 KiB and more', `https://mms.twiliocdn.com/${'x'.repeat(8192)}`],
  ])('to %s is refused', (_label, location) => {
    expect(readRedirect(location, from, account(API))).toBeUndefined();
  });

  it('does not bring the credentials along, and its 403 is no alarm: the link is old', async () => {
    twilio.script(PATH, { status: 302, headers: { Location: '/old-link' } });
    twilio.script('/old-link', { status: 403 });
    expect(await failure()).toMatchObject({ kind: 'later', message: 'http_403' });
    expect(twilio.requests.map(({ authorization }) => authorization === undefined)).toEqual([
      false,
      true,
    ]);
    twilio.script(PATH, { status: 403 });
    expect(await failure()).toMatchObject({ kind: 'credentials', message: 'http_403' });
  });
});

it('the address that was checked is the one connected to (DNS rebinding)', async () => {
  const asked: string[] = [];
  const connected: string[] = [];
  // Public the first time, ours the next; 3ffe::/16 is given back to IANA and leads nowhere.
  const lookup: LookupFunction = (host, options, callback) => {
    asked.push(host);
    const resolve = resolvingTo(asked.length === 1 ? '3ffe::1' : '127.0.0.1');
    setImmediate(() => resolve(host, options, callback));
  };
  const watch = (message: unknown): void => {
    // The channel's one kind of message (Node.js, diagnostics_channel, http.client.request.start).
    const { request } = message as { request: ClientRequest };
    request.socket?.on('connectionAttempt', (ip: string) => connected.push(ip));
  };
  diagnostics.subscribe('http.client.request.start', watch);
  ends(() => diagnostics.unsubscribe('http.client.request.start', watch));
  const first = await failure({ lookup, tryTimeoutMs: 2000 }, account(API));
  expect(first.kind).toBe('later');
  expect({ asked, connected }).toEqual({ asked: ['api.twilio.com'], connected: ['3ffe::1'] });

  // The next try asks anew, and is refused before any connection.
  const second = await failure({ lookup, tryTimeoutMs: 2000 }, account(API));
  expect(second.message).toBe('private_address');
  expect(connected).toEqual(['3ffe::1']);
});

describe('an answer is bounded', () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));

  it('with a content-encoding it is kept as it came: nothing is unpacked', async () => {
    twilio.script(PATH, { status: 200, headers: { 'Content-Encoding': 'gzip' }, body: bomb });
    const { size, bytes } = await download({ maxBytes: bomb.length });
    expect(size).toBe(bomb.length);
    expect(bytes.equals(bomb)).toBe(true);
  });

  it('and counted as it comes', async () => {
    twilio.script(PATH, { status: 200, headers: { 'Content-Encoding': 'gzip' }, body: bomb });
    const error = await failure({ maxBytes: bomb.length - 1 });
    expect(error).toMatchObject({ kind: 'never', message: 'too_large' });
  });
});

describe('Retry-After', () => {
  it.each([
    ['7', 7000],
    ['Fri, 01 May 2026 00:00:30 GMT', 30_000],
    ['Thu, 30 Apr 2026 00:00:30 GMT', undefined],
    ['9'.repeat(18), undefined],
    ['soon', undefined],
  ])('%j is read', async (value, retryAfterMs) => {
    twilio.script(PATH, { status: 429, headers: { 'Retry-After': value } });
    const clock = () => Date.UTC(2026, 4, 1);
    expect(await failure({ clock })).toMatchObject({ kind: 'later', retryAfterMs });
  });
});
