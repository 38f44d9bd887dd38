import { Buffer } from 'node:buffer';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ApiTokenList, MadeApiToken } from '../../../src/console/contract.ts';
import { jsonLogger } from '../../../src/observability/winston-logger.ts';
import { hashPassword } from '../../../src/runtime/password-hash.ts';
import { tokenHash } from '../../../src/spool/api-token-store.ts';
import { ends } from '../../support/ends.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EventStream } from './event-stream.ts';
import { type Answer, type ConsoleClient, consoleClient } from './console-client.ts';
import { auditOf, consoleScene, PASSWORD, sharedConsole } from './console-scene.ts';
import { inSpool } from './token-scene.ts';

const DAY_MS = 86_400_000;
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const wrongToken = (n: number) => `sluice_${String(n).padStart(43, 'x')}`;

async function make(
  operator: ConsoleClient,
  wanted: { name?: string; scope?: string; lifetimeMs?: number | null } = {},
): Promise<MadeApiToken> {
  const answer = await operator.post('/api/tokens', {
    ...{ name: 'ci', scope: 'read', lifetimeMs: 90 * DAY_MS, ...wanted },
  });
  expect(answer.status).toBe(201);
  // The contract's own answer.
  return answer.body as MadeApiToken;
}

const tokensOf = async (operator: ConsoleClient) =>
  ((await operator.get('/api/tokens')).body as ApiTokenList).tokens;

const shared = sharedConsole();
afterEach(async () => {
  const { operator } = await shared();
  for (const { id } of await tokensOf(operator)) {
    await operator.ask(`/api/tokens/${id}`, { method: 'DELETE' });
  }
});

describe('an operator', () => {
  test('makes a token, sees it in the list without its secret, and revokes it', async () => {
    const { operator, stranger } = await shared();
    const { secret, token } = await make(operator);
    expect(secret).toMatch(/^sluice_[\w-]{43}$/);
    expect(token).toMatchObject({ name: 'ci', scope: 'read', madeBy: 'operator' });
    expect(token.endsAt).toBe(token.madeAt + 90 * DAY_MS);
    const ask = () => stranger.ask('/api/session', { headers: bearer(secret) });
    expect(await ask()).toMatchObject({ status: 200, body: { operator: `operator's token "ci"` } });
    const list = await operator.get('/api/tokens');
    expect(list.text).not.toContain(secret.slice('sluice_'.length));
    expect(list.text).not.toContain(tokenHash(secret));
    const [listed] = await tokensOf(operator);
    expect(listed).toEqual({ ...token, usedAt: expect.any(Number) });
    const revoked = await operator.ask(`/api/tokens/${token.id}`, { method: 'DELETE' });
    expect(revoked.status).toBe(204);
    expect(await ask()).toMatchObject({ status: 401, body: { code: 'signed_out' } });
    expect(await tokensOf(operator)).toEqual([]);
    const again = await operator.ask(`/api/tokens/${token.id}`, { method: 'DELETE' });
    expect(again).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const { lines } = await auditOf(operator);
    expect(lines.slice(0, 2)).toMatchObject([
      { who: 'operator', action: 'token_revoke', target: 'ci', outcome: 'ok' },
      {
        ...{ who: 'operator', action: 'token_create', target: 'ci' },
        outcome: expect.stringMatching(/^read, until 20\d\d-/),
      },
    ]);
  });

  test('chooses a name once, a scope and an end', async () => {
    const { operator } = await shared();
    const forever = await make(operator, { name: 'a.b-c_9', scope: 'operate', lifetimeMs: null });
    expect(forever.token).not.toHaveProperty('endsAt');
    const taken = await operator.post('/api/tokens', {
      ...{ name: 'a.b-c_9', scope: 'read', lifetimeMs: null },
    });
    expect(taken).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const good = { name: 'x', scope: 'read', lifetimeMs: DAY_MS };
    for (const change of [
      ...['', ' ', '-x', 'x y', 'é', 'x'.repeat(49), 'x\n', '"'].map((name) => ({ name })),
      ...['', 'admin', 'Read'].map((scope) => ({ scope })),
      ...[0, -1, 1.5, 59_999, 3651 * DAY_MS, '90d', undefined].map((lifetimeMs) => ({
        lifetimeMs,
      })),
      { madeBy: 'ann' },
    ]) {
      const answer = await operator.post('/api/tokens', { ...good, ...change });
      expect({ change, status: answer.status }).toEqual({ change, status: 400 });
    }
  });
});

