import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import express from 'express';
import { answerFailures } from '../../../src/console/server/request-guards.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { SpoolUnavailable } from '../../../src/spool/errors.ts';
import { ends } from '../../support/ends.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { consoleScene, PASSWORD, sharedConsole } from './console-scene.ts';
import { SMALL_GIF } from './samples.ts';

const UNSAFE = [
  '/api/login',
  '/api/logout',
  '/api/actions',
  '/api/actions/x/undo',
  '/api/configuration/reload',
  '/api/test-message',
  '/api/people/erase',
];
const GUARDED = [
  '/api/session',
  '/api/overview',
  '/api/history',
  '/api/stream',
  '/api/entries',
  '/api/entries/x',
  '/api/entries/x/content',
  '/api/entries/x/raw',
  '/api/entries/x/html',
  '/api/entries/x/attachments/1',
  '/api/actions/x',
  '/api/platform/acme/tickets',
  '/api/configuration',
  '/api/doctor',
  '/api/audit',
  '/api/nothing',
];

const shared = sharedConsole();

describe('another site', () => {
  test('changes nothing without the header that it cannot send', async () => {
    const { operator } = await shared();
    for (const path of UNSAFE) {
      const answer = await operator.ask(path, {
        method: 'POST',
        body: { password: PASSWORD },
        headers: { 'x-sluice-console': undefined },
      });
      expect({ path, ...answer }).toMatchObject({ path, status: 403, body: { code: 'forbidden' } });
    }
    expect((await operator.get('/api/session')).status).toBe(200);
  });

  test('changes nothing with the header either, by Origin and Sec-Fetch-Site', async () => {
    const { operator } = await shared();
    const port = new URL(operator.url).port;
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost:${Number(port) + 1}` },
      { origin: 'http://127.0.0.1' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const answer = await operator.ask('/api/logout', { method: 'POST', body: {}, headers });
      expect({ headers, status: answer.status }).toEqual({ headers, status: 403 });
    }
    const own = { origin: operator.url, 'sec-fetch-site': 'same-origin' };
    const answer = await operator.ask('/api/logout', { method: 'POST', body: {}, headers: own });
    expect(answer.status).toBe(204);
  });

  test('reads nothing either', async () => {
    const { operator } = await shared();
    for (const path of ['/api/session', '/api/entries', '/api/stream']) {
      const headers = { 'sec-fetch-site': 'same-site' };
      expect((await operator.ask(path, { headers })).status).toBe(403);
    }
  });

  test('gets no preflight answered', async () => {
    const { operator } = await shared();
    const answer = await operator.ask('/api/actions', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['access-control-allow-headers']).toBeUndefined();
  });
});

describe('a name that was pointed at the console', () => {
  const ask = (client: ConsoleClient, host: string, path = '/api/session') =>
    client.ask(path, { headers: { host } });

  test('is refused, and its own names and addresses are not', async () => {
    const { operator } = await consoleScene({ admin: { hosts: ['Console.Acme.example'] } });
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', ':80']) {
      expect({ host, status: (await ask(operator, host)).status }).toEqual({ host, status: 421 });
    }
    for (const host of [
      'localhost',
      'LOCALHOST:1234',
      'a.localhost',
      '127.0.0.1:8081',
      '[::1]:8081',
      '192.0.2.7',
      'console.acme.example:443',
      'console.acme.example.',
    ]) {
      expect({ host, status: (await ask(operator, host)).status }).toEqual({ host, status: 200 });
    }
    expect((await ask(operator, 'evil.example', '/')).status).toBe(421);
    expect((await ask(operator, 'evil.example', '/healthz')).status).toBe(200);
  });

  test('does not matter to a program that has the password', async () => {
    const { stranger } = await shared();
    const authorization = `Bearer ${PASSWORD}`;
    for (const path of ['/metrics', '/api/overview']) {
      const answer = await stranger.ask(path, { headers: { host: 'sluice:8081', authorization } });
      expect(answer.status).toBe(200);
    }
  });
});

describe('without a session', () => {
  test('nothing under /api answers', async () => {
    const { stranger } = await shared();
    for (const path of GUARDED) {
      const answer = await stranger.get(path);
      expect({ path, status: answer.status, body: answer.body }).toEqual({
        path,
        status: 401,
        body: { code: 'signed_out', message: expect.any(String), isNamed: false },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    for (const path of UNSAFE.slice(1)) {
      expect((await stranger.post(path)).status).toBe(401);
    }
  });
});

describe('the page', () => {
  test('comes with a policy that lets nothing else in', async () => {
    const { stranger } = await shared();
    const { headers } = await stranger.get('/');
    const policy = String(headers['content-security-policy']);
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "frame-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split(';')).toContain(directive);
    }
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    expect(headers['x-powered-by']).toBeUndefined();
  });

  test('answers every address within the console, and no file that is not its own', async () => {
    const { stranger } = await shared();
    const index = await stranger.get('/');
    for (const path of ['/messages', '/messages/0193-x', '/platform/acme/tickets?x=1', '/audit']) {
      const answer = await stranger.get(path);
      expect({ path, status: answer.status }).toEqual({ path, status: index.status });
      expect(answer.text).toBe(index.text);
    }
    for (const path of [
      '/../../../etc/passwd',
      '/assets/../../../package.json',
      '/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
      '/..%2f..%2f..%2fpackage.json',
      '/%2e%2e/widget/widget.js',
      '/assets/..%5c..%5cpackage.json',
      '/assets/none.js',
      '/.git/config',
      '/assets/%00',
      '/%ff',
    ]) {
      const answer = await stranger.get(path);
      // What is no file's name is an address within the console.
      if (answer.status === 200)
        expect({ path, text: answer.text }).toEqual({ path, text: index.text });
      else
        expect({ path, status: [400, 403, 404].includes(answer.status) }).toEqual({
          path,
          status: true,
        });
      expect(answer.text).not.toMatch(/root:|"name": "sluice"|\[core\]/);
    }
  });

  test('is not on the public port, and neither is anything else of the console', async () => {
    const { gateway, operator } = await shared();
    const open = consoleClient(gateway.httpUrl);
    open.cookie = operator.cookie;
    for (const path of [...GUARDED, '/', '/messages', '/metrics', '/assets/']) {
      const answer = await open.ask(path, { headers: { authorization: `Bearer ${PASSWORD}` } });
      expect({ path, status: answer.status }).toEqual({ path, status: 404 });
    }
    expect((await open.signIn(PASSWORD)).status).toBe(404);
  });
});

describe('nonsense', () => {
  test('is told so', async () => {
    const { operator } = await shared();
    const cases: [path: string, status: number][] = [
      ['/api/nothing', 404],
      ['/api/entries/none', 404],
      [`/api/entries/${'x'.repeat(65)}`, 400],
      ['/api/entries/%2e%2e%2f', 400],
      ['/api/entries/%ff', 400],
      ['/api/entries?channel=fax', 400],
      ['/api/entries?state=lost', 400],
      ['/api/entries?shop=nobody', 400],
      ['/api/entries?limit=0', 400],
      ['/api/entries?limit=201', 400],
      ['/api/entries?limit=1e3', 400],
      ['/api/entries?from=yesterday', 400],
      ['/api/entries?from=1&from=2', 400],
      ['/api/entries?before=%00', 400],
      ['/api/entries?colour=red', 400],
      ['/api/entries?__proto__=x', 400],
      [`/api/entries?text=${'x'.repeat(201)}`, 400],
      ['/api/audit?limit=x', 400],
      ['/api/audit?before=-1', 400],
      ['/api/actions/none', 404],
      ['/api/platform/nobody/tickets', 404],
      ['/api/platform/acme/tickets?id=no-uuid', 400],
      ['/api/platform/acme/secrets', 404],
    ];
    for (const [path, status] of cases) {
      const answer = await operator.get(path);
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(answer.body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    }
    for (const path of ['/api/entries?text=%22%25_*%5C%27--&limit=5', '/api/entries?text=&shop=']) {
      expect((await operator.get(path)).status).toBe(200);
    }
  });

  test('in a body is too', async () => {
    const { operator } = await shared();
    const bodies: [path: string, body: unknown][] = [
      ['/api/actions', {}],
      ['/api/actions', { action: 'explode', ids: ['x'] }],
      ['/api/actions', { action: 'retry', ids: [] }],
      ['/api/actions', { action: 'retry', ids: [1] }],
      ['/api/actions', { action: 'retry', ids: ['../x'] }],
      ['/api/actions', { action: 'retry', ids: ['x'], filter: {} }],
      ['/api/actions', { action: 'retry', ids: Array<string>(10_001).fill('x') }],
      ['/api/actions', { action: 'retry', filter: { state: 'lost' } }],
      ['/api/actions', { action: 'retry', filter: { text: 1 } }],
      ['/api/actions', []],
      ['/api/test-message', { shop: 'acme', channel: 'fax' }],
      ['/api/test-message', { shop: '', channel: 'sms' }],
    ];
    for (const [path, body] of bodies) {
      const answer = await operator.post(path, body);
      expect({ body, status: answer.status }).toEqual({ body, status: 400 });
      expect(answer.body).toMatchObject({ code: 'invalid' });
    }
  });

  test('of a huge query ends the connection, not the process', async () => {
    const { operator } = await shared();
    const huge = await operator.get(`/api/entries?text=${'x'.repeat(100_000)}`).catch(() => null);
    expect(huge === null || huge.status >= 400).toBe(true);
    expect((await operator.get('/api/session')).status).toBe(200);
  });

  test('in the body encoding is refused', async () => {
    const { operator } = await shared();
    const { port } = new URL(operator.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port,
        path: '/api/actions',
        method: 'POST',
        headers: {
          cookie: operator.cookie,
          'x-sluice-console': '1',
          'content-type': 'application/json',
          'content-encoding': 'zip',
        },
      });
      sent.on('error', reject).on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.end(Buffer.from(SMALL_GIF));
    });
    expect(status).toBe(415);
  });
});

test('a store that cannot be used is said, without its address, and no password was wrong', async () => {
  const app = express();
  const cause = new Error('connect ECONNREFUSED 192.0.2.5:5432');
  app.get('/', () => {
    throw new SpoolUnavailable('the database cannot be reached', { cause });
  });
  app.use(answerFailures(silentLogger));
  const server = app.listen(0, '127.0.0.1');
  ends(() => server.close());
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({
    code: 'unavailable',
    message:
      'The gateway’s store cannot be used: the database cannot be reached. Until it can, messages are refused, and senders retry. Run sluice doctor on the gateway’s machine',
  });
});
