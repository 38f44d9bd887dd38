import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDownloader } from '../../../../../src/channels/sms/providers/media-download.ts';
import { telnyxMedium } from '../../../../../src/channels/sms/providers/telnyx/media.ts';
import { ends } from '../../../../support/ends.ts';
import { API_KEY, PUBLIC_KEY } from '../../../../support/telnyx-stand-in.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../../../support/twilio-stand-in.ts';

let standIn: TwilioStandIn;
let path: string;

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  const dir = tempDir();
  ends(() => dir.remove());
  path = join(dir.path, 'file');
});

const account = (apiBaseUrl?: string) => ({
  ...{ apiKey: API_KEY, publicKey: PUBLIC_KEY },
  ...(apiBaseUrl !== undefined && { apiBaseUrl }),
});

/** One try at a medium of the stand-in. */
async function download(maxBytes = 1000): Promise<string> {
  const source = telnyxMedium(`${standIn.baseUrl}/media/1`, account(standIn.baseUrl));
  if (source === undefined) throw new Error('not a medium');
  const get = createDownloader({ maxBytes, tryTimeoutMs: 10_000, clock: Date.now });
  await get(source, path, new AbortController().signal);
  return readFile(path, 'utf8');
}

describe('media', () => {
  it.each([
    'https://media.telnyx.com/abc123/image.jpg',
    'https://media.telnyx.com/abc123?signature=1',
    'https://us-central-1.telnyxcloudstorage.com/bucket/key',
  ])('are fetched from %s', (url) => {
    for (const by of [account(), account('https://api.telnyx.com'), account(standIn.baseUrl)]) {
      const { target } = telnyxMedium(url, by) ?? {};
      expect(target).toEqual({ url: new URL(url), trusted: false });
    }
  });

  it.each([
    ['another host', 'https://evil.example/x'],
    ['the bare domain of the storage', 'https://telnyxcloudstorage.com/x'],
    ['a host that ends alike', 'https://media.telnyx.com.evil.example/x'],
    ['a host with a final dot', 'https://media.telnyx.com./x'],
    ['a host without TLS', 'http://media.telnyx.com/x'],
    ['a host with a port', 'https://media.telnyx.com:444/x'],
    ['a host with a user', 'https://a@media.telnyx.com/x'],
    ['Telnyx as a user', 'https://media.telnyx.com@evil.example/x'],
    ['an address', 'https://127.0.0.1/x'],
    ['more than 8 KiB', `https://media.telnyx.com/${'x'.repeat(8192)}`],
    ['what is no URL', 'x'],
  ])('are not fetched from %s, nor is a redirect there followed', (_label, url) => {
    const source = telnyxMedium('https://media.telnyx.com/x', account());
    expect(telnyxMedium(url, account())).toBeUndefined();
    const from = new URL('https://media.telnyx.com/x');
    if (url === 'x') expect(source?.redirect(url, from)?.url.href).toBe(from.href);
    else expect(source?.redirect(url, from)).toBeUndefined();
  });
});

test('the API key is not sent for a medium', async () => {
  standIn.script('/media/1', { status: 302, headers: { Location: '/media/2' } });
  standIn.script('/media/2', { status: 200, body: 'x' });
  expect(await download()).toBe('x');
  expect(standIn.requests.map(({ authorization }) => authorization)).toEqual([
    undefined,
    undefined,
  ]);
});

describe('a medium', () => {
  it('is never read beyond the largest size', async () => {
    standIn.script('/media/1', { status: 200, body: 'x'.repeat(1001) });
    await expect(download()).rejects.toMatchObject({ kind: 'never', message: 'too_large' });
  });

  it.each([
    [404, 'later'],
    [401, 'later'],
    [403, 'later'],
    [410, 'never'],
    [429, 'later'],
    [500, 'later'],
  ] as const)('with the status %d: %s', async (status, kind) => {
    standIn.script('/media/1', { status });
    await expect(download()).rejects.toMatchObject({ kind, message: `http_${status}` });
  });

  it('is given up after three redirects', async () => {
    standIn.script('/media/1', { status: 302, headers: { Location: '/media/1' } });
    await expect(download()).rejects.toMatchObject({ message: 'too_many_redirects' });
    expect(standIn.requests).toHaveLength(4);
  });
});
