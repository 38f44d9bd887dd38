import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { anEmail, call, type ErrorBody, OTHER, SHOP, startPlatform } from '../harness.ts';
import { OPERATIONS } from './api-tables.ts';
import { Contract } from './contract.ts';

const IDS = Object.keys(OPERATIONS);
const body = (id: string) => (OPERATIONS[id]?.[0] === 'post' ? { body: '{}' } : {});

describe('every operation', () => {
  it.each<[string, Record<string, string>, number, string, Record<string, string>]>([
    [
      'without a key',
      { authorization: '' },
      401,
      'the API key is missing',
      { Authorization: 'expected Bearer and the API key of the shop' },
    ],
    [
      'with a key of another scheme',
      { authorization: 'Basic a2V5LW9uZTo=' },
      401,
      'the API key is missing',
      { Authorization: 'expected Bearer and the API key of the shop' },
    ],
    [
      'with an unknown key',
      { authorization: 'Bearer guess' },
      401,
      'the API key is not known',
      { Authorization: 'expected Bearer and the API key of the shop' },
    ],
    [
      'without a shop',
      { 'x-shop-id': '' },
      400,
      'the request is not valid',
      { 'X-Shop-Id': 'required: the uuid of the shop' },
    ],
    [
      'with a shop that is no uuid',
      { 'x-shop-id': 'acme' },
      400,
      'the request is not valid',
      { 'X-Shop-Id': 'expected a uuid' },
    ],
    [
      'with the key of another shop',
      { 'x-shop-id': OTHER.shopId },
      403,
      'the API key is not of this shop',
      { 'X-Shop-Id': 'expected the shop of this API key' },
    ],
    [
      'with a shop that there is not',
      { 'x-shop-id': '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c33' },
      403,
      'the API key is not of this shop',
      { 'X-Shop-Id': 'expected the shop of this API key' },
    ],
  ])('%s is refused', async (_title, headers, status, message, fields) => {
    const contract = await Contract.of(await startPlatform());
    for (const id of IDS) {
      const options = { headers, ...body(id) };
      const path = OPERATIONS[id]?.[1].includes('{id}') ? SHOP.shopId : '';
      const error = await contract.refused(id, path, options, status);
      expect([id, error]).toEqual([id, { code: expect.any(String), message, fields }]);
    }
  });

  it('takes the scheme and the shop in any case of letters', async () => {
    const contract = await Contract.of(await startPlatform());
    const headers = {
      authorization: `bearer ${SHOP.apiKey}`,
      'x-shop-id': SHOP.shopId.toUpperCase(),
    };
    expect((await contract.call('countTickets', '', { headers })).status).toBe(200);
  });

  it('is answered with 429 and Retry-After over the rate, by shop', async () => {
    const contract = await Contract.of(await startPlatform({ requestsPerSecond: 1 }));
    const answers = await Promise.all(IDS.map((id) => contract.call(id, SHOP.shopId, body(id))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body: said } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect((said as ErrorBody).error.code).toBe('rate_limited');
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const platform = await startPlatform();
    for (const [id, [method, path]] of Object.entries(OPERATIONS)) {
      const target = path.replace('{id}', SHOP.shopId);
      const { status, headers, body: said } = await call(platform, 'HEAD', target);
      const expected =
        method === 'post' && path !== '/messages/' ? 405 : path === target ? 200 : 404;
      expect([id, status, said]).toEqual([id, expected, undefined]);
      if (status === 200) expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
    }
  });

  it('says which methods there are', async () => {
    const platform = await startPlatform();
    const allowed: Record<string, string> = {
      '/messages/': 'GET, HEAD, POST',
      '/events/': 'POST',
      '/media/': 'POST',
    };
    for (const [, path] of Object.values(OPERATIONS)) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const target = path.replace('{id}', SHOP.shopId);
        const { status, headers, body: said } = await call<ErrorBody>(platform, method, target);
        expect([path, status]).toEqual([path, 405]);
        expect(headers.get('allow')).toBe(allowed[path] ?? 'GET, HEAD');
        expect(said.error.code).toBe('method_not_allowed');
      }
    }
  });

  it('has one path, which ends with a slash', async () => {
    const platform = await startPlatform();
    for (const [, path] of Object.values(OPERATIONS)) {
      const target = path.replace('{id}', SHOP.shopId);
      const { status, body: said } = await call<ErrorBody>(platform, 'GET', target.slice(0, -1));
      expect([status, said.error]).toEqual([
        404,
        {
          code: 'not_found',
          message: `there is nothing at this path; they end with a slash: /v2026-04${target}`,
          fields: {},
        },
      ]);
    }
    for (const path of ['/topics/', '/Tickets/', '//tickets/', '/tickets/count/x/', '/']) {
      const { status, body: said } = await call<ErrorBody>(platform, 'GET', path);
      expect([path, status, said.error.code]).toEqual([path, 404, 'not_found']);
    }
    const bad = await call<ErrorBody>(platform, 'GET', '/tickets/%ff/');
    expect([bad.status, bad.body.error.code]).toEqual([400, 'invalid']);
  });
});

