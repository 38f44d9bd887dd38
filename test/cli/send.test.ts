import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { Server as SocketServer } from 'socket.io';
import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';
import type { ClientToServerEvents, ServerToClientEvents } from '../../src/channels/chat/events.ts';
import { banner } from '../../src/cli/banner.ts';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig, type CompleteConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { smsShops } from '../../src/gateway/shops.ts';
import { startWebhook } from '../channels/sms/running-door.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { tempDir } from '../support/temp-dir.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });
let dir: ReturnType<typeof tempDir>;
let config: CompleteConfig;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  dir = tempDir();
  const loaded = loadConfig({ env: env() });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  config = await completeConfig(loaded.config);
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  dir.remove();
});

const env = () => ({ SLUICE_DATA_DIR: join(dir.path, 'data') });

async function send(...args: string[]) {
  const terminal = captureTerminal(env());
  const code = await runCli(['send', ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

/** Runs a line as a newcomer would: by pasting it into a shell. */
async function shell(line: string) {
  return new Promise<{ failed: boolean; stdout: string }>((resolve) => {
    execFile('sh', ['-c', line], { cwd: dir.path }, (error, stdout) => {
      resolve({ failed: error !== null, stdout });
    });
  });
}

// An IP server has an AddressInfo once it listens.
const portOf = (address: string | AddressInfo | null) => (address as AddressInfo).port;

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

async function smtpServer(): Promise<{ port: number; mails: Mail[] }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('nobody') ? new Error('unknown recipient') : null),
    onData: (stream, session, done) => {
      void buffer(stream).then((bytes) => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: bytes.toString('utf8'),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return { port: portOf(server.server.address()), mails };
}

async function listen(server: HttpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return portOf(server.address());
}

/** Checks signatures as the product does: against the public URL, never the Host header. */
async function webhookServer(): Promise<{ port: number; texts: Record<string, string>[] }> {
  const texts: Record<string, string>[] = [];
  const token = config.shops[0]?.sms?.twilio?.authTokens[0]?.reveal() ?? '';
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const params = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
      const url = config.http.publicUrl + (request.url ?? '');
      const signature = String(request.headers['x-twilio-signature']);
      const ok = validateRequest(token, signature, url, params);
      if (ok) texts.push(params);
      response.writeHead(ok ? 200 : 403, { 'content-type': 'text/xml' }).end('<Response/>');
    });
  });
  return { port: await listen(server), texts };
}

async function chatServer(reply: string | undefined): Promise<number> {
  const http = createServer();
  const io = new SocketServer<ClientToServerEvents, ServerToClientEvents>(http, { path: '/chat' });
  io.use((socket, next) => {
    const refused = Object.assign(new Error('refused'), { data: { code: 'unknown_key' } });
    next(socket.handshake.auth['key'] === 'demo' ? undefined : refused);
  });
  io.on('connection', (socket) => {
    const limits = { text: 8000, files: 10, fileBytes: 1 };
    socket.emit('session', {
      token: 't',
      visitorId: 'v',
      lastSeq: 0,
      seenSeq: 0,
      verified: false,
      limits,
    });
    socket.on('message', ({ id, text }, ack) => {
      if (text === 'too much') return ack?.({ ok: false, error: 'rate_limited', retryAfter: 9 });
      const line = { format: 'TEXT', attachments: [], at: 0 } as const;
      socket.emit('message', { ...line, seq: 1, id, from: 'visitor', text });
      ack?.({ ok: true, seq: 1 });
      if (reply !== undefined) {
        socket.emit('message', { ...line, seq: 2, id: 'r', from: 'agent', text: reply });
      }
    });
  });
  const port = await listen(http);
  closers.unshift(async () => io.close());
  return port;
}

describe('send email', () => {
  test('sends to the first inbox with what is attached', async () => {
    const { port, mails } = await smtpServer();
    const file = join(dir.path, 'note.txt');
    writeFileSync(file, 'attached text');
    const args = ['--port', String(port), '--attach', file];
    expect(await send('email', 'The lamp is broken', ...args)).toMatchObject({ code: 0 });
    expect(mails[0]).toMatchObject({ from: 'ada@customer.example', to: ['support@demo.example'] });
    expect(mails[0]?.raw).toContain('The lamp is broken');
    expect(mails[0]?.raw).toContain('note.txt');
  });

  test('prints the reply as JSON for programs', async () => {
    const { port } = await smtpServer();
    const { stdout } = await send('email', 'Hi', '--port', String(port), '--json');
    expect(JSON.parse(stdout)).toEqual({
      ...{ from: 'ada@customer.example', to: 'support@demo.example' },
      response: expect.stringMatching(/^250 /),
    });
  });

  test('says what the server answered when it refuses', async () => {
    const { port } = await smtpServer();
    const answer = await send('email', 'Hi', '--port', String(port), '--to', 'nobody@demo.example');
    expect(answer).toMatchObject({ code: 1, stderr: expect.stringMatching(/^refused: 550 /) });
  });

  test('says when no gateway is there', async () => {
    const port = await listen(createServer());
    for (const close of closers.splice(0)) await close();
    const { code, stderr } = await send('email', 'Hi', '--port', String(port));
    expect(code).toBe(1);
    expect(stderr).toContain('If the gateway is not running');
  });
});

