import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../../src/channels/email/stored.ts';
import { type DoorChange, type EmailDoor, MESSAGE, openDoor } from '../../support/email-door.ts';
import type { SmtpClient } from '../../support/smtp-client.ts';
import { converse } from '../../support/smtp-client.ts';
import { waitFor } from '../../support/wait-for.ts';

let door: EmailDoor | undefined;
const open = async (change?: DoorChange): Promise<EmailDoor> => (door = await openDoor(change));

afterEach(async () => {
  await door?.close();
  door = undefined;
});

describe('STARTTLS', () => {
  test('takes a message over TLS and says so in the trace', async () => {
    const at = await open();
    const client = await at.greeted();
    await client.say('EHLO client.example');
    expect(await client.say('STARTTLS')).toMatch(/^220 /);
    await client.startTls();
    await converse(
      client,
      `c: MAIL FROM:<ann@example.com>
       s: 503
       c: EHLO client.example
       s: 250
       c: MAIL FROM:<ann@example.com>
       s: 250
       c: RCPT TO:<support@acme.example>
       s: 250
       c: DATA
       s: 354
       c: Subject: Secret
       c: .
       s: 250 2.0.0`,
    );
    client.destroy();
    const [entry] = await at.entries();
    const meta = parseEmailMeta(entry?.meta ?? {});
    expect(meta.tls).toMatch(/^TLSv1\.[23] /);
    expect(meta.receivedHeader).toContain(' with ESMTPS id ');
  });

  test('is not offered again inside TLS', async () => {
    const at = await open();
    const client = await at.greeted();
    await client.say('EHLO client.example');
    await client.say('STARTTLS');
    await client.startTls();
    expect(await client.say('EHLO client.example')).not.toContain('STARTTLS');
    expect(await client.say('STARTTLS')).toMatch(/^503 /);
    client.destroy();
  });

  test('a handshake that fails ends that session only', async () => {
    const at = await open();
    const client = await at.greeted();
    await client.say('EHLO client.example');
    await client.say('STARTTLS');
    client.send('this is no handshake\r\n'.repeat(50));
    await client.closed;
    expect(await at.deliver(MESSAGE)).toMatch(/^250 /);
  });
});

describe('pipelining', () => {
  test('a whole transaction in one packet is answered in order', async () => {
    const at = await open();
    const client = await at.greeted();
    client.send(
      'EHLO client.example\r\nMAIL FROM:<ann@example.com>\r\nRCPT TO:<nobody@acme.example>\r\n' +
        'RCPT TO:<support@acme.example>\r\nDATA\r\nSubject: x\r\n\r\nHi\r\n.\r\nNOOP\r\nQUIT\r\n',
    );
    const replies = [];
    for (let count = 0; count < 8; count += 1) replies.push((await client.reply()).slice(0, 3));
    expect(replies).toEqual(['250', '250', '550', '250', '354', '250', '250', '221']);
    await client.closed;
    expect(await at.entries()).toHaveLength(1);
  });
});

describe('a client that misbehaves', () => {
  test.each<[string, string, (client: SmtpClient) => void]>([
    ['leaves during a small message', 'Hi\r\n', (client) => client.end()],
    ['resets during a small message', 'Hi\r\n', (client) => client.reset()],
    ['leaves during a large message', 'x'.repeat(98).concat('\r\n').repeat(20_000), (c) => c.end()],
    [
      'resets during a large message',
      'x'.repeat(98).concat('\r\n').repeat(20_000),
      (c) => c.reset(),
    ],
    ['leaves right before the final dot', `Hi\r\n.`, (client) => client.end()],
  ])('%s: no entry and no file', async (_, part, leave) => {
    const at = await open();
    const client = await at.greeted();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    client.send(`${MESSAGE}\r\n`);
    client.send(part);
    const drained = new Promise((resolve) => client.socket.write('', resolve));
    await drained;
    leave(client);
    await waitFor('the transfer to be given up', () =>
      at.lines.some(({ event }) => event === 'smtp.vanished'),
    );
    await waitFor('no file', () => at.files().length === 0);
    expect(await at.entries()).toHaveLength(0);
    expect(await at.deliver(MESSAGE)).toMatch(/^250 /);
  });

  test('is cut off when it sends more than twice the limit', async () => {
    const at = await open({ maxMessageBytes: 100_000 });
    const client = await at.greeted();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    const chunk = 'x'.repeat(998).concat('\r\n').repeat(10);
    for (let sent = 0; sent < 30; sent += 1) client.send(chunk);
    expect(await client.reply()).toBe('');
    await client.closed;
    await waitFor('no file', () => at.files().length === 0);
    expect(await at.entries()).toHaveLength(0);
  });

  test('is told 552 at the end when it sends more than the limit', async () => {
    const at = await open({ maxMessageBytes: 100_000 });
    const answer = await at.deliver('x'.repeat(998).concat('\r\n').repeat(150));
    expect(answer).toMatch(/^552 5\.3\.4 /);
    expect(at.files()).toEqual([]);
  });

  test('talks before the greeting', async () => {
    const at = await open();
    const marker = join(at.dataDir, 'has-spoken');
    const early = spawn('bash', [
      '-c',
      `exec 3<>/dev/tcp/127.0.0.1/${String(at.port)}; printf 'EHLO early.example\\r\\n' >&3; ` +
        `touch ${marker}; cat <&3`,
    ]);
    const replies = text(early.stdout);
    // Nothing else runs meanwhile: the kernel takes the connection and its bytes.
    while (!existsSync(marker));
    expect(await replies).toMatch(/^421 4\.7\.0 /);
  });

  test('cannot have more connections than one client may', async () => {
    const at = await open({ maxConnectionsPerIp: 2, trustedRelays: [] });
    const first = await at.greeted();
    const second = await at.greeted();
    const third = await at.connect();
    expect(await third.reply()).toMatch(/^421 4\.7\.0 /);
    await third.closed;
    second.destroy();
    await waitFor('room', async () => {
      const next = await at.connect();
      const greeting = await next.reply();
      next.destroy();
      return greeting.startsWith('220');
    });
    first.destroy();
  });
});