describe('a token', () => {
  test('permits what its scope says', async () => {
    const { operator, stranger } = await shared();
    const read = await make(operator);
    const operate = await make(operator, { name: 'night', scope: 'operate' });
    const statusOf = async (secret: string, path: string, method = 'GET', body?: unknown) =>
      (await stranger.ask(path, { method, body, headers: bearer(secret) })).status;
    for (const { secret } of [read, operate]) {
      for (const path of ['/metrics', '/api/overview', '/api/entries', '/api/tokens']) {
        expect({ path, status: await statusOf(secret, path) }).toEqual({ path, status: 200 });
      }
      expect(await statusOf(secret, '/api/overview', 'HEAD')).toBe(200);
    }
    const retry = { action: 'retry', filter: { state: 'dead' } };
    expect(await statusOf(read.secret, '/api/actions', 'POST', retry)).toBe(403);
    expect(await statusOf(operate.secret, '/api/actions', 'POST', retry)).toBe(202);
    const wanted = { name: 'more', scope: 'read', lifetimeMs: null };
    for (const { secret } of [read, operate]) {
      expect(await statusOf(secret, '/api/tokens', 'POST', wanted)).toBe(403);
      expect(await statusOf(secret, `/api/tokens/${read.token.id}`, 'DELETE')).toBe(403);
      expect(await statusOf(secret, '/api/logout', 'POST')).toBe(403);
    }
    const test = { shop: 'acme', channel: 'sms' };
    expect(await statusOf(operate.secret, '/api/test-message', 'POST', test)).toBe(200);
    const { lines } = await auditOf(operator);
    expect(lines[0]).toMatchObject({ who: `operator's token "night"`, action: 'test_message' });
  });

  test('needs the header of the console for a change, as the password does', async () => {
    const { operator, stranger } = await shared();
    const { secret } = await make(operator, { scope: 'operate' });
    const post = (headers: Record<string, string | undefined>) =>
      stranger.ask('/api/actions', {
        ...{ method: 'POST', body: { action: 'retry', filter: { state: 'dead' } } },
        headers: { ...bearer(secret), ...headers },
      });
    expect((await post({ 'x-sluice-console': undefined })).status).toBe(403);
    expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ host: 'evil.example' })).status).toBe(202);
  });

  test('is refused when it has expired, and says so', async () => {
    const { operator, stranger, dataDir } = await shared();
    const { secret } = await make(operator, { lifetimeMs: 60_000 });
    inSpool(dataDir, 'UPDATE api_tokens SET ends_at = 1');
    for (const path of ['/api/overview', '/metrics']) {
      const answer = await stranger.ask(path, { headers: bearer(secret) });
      expect(answer.status).toBe(401);
      expect(answer.text).toContain('The token has expired');
    }
  });

  test('is refused anywhere but in Authorization: Bearer', async () => {
    const { operator, stranger, gateway } = await consoleScene();
    const { secret, token } = await make(operator);
    const basic = (pair: string) => ({
      authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
    });
    for (const headers of [
      ...[`:${secret}`, `${secret}:`, `ci:${secret}`, `operator:${secret}`].map(basic),
      ...[tokenHash(secret), `sluice_${tokenHash(secret).slice(0, 43)}`, token.id].map(bearer),
      ...[`${secret}x`, secret.slice(0, -1), secret.toUpperCase()].map(bearer),
      { authorization: `Token ${secret}` },
      { authorization: secret },
      { cookie: `sluice_session=${secret}` },
      { cookie: `sluice_session=${secret.slice('sluice_'.length)}` },
      { 'x-api-key': secret },
    ]) {
      for (const path of ['/api/overview', '/metrics']) {
        const answer = await consoleClient(gateway.adminUrl).ask(path, { headers });
        expect({ path, headers, status: answer.status }).toEqual({ path, headers, status: 401 });
        expect(answer.text).not.toContain(secret.slice('sluice_'.length));
      }
    }
    for (const name of ['token', 'access_token', 'authorization', 'api_key']) {
      for (const path of ['/api/overview', '/metrics']) {
        expect((await stranger.get(`${path}?${name}=${secret}`)).status).toBe(401);
      }
    }
    // The sign-in page is for passwords.
    expect((await stranger.signIn(secret)).status).toBe(401);
  });

  test('notes its use once a minute', async () => {
    const { operator, stranger, dataDir } = await shared();
    const { secret } = await make(operator);
    const use = () => stranger.ask('/api/overview', { headers: bearer(secret) });
    const usedAt = async () => (await tokensOf(operator))[0]?.usedAt;
    await use();
    inSpool(dataDir, 'UPDATE api_tokens SET used_at = used_at - 30000');
    const before = await usedAt();
    await use();
    expect(await usedAt()).toBe(before);
    inSpool(dataDir, 'UPDATE api_tokens SET used_at = used_at - 30000');
    await use();
    expect(await usedAt()).toBeGreaterThan(before ?? Infinity);
  });

  test('that is revoked or expires ends its streams, and no others', async () => {
    const { operator, stranger, dataDir } = await shared();
    const first = await make(operator);
    const second = await make(operator, { name: 'second' });
    const third = await make(operator, { name: 'third' });
    const streams = [first, second, third].map(
      ({ secret }) => new EventStream(stranger, bearer(secret)),
    );
    const page = new EventStream(operator);
    await waitFor('all', () => [page, ...streams].every(({ events }) => events.length > 0), 50);
    await operator.ask(`/api/tokens/${first.token.id}`, { method: 'DELETE' });
    inSpool(dataDir, `UPDATE api_tokens SET ends_at = 1 WHERE name = 'second'`);
    await waitFor('their ends', () => streams[0]?.ended && streams[1]?.ended, 50);
    expect(streams[0]?.of('signed_out')).toHaveLength(1);
    expect(streams[2]?.ended).toBe(false);
    expect(page.ended).toBe(false);
  });

  test('outlives a restart and the password of whoever made it', async () => {
    const { operator, gateway, dataDir } = await consoleScene();
    const { secret } = await make(operator);
    await gateway.stop();
    const again = await startGateway({ dataDir, admin: { password: 'another-password' } });
    ends(() => again.stop());
    const client = consoleClient(again.adminUrl);
    expect((await client.ask('/api/overview', { headers: bearer(secret) })).status).toBe(200);
  });
});

