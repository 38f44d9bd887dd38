import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createHealth, NotReady, type Health } from '../../src/observability/health.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

async function mount(health: Health): Promise<string> {
  const made = createServer((request, response) => {
    (request.url === '/healthz' ? health.healthz : health.readyz)(request, response);
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  // An IP server has an AddressInfo once it listens.
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

const get = async (url: string) => {
  const response = await fetch(url, { headers: { connection: 'close' } });
  const body: unknown = await response.json();
  return { status: response.status, body };
};

test('ready when every check passes', async () => {
  const health = createHealth();
  health.add('spool', () => undefined);
  health.add('smtp', async () => Promise.resolve());
  const base = await mount(health);
  expect(await get(`${base}/readyz`)).toEqual({
    status: 200,
    body: {
      ok: true,
      checks: [
        { name: 'spool', ok: true },
        { name: 'smtp', ok: true },
      ],
    },
  });
});

test('503 names each check that fails and why, and quotes no unexpected message', async () => {
  const health = createHealth();
  health.add('spool', () => {
    throw Object.assign(new Error('INSERT ada@customer.example'), { code: 'SQLITE_FULL' });
  });
  health.add('platform', () => {
    throw new NotReady('the breaker is open');
  });
  health.add('smtp', () => undefined);
  const base = await mount(health);
  expect(await get(`${base}/readyz`)).toEqual({
    status: 503,
    body: {
      ok: false,
      checks: [
        { name: 'spool', ok: false, why: 'Error SQLITE_FULL' },
        { name: 'platform', ok: false, why: 'the breaker is open' },
        { name: 'smtp', ok: true },
      ],
    },
  });
  expect(await get(`${base}/healthz`)).toEqual({ status: 200, body: { ok: true } });
});

test('a check that hangs fails in time, and is told to give up', async () => {
  const health = createHealth({ timeoutMs: 20 });
  let given: AbortSignal | undefined;
  health.add('slow', (signal) => {
    given = signal;
    return new Promise(() => undefined);
  });
  expect(await health.report()).toEqual({
    ok: false,
    checks: [{ name: 'slow', ok: false, why: 'no answer in time' }],
  });
  expect(given?.aborted).toBe(true);
});

test('many who ask at once make one round of checks', async () => {
  let rounds = 0;
  const health = createHealth({ maxAgeMs: 60_000 });
  health.add('spool', () => void (rounds += 1));
  await Promise.all(Array.from({ length: 50 }, () => health.report()));
  expect(rounds).toBe(1);
});
