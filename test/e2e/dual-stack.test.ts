import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Server } from 'node:net';
import { expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY, INBOX } from '../support/gateway-config.ts';
import { anEmail } from '../support/gateway-setting.ts';
import { startGateway } from '../support/running-gateway.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { tempDir } from '../support/temp-dir.ts';

interface Listed {
  readonly channel: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

test('the public listeners have the default host ::, the console loopback', () => {
  const loaded = loadConfig({ env: {} });
  expect(loaded).toMatchObject({
    ok: true,
    config: { smtp: { host: '::' }, http: { host: '::' }, admin: { host: '127.0.0.1' } },
  });
});

/** A gateway with the default hosts, and the entries that it has. */
async function dualStack(smtp: Readonly<Record<string, unknown>> = {}, logger?: Logger) {
  const dir = tempDir();
  ends(() => dir.remove());
  const choices = {
    ...{ dataDir: dir.path, paused: true },
    // Undefined is not written, so these are the defaults.
    smtp: { host: undefined, ...smtp },
    http: { host: undefined },
  };
  const gateway = await startGateway(choices, logger);
  ends(() => gateway.stop());
  const entries = async (): Promise<readonly Listed[]> => {
    const terminal = captureTerminal({});
    const events = Object.assign(new EventEmitter(), { exit: () => undefined });
    const config = join(dir.path, 'gateway.json');
    expect(await runCli(['queue', 'list', '--json', '-c', config], terminal, events)).toBe(0);
    return JSON.parse(terminal.stdout()) as Listed[];
  };
  return { ...gateway, entries };
}

async function sendMail(port: number, host: string, id: string, before = ''): Promise<string> {
  const client = await SmtpClient.connect(port, host, host);
  ends(() => client.destroy());
  client.send(before);
  await client.reply();
  await client.envelope([INBOX]);
  await client.say('DATA');
  return await client.say(`${anEmail(id, 'Hello')}\r\n.`);
}

test.each([
  ['127.0.0.1', '127.0.0.1', '[127.0.0.1]'],
  ['::1', '[::1]', '[IPv6:::1]'],
])('mail, texts and chats arrive over %s', async (host, inUrl, literal) => {
  const gateway = await dualStack();
  const url = `http://${inUrl}:${new URL(gateway.httpUrl).port}`;

  expect(await sendMail(gateway.smtpPort, host, 'mail')).toMatch(/^250 /);
  const text = { MessageSid: sidOf('text'), Body: 'Hello' };
  expect((await sendSms(url, text)).status).toBe(200);
  const visitor = await ChatClient.connect({ url, auth: { key: CHAT_KEY } });
  ends(() => visitor.close());
  expect(await visitor.send('Hello')).toMatchObject({ ok: true });

  const entries = await gateway.entries();
  expect(entries.map(({ channel }) => channel).toSorted()).toEqual(['email', 'sms', 'web_chat']);
  const mail = entries.find(({ channel }) => channel === 'email');
  expect(mail?.meta).toMatchObject({
    ...{ remoteAddress: host, trustedRelay: true },
    receivedHeader: expect.stringContaining(`(${literal})`),
  });
});

test.each([
  [['127.0.0.0/8'], true],
  [['::ffff:127.0.0.0/104'], true],
  [['10.0.0.0/8', '::/0'], false],
])('an IPv4 client on :: is a relay of %j: %j', async (trustedRelays, trustedRelay) => {
  const gateway = await dualStack({ trustedRelays });
  expect(await sendMail(gateway.smtpPort, '127.0.0.1', 'mail')).toMatch(/^250 /);
  expect(await gateway.entries()).toMatchObject([{ meta: { trustedRelay } }]);
});

test('an IPv4 proxy is known on ::, and the client of its PROXY header', async () => {
  const gateway = await dualStack({ proxyProtocol: ['127.0.0.1'] });
  const header = 'PROXY TCP4 192.0.2.7 192.0.2.1 4000 25\r\n';
  expect(await sendMail(gateway.smtpPort, '127.0.0.1', 'mail', header)).toMatch(/^250 /);
  expect(await gateway.entries()).toMatchObject([{ meta: { remoteAddress: '192.0.2.7' } }]);
});

test('without IPv6, the gateway listens on IPv4 and says so', async () => {
  const own = Object.getOwnPropertyDescriptor(Server.prototype, 'listen') ?? {};
  const listen = own.value as (...args: unknown[]) => Server;
  ends(() => Object.defineProperty(Server.prototype, 'listen', own));
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    if ((args[0] as { readonly host?: string }).host !== '::') {
      return Reflect.apply(listen, this, args);
    }
    const error = Object.assign(new Error('no IPv6'), { code: 'EAFNOSUPPORT', syscall: 'listen' });
    process.nextTick(() => this.emit('error', error));
    return this;
  };
  const warnings: unknown[] = [];
  const warn: Logger['warn'] = (event, fields) => void warnings.push({ event, ...fields });
  const gateway = await dualStack({}, { ...silentLogger, warn });
  expect(warnings).toEqual(
    expect.arrayContaining([
      { event: 'listen.no_ipv6', door: 'public' },
      { event: 'listen.no_ipv6', door: 'smtp' },
    ]),
  );
  expect(await sendMail(gateway.smtpPort, '127.0.0.1', 'mail')).toMatch(/^250 /);
  expect((await fetch(`${gateway.httpUrl}/healthz`)).status).toBe(200);
});
