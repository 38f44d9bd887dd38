import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createReadiness, NotReady, type Readiness } from '../../src/observability/readiness.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

async function mount(readiness: Readiness): Promise<string> {
  const made = createServer((request, response) => {
    (request.url === '/healthz' ? readiness.healthz : readiness.readyz)(request, response);
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
  const readiness = createReadiness();
  readiness.add('spool', () => undefined);
  readiness.add('smtp', async () => Promise.resolve());
  const base = await mount(readiness);
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
  const readiness = createReadiness();
  readiness.add('spool', () => {
    throw Object.assign(new Error('INSERT ada@customer.example'), { code: 'SQLITE_FULL' });
  });
  readiness.add('platform', () => {
    throw new NotReady('the breaker is open');
  });
  readiness.add('smtp', () => undefined);
  const base = await mount(readiness);
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
  const readiness = createReadiness({ timeoutMs: 20 });
  let given: AbortSignal | undefined;
  readiness.add('slow', (signal) => {
    given = signal;
    return new Promise(() => undefined);
  });
  expect(await readiness.report()).toEqual({
    ok: false,
    checks: [{ name: 'slow', ok: false, why: 'no answer in time' }],
  });
  expect(given?.aborted).toBe(true);
});

test('many who ask at once make one round of checks', async () => {
  let rounds = 0;
  const readiness = createReadiness({ maxAgeMs: 60_000 });
  readiness.add('spool', () => void (rounds += 1));
  await Promise.all(Array.from({ length: 50 }, () => readiness.report()));
  expect(rounds).toBe(1);
});