describe('a JSON body', () => {
  const email = JSON.stringify(anEmail());
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  it.each<[string, string | Uint8Array, Record<string, string>, number, RegExp]>([
    ['that breaks off', '{"contact":', {}, 400, /^expected JSON: /],
    ['that is none', 'contact=1', {}, 400, /^expected JSON: /],
    ['that is null', 'null', {}, 400, /^expected an object, not null$/],
    ['that is a text', '"x"', {}, 400, /^expected an object, not a string$/],
    ['that is too deep', deep, {}, 400, /^expected an object, not an array$/],
    [
      'that is not UTF-8',
      Buffer.from(email.replace('Ann', 'Ann\u00e9'), 'latin1'),
      {},
      400,
      /^expected UTF-8$/,
    ],
    [
      'in another charset',
      email,
      { 'content-type': 'application/json; charset=iso-8859-1' },
      415,
      /^expected the charset UTF-8$/,
    ],
    [
      'in UTF-16',
      Buffer.from(email, 'utf16le'),
      { 'content-type': 'application/json; charset=utf-16le' },
      415,
      /^expected the charset UTF-8$/,
    ],
    [
      'in an unknown encoding',
      email,
      { 'content-encoding': 'rot13' },
      415,
      /^expected no content encoding/,
    ],
    ['of another type', email, { 'content-type': 'text/plain' }, 415, /application\/json$/],
    ['over 2 MiB', `"${'x'.repeat(2 * 1024 * 1024)}"`, {}, 413, /^expected at most 2097152 bytes$/],
  ])('%s is refused', async (_title, bytes, headers, status, reason) => {
    const platform = await startPlatform();
    const contract = await Contract.of(platform);
    for (const id of ['createMessage', 'createEvent']) {
      const response = await fetch(`${platform.url}/v2026-04${String(OPERATIONS[id]?.[1])}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${SHOP.apiKey}`,
          'x-shop-id': SHOP.shopId,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof bytes === 'string' ? bytes : new Uint8Array(bytes),
      });
      const said = (await response.json()) as ErrorBody;
      contract.check(id, { status: response.status, headers: response.headers, body: said });
      expect([id, response.status]).toEqual([id, status]);
      expect(said.error.fields).toEqual({ body: expect.stringMatching(reason) });
    }
    expect((await call(platform, 'POST', '/messages/', { body: email })).status).toBe(201);
  });

  it('may have the charset UTF-8 and deeply nested unknown fields', async () => {
    const contract = await Contract.of(await startPlatform());
    const text = `{"more":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)},${JSON.stringify(anEmail()).slice(1)}`;
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    expect((await contract.call('createMessage', '', { body: text, headers })).status).toBe(201);
  });
});

it('a query that is longer than 64 KiB is refused, in the same form', async () => {
  const platform = await startPlatform();
  const contract = await Contract.of(platform);
  const ids = Array.from({ length: 2000 }, () => SHOP.shopId).join(',');
  const error = await contract.refused('listContacts', `?id__in=${ids}`, {}, 431);
  expect(error.message).toBe('the headers and the query are larger than 64 KiB');
  expect(
    (await contract.call('listContacts', `?id__in=${ids.slice(0, 36 * 100 + 99)}`)).status,
  ).toBe(200);
});

it('links use the platform’s address, regardless of the request’s host and target', async () => {
  const platform = await startPlatform();
  const contract = await Contract.of(platform);
  await contract.call('createMessage', '', { body: anEmail() });
  await contract.call('createMessage', '', { body: anEmail() });
  const answer = await new Promise<string>((resolve, reject) => {
    const asked = get(platform.url, {
      path: 'http://elsewhere.example/v2026-04/messages/?limit=1',
      headers: {
        host: 'elsewhere.example',
        authorization: `Bearer ${SHOP.apiKey}`,
        'x-shop-id': SHOP.shopId,
      },
    });
    asked.on('error', reject);
    asked.on('response', (response) => void text(response).then(resolve, reject));
  });
  const { next } = JSON.parse(answer) as { next: string };
  expect(next.startsWith(`${platform.url}/v2026-04/messages/?limit=1&cursor=`)).toBe(true);
});
