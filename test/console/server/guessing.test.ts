import { describe, expect, test } from '@jest/globals';
import { hashPassword } from '../../../src/runtime/password-hash.ts';
import { ends } from '../../support/ends.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { auditOf, consoleScene, PASSWORD } from './console-scene.ts';

/** Wrong passwords from one address that are looked at, at each door. */
const OF_ONE_ADDRESS = 15;
const METRICS_TOKEN = '0123456789abcdef0123456789abcdef';

const basic = (pair: string) => ({
  authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
});
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

async function guess(client: ConsoleClient, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let tries = 0; tries < times; tries += 1) {
    statuses.push((await client.signIn(`guess-number-${tries}`)).status);
  }
  return statuses;
}

describe('guessing', () => {
  test('ends after fifteen tries from one address, with minutes to wait', async () => {
    const { stranger, operator } = await consoleScene();
    expect(await guess(stranger, 17)).toEqual([
      ...Array<number>(OF_ONE_ADDRESS).fill(401),
      ...[429, 429],
    ]);
    const answer = await stranger.signIn(PASSWORD);
    expect(answer).toMatchObject({ status: 429, body: { code: 'too_many_tries' } });
    const retryAfter = Number(answer.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(120);
    expect(retryAfter).toBeLessThanOrEqual(240);
    // Who is in stays in.
    expect((await operator.get('/api/session')).status).toBe(200);
    const { lines } = await auditOf(operator);
    const failed = lines.filter(({ action }) => action === 'login_failed');
    expect(failed.length).toBeGreaterThanOrEqual(1);
    expect(failed.length).toBeLessThanOrEqual(2);
    expect(JSON.stringify(lines)).not.toContain('guess-number');
  });

  test('is noted under the name of an operator, and under no other name', async () => {
    const password = 'of-bob-himself';
    const { stranger, operator } = await consoleScene({
      admin: { operators: [{ name: 'bob', password }] },
    });
    await stranger.signIn('not it', 'bob');
    const { lines } = await auditOf(operator);
    expect(lines.find(({ action }) => action === 'login_failed')).toMatchObject({ who: 'bob' });
  });

  test('counts tries of programs that come at once, over Basic and Bearer', async () => {
    const { gateway } = await consoleScene();
    const tries = Array.from({ length: 30 }, (_, index) => {
      const headers = index % 2 === 0 ? basic(`x:guess-${index}`) : bearer(`guess-${index}`);
      const path = index % 3 === 0 ? '/metrics' : '/api/session';
      return consoleClient(gateway.adminUrl).ask(path, { headers });
    });
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(OF_ONE_ADDRESS);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30 - OF_ONE_ADDRESS);
    const last = await consoleClient(gateway.adminUrl).ask('/metrics', {
      headers: basic(`x:${PASSWORD}`),
    });
    expect(last.status).toBe(429);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('is counted by the address that a trusted proxy names', async () => {
    const { gateway } = await consoleScene({ http: { trustProxy: ['127.0.0.1'] } });
    const signIn = (from: string, password: string) =>
      consoleClient(gateway.adminUrl).ask('/api/login', {
        method: 'POST',
        body: { password },
        headers: { 'x-forwarded-for': from },
      });
    for (let tries = 0; tries < 16; tries += 1) await signIn('203.0.113.9', `wrong-${tries}`);
    expect((await signIn('203.0.113.9', PASSWORD)).status).toBe(429);
    expect((await signIn('203.0.113.10', PASSWORD)).status).toBe(200);
  });
});

describe('whoever does not guess', () => {
  test('is let in after eight wrong passwords, and so are others of the address', async () => {
    const { gateway, stranger } = await consoleScene();
    await guess(stranger, 8);
    expect((await stranger.signIn(PASSWORD)).status).toBe(200);
    expect((await consoleClient(gateway.adminUrl).signIn(PASSWORD)).status).toBe(200);
    expect((await stranger.ask('/metrics', { headers: bearer(PASSWORD) })).status).toBe(200);
  });

  test('is let in by a browser that knows them, however much is guessed beside it', async () => {
    const { gateway, operator, stranger, dataDir } = await consoleScene();
    await operator.post('/api/logout');
    await guess(stranger, 40);
    expect((await stranger.signIn(PASSWORD)).status).toBe(429);
    expect((await operator.signIn(PASSWORD)).status).toBe(200);

    await gateway.stop();
    const again = await startGateway({ dataDir });
    ends(() => again.stop());
    const guesser = consoleClient(again.adminUrl);
    await guess(guesser, 40);
    expect((await guesser.signIn(PASSWORD)).status).toBe(429);
    const known = consoleClient(again.adminUrl);
    known.device = operator.device;
    expect((await known.signIn(PASSWORD)).status).toBe(200);
  });

  test('reads the metrics with the password while others guess in the form', async () => {
    const { stranger } = await consoleScene();
    await guess(stranger, 40);
    expect((await stranger.ask('/metrics', { headers: bearer(PASSWORD) })).status).toBe(200);
  });

  test('signs in with the form while programs guess', async () => {
    const { gateway, stranger } = await consoleScene();
    for (let tries = 0; tries < 40; tries += 1) {
      await stranger.ask('/api/session', { headers: bearer(`guess-${tries}`) });
    }
    expect((await consoleClient(gateway.adminUrl).signIn(PASSWORD)).status).toBe(200);
  });

  test('reads the metrics with their token whatever is guessed, and nothing else with it', async () => {
    const { stranger } = await consoleScene({ admin: { metricsToken: METRICS_TOKEN } });
    for (let tries = 0; tries < 40; tries += 1) {
      await stranger.ask('/metrics', { headers: bearer(`guess-${tries}`) });
    }
    expect((await stranger.ask('/metrics', { headers: bearer(PASSWORD) })).status).toBe(429);
    for (const headers of [bearer(METRICS_TOKEN), basic(`prometheus:${METRICS_TOKEN}`)]) {
      expect((await stranger.ask('/metrics', { headers })).status).toBe(200);
    }
    const elsewhere = await stranger.ask('/api/overview', { headers: bearer(METRICS_TOKEN) });
    expect(elsewhere.status).toBe(429);
    expect((await stranger.signIn(METRICS_TOKEN)).status).toBe(401);
  });

  test('is let in, however many ask at once', async () => {
    const hashed = await hashPassword('of-bob-himself');
    const { gateway } = await consoleScene({
      admin: { operators: [{ name: 'bob', password: hashed }] },
    });
    const pairs = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? 'bob:of-bob-himself' : `:${PASSWORD}`,
    );
    const answers = await Promise.all(
      pairs.map((pair) =>
        consoleClient(gateway.adminUrl).ask('/api/session', {
          headers: basic(pair),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(pairs.map(() => 200));
  });

  test('is not kept out by a scraper on the same machine that has an old password', async () => {
    const { stranger } = await consoleScene();
    for (let scrapes = 0; scrapes < 25; scrapes += 1) {
      const headers = bearer('of-the-last-year');
      expect((await stranger.ask('/metrics', { headers })).status).toBe(401);
    }
    expect((await stranger.signIn(PASSWORD)).status).toBe(200);
    expect((await stranger.ask('/metrics', { headers: bearer(PASSWORD) })).status).toBe(200);
  });

  test('is not kept out by links on other pages that have a password in them', async () => {
    const { stranger } = await consoleScene();
    for (let tries = 0; tries < 25; tries += 1) {
      const answer = await stranger.ask('/metrics', {
        headers: { ...basic(`x:guess-${tries}`), 'sec-fetch-site': 'cross-site' },
      });
      expect(answer.status).toBe(403);
    }
    expect((await stranger.signIn(PASSWORD)).status).toBe(200);
  });
});
