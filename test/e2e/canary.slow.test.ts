import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { SignJWT } from 'jose';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { startCollector } from '../observability/collector.ts';
import { Canaries } from '../support/canaries.ts';
import { ChatClient } from '../support/chat-client.ts';
import { CompletionsEndpoint } from '../support/completions-endpoint.ts';
import { type Told, sluice } from '../support/sluice-command.ts';
import { ends } from '../support/ends.ts';
import {
  ACME,
  CHAT_KEY,
  freePorts,
  ownLoopbackAddress,
  PUBLIC_URL,
} from '../support/gateway-config.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { startMailRelay } from '../support/mail-relay.ts';
import { PlatformFront } from '../support/platform-front.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import {
  encodeForm,
  inboundForm,
  mediaPath,
  mediaSid,
  postWebhook,
  startTwilioStandIn,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { FAR_INBOX, NEAR_INBOX, NEAR_KEY, writeSecretConfig } from './canary-config.ts';

/** A thread that is given something with this in it throws everything that it was given. */
const FATAL = 'fatal-for-threads';
/** The test's part of the gateway's process and its threads: errors that nobody expected. */
const BUG = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads';
  process.on('SIGUSR2', () => { throw new Error('a bug'); });
  const on = parentPort?.on;
  if (on) parentPort.on = (name, listener) => on.call(parentPort, name, (message) => {
    const readable = (_, each) => each instanceof Uint8Array ? Buffer.from(each).toString() : each;
    const given = JSON.stringify(message, readable);
    if (given.includes('${FATAL}')) throw new Error(given, { cause: message });
    listener(message);
  });
`)}`;

/** A place where something is told, and what was told there. */
type Places = Map<string, string>;