describe('the PROXY protocol', () => {
  test.each([
    ['TCP4 192.0.2.7 192.0.2.1', '192.0.2.7'],
    ['TCP6 ::ffff:192.0.2.7 ::1', '192.0.2.7'],
    ['TCP6 ::ffff:c000:207 ::1', '192.0.2.7'],
    ['TCP6 2001:DB8:0::7 ::1', '2001:db8::7'],
  ])('gives the client of a listed proxy its own address: %s', async (ends, address) => {
    const at = await open({ proxyProtocol: ['127.0.0.1'], trustedRelays: [] });
    const client = await at.connect();
    client.send(`PROXY ${ends} 4000 25\r\n`);
    await client.reply();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    expect(await client.say('Subject: x\r\n\r\n.')).toMatch(/^250 /);
    client.destroy();
    const [entry] = await at.entries();
    expect(parseEmailMeta(entry?.meta ?? {}).remoteAddress).toBe(address);
  });

  test('is not believed from anybody else', async () => {
    const at = await open({ proxyProtocol: ['192.0.2.99'] });
    const client = await at.greeted();
    expect(await client.say('PROXY TCP4 192.0.2.7 192.0.2.1 4000 25')).toMatch(/^500 /);
    client.destroy();
  });
});

describe('stopping', () => {
  test('ends idle sessions with 421 and takes no new ones', async () => {
    const at = await open();
    const idle = await at.greeted();
    const stopped = at.stop(5000);
    expect(await idle.reply()).toMatch(/^421 4\.3\.2 /);
    idle.end();
    await stopped;
    await expect(at.connect()).rejects.toThrow();
  });

  test('lets a message in DATA finish, then ends its session', async () => {
    const at = await open();
    const client = await at.greeted();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    client.send(`${MESSAGE}\r\n`);
    const stopped = at.stop(10_000);
    const answer = await client.say('.');
    expect(answer).toMatch(/^250 /);
    expect(await client.reply()).toMatch(/^421 4\.3\.2 /);
    client.end();
    await stopped;
    expect(await at.entries()).toHaveLength(1);
  });

  test('cuts off a message that does not finish within the grace', async () => {
    const at = await open();
    const client = await at.greeted();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    client.send(`${MESSAGE}\r\n`);
    await at.stop(50);
    await client.closed;
    expect(await at.entries()).toHaveLength(0);
    await waitFor('no file', () => at.files().length === 0);
  });

  test('in the middle of TLS handshakes', async () => {
    const at = await open();
    const clients = await Promise.all([1, 2, 3].map(() => at.greeted()));
    for (const client of clients) {
      await client.say('EHLO client.example');
      await client.say('STARTTLS');
    }
    await at.stop(50);
    await Promise.all(clients.map(({ closed }) => closed));
  });
});

describe('starting', () => {
  test('on a port that is taken is refused, and stopping is still possible', async () => {
    const at = await open();
    await expect(openDoor({ port: at.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(await at.deliver(MESSAGE)).toMatch(/^250 /);
  });
});

test('many sessions at once are all acknowledged and all stored', async () => {
  const at = await open({ maxConnectionsPerIp: 1000 });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => at.deliver(`${MESSAGE} ${String(n)}`)),
  );
  expect(answers.every((answer) => answer.startsWith('250 '))).toBe(true);
  expect(await at.entries()).toHaveLength(60);
});

const SWAKS = '/usr/bin/swaks';
if (!existsSync(SWAKS)) {
  process.stderr.write('\n!! SKIPPED: swaks is not installed (npm test says how)\n');
}
(existsSync(SWAKS) ? test : test.skip).each([
  ['with STARTTLS', ['--tls'], /^TLSv1\.[23] /],
  ['in the clear', [], false],
] as const)('swaks delivers %s', async (_, options, tls) => {
  const at = await open();
  const { stdout } = await promisify(execFile)(SWAKS, [
    ...['--server', '127.0.0.1', '--port', String(at.port), ...options],
    ...['--from', 'ann@example.com', '--to', 'support@acme.example'],
  ]);
  expect(stdout).toContain('250 2.0.0 Ok: queued as');
  const [entry, ...others] = await at.entries();
  expect(others).toEqual([]);
  const meta = parseEmailMeta(entry?.meta ?? {});
  if (tls === false) expect(meta.tls).toBe(false);
  else expect(meta.tls).toMatch(tls);
});
