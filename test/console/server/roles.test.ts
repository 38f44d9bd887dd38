import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { MadeApiToken, Session } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';
import { servedRoutes } from './admin-routes.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { PASSWORD, sharedConsole } from './console-scene.ts';
import { EventStream } from './event-stream.ts';

const DESK = { name: 'dora', password: 'of-the-support-desk', role: 'desk' };
const ANN = { name: 'ann', password: 'of-ann-herself' };

/** The page, and what needs no credentials. */
const OPEN = ['get /{*path}', 'get /healthz', 'get /readyz', 'post /api/login'];
/** What a person at the desk may request besides everything below `/api/platform/`. */
const OWN = ['get /api/session', 'post /api/logout', 'get /api/stream'];
const ROUTES = servedRoutes().filter((route) => !OPEN.includes(route));

describe('the role desk', () => {
  const shared = sharedConsole({ admin: { operators: [DESK, ANN] } });
  let dataDir: string;
  let gateway: RunningGateway;
  let desk: ConsoleClient;

  beforeAll(async () => {
    ({ dataDir, gateway, stranger: desk } = await shared());
    await desk.signIn(DESK.password, DESK.name);
  });

  const ask = (route: string, client = desk, headers = {}) => {
    const [method = '', path = ''] = route.split(' ');
    return client.ask(path.replace(/\{\w+\}/g, 'acme'), {
      ...{ method: method.toUpperCase(), headers },
      ...(method === 'post' && { body: { wrong: true } }),
    });
  };
  const basic = ({ name, password }: typeof ANN) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  test('is told to the page', async () => {
    expect((await desk.get('/api/session')).body).toMatchObject({ operator: 'dora', role: 'desk' });
    const ann = await consoleClient(gateway.adminUrl).signIn(ANN.password, ANN.name);
    expect((ann.body as Session).role).toBe('operator');
    const operator = await consoleClient(gateway.adminUrl).signIn(PASSWORD);
    expect((operator.body as Session).role).toBe('operator');
  });

  const refused = ROUTES.filter(
    (route) => !route.includes(' /api/platform/') && !OWN.includes(route),
  );
  test.each(refused)('may not %s', async (route) => {
    const answer = await ask(route);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Your role, desk, permits the Platform pages only');
    // A script with the person's password can do as little.
    expect((await ask(route, consoleClient(gateway.adminUrl), basic(DESK))).status).toBe(403);
  });

  test('is refused what does not exist, and other spellings of what does', async () => {
    expect(refused.length).toBeGreaterThan(25);
    for (const path of [
      ...['/api/', '/api/nothing', '/api/platformish/x', '/api/PLATFORM/acme/tickets'],
      ...['/api/session/', '/api/overview?x=/api/platform/', '/api/x/../platform/acme/tickets'],
    ]) {
      expect([path, (await desk.get(path)).status]).toEqual([path, 403]);
    }
    expect((await desk.ask('/api/platform/acme/tickets', { method: 'DELETE' })).status).toBe(403);
  });

  test('may use the Platform pages', async () => {
    const permitted = ROUTES.filter((route) => route.includes(' /api/platform/'));
    expect(permitted.length).toBeGreaterThan(7);
    for (const route of permitted) {
      expect([route, (await ask(route)).status]).not.toEqual([route, 403]);
    }
    expect((await desk.get('/api/platform/acme/tickets')).status).toBe(200);
  });

  test('does not restrict the tokens of others, which have scopes', async () => {
    const operator = consoleClient(gateway.adminUrl);
    await operator.signIn(PASSWORD);
    const wanted = { name: 'ci', scope: 'read', lifetimeMs: null };
    const made = (await operator.post('/api/tokens', wanted)).body as MadeApiToken;
    const authorization = `Bearer ${made.secret}`;
    const stranger = consoleClient(gateway.adminUrl);
    expect((await stranger.ask('/api/overview', { headers: { authorization } })).status).toBe(200);
    expect((await stranger.ask('/metrics', { headers: { authorization } })).status).toBe(200);
  });

  test('given, changed or taken by a reload ends the sessions, and restricts the tokens of the person', async () => {
    const ann = consoleClient(gateway.adminUrl);
    await ann.signIn(ANN.password, ANN.name);
    expect((await ann.get('/api/overview')).status).toBe(200);
    const wanted = { name: 'of-ann', scope: 'operate', lifetimeMs: null };
    const { secret } = (await ann.post('/api/tokens', wanted)).body as MadeApiToken;
    const program = consoleClient(gateway.adminUrl);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await program.ask('/api/overview', { headers })).status).toBe(200);
    const stream = new EventStream(program, headers);
    await waitFor('an overview', () => stream.of('overview').length > 0, 50);
    const file = join(dataDir, 'gateway.json');
    const text = readFileSync(file, 'utf8');
    ends(async () => {
      writeFileSync(file, text);
      await gateway.reload();
    });
    const config = JSON.parse(text) as { admin: object };
    const admin = { ...config.admin, operators: [DESK, { ...ANN, role: 'desk' }] };
    writeFileSync(file, JSON.stringify({ ...config, admin }));
    expect(await gateway.reload()).toMatchObject({ ok: true });
    expect((await ann.get('/api/overview')).status).toBe(401);
    await ann.signIn(ANN.password, ANN.name);
    expect((await ann.get('/api/overview')).status).toBe(403);
    await waitFor('the end of the stream', () => stream.ended, 50);
    for (const path of ['/api/overview', '/metrics']) {
      expect([path, (await program.ask(path, { headers })).status]).toEqual([path, 403]);
    }
    expect((await program.ask('/api/platform/desk/queue', { headers })).status).toBe(200);
    const without = { ...config.admin, operators: [DESK] };
    writeFileSync(file, JSON.stringify({ ...config, admin: without }));
    expect(await gateway.reload()).toMatchObject({ ok: true });
    for (const path of ['/api/overview', '/metrics', '/api/platform/desk/queue']) {
      expect([path, (await program.ask(path, { headers })).status]).toEqual([path, 401]);
    }
    // Of others nothing has changed.
    expect((await desk.get('/api/session')).status).toBe(200);
  });
});