test('what people write and what is secret shows up nowhere', async () => {
  const canaries = new Canaries();
  const places: Places = new Map();
  const dir = tempDir();
  ends(() => dir.remove());
  const dataDir = join(dir.path, 'data');
  mkdirSync(dataDir);

  // The world outside, which repeats what it is told whenever it refuses.
  const farKey = `${canaries.of('secret: apiKey of far')}-key`;
  const platform = new PlatformFront({
    dir: dir.path,
    shop: { ...ACME, apiKey: farKey },
    agent: {
      answer: ({ text: asked }) =>
        Promise.resolve({ text: `${canaries.of('reply')} to ${asked}`, escalate: false }),
    },
  });
  ends(() => platform.stop());
  await platform.start();
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  const relay = await startMailRelay(RELAY);
  ends(() => relay.close());
  const alertRelay = await startMailRelay(RELAY);
  ends(() => alertRelay.close());
  const hook = await startHook();
  const collector = await startCollector();
  const asked: string[] = [];
  const model = await CompletionsEndpoint.start((question, nth) => {
    const echo = JSON.stringify(question);
    asked.push(echo);
    if (nth === 1) return { status: 500, body: JSON.stringify({ error: { message: echo } }) };
    if (nth === 2) return 'reset';
    return { events: [says(canaries.of(`reply of the model ${nth}`))] };
  });
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const secrets = writeSecretConfig(
    {
      ...{ dataDir, host, ports },
      platformUrl: platform.url,
      twilioUrl: twilio.baseUrl,
      relayPort: relay.port,
      alertRelayPort: alertRelay.port,
      webhookPort: hook.port,
      collectorUrl: collector.url,
      modelUrl: model.baseUrl,
      farKey,
    },
    canaries,
  );
  const script: Record<string, number[]> = {
    'POST /messages/': [500, 0, 200],
    'POST /media/': [500, 0],
  };
  const hated = canaries.of('text that is refused for good');
  platform.gate = (call, response) => {
    const payload = platform.calls.at(-1)?.payload;
    const isHated = JSON.stringify(payload ?? '').includes(hated);
    const status = isHated ? 422 : script[call]?.shift();
    if (status === undefined) return undefined;
    if (status === 0) response.socket?.resetAndDestroy();
    else {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: [payload, farKey], text: `${farKey} ${hated}` }));
    }
    return Promise.resolve('taken');
  };
  relay.answerNext('rcpt', 450);

  const started = {
    configFile: secrets.file,
    host,
    ports,
    env: { NODE_OPTIONS: `--import=${BUG}` },
  };
  const gateway = await GatewayProcess.start(started);
  ends(() => gateway.kill());
  for (const [path, value] of generatedSecrets(dataDir)) {
    canaries.keep(`generated: ${path}`, value);
  }
  const publicUrl = `http://${host}:${ports.http}`;
  const adminUrl = `http://${host}:${ports.admin}`;

  // What people send, whatever becomes of it.
  const door = { host, port: ports.smtp };
  for (let n = 1; n <= 3; n += 1) {
    await sendMail(door, mailTo(FAR_INBOX, `mail ${n}`, canaries));
  }
  for (let n = 1; n <= 2; n += 1) {
    await sendMail(door, mailTo(NEAR_INBOX, `mail ${n} to near`, canaries));
  }
  await sendMail(door, { ...mailTo(FAR_INBOX, 'broken mail', canaries), isBroken: true });
  const refused = mailTo(FAR_INBOX, 'refused mail', canaries);
  await sendMail(door, {
    ...refused,
    raw: refused.raw.replace('On Monday', `${hated}\r\nOn Monday`),
  });
  await nonsense(door, canaries);
  await inbound(publicUrl, secrets.inboundToken, canaries);
  await texts(publicUrl, secrets.authToken, twilio, canaries);
  const chats = await chat(publicUrl, secrets.identitySecret, canaries);
  await console_(adminUrl, secrets.adminPassword, canaries, places);
  await anyPath(publicUrl, canaries);

  await waitFor('the messages', () => platform.messages.length >= 4, 50);
  await waitFor('the answer by email', () => relay.taken.length > 0, 50);
  await waitFor(
    'the answer in the chat',
    () => chats.messages.some(({ from }) => from === 'agent'),
    50,
  );
  await waitFor(
    'a message that is dead',
    async () => /^sluice_[a-z_]*\{[^}]*state="dead"[^}]*\} [1-9]/m.test(await metrics()),
    100,
  );
  await waitFor('alerts', () => hook.bodies.length > 0 && alertRelay.taken.length > 0, 50);
  async function metrics(): Promise<string> {
    return get(`${adminUrl}/metrics`, secrets.adminPassword);
  }

  // The shop's key is refused, with the key in the answer; then the store breaks.
  platform.gate = (_call, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ detail: `not ${farKey}` }));
    return Promise.resolve('taken');
  };
  await sendMail(door, mailTo(FAR_INBOX, 'mail with a refused key', canaries));
  await waitFor('the refusal', () => platform.calls.length > 0, 50);
  for (const path of ['overview', 'history', 'configuration', 'doctor', 'audit', 'session']) {
    places.set(`GET /api/${path}`, await get(`${adminUrl}/api/${path}`, secrets.adminPassword));
  }
  places.set('/healthz', await get(`${publicUrl}/healthz`));
  places.set('/readyz', await get(`${publicUrl}/readyz`));
  await commands(secrets.file, dir.path, canaries, places);

  breakStore(dataDir);
  await sendMail(door, {
    ...mailTo(FAR_INBOX, 'mail into a broken store', canaries),
    mayFail: true,
  });
  await texts(publicUrl, secrets.authToken, twilio, canaries, 'text into a broken store');
  await chats
    .request('message', {
      id: '2f5cdd3a-2e70-4a4e-9c6f-0d6f7c3f6f01',
      text: canaries.of('chat into a broken store'),
    })
    .catch(() => undefined);
  places.set('/metrics', await metrics());

  gateway.signal('SIGUSR2');
  const exit = await gateway.exited;
  expect(exit).not.toEqual({ code: 0, signal: null });
  expect(gateway.output).toContain('"level":"debug"');
  places.set('log', gateway.output);

  // It does not start: on a broken store, then with mistakes beside secrets.
  const again = new GatewayProcess(started);
  ends(() => again.kill());
  await Promise.race([again.exited, again.ready(started).catch(() => undefined)]);
  await again.terminate();
  places.set('log of a start on a broken store', again.output);

  const fresh = join(dir.path, 'fresh');
  mkdirSync(fresh);
  const configFile = join(dir.path, 'fresh.json');
  const config = changed(JSON.parse(readFileSync(secrets.file, 'utf8')), 'dataDir', fresh);
  writeFileSync(configFile, JSON.stringify(config));
  const third = await GatewayProcess.start({ ...started, configFile });
  ends(() => third.kill());
  for (const [path, value] of generatedSecrets(fresh)) canaries.keep(`fresh: ${path}`, value);
  const fatal = mailTo(FAR_INBOX, 'mail that ends a thread', canaries);
  const raw = fatal.raw.replace('On Monday', `${FATAL}\r\nOn Monday`);
  await sendMail(door, { ...fatal, raw, mayFail: true });
  expect(await third.exited).not.toEqual({ code: 0, signal: null });
  places.set('log of a thread that ended', third.output);
  expect(third.output).toContain('gateway.failed');

  places.set('traces', collector.bodies.join('\n'));
  places.set('alerts by webhook', hook.bodies.join('\n'));
  places.set('alerts by email', alertRelay.taken.map(({ raw }) => raw).join('\n'));
  for (const place of ['traces', 'alerts by webhook', 'alerts by email', '/metrics', 'log']) {
    expect(places.get(place)?.length).toBeGreaterThan(100);
  }
  // They were really said: the world has them.
  expect(asked.join()).toContain('zq');

  const found = [...places].flatMap(([place, told]) =>
    canaries.foundIn(told).map((name) => `${name} in ${place}`),
  );
  expect(found).toEqual([]);
  expect(canaries.names.length).toBeGreaterThan(60);
}, 400_000);

