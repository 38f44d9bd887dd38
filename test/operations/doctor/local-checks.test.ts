import type { Reason } from '../../../src/domain/reasons.ts';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { type Answer, get } from '../../../src/operations/doctor/check.ts';
import { stopCondition } from '../../../src/operations/conditions.ts';
import { checkChatOrigins } from '../../../src/operations/doctor/chat-origins.ts';
import { checkBreakers } from '../../../src/operations/doctor/breaker.ts';
import { createLocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { findMailSources, mainNetwork } from '../../../src/local-platform/store/mail-sources.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import {
  checkCertificate,
  checkMx,
  checkSources,
  resolveMx,
} from '../../../src/operations/doctor/mail.ts';
import { checkClock, checkDisk, spaceOf } from '../../../src/operations/doctor/machine.ts';
import { checkPlatform, judgePlatform } from '../../../src/operations/doctor/platform.ts';
import { checkReach } from '../../../src/operations/doctor/public-url.ts';
import type { PlatformErrorCode } from '../../../src/platform-api/errors.ts';
import { UNVERIFIED_HEADER } from '../../../src/platform-api/schemas.ts';
import { DnsServer } from '../../support/dns-server.ts';
import { ends } from '../../support/ends.ts';
import { freePorts } from '../../support/gateway-config.ts';
import { tempDir } from '../../support/temp-dir.ts';

const TIMEOUT_MS = 60_000;
const SHOP_ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A listening TCP server has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answer = (status: number, headers: Record<string, string> = {}, at = 0): Answer => ({
  status,
  headers: new Headers(headers),
  at,
});