describe('send sms', () => {
  test('prints the message as JSON for programs', async () => {
    const { port, texts } = await webhookServer();
    const { stdout } = await send('sms', 'Hello', '--port', String(port), '--json');
    const [{ From: from, To: to, MessageSid: messageSid } = {}] = texts;
    expect(JSON.parse(stdout)).toEqual({ from, to, messageSid });
    expect(messageSid).toMatch(/^SM/);
  });

  test("signs with the shop's token, for the public URL; each text has a SID of its own", async () => {
    const { port, texts } = await webhookServer();
    for (const text of ['Are you open?', 'ÄÖ & = %']) {
      expect((await send('sms', text, '--port', String(port))).code).toBe(0);
    }
    expect(texts.map((each) => each['Body'])).toEqual(['Are you open?', 'ÄÖ & = %']);
    expect(texts[0]).toMatchObject({ To: '+12025550142', From: '+12025550187', NumMedia: '0' });
    const sids = texts.map((each) => each['MessageSid']);
    expect(new Set(sids).size).toBe(2);
    for (const sid of sids) expect(sid).toMatch(/^SM[0-9a-f]{32}$/);
  });

  test.each([
    [403, 'The signature does not match', /signature does not match.*http\.publicUrl/],
    [403, 'No shop has this account and number', /no shop .* \+12025550142.*sms\.numbers/],
    [503, '', /cannot store/],
    [400, 'From is missing', /400, From is missing/],
    [404, '', /another program listens/],
    [500, '', /500/],
  ])('explains a %d %s', async (status, text, message) => {
    const port = await listen(
      createServer((_request, response) => response.writeHead(status).end(`${text}\n`)),
    );
    const { code, stderr } = await send('sms', 'Hi', '--port', String(port));
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });
});

test("send sms tells the webhook's two reasons for a 403 apart", async () => {
  const { publicUrl } = config.http;
  const webhook = await startWebhook({ shops: smsShops(config), publicUrl });
  closers.push(() => webhook.close());
  const { port } = new URL(webhook.target);
  expect(await send('sms', 'Hi', '--port', port)).toMatchObject({ code: 0, stderr: '' });
  const unknown = await send('sms', 'Hi', '--port', port, '--to', '+12025550199');
  expect(unknown.stderr).toMatch(/403, no shop of the gateway has the number \+12025550199/);

  const elsewhere = await startWebhook({
    shops: smsShops(config),
    publicUrl: 'https://gw.acme.example',
  });
  closers.push(() => elsewhere.close());
  const unsigned = await send('sms', 'Hi', '--port', new URL(elsewhere.target).port);
  expect(unsigned.stderr).toMatch(/403, the signature does not match.*same http\.publicUrl/);
});

test('send sms says that only Telnyx can sign for a number there', async () => {
  const file = join(dir.path, 'telnyx.json');
  const telnyx = { apiKey: 'key', publicKey: `${'B'.repeat(43)}=` };
  const shop = { name: 'acme', shopId: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40', apiKey: 'key' };
  const shops = [{ ...shop, sms: { numbers: ['+15550001111'], telnyx } }];
  writeFileSync(file, JSON.stringify({ dataDir: join(dir.path, 'data'), shops }));
  const { code, stderr } = await send('sms', 'Hello', '--config', file);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('send a text to one of its numbers'),
  });
});

test('send sms says to start the gateway when nobody listens', async () => {
  const port = await listen(createServer());
  for (const close of closers.splice(0)) await close();
  const { code, stderr } = await send('sms', 'Hi', '--port', String(port));
  expect(code).toBe(1);
  expect(stderr).toContain('start it (npm start)');
});

