import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { HTTP_LISTENER_DEFAULTS } from '../../src/runtime/http-listener.ts';
import { ends } from '../support/ends.ts';
import { waitFor } from '../support/wait-for.ts';
import { anEmail, call, create, type ErrorBody, OTHER, SHOP, startPlatform } from './harness.ts';

describe('every request', () => {
  it.each<[string, string, string, object, number, string]>([
    ['no key', 'GET', '/tickets/', { headers: { authorization: '' } }, 401, 'unauthorized'],
    [
      'a key of another shop',
      'GET',
      '/tickets/',
      { headers: { 'x-shop-id': OTHER.shopId } },
      403,
      'forbidden',
    ],
    [
      'another method on one of them',
      'POST',
      `/tickets/${SHOP.shopId}/`,
      { body: {} },
      405,
      'method_not_allowed',
    ],
    [
      'a form where JSON belongs',
      'POST',
      '/messages/',
      { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    ['no body', 'POST', '/messages/', { body: '' }, 400, 'invalid'],
    [
      'a body over 2 MiB',
      'POST',
      '/messages/',
      { body: `"${'x'.repeat(2 * 1024 * 1024)}"` },
      413,
      'too_large',
    ],
  ])('with %s', async (_title, method, path, options, status, code) => {
    const platform = await startPlatform();
    const answer = await call<ErrorBody>(platform, method, path, options);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, fields: expect.any(Object) });
    expect(answer.body.error.message).not.toBe('');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('is counted against the rate, if there is one', async () => {
    const platform = await startPlatform({ requestsPerSecond: 2 });
    const answers = await Promise.all([1, 2, 3].map(() => call(platform, 'GET', '/tickets/')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('requests that are not HTTP or are incomplete do not stop the platform', async () => {
  const platform = await startPlatform();
  const port = Number(new URL(platform.url).port);
  for (const bytes of [
    '\u0000\u0001garbage\r\n\r\n',
    'POST /v2026-04/messages/ HTTP/1.1\r\nContent-Length: 99\r\n\r\n{',
  ]) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()));
    await closed;
  }
  expect((await create(platform, anEmail())).status).toBe(201);
});

it('takes more connections of its own machine than the gateway takes of a stranger', async () => {
  const platform = await startPlatform();
  const { hostname, port } = new URL(platform.url);
  const held = Array.from({ length: HTTP_LISTENER_DEFAULTS.maxConnectionsPerIp }, () =>
    connect(Number(port), hostname),
  );
  ends(() => held.forEach((socket) => socket.destroy()));
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  expect((await create(platform, anEmail())).status).toBe(201);
});

describe('faults', () => {
  it.each([
    ['status', { kind: 'status', status: 503, headers: { 'Retry-After': '3' } }, 503, 0],
    ['html', { kind: 'html' }, 200, 0],
    ['empty', { kind: 'empty' }, 201, 1],
    ['reset', { kind: 'reset' }, undefined, 0],
    ['reset-after-commit', { kind: 'reset-after-commit' }, undefined, 1],
  ] as const)('%s', async (_kind, fault, status, stored) => {
    let calls = 0;
    const platform = await startPlatform({
      faults: ({ method, path }) => {
        calls += 1;
        expect([method, path]).toEqual(['POST', '/v2026-04/messages/']);
        return calls === 1 ? fault : undefined;
      },
    });
    const response = await fetch(`${platform.url}/v2026-04/messages/`, {
      method: 'POST',
      body: JSON.stringify(anEmail()),
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${SHOP.apiKey}`,
        'x-shop-id': SHOP.shopId,
      },
    }).then(
      (answer) => answer,
      () => undefined,
    );
    expect(response?.status).toBe(status);
    if (fault.kind === 'empty') expect(await response?.text()).toBe('');
    if (fault.kind === 'html') expect(await response?.text()).toContain('<h1>');
    expect(platform.inspect.messages(SHOP.shopId)).toHaveLength(stored);
    expect((await create(platform, anEmail())).status).toBe(201);
  });

  it('hang, until the platform stops', async () => {
    let hangs = 0;
    const platform = await startPlatform({
      faults: () => {
        hangs += 1;
        return { kind: 'hang' };
      },
    });
    const hanging = create(platform, anEmail()).then(
      () => 'answered',
      () => 'cut',
    );
    await waitFor('the request', () => hangs === 1);
    await platform.stop();
    expect(await hanging).toBe('cut');
  });
});