const RELAY = {
  disabledCommands: ['STARTTLS'],
  authOptional: true,
  allowInsecureAuth: true,
  onAuth: (_auth: unknown, _session: unknown, done: (error: null, answer: object) => void) =>
    done(null, { user: 'anyone' }),
};

/** A webhook for alerts, which is refused the first time with what was sent. */
async function startHook(): Promise<{ readonly port: number; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await text(request);
      bodies.push(body);
      response.writeHead(bodies.length === 1 ? 500 : 200);
      response.end(`${request.url ?? ''} ${body}`);
    };
    answer().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening TCP server has an AddressInfo.
  return { port: (server.address() as AddressInfo).port, bodies };
}

const says = (content: string): string =>
  JSON.stringify({
    ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }],
  });

/** What the gateway made for itself at the first start. */
function generatedSecrets(dataDir: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  const walk = (path: string, value: unknown): void => {
    if (typeof value === 'string') {
      // The id of a key is meant to be told.
      if (!path.endsWith('.id')) found.push([path, value]);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) walk(`${path}.${key}`, each);
    }
  };
  for (const name of readdirSync(dataDir).filter((each) => /^keys.*\.json$/.test(each))) {
    walk(name, JSON.parse(readFileSync(join(dataDir, name), 'utf8')));
  }
  expect(found.length).toBeGreaterThan(0);
  return found;
}

interface Door {
  readonly host: string;
  readonly port: number;
}

interface Mail {
  readonly from: string;
  readonly to: string;
  readonly helo: string;
  readonly raw: string;
  /** Cut off in the middle of a part. */
  readonly isBroken?: boolean;
  /** It need not be taken. */
  readonly mayFail?: boolean;
}

/** Every field of it is a canary, named after the mail. */
function mailTo(to: string, mail: string, canaries: Canaries): Mail {
  const of = (field: string): string => canaries.of(`${field} of ${mail}`);
  const address = (field: string): string => `${of(field)}@${of(`domain of the ${field}`)}.example`;
  const from = address('From');
  const boundary = of('boundary');
  return {
    from: address('envelope sender'),
    to,
    helo: `${of('HELO')}.example`,
    raw: [
      `Received: from ${of('Received')}.example (203.0.113.7) by mx.other.example; Sun, 22 Nov 2026 01:00:00 +0000`,
      `From: ${of('From name')} <${from}>`,
      `To: ${of('To name')} <${to}>, ${address('another To')}`,
      `Cc: ${of('Cc name')} <${address('Cc')}>`,
      `Reply-To: ${of('Reply-To name')} <${from}>`,
      `Message-ID: <${of('Message-ID')}@${of('domain of the Message-ID')}.example>`,
      `In-Reply-To: <${of('In-Reply-To')}@example.com>`,
      `References: <${of('References')}@example.com>`,
      `Subject: ${of('Subject')}`,
      `X-Customer: ${of('X-Customer')}`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      '',
    ]
      .concat(parts(boundary, of))
      .join('\r\n'),
  };
}

function parts(boundary: string, of: (field: string) => string): readonly string[] {
  return [
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    of('text'),
    `On Monday ${of('quoted name')} wrote:`,
    `> ${of('quoted text')}`,
    `--${boundary}`,
    `Content-Type: application/pdf; name="${of('name')}.pdf"`,
    `Content-Disposition: attachment; filename="${of('file name')}.pdf"`,
    '',
    `%PDF-1.4 ${of('content of the file')}`,
    `--${boundary}--`,
  ];
}

