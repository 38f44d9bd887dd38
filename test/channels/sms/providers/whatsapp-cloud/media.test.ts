import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDownloader } from '../../../../../src/channels/sms/providers/media-download.ts';
import { whatsappMedium } from '../../../../../src/channels/sms/providers/whatsapp-cloud/media.ts';
import { ends } from '../../../../support/ends.ts';
import {
  type GraphApi,
  graphError,
  graphJson,
  serveGraph,
  VERSION,
} from '../../../../support/graph-api.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../../../support/twilio-stand-in.ts';
import { ACCESS_TOKEN, whatsappAccount } from '../../../../support/whatsapp-stand-in.ts';

const ID = '1003383421387256';
const LINK = 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1&ext=2&hash=3';

let standIn: TwilioStandIn;
let graph: GraphApi;
let path: string;

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  graph = serveGraph(standIn);
  graph.links.set(ID, undefined);
  const dir = tempDir();
  ends(() => dir.remove());
  path = join(dir.path, 'file');
});

const account = () => whatsappAccount({ apiBaseUrl: standIn.baseUrl + VERSION });

function medium() {
  const source = whatsappMedium(ID, account());
  if (source === undefined) throw new Error('not a medium');
  return source;
}

/** One try at the medium. */
async function download(maxBytes = 1000): Promise<string> {
  const get = createDownloader({
    ...{ maxBytes, tryTimeoutMs: 10_000, clock: Date.now },
    lookup: (_host, _options, callback) => callback(null, [{ address: '10.0.0.5', family: 4 }]),
  });
  await get(medium(), path, new AbortController().signal);
  return readFile(path, 'utf8');
}

const asked = () =>
  standIn.requests.map(({ path: url, authorization }) => [url.split('?')[0], authorization]);

test('a medium is asked for by its id, then fetched, both with the token', async () => {
  standIn.script(`/media/${ID}`, { status: 200, body: 'x' });
  expect(await download()).toBe('x');
  const bearer = `Bearer ${ACCESS_TOKEN}`;
  expect(asked()).toEqual([
    [`${VERSION}/${ID}`, bearer],
    [`/media/${ID}`, bearer],
  ]);
});

test('the token does not follow a redirect', async () => {
  standIn.script(`/media/${ID}`, { status: 302, headers: { Location: '/elsewhere' } });
  standIn.script('/elsewhere', { status: 200, body: 'x' });
  expect(await download()).toBe('x');
  expect(asked()[2]).toEqual(['/elsewhere', undefined]);
});

test('each try asks for a new link', async () => {
  standIn.script(`/media/${ID}`, { status: 404 }, { status: 200, body: 'x' });
  await expect(download()).rejects.toMatchObject({ kind: 'later', message: 'http_404' });
  expect(await download()).toBe('x');
  expect(asked().filter(([url]) => url === `${VERSION}/${ID}`)).toHaveLength(2);
});

describe('a link', () => {
  it("may be on Meta's host, whose address must be public", async () => {
    graph.links.set(ID, LINK);
    await expect(download()).rejects.toMatchObject({ kind: 'never', message: 'private_address' });
  });

  it.each([
    ['another host', 'https://evil.example/x'],
    ['a host that ends alike', 'https://lookaside.fbsbx.com.evil.example/x'],
    ['another host of the domain', 'https://other.fbsbx.com/x'],
    ['no TLS', 'http://lookaside.fbsbx.com/x'],
    ['a port', 'https://lookaside.fbsbx.com:444/x'],
    ['a user', 'https://a@lookaside.fbsbx.com/x'],
    ["Meta's host as a user", 'https://lookaside.fbsbx.com@evil.example/x'],
    ['an address', 'https://127.0.0.1/x'],
    ['more than 8 KiB', `https://lookaside.fbsbx.com/${'x'.repeat(8192)}`],
    ['no URL', 'x'],
    ['no text', 7],
  ])('with %s is not followed, also as a redirect', async (_label, link) => {
    graph.links.set(ID, link);
    await expect(download()).rejects.toMatchObject({ kind: 'never', message: 'url_refused' });
    expect(standIn.requests).toHaveLength(1);
    const from = new URL('https://lookaside.fbsbx.com/x');
    if (typeof link === 'string' && link !== 'x') {
      expect(medium().redirect(link, from)).toBeUndefined();
    }
  });

  it('to the API itself is not followed there', () => {
    for (const apiBaseUrl of [undefined, 'https://graph.facebook.com/v99.0']) {
      const found = whatsappMedium(ID, whatsappAccount(apiBaseUrl ? { apiBaseUrl } : {}));
      const from = new URL(LINK);
      expect(found?.redirect('https://graph.facebook.com/me', from)).toBeUndefined();
      expect(found?.redirect(LINK, from)).toEqual({ url: from, trusted: false });
    }
  });
});

it.each(['', 'x', '../me', '1/2', '1'.repeat(65)])('%j is no id', (id) => {
  expect(whatsappMedium(id, account())).toBeUndefined();
});

describe('that Meta does not tell the link', () => {
  it.each([
    ['no such medium', graphError(400, 100), 'never', 'http_400'],
    ['the token has expired', graphError(401, 190), 'credentials', 'http_401'],
    ['a permission is missing', graphError(400, 200), 'credentials', 'http_400'],
    ['the rate is too high', graphError(400, 80_007), 'later', 'http_400'],
    ['trouble', graphError(500, 131_000), 'later', 'http_500'],
    ['no link in the answer', graphJson(200, {}), 'never', 'url_refused'],
    ['a reset', 'reset' as const, 'later', 'ECONNRESET'],
  ])('because of %s', async (_label, answer, kind, message) => {
    graph.answerNext(answer);
    await expect(download()).rejects.toMatchObject({ kind, message });
  });
});

describe('a medium', () => {
  it.each([
    [401, 'credentials'],
    [403, 'credentials'],
    [410, 'never'],
    [429, 'later'],
    [500, 'later'],
  ] as const)('with the status %d: %s', async (status, kind) => {
    standIn.script(`/media/${ID}`, { status });
    await expect(download()).rejects.toMatchObject({ kind, message: `http_${status}` });
  });

  it('is never read beyond the largest size', async () => {
    standIn.script(`/media/${ID}`, { status: 200, body: 'x'.repeat(1001) });
    await expect(download()).rejects.toMatchObject({ kind: 'never', message: 'too_large' });
  });
});