describe('reach', () => {
  test.each([
    ['the webhook answers', answer(405, { allow: 'POST' }), 'ok', /405/],
    ['a redirect', answer(301, { location: 'https://www.acme.example/' }), 'warning', /redirect/],
    ['a proxy without the gateway', answer(502), 'warning', /gateway behind it/],
    ['another program', answer(404), 'warning', /another server/],
    ['another 405', answer(405, { allow: 'GET' }), 'warning', /another server/],
    ['nobody', { failure: 'no answer (ECONNREFUSED)' }, 'warning', /ECONNREFUSED/],
  ] as const)('%s', (_name, given, status, found) => {
    const result = checkReach('https://gw.acme.example', given);
    expect(result).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  test.each([
    ['ENOTFOUND', /A or AAAA record for gw\.acme\.example/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate for gw\.acme\.example/],
    ['CERT_HAS_EXPIRED', /certificate for gw\.acme\.example/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate for gw\.acme\.example/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /certificate for gw\.acme\.example/],
    ['ECONNREFUSED', /start the proxy and the gateway/],
    [undefined, /start the proxy and the gateway/],
  ])('%s has its own cure', (code, todo) => {
    const failed = { failure: 'no answer', ...(code !== undefined && { code }) };
    const result = checkReach('https://gw.acme.example', failed);
    expect(result).toMatchObject({ status: 'warning', todo: expect.stringMatching(todo) });
  });

  test('a plain GET: nothing is sent along, no redirect is followed', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const got = await get(`${url}/sms/twilio`, TIMEOUT_MS, Date.now);
    expect(got).toMatchObject({ status: 302 });
    expect(seen).toEqual(['GET /sms/twilio undefined']);
  });

  test('what went wrong is named', async () => {
    const silent = await serve(() => undefined);
    expect(await get(silent, 50, Date.now)).toEqual({ failure: 'timeout' });
    expect(await get('http://127.0.0.1:1/', TIMEOUT_MS, Date.now)).toEqual({
      failure: expect.stringMatching(/^no response \(\w+\)$/),
    });
    const { http: free } = await freePorts('127.0.0.1');
    expect(await get(`http://127.0.0.1:${free}/`, TIMEOUT_MS, Date.now)).toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});

describe('platform', () => {
  const shop = { name: 'acme', shopId: 's', apiKey: 'k', baseUrl: '', embedded: false };

  test('one list call with a limit of 1, with the key of the shop', async () => {
    const seen: (string | undefined)[] = [];
    const baseUrl = await serve((request, response) => {
      seen.push(request.url, request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"results": []}');
    });
    expect(await checkPlatform({ ...shop, baseUrl }, TIMEOUT_MS)).toMatchObject({ status: 'ok' });
    expect(seen).toEqual(['/v2026-04/contacts/?limit=1', 'Bearer k']);
  });

  test('a key that is refused, over a real connection', async () => {
    const baseUrl = await serve((_request, response) => response.writeHead(401).end('{}'));
    expect(await checkPlatform({ ...shop, baseUrl }, TIMEOUT_MS)).toMatchObject({
      status: 'failed',
      found: '401: refused',
      todo: expect.stringContaining('apiKey'),
    });
  });

  test.each<[PlatformErrorCode, number | undefined, boolean, string, RegExp]>([
    ['http', 403, false, 'failed', /apiKey/],
    ['http', 404, false, 'failed', /not include \/v2026-04/],
    ['http', 503, false, 'failed', /try again later/],
    ['http', 429, false, 'failed', /try again later/],
    ['network', undefined, false, 'failed', /network/],
    ['timeout', undefined, false, 'failed', /network/],
    ['not_json', 200, false, 'failed', /another server/],
    ['network', undefined, true, 'skipped', /is not running/],
  ])('%s %s, embedded: %s', (code, status, embedded, expected, said) => {
    const error = status === undefined ? { code } : { code, status };
    const result = judgePlatform({ ...shop, embedded }, error);
    expect(result.status).toBe(expected);
    expect(`${result.found} ${result.todo ?? ''}`).toMatch(said);
  });
});

describe('breaker', () => {
  const now = Date.UTC(2026, 10, 22, 12);
  const shops = [{ name: 'acme', shopId: 's' }];
  const reason: Reason = {
    code: 'platform_answered',
    params: { failure: 'http', status: 401, path: '/contacts/', answer: '{"detail": "Dear Ann"}' },
  };
  const part = 'messages' as const;
  const stopped = [{ shopId: 's', part, since: now - 3 * 60_000, reason }];
  const words = 'Deliveries of acme are stopped: API key refused (401), since 2026-11-22 11:57 UTC';

  test('that is open is told in the words of the gateway', () => {
    const stop = stopCondition({ shop: 'acme', part, since: now, cause: 'No answer' });
    const [result] = checkBreakers({ shops, stopped: [] }, { kind: 'answered', answer: [stop] });
    expect(result).toMatchObject({
      status: 'failed',
      found: 'Deliveries of acme are stopped: No answer, since 2026-11-22 12:00 UTC',
      todo: stop.remedy,
    });
  });

  test('that is closed is well, whatever else is wrong and was stored', () => {
    const answer = [
      { kind: 'held', shop: 'acme', sentence: '1 is held', remedy: 'Release it.' } as const,
      stopCondition({ shop: 'another', part }),
    ];
    expect(checkBreakers({ shops, stopped }, { kind: 'answered', answer })).toMatchObject([
      { status: 'ok' },
    ]);
  });

  test('of a gateway that cannot be asked is told as it was last known, without what may quote a message', () => {
    const asked = { kind: 'absent', why: 'ECONNREFUSED' } as const;
    const [known] = checkBreakers({ shops, stopped }, asked);
    expect(known).toMatchObject({
      status: 'warning',
      found: `the state of the gateway is unknown: ECONNREFUSED; it was: ${words}`,
      todo: expect.stringMatching(/^Set a valid apiKey .* `sluice shops try acme`;/),
    });
    expect(JSON.stringify(known)).not.toContain('Ann');
    const [unknown] = checkBreakers({ shops, stopped: [] }, asked);
    expect(unknown?.status).toBe('skipped');
  });
});

describe('clock', () => {
  const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT';
  const at = (seconds: number) => answer(404, { date: DATE }, Date.parse(DATE) + seconds * 1000);

  test.each([
    [0.5, 'ok', '0 s apart'],
    [-20, 'ok', '21 s apart'],
    [61, 'warning', '61 s ahead'],
    [-60, 'warning', '61 s behind'],
    [3600, 'failed', '3600 s ahead'],
  ])('%d s from the platform: %s', (seconds, status, found) => {
    expect(checkClock('https://p.example', at(seconds))).toMatchObject({ status, found });
  });

  test('nothing to compare with', () => {
    expect(checkClock('https://p.example', { failure: 'no answer' }).status).toBe('skipped');
    expect(checkClock('https://p.example', answer(200)).status).toBe('skipped');
  });
});

describe('disk', () => {
  test.each([
    [149, 'failed'],
    [150, 'warning'],
    [999, 'warning'],
    [1000, 'ok'],
  ])('%d MB free for messages of 100 MB: %s', (free, status) => {
    const space = { freeBytes: free * 1e6, totalBytes: 1e12 };
    const disk = { space, reserveBytes: 150e6, diskBelow: 1e9 };
    expect(checkDisk('./data', disk).status).toBe(status);
  });

  // Like some network file systems, /proc reports zeros.
  test('of a file system that does not say how much is free', async () => {
    const space = await spaceOf('/proc');
    expect(checkDisk('./data', { space, reserveBytes: 150e6, diskBelow: 1e9 })).toMatchObject({
      status: 'warning',
      found: expect.stringContaining('messages are accepted until it is full'),
    });
  });

  test('of a folder that is not made yet', async () => {
    const dir = tempDir();
    ends(dir.remove);
    expect((await spaceOf(join(dir.path, 'not', 'yet')))?.freeBytes).toBeGreaterThan(0);
  });
});

describe('mx', () => {
  test.each([
    ['named', { exchanges: ['other.example', 'MX.acme.example.'] }, 'ok', /mx\.acme\.example/],
    ['another', { exchanges: ['other.example'] }, 'warning', /other\.example/],
    ['none', { exchanges: [] }, 'warning', /no MX record/],
    ['no answer', { failure: 'ETIMEOUT' }, 'warning', /ETIMEOUT/],
  ] as const)('%s', (_name, given, status, found) => {
    const result = checkMx('acme.example', 'mx.acme.example', given);
    expect(result).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  test('a network that brings most of a shop’s mail is proposed as a forwarder', async () => {
    const { path, remove } = tempDir();
    ends(remove);
    const platform = createLocalPlatform({
      ...{ dir: path, host: '127.0.0.1', port: 0, logger: silentLogger, agent: { kind: 'off' } },
      shops: [{ shopId: SHOP_ID, apiKey: 'key', name: 'acme' }],
    });
    ends(() => platform.stop());
    await platform.start();
    expect(findMailSources(path)).toEqual([]);
    for (let n = 0; n < 45; n += 1) {
      const { status } = await fetch(`${platform.url}/v2026-04/messages/`, {
        method: 'POST',
        headers: {
          ...{ authorization: 'Bearer key', 'x-shop-id': SHOP_ID },
          'content-type': 'application/json',
          [UNVERIFIED_HEADER]: n < 25 ? '203.0.113.0/24' : `10.0.${n}.0/24`,
        },
        body: JSON.stringify({
          contact: { email: `p${n}@example.com` },
          conversation: { direction: 'inbound', type: 'email', agent_contact: 's@acme.example' },
          message: { content: 'Hello' },
        }),
      });
      expect(status).toBe(201);
    }
    // While the platform runs.
    const sources = findMailSources(path);
    expect(sources).toEqual([{ shopId: SHOP_ID, network: '203.0.113.0/24' }]);
    expect(findMailSources(`${path}/none`)).toEqual([]);
    expect(checkSources(() => [{ shop: 'acme', network: '203.0.113.0/24' }])).toMatchObject([
      {
        status: 'warning',
        shops: ['acme'],
        found: expect.stringContaining('203.0.113.0/24'),
        todo: expect.stringContaining('email.forwarders of acme'),
      },
    ]);
  });

  test.each([
    ['with another schema', 'CREATE TABLE messages (seq INTEGER)', []],
    [
      'that is damaged',
      'no database'.repeat(100),
      [{ status: 'warning', found: expect.stringContaining('SQLITE_NOTADB') }],
    ],
  ])('a database %s', (_which, content, expected) => {
    const { path, remove } = tempDir();
    ends(remove);
    const file = join(path, 'platform.sqlite');
    if (content.startsWith('CREATE')) new Database(file).exec(content).close();
    else writeFileSync(file, content);
    const sources = () => findMailSources(path).map(({ network }) => ({ shop: 'acme', network }));
    expect(checkSources(sources)).toMatchObject(expected);
  });

  test('a network is the main one from 20 messages on, if it has more than half', () => {
    const of = (n: number, others: number, network = '203.0.113.0/24') =>
      mainNetwork([
        { network, n },
        { network: '192.0.2.0/24', n: others },
      ]);
    expect([of(20, 19), of(20, 20), of(19, 0), of(99, 0, 'unknown')]).toEqual([
      ...['203.0.113.0/24', undefined, undefined, undefined],
    ]);
  });

  test('the default host name is nothing to compare with', () => {
    const result = checkMx('acme.example', 'localhost', { exchanges: ['localhost'] });
    expect(result).toMatchObject({ status: 'warning', todo: expect.stringContaining('hostname') });
  });

  test('asks the configured name servers', async () => {
    const dns = await DnsServer.start({
      'acme.example MX': ['20 b.example', '10 a.example'],
      'bare.example A': ['192.0.2.1'],
    });
    ends(() => dns.stop());
    const ask = (domain: string) => resolveMx(domain, [dns.address]);
    expect(await ask('acme.example')).toEqual({ exchanges: ['a.example', 'b.example'] });
    expect(await ask('bare.example')).toEqual({ exchanges: [] });
    expect(await ask('gone.example')).toEqual({ exchanges: [] });
    dns.failsOn = () => true;
    expect(await ask('acme.example')).toEqual({ failure: 'ESERVFAIL' });
  });
});

describe('certificate', () => {
  const DAY_MS = 86_400_000;
  const now = Date.UTC(2026, 5, 1);
  const made = async (from: number, to: number) => {
    const made = await generate([{ name: 'commonName', value: 'mx.acme.example' }], {
      notBeforeDate: new Date(now + from * DAY_MS),
      notAfterDate: new Date(now + to * DAY_MS),
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'mx.acme.example' }] }],
    });
    return { cert: made.cert, key: made.private };
  };

  test.each([
    ['valid', -1, 60, 'mx.acme.example', 'ok', /until 2026-07-31/],
    ['near its end', -1, 5, 'mx.acme.example', 'warning', /in 5 days/],
    ['ended', -9, -1, 'mx.acme.example', 'warning', /expired on/],
    ['from tomorrow on', 1, 60, 'mx.acme.example', 'warning', /not valid yet/],
    ['of another host', -1, 60, 'mx.other.example', 'warning', /does not include/],
  ])('%s', async (_name, from, to, hostname, status, found) => {
    const result = checkCertificate(await made(from, to), hostname, now);
    expect(result).toEqual([
      expect.objectContaining({ status, found: expect.stringMatching(found) }),
    ]);
  });

  test('none, and a key of another one', async () => {
    expect(checkCertificate(undefined, 'x', now)).toMatchObject([{ status: 'skipped' }]);
    const [{ cert }, { key }] = [await made(-1, 60), await made(-1, 60)];
    expect(checkCertificate({ cert, key }, 'mx.acme.example', now)).toMatchObject([
      {
        subject: 'smtp.tls.key',
        status: 'failed',
        found: 'the key of another certificate',
        todo: expect.stringMatching(/^name the key/),
      },
    ]);
  });
});

describe('chat-origins', () => {
  const page = (origin: string, isOwn: boolean) => ({ shop: 'acme', origin, isOwn, at: 1 });
  const check = (answer: readonly ReturnType<typeof page>[]) =>
    checkChatOrigins(['acme'], { kind: 'answered', answer });
  const [own, other] = [page('https://www.acme.example', true), page('https://b.example', false)];

  test.each([
    ['nothing', [], 'ok', 'no page was refused since the start'],
    ["another shop's", [{ ...own, shop: 'b' }], 'ok', 'no page was refused since the start'],
    ['of somebody', [other], 'ok', 'refused: https://b.example (not yours, unless you know it)'],
    ['its own', [own], 'warning', 'refused: https://www.acme.example'],
    [
      'both',
      [other, own],
      'warning',
      'refused: https://www.acme.example; also refused: https://b.example (not yours, unless you know it)',
    ],
  ])('%s', (_name, pages, status, found) => {
    const [result] = check(pages);
    expect(result).toMatchObject({ status, found, shops: ['acme'] });
    const todo = result?.todo ?? '';
    expect(todo.startsWith('add https://www.acme.example to shops[].chat.origins')).toBe(
      status === 'warning',
    );
    expect(todo).not.toContain('b.example');
  });

  test('is unknown while the gateway cannot be asked', () => {
    const [result] = checkChatOrigins(['acme'], { kind: 'absent', why: 'no gateway' });
    expect(result).toMatchObject({
      status: 'skipped',
      found: expect.stringContaining('no gateway'),
    });
  });
});
