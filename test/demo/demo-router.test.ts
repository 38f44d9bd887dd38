import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import express from 'express';
import { verifyIdentity } from '../../src/channels/chat/recognition.ts';
import { createDemoRouter, type DemoOptions } from '../../src/demo/demo-router.ts';
import { type DemoTexts, LANGUAGES } from '../../src/demo/texts.ts';
import { ends } from '../support/ends.ts';

const SECRET = 'made with the other keys of the demo shop';

async function served(options: Partial<DemoOptions> = {}): Promise<string> {
  const app = express();
  app.use(createDemoRouter({ widgetKey: 'demo', ...options }));
  const server = http.createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => new Promise((resolve) => server.close(resolve)));
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { headers: { connection: 'close', ...headers } });

describe('GET /demo', () => {
  test.each([
    ['de-AT,de;q=0.9,en;q=0.5', 'de'],
    ['ja', 'ja'],
    ['sv,pl', 'en'],
    ['', 'en'],
  ])('for %j is in %s', async (accepted, lang) => {
    const answer = await get(`${await served()}/demo`, { 'accept-language': accepted });
    expect(answer.headers.get('vary')).toContain('Accept-Language');
    expect(await answer.text()).toContain(`<html lang="${lang}"`);
  });

  test('?lang= takes another language than the browser asks for', async () => {
    const accept = { 'accept-language': 'de' };
    const page = async (query: string) => (await get(`${base}/demo${query}`, accept)).text();
    const base = await served();
    expect(await page('?lang=ar')).toContain('<html lang="ar" dir="rtl">');
    expect(await page('?lang=xx')).toContain('<html lang="de"');
  });

  test.each(LANGUAGES.map(({ lang }) => lang))('%s is there whole', async (lang) => {
    const page = await (await get(`${await served()}/demo/${lang}`)).text();
    expect(page).toContain(`<html lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}">`);
    expect(page).not.toMatch(/undefined|\[object|\{n\}|\{of\}/);
    const quoted = [...page.matchAll(/(?:src|href)="(\/demo\/[^"]+)"/g)].map(([, path]) => path);
    expect(quoted.length).toBeGreaterThan(7);
  });

  test.each(LANGUAGES)('$lang has the texts that English has', (texts) => {
    const keysOf = ({ demo, ...page }: DemoTexts) => [...Object.keys(page), ...Object.keys(demo)];
    const optional = ['questions', 'questionsNote'];
    const [english] = LANGUAGES.map(keysOf);
    const own = keysOf(texts).filter((key) => !optional.includes(key));
    expect(own).toEqual(english?.filter((key) => !optional.includes(key)));
  });

  test('names nothing that is not there, and allows nothing that it does not name', async () => {
    const base = await served();
    const answer = await get(`${base}/demo`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain(`ws://${new URL(base).host}`);
    const page = await answer.text();
    expect(page).not.toMatch(/<style|style="|<script>| on\w+="/);
    const paths = new Set(
      [...page.matchAll(/(?:src|href)="(\/demo\/[^"]+)"/g)].map(([, path]) => path ?? ''),
    );
    for (const path of paths) {
      expect({ path, status: (await get(base + path)).status }).toEqual({ path, status: 200 });
    }
  });

  test('keeps a widget key in its attribute', async () => {
    const base = await served({ widgetKey: '"><script>alert(1)</script>' });
    const page = await (await get(`${base}/demo`)).text();
    expect(page).toContain('data-key="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
  });

  test('a host header that is none does not reach the policy', async () => {
    const url = new URL(await served());
    const request = http.get({
      ...{ host: url.hostname, port: url.port, path: '/demo', agent: false },
      headers: { host: "x; script-src 'unsafe-inline'" },
    });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    expect(answer.headers['content-security-policy']).not.toContain('unsafe');
  });
});

describe('POST /demo/identity', () => {
  test('vouches for a customer of this widget alone, for minutes', async () => {
    const base = await served({ identitySecret: SECRET });
    const answer = await fetch(`${base}/demo/identity`, { method: 'POST' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { jwt } = (await answer.json()) as { jwt: string };
    const expected = { secrets: [SECRET], audience: 'demo', now: Date.now() };
    expect(await verifyIdentity(jwt, expected)).toEqual({
      identity: { subject: 'demo-ada', name: 'Ada Nilsson', email: 'ada@customer.example' },
      hasExpired: false,
    });
    expect(await verifyIdentity(jwt, { ...expected, audience: 'other' })).toBeUndefined();
    const later = { ...expected, now: Date.now() + 15 * 60_000 };
    expect(await verifyIdentity(jwt, later)).toMatchObject({ hasExpired: true });
  });

  test('is not there without a secret, nor are its buttons', async () => {
    const base = await served();
    expect((await fetch(`${base}/demo/identity`, { method: 'POST' })).status).toBe(404);
    expect(await (await get(`${base}/demo`)).text()).not.toContain('id="identify"');
  });
});
