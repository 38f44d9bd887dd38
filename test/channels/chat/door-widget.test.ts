import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createWidgetRoutes } from '../../../src/channels/chat/door-widget.ts';
import { RefusedOrigins } from '../../../src/channels/chat/refused-origins.ts';
import { ReplyTimes } from '../../../src/channels/chat/reply-times.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { createPublicApp } from '../../../src/gateway/public-http.ts';
import { createReadiness } from '../../../src/observability/readiness.ts';
import { type LogFields, type Logger, silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import { ends } from '../../support/ends.ts';
import { OTHER_SHOP, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { aShop, otherShop } from './chat-gateway.ts';

let folder: string;
let pictures: string;
let texts: string;
let replyTimes: ReplyTimes;
let metrics: Metrics;
let logged: (LogFields & { readonly event: string })[];
let now: number;
let port: number;
let refused: RefusedOrigins;

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  writeFileSync(join(dir.path, 'secret.js'), 'not for the public');
  folder = join(dir.path, 'widget');
  pictures = join(dir.path, 'pictures');
  mkdirSync(pictures);
  const named = ['mia.png', 'large.png', 'script.svg', 'missing.png'];
  texts = join(dir.path, 'own.json');
  const shops = [
    aShop({
      widget: { name: 'Acme', preChat: 'off' },
      pictures: new Map(named.map((name) => [name, join(pictures, name)])),
    }),
    otherShop(),
    aShop({
      key: 'spoken',
      texts: new Map([
        ['sv', texts],
        ['de', texts],
      ]),
    }),
    aShop({ key: 'at-home', origins: ['https://gw.example'] }),
  ];
  replyTimes = new ReplyTimes();
  metrics = createMetrics();
  logged = [];
  now = Date.parse('2026-11-02T10:00:00Z');
  const logger: Logger = {
    ...silentLogger,
    warn: (event, fields) => logged.push({ event, ...fields }),
  };
  refused = new RefusedOrigins({ metrics, clock: () => now, logger });
  const routers = [
    createWidgetRoutes({
      ...{ shops, folder, replyTimes, refused, logger },
      publicUrl: 'https://gw.example/support',
    }),
  ];
  const server = createServer(
    createPublicApp({ routers, readiness: createReadiness(), logger: silentLogger }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends(() => new Promise((resolve) => server.close(resolve)));
  // A listening TCP server's address is never a string.
  port = (server.address() as AddressInfo).port;
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** By hand: fetch would clean the path and decompress the body. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<Answer>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      buffer(response).then((body) => resolve({ status, headers: received, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

const LOADER = 'import("./main")'.repeat(50);
function build(hash: string, loader = LOADER): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'widget.js'), loader);
  writeFileSync(join(folder, `main-${hash}.js`), `export const hash = '${hash}';`);
}

describe('the widget', () => {
  test('is two scripts that any page may load', async () => {
    build('Ab_3-9');
    const loader = await get('/widget.js', { origin: 'https://anyone.example' });
    expect(loader).toMatchObject({ status: 200, body: Buffer.from(LOADER) });
    expect(loader.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, must-revalidate',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    const main = await get('/widget/main-Ab_3-9.js');
    expect(main).toMatchObject({ status: 200, body: Buffer.from("export const hash = 'Ab_3-9';") });
    expect(main.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip', 'br;q=0, gzip;q=0.5', gunzipSync],
  ])('comes as %s to who accepts %s', async (encoding, accepted, decompress) => {
    build('a');
    const { headers, body } = await get('/widget.js', { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(decompress(body).toString()).toBe(LOADER);
    expect(headers['content-length']).toBe(String(body.length));
    expect(body.length).toBeLessThan(LOADER.length);
  });

  test('is not sent again to who has it, and again after an upgrade, without a restart', async () => {
    build('a');
    const accept = { 'accept-encoding': 'br' };
    const first = await get('/widget.js', accept);
    const etag = String(first.headers.etag);
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await get('/widget.js', { ...accept, 'if-none-match': known });
      expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) });
      expect(again.headers.etag).toBe(etag);
    }
    // Another form of the same content is another representation.
    expect((await get('/widget.js', { 'if-none-match': etag })).status).toBe(200);
    build('b', 'the next version');
    const next = await get('/widget.js', { 'if-none-match': etag });
    expect(next).toMatchObject({ status: 200, body: Buffer.from('the next version') });
  });

  test('keeps the main part of a page that was opened before an upgrade', async () => {
    build('old');
    await get('/widget/main-old.js');
    build('new');
    expect((await get('/widget/main-new.js')).status).toBe(200);
    const old = await get('/widget/main-old.js');
    expect(old).toMatchObject({ status: 200, body: Buffer.from("export const hash = 'old';") });
  });

  test('answers a HEAD without a body', async () => {
    build('a');
    const { status, headers, body } = await get('/widget.js', {}, 'HEAD');
    expect(status).toBe(200);
    expect(headers['content-length']).toBe(String(LOADER.length));
    expect(body).toHaveLength(0);
  });

  test.each([
    '/widget/main-unknown.js',
    '/widget/part-unknown.js',
    '/widget/widget.js',
    '/widget/main-a.js.map',
    '/widget/..%2fsecret.js',
    '/widget/../secret.js',
    '/widget/main-..%2f..%2fsecret.js',
    '/widget/%2e%2e/secret.js',
    '/widget/main-a.js%00',
  ])('is nothing else: %s', async (path) => {
    build('a');
    const { status, headers, body } = await get(path);
    expect(status).toBe(404);
    expect(headers['cache-control'] ?? 'no-store').toBe('no-store');
    expect(body.toString()).not.toContain('not for the public');
  });

  test('that a newer build has replaced says so to a page that never had it', async () => {
    build('a');
    const { status, body } = await get('/widget/main-before.js');
    expect(status).toBe(404);
    expect(body.toString()).toMatch(/reload the page/);
  });

  test('that was never built says how to build it', async () => {
    for (const path of ['/widget.js', '/widget/main-a.js']) {
      const { status, headers, body } = await get(path);
      expect(status).toBe(503);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'retry-after': '5' });
      expect(body.toString()).toMatch(/not built: run "npm run build"/);
    }
  });

  test('survives a path that is no UTF-8', async () => {
    expect((await get('/widget/%E0%A4%A')).status).toBe(400);
  });
});

describe("a shop's wishes for the widget", () => {
  test('are for anyone to read', async () => {
    const { status, headers, body } = await get('/widget/config/demo');
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({ name: 'Acme', preChat: 'off' });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
  });

  test('may be none', async () => {
    expect((await get('/widget/config/other')).body.toString()).toBe('{}');
  });

  test.each(['nobody', '__proto__', 'constructor', 'demo%2f..%2fother'])(
    'are nothing for the key %s',
    async (key) => {
      const { status, headers, body } = await get(`/widget/config/${key}`);
      expect(status).toBe(404);
      expect(JSON.parse(body.toString())).toEqual({ error: 'unknown_key' });
      expect(headers['access-control-allow-origin']).toBe('*');
    },
  );
});

describe('a page is told whether it may connect', () => {
  const ask = (headers: Record<string, string>, key = 'demo') =>
    get(`/widget/config/${key}`, headers);
  const SAME = { 'sec-fetch-site': 'same-origin' };

  test.each([
    ['an origin of the shop', { origin: 'https://acme.example' }],
    ['nobody says which', {}],
    ['nobody says which, from another site', { 'sec-fetch-site': 'cross-site' }],
    ["the gateway's own, by its host", { ...SAME, host: 'localhost:8080' }],
  ])('yes: %s', async (_, headers) => {
    const answer = await ask(headers);
    expect(answer).toMatchObject({ status: 200, headers: { vary: 'Origin' } });
    expect(JSON.parse(answer.body.toString())).toEqual({ name: 'Acme', preChat: 'off' });
    expect(logged).toEqual([]);
  });

  test.each([
    ['another origin', { origin: 'https://www.acme.example' }, 'demo'],
    ["another shop's", { origin: 'https://acme.example' }, 'other'],
    ['a sandboxed or local page', { origin: 'null' }, 'demo'],
    ["the gateway's own", SAME, 'demo'],
  ])('no: %s', async (_, headers, key) => {
    const { status, headers: answered, body } = await ask(headers, key);
    expect({ status, body: body.toString() }).toEqual({ status: 403, body: '{"error":"origin"}' });
    expect(answered).toMatchObject({
      vary: 'Origin',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    });
  });

  test("yes: the gateway's own, by its public URL behind a proxy", async () => {
    expect((await ask(SAME, 'at-home')).status).toBe(200);
  });

  test('the gateway logs each origin once an hour, and counts it without the origin', async () => {
    const counted = async () =>
      (await metrics.refused.get()).values.map(({ labels, value }) => ({ ...labels, value }));
    const long = `https://${'x'.repeat(200)}.example`;
    for (const origin of ['https://a.example', long, 'https://a.example']) await ask({ origin });
    expect(logged).toMatchObject([
      { event: 'chat.origin_refused', shop: SHOP, origin: 'https://a.example' },
      { origin: long.slice(0, 100) },
    ]);
    expect(await counted()).toEqual([{ channel: 'web_chat', reason: 'origin', value: 3 }]);
    now += 3_599_000;
    await ask({ origin: 'https://a.example' });
    expect(logged).toHaveLength(2);
    now += 1_000;
    await ask({ origin: 'https://a.example' });
    expect(logged).toHaveLength(3);
    // Of made-up origins, an hour has a limited number of lines.
    for (let n = 0; n < 150; n += 1) await ask({ origin: `https://n${n}.example` });
    expect(logged).toHaveLength(2 + 20);
  });

  test('the gateway lists them, the shop’s own apart, until they are admitted', () => {
    const shop = aShop({ origins: ['https://shop.acme.co.uk', 'https://acme.github.io'] });
    const own = [
      'https://www.acme.co.uk',
      'http://shop.acme.co.uk:8080',
      'https://help.gw.example',
    ];
    const others = ['https://evil.example', 'https://other.github.io', 'null'];
    const note = (origin: string) => refused.note(shop, origin, 'https://gw.example/support');
    // Made-up ones take no place of the shop's own.
    for (let n = 0; n < 50; n += 1) note(`https://n${n}.example`);
    for (const origin of own) note(origin);
    const found = refused.of(shop);
    expect(found.filter(({ isOwn }) => isOwn)).toEqual(
      own.map((origin) => ({ origin, isOwn: true, at: now })),
    );
    expect(found).toHaveLength(10 + own.length);
    expect(refused.of({ ...shop, origins: own }).filter(({ isOwn }) => isOwn)).toEqual([]);
    const hostile = aShop({ ...shop, shopId: asShopId('hostile') });
    refused.note(hostile, 'https://a\x9b2J\x85.example', 'https://gw.example');
    expect(refused.of(hostile).map(({ origin }) => origin)).toEqual(['https://a?2J?.example']);
    const other = aShop({ ...shop, shopId: asShopId('other') });
    for (const origin of others) refused.note(other, origin, 'https://gw.example');
    expect(refused.of(other).map(({ origin, isOwn }) => [origin, isOwn])).toEqual(
      others.map((origin) => [origin, false]),
    );
  });
});

test('the picture of a person is any page’s to show, and nothing else in its folder', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  writeFileSync(join(pictures, 'mia.png'), png);
  writeFileSync(join(pictures, 'large.png'), Buffer.concat([png, Buffer.alloc(512 * 1024)]));
  writeFileSync(join(pictures, 'script.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(pictures, 'private.png'), png);
  const { status, headers, body } = await get('/widget/picture/mia.png');
  expect({ status, body }).toEqual({ status: 200, body: png });
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  });
  const others = ['large.png', 'script.svg', 'missing.png', 'private.png', '..%2fsecret.js'];
  for (const name of others) {
    expect(await get(`/widget/picture/${name}`)).toMatchObject({ status: 404 });
  }
});

test('the settings say how soon the first reply usually comes, when that was measured', async () => {
  const settings = async (key: string): Promise<unknown> =>
    JSON.parse((await get(`/widget/config/${key}`)).body.toString());
  expect(await settings('demo')).toEqual({ name: 'Acme', preChat: 'off' });
  for (const minutes of [1, 3, 4, 7]) replyTimes.note(OTHER_SHOP, minutes * 60_000);
  expect(await settings('other')).toEqual({});
  replyTimes.note(OTHER_SHOP, 30 * 60_000);
  // The median, rounded up.
  expect(await settings('other')).toEqual({ usualReplySeconds: 300 });
  for (let n = 0; n < 6; n += 1) replyTimes.note(OTHER_SHOP, 300);
  expect(await settings('other')).toEqual({ usualReplySeconds: 1 });
});

describe('texts', () => {
  const builtIn = (language: string, all: object): void => {
    mkdirSync(join(folder, 'texts'), { recursive: true });
    writeFileSync(join(folder, 'texts', `${language}.json`), JSON.stringify(all));
  };
  const read = async (path: string) => {
    const { status, body } = await get(path);
    return { status, body: JSON.parse(body.toString()) as unknown };
  };
  const ENGLISH = { openChat: 'Open chat', dismiss: 'Dismiss', loadFailed: 'Failed', send: 'Send' };

  test('are those of the shop, then of the language, then English', async () => {
    builtIn('en', ENGLISH);
    builtIn('de', { openChat: 'Chat öffnen', send: 'Senden' });
    writeFileSync(texts, JSON.stringify({ send: 'Ab damit' }));
    expect((await read('/widget/texts/spoken/de')).body).toEqual({
      ...ENGLISH,
      openChat: 'Chat öffnen',
      send: 'Ab damit',
    });
    expect((await read('/widget/texts/spoken/sv')).body).toEqual({ ...ENGLISH, send: 'Ab damit' });
    expect((await read('/widget/config/spoken')).body).toMatchObject({
      languages: {
        sv: ['Open chat', 'Dismiss', 'Failed'],
        de: ['Chat öffnen', 'Dismiss', 'Failed'],
      },
    });
  });

  test('with a number are reworded by their forms; those of another kind are left out', async () => {
    const unread = { one: '1 message', other: '# messages' };
    builtIn('en', { ...ENGLISH, unread });
    const unreadOf = async (own: object): Promise<unknown> => {
      writeFileSync(texts, JSON.stringify(own));
      return (await read('/widget/texts/spoken/sv')).body;
    };
    const all = (changed: object) => ({ ...ENGLISH, unread, ...changed });
    expect(await unreadOf({ unread: { one: 'ett' } })).toEqual(
      all({ unread: { one: 'ett', other: '# messages' } }),
    );
    // A language with one form must not get the English one for 1.
    expect(await unreadOf({ unread: { other: '# st' } })).toEqual(
      all({ unread: { other: '# st' } }),
    );
    expect(await unreadOf({ unread: '# st', send: { other: 'Skicka' } })).toEqual(all({}));
  });

  test('of a file that is no JSON, too large or not there are left out', async () => {
    builtIn('en', ENGLISH);
    for (const content of [
      '{',
      '[]',
      '{"send": 3}',
      JSON.stringify({ send: 'x'.repeat(70_000) }),
    ]) {
      writeFileSync(texts, content);
      expect(await read('/widget/texts/spoken/sv')).toEqual({ status: 200, body: ENGLISH });
    }
    rmSync(texts);
    expect(await read('/widget/texts/spoken/sv')).toEqual({ status: 200, body: ENGLISH });
  });

  test('that changed are served at once', async () => {
    builtIn('en', ENGLISH);
    writeFileSync(texts, JSON.stringify({ send: 'one' }));
    expect((await read('/widget/texts/spoken/sv')).body).toMatchObject({ send: 'one' });
    writeFileSync(texts, JSON.stringify({ send: 'another' }));
    expect((await read('/widget/texts/spoken/sv')).body).toMatchObject({ send: 'another' });
  });

  test("are the widget's own for a page that has no shop's", async () => {
    builtIn('en', ENGLISH);
    writeFileSync(texts, JSON.stringify({ send: 'Ab damit' }));
    expect(await read('/widget/texts/en')).toEqual({ status: 200, body: ENGLISH });
    expect(await read('/widget/texts/sv')).toMatchObject({ status: 404 });
  });

  test.each([
    '/widget/texts/spoken/zz',
    '/widget/texts/nobody/en',
    '/widget/texts/spoken/..%2fwidget',
  ])('%s is not found', async (path) => {
    builtIn('en', ENGLISH);
    expect(await read(path)).toEqual({ status: 404, body: { error: 'unknown_language' } });
  });
});