describe('wrong tokens', () => {
  test('are limited without the cost of a password, and lock out nobody else', async () => {
    const hashing = process.cpuUsage();
    const password = await hashPassword(PASSWORD);
    const { user: ofOneHash } = process.cpuUsage(hashing);
    const { operator, stranger } = await consoleScene({ admin: { password } });
    const { secret } = await make(operator);
    const ask = (token: string) => stranger.ask('/api/overview', { headers: bearer(token) });
    expect((await ask(secret)).status).toBe(200);
    const asking = process.cpuUsage();
    const answers: Answer[] = [];
    for (let n = 0; n < 1000; n += 1) answers.push(await ask(wrongToken(n)));
    // This test asks and answers.
    expect(process.cpuUsage(asking).user).toBeLessThan(200 * ofOneHash);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(15);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(985);
    expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(60);
    expect((await ask(secret)).status).toBe(200);
    expect((await ask(PASSWORD)).status).toBe(200);
    expect((await stranger.signIn(PASSWORD)).status).toBe(200);
    const { lines } = await auditOf(operator);
    expect(lines.filter(({ action }) => action === 'login_failed').length).toBeLessThan(4);
  }, 60_000);

  test('count once if it is the same again, and a new token waits for its turn', async () => {
    const { operator, stranger } = await consoleScene();
    const ask = (token: string) => stranger.ask('/api/overview', { headers: bearer(token) });
    for (let n = 0; n < 50; n += 1) expect((await ask(wrongToken(0))).status).toBe(401);
    const { secret, token } = await make(operator);
    expect((await ask(secret)).status).toBe(200);
    await operator.ask(`/api/tokens/${token.id}`, { method: 'DELETE' });
    for (let n = 0; n < 50; n += 1) expect((await ask(secret)).status).toBe(401);
    for (let n = 1; n < 20; n += 1) await ask(wrongToken(n));
    const late = await make(operator, { name: 'late' });
    expect((await ask(late.secret)).status).toBe(429);
  });
});

test('no line of the log, no answer and no metric has a token', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  let log = '';
  const logger = jsonLogger('debug', (text) => void (log += text));
  const gateway = await startGateway({ dataDir: dir.path }, logger);
  ends(() => gateway.stop());
  const operator = consoleClient(gateway.adminUrl);
  await operator.signIn(PASSWORD);
  const { secret } = await make(operator, { scope: 'operate' });
  const headers = bearer(secret);
  const stranger = consoleClient(gateway.adminUrl);
  const answers = [
    await stranger.ask(`/api/entries?token=${secret}`, { headers }),
    await stranger.ask(`/api/${secret}`, { headers }),
    await stranger.ask(`/api/entries/${secret}`, { headers }),
    await stranger.ask(`/api/actions/${secret}`, { headers }),
    await stranger.ask(`/${secret}/%E0%A4%A`, { headers }),
    await stranger.ask('/api/actions', { method: 'POST', body: { action: secret }, headers }),
    await stranger.ask('/api/test-message', {
      ...{ method: 'POST', body: { shop: secret, channel: 'sms' }, headers },
    }),
    await stranger.ask('/metrics', { headers }),
    await stranger.ask('/api/audit', { headers: bearer(wrongToken(1)) }),
    await stranger.ask('/api/audit', { headers }),
  ];
  // A test message names its shop in the audit log.
  const audited = answers.pop();
  expect(audited?.status).toBe(200);
  for (const { text } of answers) expect(text).not.toContain(secret.slice('sluice_'.length));
  await gateway.stop();
  expect(log).not.toContain(secret.slice('sluice_'.length));
  expect(log).not.toContain(wrongToken(1));
});