async function smtp({ host, port }: Door): Promise<SmtpClient> {
  const client = await SmtpClient.connect(port, '127.0.0.1', host);
  ends(() => client.destroy());
  await client.reply();
  return client;
}

async function sendMail(door: Door, mail: Mail): Promise<void> {
  const client = await smtp(door);
  await client.say(`EHLO ${mail.helo}`);
  await client.say(`MAIL FROM:<${mail.from}>`);
  await client.say(`RCPT TO:<${mail.to}>`);
  await client.say('DATA');
  const raw =
    mail.isBroken === true ? mail.raw.slice(0, -120).replace('utf-8', 'no-such') : mail.raw;
  client.send(raw);
  const reply = await client.say('\r\n.');
  if (mail.mayFail !== true) expect(reply).toMatch(/^250/);
  client.destroy();
}

/** Whoever speaks another protocol, to other people, with a password. */
async function nonsense(door: Door, canaries: Canaries): Promise<void> {
  const client = await smtp(door);
  const of = (name: string): string => canaries.of(`${name} of a refused session`);
  const password = Buffer.from(`\0${of('user')}\0${of('password')}`).toString('base64');
  for (const line of [
    `EHLO ${of('HELO')}`,
    `AUTH PLAIN ${password}`,
    `VRFY ${of('VRFY')}`,
    `X${of('command')} ${of('argument')}`,
    `MAIL FROM:<${of('sender')}@example.com> BODY=${of('parameter')}`,
    `MAIL FROM:<${of('second sender')}@example.com>`,
    `RCPT TO:<${of('unknown recipient')}@far.example>`,
    `RCPT TO:<${of('recipient elsewhere')}@${of('elsewhere')}.example>`,
    `RCPT TO:<${of('broken recipient')}`,
    `DATA ${of('data')}`,
  ]) {
    await client.say(line);
  }
  client.reset();
}

/** `POST /email/inbound`, with and without its token. */
async function inbound(url: string, token: string, canaries: Canaries): Promise<void> {
  const mail = mailTo(FAR_INBOX, 'mail over HTTP', canaries);
  const wrong = canaries.of('wrong inbound token');
  const to = encodeURIComponent(FAR_INBOX);
  const from = encodeURIComponent(mail.from);
  for (const [bearer, query] of [
    [token, `from=${from}&to=${to}`],
    [token, `from=${from}&to=${canaries.of('unknown recipient over HTTP')}%40far.example`],
    [token, `from=${canaries.of('no address over HTTP')}&to=${to}`],
    [wrong, `from=${from}&to=${to}`],
  ]) {
    const answer = await fetch(`${url}/email/inbound?${query ?? ''}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer ?? ''}`, 'content-type': 'message/rfc822' },
      body: mail.raw,
    });
    await answer.text();
  }
}

/** Texts with pictures that cannot be had at first, and webhooks of somebody else. */
async function texts(
  url: string,
  token: string,
  twilio: Awaited<ReturnType<typeof startTwilioStandIn>>,
  canaries: Canaries,
  name = 'text',
): Promise<void> {
  const of = (field: string): string => canaries.of(`${field} of ${name}`);
  const MessageSid = sidOf(name, 'MM');
  const picture = mediaPath(MessageSid, mediaSid(1));
  twilio.script(picture, { status: 500, body: of('error of the media') }, 'reset', {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: of('media'),
  });
  const post = async (
    changes: Readonly<Record<string, string>>,
    { signature, query = '' }: { signature?: string; query?: string } = {},
  ): Promise<void> => {
    const pairs = inboundForm({ MessageSid, ...changes });
    await postWebhook({
      target: `${url}/sms/twilio${query}`,
      body: encodeForm(pairs),
      signature:
        signature ??
        getExpectedTwilioSignature(token, `${PUBLIC_URL}/sms/twilio`, Object.fromEntries(pairs)),
    });
  };
  const person = { From: canaries.number(`From of ${name}`), ProfileName: of('ProfileName') };
  await post({
    ...person,
    Body: of('Body'),
    FromCity: of('FromCity'),
    NumMedia: '1',
    MediaUrl0: `${twilio.baseUrl}${picture}`,
    MediaContentType0: 'text/plain',
  });
  await post({ ...person, Body: of('Body with a bad signature') }, { signature: of('signature') });
  await post({ ...person, Body: of('Body to another'), To: canaries.number(`To of ${name}`) });
  await post({ ...person, Body: of('Body with a query') }, { query: `?bodySHA256=${of('query')}` });
  await postWebhook({
    target: `${url}/sms/twilio`,
    body: `{"Body": "${of('JSON')}"`,
    signature: 'x',
  });
}

