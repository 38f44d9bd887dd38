import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newFolder } from '../../local-platform/harness.ts';
import { BadServer } from '../../platform-api/bad-server.ts';
import { ACME, configOf, runOn, SECOND, setting, type Setting, UNKNOWN_ID } from './harness.ts';

/** The discard port: nobody listens. */
const NOBODY = 'http://127.0.0.1:9';
const CREATE = ['messages', 'create', '--content', 'x'];

function configured(content: unknown): string {
  const file = join(newFolder(), 'sluice.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('a mistake on the command line makes no request and ends in 2', () => {
  let file: string;
  beforeEach(() => {
    // A request would fail with 1.
    file = configured(configOf(NOBODY, newFolder()));
  });

  test.each([
    [['tickets', 'get', 'seven'], /Expected a UUID such as/],
    [['tickets', 'get'], /missing required argument 'id'/],
    [['tickets', 'list', '--conversation', `${UNKNOWN_ID},x`], /Expected a UUID such as/],
    [
      ['tickets', 'list', '--conversation', `${UNKNOWN_ID},`],
      /Expected values separated by commas/,
    ],
    [['tickets', 'list', '--priority', 'high'], /Expected a whole number/],
    [['tickets', 'list', '--limit', '0'], /at least 1/],
    [['tickets', 'list', '--status', 'Open'], /unknown option '--status'/],
    [['tickets', 'list', '--created-to', '2026-04-30'], /--created-to needs --created-from/],
    [['tickets', 'list', '--created', '7d', '--created-from', '2026-04-30'], /give --created, or/],
    [['tickets', 'list', '--created-from', '30.4.2026'], /Expected a day or a time/],
    [['contacts', 'list', '--archived', 'maybe'], /Expected true or false/],
    [['tickets', 'list', '--timeout', '0s'], /duration such as 30s/],
    [['tickets', 'list', '--url', 'localhost:8082'], /Expected a URL/],
    [['tickets', 'list', '--url', 'http://me:secret@127.0.0.1:9'], /Expected a URL/],
    [[...CREATE], /give --type for a new conversation/],
    [[...CREATE, '--type', 'fax'], /Allowed choices are email, sms, web_chat/],
    [[...CREATE, '--type', 'email', '--cc', 'Ann'], /Expected an address/],
    [['messages', 'create', '--type', 'email'], /required option '--content/],
    [['events', 'create', '--name', 'x', '--metric', '=5'], /Expected name or name=number/],
    [['events', 'create', '--name', 'x', '--property', 'x'], /Expected name=value/],
    [['tickets', 'lits'], /Did you mean list/],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await runOn(file, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('no --to and no address of the shop', async () => {
    const bare = configured(configOf(NOBODY, newFolder(), { shops: [ACME] }));
    const { code, stderr } = await runOn(bare, [...CREATE, '--type', 'sms']);
    expect(code).toBe(2);
    expect(stderr).toContain('the shop acme has no sms address: give --to');
  });
});

describe('which platform, which shop', () => {
  test('one of several shops has to be named, by its name or id', async () => {
    const { platform } = await setting();
    const file = configured(configOf(platform.url, newFolder(), { shops: [ACME, SECOND] }));
    const none = await runOn(file, ['tickets', 'count']);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toBe('which shop? Give --shop with one of: acme, second\n');
    for (const name of ['second', SECOND.shopId]) {
      expect(await runOn(file, ['tickets', 'count', '--shop', name])).toMatchObject({ code: 0 });
    }
    const wrong = await runOn(file, ['tickets', 'count', '--shop', 'third']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('there is no shop third; there are: acme, second');
  });

  test("a shop's platformUrl goes before platform.url, and --url before both", async () => {
    const { platform } = await setting();
    const shops = [{ ...ACME, platformUrl: platform.url }];
    const own = configured(configOf(NOBODY, newFolder(), { shops }));
    expect(await runOn(own, ['tickets', 'count'])).toMatchObject({ code: 0 });
    const file = configured(configOf(NOBODY, newFolder()));
    const given = ['tickets', 'count', '--url', platform.url];
    expect(await runOn(file, given)).toMatchObject({ code: 0, stdout: '0\n' });
  });

  test('the embedded one is on its port of the loopback', async () => {
    const { platform } = await setting();
    const port = Number(new URL(platform.url).port);
    const embedded = { platform: { url: 'local' }, localPlatform: { port } };
    const file = configured(configOf('local', newFolder(), embedded));
    expect(await runOn(file, ['tickets', 'count'])).toMatchObject({ code: 0, stdout: '0\n' });
  });

  test('on any port, it has to be told', async () => {
    const embedded = { localPlatform: { port: 0 } };
    const file = configured(configOf('local', newFolder(), embedded));
    const { code, stderr } = await runOn(file, ['tickets', 'count']);
    expect(code).toBe(2);
    expect(stderr).toContain('give --url with the address that serve printed');
  });

  test('the demo shop of a gateway that never ran', async () => {
    const file = configured({ dataDir: join(newFolder(), 'data') });
    const { code, stderr } = await runOn(file, ['tickets', 'count']);
    expect(code).toBe(1);
    expect(stderr).toContain('start one (npm start)');
  });
});

describe('what the platform refuses', () => {
  let it: Setting;
  beforeEach(async () => {
    it = await setting();
  });

  test.each(['tickets', 'messages', 'conversations', 'contacts'])(
    '%s get of what is not there',
    async (kind) => {
      const { code, stdout, stderr } = await it.run(kind, 'get', UNKNOWN_ID);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(`there is no ${kind.slice(0, -1)} ${UNKNOWN_ID}\n`);
    },
  );

  test('a conversation that is not there', async () => {
    const { code, stderr } = await it.run(...CREATE, '--conversation', UNKNOWN_ID);
    expect(code).toBe(1);
    expect(stderr).toContain('refused (404)');
    expect(stderr).toContain('conversation.id (--conversation): ');
  });

  test('fields, each with its option', async () => {
    const { code, stderr } = await it.run('tickets', 'list', '--created', 'yesterday');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^refused \(400\): .*\n {2}created_at__range \(--created\): .+\n$/);
    const media = await it.run(...CREATE, '--type', 'web_chat', '--media', UNKNOWN_ID);
    expect(media.stderr).toMatch(/ {2}message\.attachments\.0 \(--media\): .+\n$/);
  });

  test('a key that is not known, or of another shop', async () => {
    const keyed = (apiKey: string) =>
      configured(configOf(it.platform.url, newFolder(), { shops: [{ ...ACME, apiKey }] }));
    const unknown = await runOn(keyed('key-of-nobody'), ['tickets', 'count']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toBe(
      "the API key of shop acme is unknown (401): is the shop's apiKey right?\n",
    );
    const other = await runOn(keyed(SECOND.apiKey), ['tickets', 'count']);
    expect(other).toMatchObject({ code: 1, stdout: '' });
    expect(other.stderr).toContain('is not valid for');
    expect(unknown.stderr + other.stderr).not.toMatch(/key-of-nobody|key-two/);
  });
});

describe('what is no platform', () => {
  let server: BadServer;
  let file: string;
  beforeEach(async () => {
    server = new BadServer();
    file = configured(configOf(await server.start(), newFolder()));
  });
  afterEach(() => server.stop());

  const answers =
    (status: number, body: string, headers = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end(body);

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['a page', answers(200, '<!doctype html>'), /does not serve the platform's API/],
    ['other JSON', answers(200, '{"ok":true}'), /does not serve the platform's API/],
    ['an unknown path', answers(404, '<html>'), /has no such path \(404\)/],
    ['a redirect', answers(302, '', { location: '/login' }), /redirects \(302\)/],
    ['a failure', answers(503, '<html>'), /^the platform failed \(503\)\n$/],
    ['a limit', answers(429, '', { 'retry-after': '90' }), /\(429\): try again in 90 s\n$/],
    ['other errors', answers(400, '{"detail":"no"}'), /^refused \(400\): {"detail":"no"}\n$/],
    ['an escape', answers(400, '{"detail":"\u001b[2J"}'), /\ufffd\[2J/],
    ['a reset', (response) => response.destroy(), /cannot be reached: .* \(ECONNRESET\)/],
  ])('%s', async (_what, answer, message) => {
    server.answer = answer;
    const { code, stdout, stderr } = await runOn(file, ['tickets', 'list']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(ACME.apiKey);
  });

  test('no answer within --timeout', async () => {
    server.answer = () => undefined;
    const { code, stderr } = await runOn(file, ['tickets', 'list', '--timeout', '50ms']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/did not respond in time; --timeout waits longer/);
  });

  test('nobody listens', async () => {
    const remote = await runOn(configured(configOf(NOBODY, newFolder())), ['tickets', 'list']);
    expect(remote).toMatchObject({ code: 1, stdout: '' });
    expect(remote.stderr).toContain('nothing listens at 127.0.0.1:9; is the shop');
    const local = { localPlatform: { port: 9 } };
    const embedded = configured(configOf('local', newFolder(), local));
    const { stderr } = await runOn(embedded, ['tickets', 'list']);
    expect(stderr).toContain('start the gateway first (npm start)');
    const option = await runOn(embedded, ['tickets', 'list', '--url', NOBODY]);
    expect(option.stderr).toContain('is --url right?');
  });

  test("what the platform chose is safe in a terminal and in a shell's line", async () => {
    const next = `/?cursor=${encodeURIComponent("\u001b]0;x\u0007\n'$(id)")}`;
    server.answer = answers(200, JSON.stringify({ results: [], next }));
    const list = await runOn(file, ['contacts', 'list']);
    expect(list.stderr).toBe("For more: --cursor '\ufffd]0;x\ufffd\ufffd'\\''$(id)', or --all\n");
    server.answer = answers(200, JSON.stringify({ results: [], next: '/?cursor=cD0-MQ==' }));
    const plain = await runOn(file, ['contacts', 'list']);
    expect(plain.stderr).toBe('For more: --cursor cD0-MQ==, or --all\n');

    const attached = join(newFolder(), 'a.txt');
    writeFileSync(attached, 'hello');
    server.answer = (response, request) => {
      if (request.url?.includes('/media/'))
        response.writeHead(201).end('{"id":"m\\u001b[2J $(id)"}');
      else response.writeHead(400).end();
    };
    const created = await runOn(file, [...CREATE, '--type', 'web_chat', '--attach', attached]);
    expect(created.stderr).toContain("try again with: --media 'm\ufffd[2J $(id)'\n");
  });

  test('a --json of which nothing came to be is empty', async () => {
    const path = join(newFolder(), 'a.txt');
    writeFileSync(path, 'hello');
    server.answer = answers(413, '');
    expect(await runOn(file, ['media', 'upload', path, '--json'])).toMatchObject({
      code: 1,
      stdout: '',
    });
    const bare = configured(configOf(NOBODY, newFolder(), { shops: [ACME, SECOND] }));
    expect(await runOn(bare, ['media', 'upload', path, '--json'])).toMatchObject({
      code: 2,
      stdout: '',
    });
  });

  test('a --json of several uploads tells what was done before the failure', async () => {
    const file2 = join(newFolder(), 'a.txt');
    writeFileSync(file2, 'hello');
    let uploads = 0;
    server.answer = (response) => {
      uploads += 1;
      if (uploads === 1) response.writeHead(201).end('{"id":"m1"}');
      else response.writeHead(413).end();
    };
    const ran = await runOn(file, ['media', 'upload', file2, file2, '--json']);
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 'm1' }]);
    expect(ran.stderr).toBe('refused (413)\n');
  });
});