describe('send chat', () => {
  test("prints the acknowledgement and the agent's reply, not the visitor's own line", async () => {
    const port = await chatServer('It is on\u001b its way.');
    expect(await send('chat', 'Where is my order?', '--port', String(port))).toEqual({
      code: 0,
      stdout: 'accepted: message 1\nagent: It is on\u{fffd} its way.\n',
      stderr: '',
    });
  });

  test('without a reply in time it fails, and says that the message was accepted', async () => {
    const port = await chatServer(undefined);
    const { code, stderr } = await send('chat', 'Hi', '--port', String(port), '--wait', '20ms');
    expect(code).toBe(1);
    expect(stderr).toBe('no reply within 0.02 s; the message was accepted\n');
    expect((await send('chat', 'Hi', '--port', String(port), '--wait', '0s')).code).toBe(0);
  });

  test('a refusal is named', async () => {
    const port = await chatServer('x');
    const { code, stderr } = await send('chat', 'too much', '--port', String(port));
    expect(code).toBe(1);
    expect(stderr).toBe('refused: rate_limited; try again in 9 s\n');
  });

  test('no shop of that name', async () => {
    const { code, stderr } = await send('chat', 'Hi', '--shop', 'acme');
    expect(code).toBe(2);
    expect(stderr).toBe('there is no shop acme; shops with chat: demo\n');
  });
});

describe('what serve prints', () => {
  const local = (port: number) => ({ host: '127.0.0.1', port });

  test('where everything listens, the keys of the demo shop, and where answers appear', () => {
    const text = banner(config, {
      smtp: { host: '0.0.0.0', port: 2525 },
      http: { host: '::', port: 8080 },
      admin: local(8081),
      platform: { url: 'http://127.0.0.1:8082' },
    });
    expect(text).toMatch(/email +smtp:\/\/127\.0\.0\.1:2525 +support@demo\.example/);
    expect(text).toMatch(/SMS +http:\/\/127\.0\.0\.1:8080\/sms\/twilio +\+12025550142/);
    expect(text).toMatch(/chat .*key demo/);
    expect(text).toMatch(
      /platform +http:\/\/127\.0\.0\.1:8082 +the local platform; its API: \/reference$/m,
    );
    expect(text).toContain(config.admin.password.reveal());
    expect(text).toContain('node dist/main.js send chat "Where is my order?"');
    expect(text).toMatch(/email and SMS are written to .*outbox/);
  });

  test('of own shops only the channels that they have, and where the generated password is', () => {
    const [demo] = config.shops;
    if (demo === undefined) throw new Error('there is a demo shop');
    const { sms: _, ...shop } = demo;
    const text = banner({ ...config, demo: false, shops: [shop] }, { http: local(8080) });
    expect(text).toMatch(/chat .*key demo/);
    expect(text).not.toMatch(/SMS|email +smtp/);
    expect(text).toContain(
      `The console's password was generated: it is adminPassword in ${dir.path}/data/keys.json.`,
    );
    expect(text).not.toContain(config.admin.password.reveal());
  });

  test('the email lines work in a shell, and each makes a new message', async () => {
    const { port, mails } = await smtpServer();
    const text = banner(config, { smtp: local(port) });
    const line = /^ {2}(printf .*)$/m.exec(text)?.[1] ?? '';
    expect(await shell(line)).toMatchObject({ failed: false });
    expect(mails[0]).toMatchObject({ from: 'ada@customer.example', to: ['support@demo.example'] });
    expect(mails[0]?.raw).toMatch(
      /^From: Ada <ada@customer\.example>\r\nTo: .*\r\nSubject: Where is my order\?\r\nMessage-ID: <\d+@/,
    );
    expect(mails[0]?.raw).toMatch(/\r\n\r\nHello, where is my order 1001\?\r\n$/);
    expect(text).toMatch(
      /^ {2}swaks --server 127\.0\.0\.1:\d+ --from ada@customer\.example --to support/m,
    );
  });

  test('the SMS line is signed, and has another SID at every start', async () => {
    const { port, texts } = await webhookServer();
    for (let start = 0; start < 2; start += 1) {
      const text = banner(config, { http: local(port) });
      const line = /^ {2}(curl .*sms\/twilio.*)$/m.exec(text)?.[1] ?? '';
      expect(await shell(line)).toEqual({ failed: false, stdout: '<Response/>' });
    }
    expect(texts[0]?.['Body']).toBe('Where is my order?');
    expect(texts[0]?.['MessageSid']).not.toBe(texts[1]?.['MessageSid']);
  });

  test('with shops of its own no key is printed', () => {
    const text = banner(
      { ...config, demo: false },
      { http: local(8080) },
      { file: 'my shop.yaml' },
    );
    expect(text).not.toContain(config.admin.password.reveal());
    expect(text).toContain("node dist/main.js --config 'my shop.yaml' send email|sms|chat");
  });

  test.each([
    ['/home/ann/shop/node_modules/.bin/sluice', 'npx sluice send email|sms|chat'],
    ['/usr/local/bin/sluice', ' sluice send email|sms|chat'],
    ['/opt/sluice/dist/main.js', 'node dist/main.js send email|sms|chat'],
  ])('started as %s, names the command that the shell runs', (program, shown) => {
    expect(banner({ ...config, demo: false }, { http: local(8080) }, { program })).toContain(shown);
  });
});