/** Visitors: known, unknown, refused. @returns the one who stays */
async function chat(url: string, secret: string, canaries: Canaries): Promise<ChatClient> {
  const of = (field: string): string => canaries.of(`${field} of the chat`);
  const identity = async (key: string, who: string): Promise<string> => {
    const jwt = await new SignJWT({
      name: of(`name ${who}`),
      email: `${of(`email ${who}`)}@example.com`,
    })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(of(`sub ${who}`))
      .setAudience(CHAT_KEY)
      .setExpirationTime('10m')
      .sign(new TextEncoder().encode(key));
    return canaries.keep(`JWT ${who}`, jwt);
  };
  const connect = (auth: Record<string, unknown>, origin?: string): Promise<ChatClient> =>
    ChatClient.connect({ url, auth: { key: CHAT_KEY, ...auth }, ...(origin && { origin }) });
  await expect(connect({ key: of('wrong key') })).rejects.toThrow();
  await expect(connect({ identity: await identity('x'.repeat(40), 'refused') })).rejects.toThrow();
  await expect(connect({}, `https://${of('origin')}.example`)).rejects.toThrow();

  const near = await ChatClient.connect({
    url,
    auth: { key: NEAR_KEY, token: of('token that is none') },
  });
  ends(() => near.close());
  await near.send(of('words to near'));

  const client = await connect({ identity: await identity(secret, 'verified') });
  ends(() => client.close());
  canaries.keep('visitor token', client.session.token);
  canaries.keep('visitor token of near', near.session.token);
  await client.profile({ name: of('claimed name'), email: `${of('claimed email')}@example.com` });
  const picture = await client.upload({
    name: `${of('file name')}.pdf`,
    bytes: Buffer.from(`%PDF-1.4 ${of('content of the file')}`),
  });
  const { id } = (await picture.json()) as { id: string };
  await client.upload({
    name: `${of('refused file')}.svg`,
    bytes: Buffer.from(`<svg>${of('content of the refused file')}</svg>`),
  });
  await client.upload({ name: 'a.pdf', bytes: Buffer.from('%PDF') }, of('wrong upload token'));
  await client.send(of('words'), { uploads: [id] });
  await client.request('message', { id: of('id that is none'), text: of('words with a bad id') });
  await client.request('message', {
    id: sidOf('x'),
    text: { $ne: of('object in place of words') },
  });
  await client.request(`x${of('event')}`, of('argument')).catch(() => undefined);
  return client;
}

/** Whoever signs in, or tries to; and looks for people. */
async function console_(
  url: string,
  password: string,
  canaries: Canaries,
  places: Places,
): Promise<void> {
  const of = (field: string): string => canaries.of(`${field} at the console`);
  const login = (body: object): Promise<Response> =>
    fetch(`${url}/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sluice-console': '1', origin: url },
      body: JSON.stringify(body),
    });
  places.set('a refused login', await (await login({ password: of('wrong password') })).text());
  await login({ operator: of('unknown operator'), password: of('his password') });
  await login({ password: { [of('field')]: 1 } });
  const session = await login({ password });
  const cookie = session.headers.get('set-cookie') ?? '';
  canaries.keep('session cookie', /=([^;]+)/.exec(cookie)?.[1] ?? '');
  for (const path of [
    `/api/entries?text=${of('search')}`,
    `/api/entries?shop=${of('shop')}`,
    `/api/entries/${of('id')}`,
    `/api/platform/far/contacts?email=${of('address')}%40example.com`,
    `/api/platform/${of('platform shop')}/tickets`,
    `/api/${of('path')}`,
    `/${of('page')}`,
  ]) {
    await (await fetch(url + path, { headers: { authorization: `Bearer ${password}` } })).text();
  }
  await (
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${of('bearer')}` } })
  ).text();
}

