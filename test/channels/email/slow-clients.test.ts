import { afterEach, describe, expect, test } from '@jest/globals';
import { type DoorChange, type EmailDoor, MESSAGE, openDoor } from '../../support/email-door.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { waitFor } from '../../support/wait-for.ts';

let door: EmailDoor | undefined;
const clients: SmtpClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await door?.close();
  door = undefined;
});

const open = async (change: DoorChange): Promise<EmailDoor> =>
  (door = await openDoor({ trustedRelays: [], ...change }));

async function from(at: EmailDoor, address: string): Promise<SmtpClient> {
  const client = await SmtpClient.connect(at.port, address);
  clients.push(client);
  return client;
}

/** Sends a message as a stranger's server would, and resolves with the answer to its final dot. */
async function deliverFrom(at: EmailDoor, address: string): Promise<string> {
  const client = await from(at, address);
  const greeting = await client.reply();
  if (!greeting.startsWith('220')) return greeting;
  await client.envelope(['support@acme.example']);
  await client.say('DATA');
  client.send(MESSAGE);
  return client.say('\r\n.');
}

describe('when all connections are taken', () => {
  test('the one that has stood still for the longest gives way to a client that has none', async () => {
    const at = await open({ maxConnections: 3, displaceAfterMs: 0 });
    const taken = [];
    for (const address of ['127.0.1.1', '127.0.1.2', '127.0.1.3']) {
      const client = await from(at, address);
      await client.reply();
      taken.push(client);
    }
    expect(await deliverFrom(at, '127.0.2.1')).toMatch(/^250 2\.0\.0 /);
    expect(await taken[0]?.reply()).toMatch(/^421 4\.7\.0 /);
    await taken[0]?.closed;
    expect(await taken[1]?.say('NOOP')).toMatch(/^250 /);
  });

  test('a message that trickles gives way, one that comes as it should does not', async () => {
    const at = await open({
      maxConnections: 2,
      displaceAfterMs: 0,
      dataPace: { minBytesPerSecond: 10_000, windowMs: 60_000, totalMs: 60_000 },
    });
    const inData = async (address: string): Promise<SmtpClient> => {
      const client = await from(at, address);
      await client.reply();
      await client.envelope(['support@acme.example']);
      await client.say('DATA');
      client.send(`${MESSAGE}\r\n`);
      return client;
    };
    const good = await inData('127.0.1.1');
    good.send('x'.repeat(998).concat('\r\n').repeat(2000));
    const trickling = await inData('127.0.1.2');
    await waitFor('the trickle to be too slow', async () =>
      (await deliverFrom(at, '127.0.2.1')).startsWith('250'),
    );
    expect(await trickling.reply()).toMatch(/^421 4\.7\.0 /);
    expect(await good.say('.')).toMatch(/^250 2\.0\.0 /);
    await waitFor('no file', () => at.files().length === 1);
  });

  test('nobody gives way who has not stood still for long enough', async () => {
    const at = await open({ maxConnections: 1, displaceAfterMs: 60_000 });
    const first = await from(at, '127.0.1.1');
    await first.reply();
    expect(await deliverFrom(at, '127.0.2.1')).toMatch(/^421 4\.7\.0 /);
    expect(await first.say('NOOP')).toMatch(/^250 /);
  });

  test('a trusted relay does not give way', async () => {
    const at = await open({
      maxConnections: 1,
      displaceAfterMs: 0,
      trustedRelays: ['127.0.1.1'],
    });
    const relay = await from(at, '127.0.1.1');
    await relay.reply();
    expect(await deliverFrom(at, '127.0.2.1')).toMatch(/^421 4\.7\.0 /);
    expect(await relay.say('NOOP')).toMatch(/^250 /);
  });
});

describe('a client that never comes to the point is cut off', () => {
  test.each<[string, (client: SmtpClient) => void]>([
    ['one byte of a command after the other', (client) => client.send('N')],
    ['one harmless command after the other', (client) => client.send('NOOP\r\n')],
  ])('%s', async (_, trickle) => {
    const at = await open({ noMessageMs: 150, maxJunkCommands: 1000 });
    const client = await from(at, '127.0.1.1');
    await client.reply();
    const timer = setInterval(() => trickle(client), 10);
    let last = '';
    for (let reply = await client.reply(); reply !== ''; reply = await client.reply()) last = reply;
    clearInterval(timer);
    expect(last).toMatch(/^421 4\.4\.2 /);
    await client.closed;
  });

  test('in the middle of a TLS handshake', async () => {
    const at = await open({ noMessageMs: 600 });
    const client = await from(at, '127.0.1.1');
    await client.reply();
    await client.say('EHLO client.example');
    await client.say('STARTTLS');
    // A handshake record that says it is long, and no more of it.
    client.send(Buffer.from([22, 3, 1, 2, 0, 1]));
    await client.closed;
    expect(await deliverFrom(at, '127.0.1.1')).toMatch(/^250 /);
  });

  test.each<[string, Uint8Array]>([
    ['that never begins', Buffer.alloc(0)],
    ['that never ends', Buffer.from([22, 3, 1, 2, 0, 1])],
  ])('a TLS handshake %s lasts no longer than it may', async (_, begin) => {
    const at = await open({ handshakeMs: 100 });
    const started = performance.now();
    const client = await from(at, '127.0.1.1');
    await client.reply();
    await client.say('EHLO client.example');
    await client.say('STARTTLS');
    client.send(begin);
    await client.closed;
    // A session without a message lasts for 290 s.
    expect(performance.now() - started).toBeLessThan(60_000);
    const refused = at.lines.filter(({ event }) => event === 'smtp.refused');
    expect(refused.map(({ fields }) => fields['reason'])).toEqual(['idle']);
    expect(await deliverFrom(at, '127.0.1.1')).toMatch(/^250 /);
  });

  test('a session that has become a TLS session in time goes on', async () => {
    const at = await open({ handshakeMs: 1000, maxJunkCommands: 1e9 });
    const client = await from(at, '127.0.1.1');
    await client.reply();
    await client.say('EHLO client.example');
    await client.say('STARTTLS');
    await client.startTls();
    const until = performance.now() + 1200;
    while (performance.now() < until) expect(await client.say('NOOP')).toMatch(/^250 /);
  });

  test('not between messages that follow one another', async () => {
    const at = await open({ noMessageMs: 1000 });
    const client = await from(at, '127.0.1.1');
    await client.reply();
    const until = performance.now() + 1500;
    while (performance.now() < until) {
      await client.envelope(['support@acme.example']);
      await client.say('DATA');
      client.send(MESSAGE);
      expect(await client.say('\r\n.')).toMatch(/^250 2\.0\.0 /);
    }
  });
});
