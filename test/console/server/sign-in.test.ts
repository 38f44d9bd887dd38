import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { durableFiles } from '../../../src/runtime/durable-files.ts';
import { hashPassword } from '../../../src/runtime/password-hash.ts';
import { Operators } from '../../../src/console/server/operators.ts';
import { Sessions } from '../../../src/console/server/sessions.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { startGateway, writeConfig } from '../../support/running-gateway.ts';
import { ends } from '../../support/ends.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EventStream } from './event-stream.ts';
import { consoleClient } from './console-client.ts';
import { auditOf, consoleScene, PASSWORD, sharedConsole } from './console-scene.ts';

const ANN = { name: 'ann', password: 'of-ann-herself' };
const BOB = { name: 'bob', password: await hashPassword('of-bob-himself') };

const shared = sharedConsole({ admin: { operators: [ANN, BOB] } });

describe('signing in', () => {
  test('gives a session whose cookie no script and no other site has', async () => {
    const { stranger } = await shared();
    const answer = await stranger.signIn(PASSWORD);
    expect(answer).toMatchObject({ status: 200, body: { operator: 'operator' } });
    const [session, device] = [answer.headers['set-cookie']].flat();
    expect(session).toMatch(
      /^sluice_session=[\w-]{43}; Path=\/; Max-Age=43\d\d\d; HttpOnly; SameSite=Strict$/,
    );
    expect(device).toMatch(
      /^sluice_device=[\w.-]{70,80}; Path=\/api\/login; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
    );
    expect((await stranger.get('/api/session')).status).toBe(200);
    expect((await stranger.get('/api/overview')).status).toBe(200);
  });

  test('marks the cookie Secure behind a trusted proxy that speaks TLS, and only then', async () => {
    const { gateway } = await consoleScene({ http: { trustProxy: ['127.0.0.1'] } });
    const signIn = (headers: Record<string, string>) =>
      consoleClient(gateway.adminUrl).ask('/api/login', {
        method: 'POST',
        body: { password: PASSWORD },
        headers,
      });
    const secure = await signIn({ 'x-forwarded-proto': 'https' });
    expect(String(secure.headers['set-cookie'])).toMatch(/; Secure$/);
    const plain = await signIn({ 'x-forwarded-proto': 'http' });
    expect(String(plain.headers['set-cookie'])).not.toMatch(/Secure/);
  });

  test('does not believe a proxy that nobody configured', async () => {
    const { stranger } = await shared();
    const answer = await stranger.ask('/api/login', {
      method: 'POST',
      body: { password: PASSWORD },
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect(String(answer.headers['set-cookie'])).not.toMatch(/Secure/);
  });

  test('says the same of a wrong name and of a wrong password', async () => {
    const { stranger } = await shared();
    const answers = await Promise.all([
      stranger.signIn('wrong-password'),
      stranger.signIn(PASSWORD, 'nobody'),
      stranger.signIn(PASSWORD, 'ann'),
      stranger.signIn(ANN.password),
    ]);
    for (const { status, text, headers } of answers) {
      expect({ status, text }).toEqual({ status: 401, text: answers[0].text });
      expect(headers['www-authenticate']).toBeUndefined();
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  test('names people, with plain passwords and with hashed ones', async () => {
    const { gateway, stranger, operator } = await shared();
    expect((await stranger.signIn(ANN.password, 'ann')).body).toMatchObject({
      operator: 'ann',
    });
    const bob = consoleClient(gateway.adminUrl);
    expect((await bob.signIn('of-bob-himself', 'bob')).body).toMatchObject({ operator: 'bob' });
    expect((await bob.signIn(BOB.password, 'bob')).status).toBe(401);
    const { lines } = await auditOf(operator);
    expect(lines.filter(({ action }) => action === 'login').map(({ who }) => who)).toEqual(
      expect.arrayContaining(['ann', 'bob', 'operator']),
    );
  });

  test('refuses what is no sign-in, without saying why in values', async () => {
    const { stranger } = await shared();
    for (const body of ['[]', '{"password":1}', '{', '"x"', '{"password":"x","more":1}', 'null']) {
      const answer = await stranger.post('/api/login', body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } });
    }
    const large = await stranger.post('/api/login', { password: 'x'.repeat(20_000) });
    expect(large).toMatchObject({ status: 413, body: { code: 'invalid' } });
    const form = await stranger.ask('/api/login', {
      method: 'POST',
      body: `password=${PASSWORD}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.status).toBe(400);
  });
});

describe('a session', () => {
  test('outlives a restart, and its file signs nobody in', async () => {
    const { gateway, operator, dataDir } = await consoleScene();
    const token = operator.cookie.split('=')[1] ?? '';
    const kept = readFileSync(join(dataDir, 'console-sessions.json'), 'utf8');
    expect(kept).not.toContain(token);
    expect(kept).not.toContain(PASSWORD);
    await gateway.stop();
    const again = await startGateway({ dataDir });
    ends(() => again.stop());
    const client = consoleClient(again.adminUrl);
    client.cookie = operator.cookie;
    expect((await client.get('/api/session')).status).toBe(200);
    for (const { id, seal } of JSON.parse(kept) as { id: string; seal: string }[]) {
      for (const value of [id, seal]) {
        client.cookie = `sluice_session=${value}`;
        expect((await client.get('/api/session')).status).toBe(401);
      }
    }
  });

  test('ends at sign-out, and no restart brings it back', async () => {
    const { gateway, operator, dataDir } = await consoleScene();
    const { cookie } = operator;
    const answer = await operator.post('/api/logout');
    expect(answer.status).toBe(204);
    expect(String(answer.headers['set-cookie'])).toMatch(/^sluice_session=; .*Max-Age=0/);
    operator.cookie = cookie;
    expect((await operator.get('/api/session')).body).toMatchObject({ code: 'signed_out' });
    await gateway.stop();
    const again = await startGateway({ dataDir });
    ends(() => again.stop());
    const client = consoleClient(again.adminUrl);
    client.cookie = cookie;
    expect((await client.get('/api/session')).status).toBe(401);
  });

  test('ends when the password is another one', async () => {
    const { gateway, operator, dataDir } = await consoleScene();
    await gateway.stop();
    const again = await startGateway({ dataDir, admin: { password: 'another-password' } });
    ends(() => again.stop());
    const client = consoleClient(again.adminUrl);
    client.cookie = operator.cookie;
    expect((await client.get('/api/session')).status).toBe(401);
    expect((await client.signIn(PASSWORD)).status).toBe(401);
    expect((await client.signIn('another-password')).status).toBe(200);
  });

  test('is not taken from a damaged file', async () => {
    const { operator } = await shared();
    for (const cookie of ['', 'x', 'é', '"', 'a'.repeat(43), '../../etc/passwd']) {
      operator.cookie = `sluice_session=${encodeURIComponent(cookie)}`;
      expect((await operator.get('/api/session')).status).toBe(401);
    }
  });
});

describe('a password that is replaced while the gateway runs', () => {
  test('ends sessions and streams, of programs as well', async () => {
    const { gateway, operator, stranger, dataDir } = await consoleScene();
    const authorization = `Bearer ${PASSWORD}`;
    const stream = new EventStream(operator);
    const program = new EventStream(stranger, { authorization });
    await waitFor('both', () => stream.events.length > 0 && program.events.length > 0, 50);
    writeConfig({ dataDir, admin: { password: 'another-password' } });
    expect((await operator.post('/api/configuration/reload')).body).toMatchObject({
      ...{ ok: true, changed: ['admin.password'] },
    });
    await waitFor('their ends', () => stream.ended && program.ended, 50);
    expect((await operator.get('/api/session')).status).toBe(401);
    const old = await stranger.ask('/api/overview', { headers: { authorization } });
    expect(old.status).toBe(401);
    expect((await consoleClient(gateway.adminUrl).signIn('another-password')).status).toBe(200);
  });

  test('gives no session to whoever signs in meanwhile with the old one', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const file = join(dir.path, 'sessions.json');
    const operators = new Operators([{ name: 'ann', password: 'the-old-password' }]);
    const sessions = await Sessions.open({
      ...{ file, files: durableFiles, operators, clock: Date.now, logger: silentLogger },
    });
    const configured = operators.passwordOf('ann');
    expect(await operators.verify('ann', 'the-old-password')).toBe(true);
    operators.replace([{ name: 'ann', password: 'the-new-password' }]);
    const { token } = await sessions.begin('ann', configured);
    expect(sessions.find(token)).toBeUndefined();
  });
});

describe('scripts', () => {
  test('use the password as Basic or Bearer, for metrics and for the API', async () => {
    const { stranger } = await shared();
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    for (const authorization of [
      `Bearer ${PASSWORD}`,
      basic(`:${PASSWORD}`),
      basic(`anything:${PASSWORD}`),
      basic('ann:of-ann-herself'),
    ]) {
      for (const path of ['/metrics', '/api/overview']) {
        const answer = await stranger.ask(path, { headers: { authorization } });
        expect({ path, status: answer.status }).toEqual({ path, status: 200 });
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    }
    const named = await stranger.ask('/api/session', {
      headers: { authorization: basic('ann:of-ann-herself') },
    });
    expect(named.body).toMatchObject({ operator: 'ann' });
    const wrong = await stranger.ask('/api/session', {
      headers: { authorization: basic(`ann:${PASSWORD}`) },
    });
    expect(wrong.status).toBe(401);
  });

  test('may have a password of several words', async () => {
    const words = 'correct horse battery staple';
    const { stranger } = await consoleScene({ admin: { password: words } });
    for (const authorization of [
      `Bearer ${words}`,
      `Basic ${Buffer.from(`:${words}`).toString('base64')}`,
    ]) {
      const answer = await stranger.ask('/metrics', { headers: { authorization } });
      expect(answer.status).toBe(200);
    }
  });

  test('are asked for the password at /metrics, and never at /api', async () => {
    const { stranger } = await shared();
    const metrics = await stranger.get('/metrics');
    expect(metrics).toMatchObject({ status: 401 });
    expect(metrics.headers['www-authenticate']).toBe('Basic realm="Sluice"');
    expect((await stranger.get('/api/overview')).headers['www-authenticate']).toBeUndefined();
  });
});