/** Whoever asks the public port for something else, with everything that is not HTTP. */
async function anyPath(url: string, canaries: Canaries): Promise<void> {
  const of = (field: string): string => canaries.of(`${field} at the public port`);
  await (await fetch(`${url}/${of('path')}?q=${of('query')}`)).text();
  await (await fetch(`${url}/chat/?EIO=4&transport=polling&sid=${of('sid')}`)).text();
  await (
    await fetch(`${url}/chat/uploads/${of('upload')}?token=${of('token of an upload')}`)
  ).text();
  const broken = httpRequest(`${url}/`, {
    headers: { 'x-header': of('header'), 'content-length': '5' },
  });
  broken.on('error', () => undefined);
  broken.end('abcde');
  await once(broken, 'response').then(
    ([response]) => void (response as NodeJS.ReadableStream).resume(),
    () => undefined,
  );
}

const get = async (url: string, password = ''): Promise<string> => {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${password}` } });
  return answer.text();
};

/** What the terminal tells, with the configuration as it is and with mistakes beside its secrets. */
async function commands(
  file: string,
  dir: string,
  canaries: Canaries,
  places: Places,
): Promise<void> {
  const told = ({ stdout, stderr }: Told): string => `${stdout}\n${stderr}`;
  const run = async (name: string, args: readonly string[], config = file): Promise<void> => {
    places.set(name, told(await sluice([...args, '--config', config])));
  };
  await run('config check', ['config', 'check']);
  await run('doctor', ['doctor']);
  await run('doctor --json', ['doctor', '--json']);
  await run('alerts test', ['alerts', 'test']);
  await run('queue stats', ['queue', 'stats']);
  await run('audit', ['audit']);

  const of = (name: string): string => canaries.of(`mistaken ${name}`);
  const mistakes: Readonly<Record<string, readonly [path: string, value: unknown]>> = {
    'a key that is unknown': ['unknown', of('value of a key')],
    'a webhook that is no URL': ['alerts.webhook.url', `hppt//${of('webhook')}`],
    'a relay without a host': ['alerts.email.relay', `smtp://u:${of('relay')}@`],
    'a header without a colon': ['tracing.headers', [of('header')]],
    'a list for a password': ['admin.password', [of('password in a list')]],
    'a short token': ['shops.0.email.inboundTokens', [of('token').slice(0, 12)]],
    'a line break in a key': ['shops.0.apiKey', `${of('apiKey')}\n\nx`],
    'an object for a secret': ['shops.0.chat.identitySecrets', { a: of('identity secret') }],
    'a secret that is not set': ['shops.0.apiKey', `\${NOT_SET}${of('beside')}`],
    'a hash that is none': ['admin.password', `$scrypt$ln=99$${of('hash')}`],
    'a URL with a password': ['shops.0.platformUrl', `http://u:${of('URL')}@127.0.0.1`],
    'an endpoint with a password': ['tracing.endpoint', `http://u:${of('endpoint')}@127.0.0.1`],
  };
  for (const [name, [path, value]] of Object.entries(mistakes)) {
    const mistaken = join(dir, 'mistaken.json');
    writeFileSync(
      mistaken,
      JSON.stringify(changed(JSON.parse(readFileSync(file, 'utf8')), path, value)),
    );
    await run(`a start with ${name}`, [], mistaken);
    expect(places.get(`a start with ${name}`)).not.toContain('ready');
  }
  const cut = join(dir, 'cut.json');
  writeFileSync(cut, readFileSync(file, 'utf8').slice(0, 900));
  await run('config check of half a file', ['config', 'check'], cut);
}

/** The same with another value at a path: `shops.0.apiKey`. */
function changed(config: unknown, path: string, value: unknown): unknown {
  const [, key = '', rest] = /^([^.]+)(?:\.(.+))?$/.exec(path) ?? [];
  // Of JSON: an object or a list, which has numbers for keys.
  const inside = config as Readonly<Record<string, unknown>>;
  const next = rest === undefined ? value : changed(inside[key], rest, value);
  if (Array.isArray(config)) return config.with(Number(key), next) as unknown[];
  return { ...inside, [key]: next };
}

/** From now on nothing can be written: the tables have other names. */
function breakStore(dataDir: string): void {
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.db') || name.includes('platform')) continue;
    const db = new Database(join(dataDir, name));
    try {
      const tables = db
        .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'`)
        .pluck()
        .all() as string[];
      for (const table of tables.filter((each) =>
        /^(entries|raws?|chat|visitors|lines)/.test(each),
      )) {
        db.exec(`ALTER TABLE "${table}" RENAME TO "broken_${table}"`);
      }
    } finally {
      db.close();
    }
  }
}
