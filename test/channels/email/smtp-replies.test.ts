// Longer than usual: one table of dialogues, a row for each reply.
import { Writable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Intake } from '../../../src/intake/intake.ts';
import type { BlobStore } from '../../../src/spool/blobs.ts';
import { SpoolFull, SpoolUnavailable } from '../../../src/spool/errors.ts';
import type { ShopId } from '../../../src/domain/ids.ts';
import { ACME, type DoorChange, type EmailDoor, openDoor } from '../../support/email-door.ts';
import { converse, SmtpClient } from '../../support/smtp-client.ts';

const HELLO = `
  s: 220 mx.acme.example ESMTP
  c: EHLO client.example
  s: 250-mx.acme.example
`;
const ENVELOPE = `${HELLO}
  c: MAIL FROM:<ann@example.com>
  s: 250 2.1.0
  c: RCPT TO:<support@acme.example>
  s: 250 2.1.5
`;
const MESSAGE = `
  c: From: Ann <ann@example.com>
  c: To: support@acme.example
  c: Subject: Hello
  c:
  c: Hi
`;

/** The client of these tests sends a byte for each character. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

interface Case {
  readonly title: string;
  readonly change?: DoorChange;
  readonly script: string;
  readonly closes?: true;
  readonly stored?: number;
}

/** One table, as long as the rules that it checks: every reply of the door, each in a dialogue. */
const cases: readonly Case[] = [
  {
    title: 'a message is taken after it is durable',
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 250 2.0.0 Ok: queued as
      c: QUIT
      s: 221 2.0.0`,
    closes: true,
    stored: 1,
  },
  {
    title: 'MIME that cannot be parsed is taken all the same',
    script: `${ENVELOPE}
      c: DATA
      s: 354
      c: <NUL><NUL>not a header: at all<CR>Content-Type: multipart/mixed; boundary=
      c: .
      s: 250 2.0.0`,
    stored: 1,
  },
  {
    title: 'an empty message is taken too',
    script: `${ENVELOPE}
      c: DATA
      s: 354
      c: .
      s: 250 2.0.0`,
    stored: 1,
  },
  {
    title: 'an unknown recipient of our domain',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      c: RCPT TO:<nobody@acme.example>
      s: 550 5.1.1
      c: DATA
      s: 503 5.5.1`,
  },
  {
    title: 'a domain that is not ours: no open relay',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      c: RCPT TO:<ann@elsewhere.example>
      s: 550 5.7.1
      c: RCPT TO:<ann@elsewhere.example@acme.example>
      s: 501 5.1.3
      c: RCPT TO:<@acme.example:ann@elsewhere.example>
      s: 550 5.7.1
      c: RCPT TO:<ann%elsewhere.example@acme.example>
      s: 550 5.1.1`,
  },
  {
    title: 'addresses that the grammar forbids and that exist',
    script: `${HELLO}
      c: MAIL FROM:<user.@docomo.ne.jp>
      s: 250 2.1.0
      c: RCPT TO:<a..b@help.acme.example>
      s: 250 2.1.5
      c: RCPT TO:<Support+Order-7@ACME.example>
      s: 250 2.1.5
      c: RCPT TO:<postmaster>
      s: 250 2.1.5
      c: RCPT TO:<abuse@other.example>
      s: 250 2.1.5`,
  },
  {
    title: 'a local part in quotes (RFC 5321 §4.1.2)',
    script: `${HELLO}
      c: MAIL FROM:<"a b"@example.org> SIZE=1000
      s: 250 2.1.0
      c: RCPT TO:<"a \\"b\\" @> SIZE=1"@help.acme.example>
      s: 250 2.1.5
      c: RCPT TO:<@relay.example:"a b"@help.acme.example>
      s: 250 2.1.5
      c: RCPT TO:<"support@acme.example"@elsewhere.example>
      s: 550 5.7.1
      c: RCPT TO:<"ann@elsewhere.example"@acme.example>
      s: 550 5.1.1
      c: RSET
      s: 250
      c: MAIL FROM:<${utf8('"jörg b"@example.org')}>
      s: 553 5.6.7
      c: MAIL FROM:<${utf8('"jörg b"@example.org')}> SMTPUTF8
      s: 250 2.1.0`,
  },
  {
    title: 'quotes that hide the end of an address, or of a command',
    script: `${HELLO}
      c: MAIL FROM:<"a b@example.org>
      s: 501 5.1.7
      c: MAIL FROM:<"a" b"@example.org>
      s: 501 5.1.7
      c: MAIL FROM:<"a b\\"@example.org>
      s: 501 5.1.7
      c: MAIL FROM:<"a b"@example.org@example.net>
      s: 501 5.1.7
      c: MAIL FROM:<"a b"@example.org
      s: 501 5.1.7
      c: MAIL FROM:<"a<CR>RCPT TO:<support@acme.example>"@example.org>
      s: 501 5.1.7
      c: MAIL FROM:<"a \\<NUL>"@example.org>
      s: 501 5.1.7
      c: MAIL FROM:<"a ${utf8('\u200b')}"@example.org> SMTPUTF8
      s: 501 5.1.7
      c: MAIL FROM:<"a b"@example.org> SIZE=1 SIZE=2
      s: 501 5.5.4
      c: MAIL FROM:<"a b"@example.org> AUTH=<>
      s: 555 5.5.4`,
  },
  {
    title: 'a size that is declared over the limit',
    change: { maxMessageBytes: 1000 },
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com> SIZE=1001
      s: 552 5.3.4
      c: MAIL FROM:<ann@example.com> SIZE=1000
      s: 250 2.1.0`,
  },
  {
    title: 'a message over the limit',
    change: { maxMessageBytes: 1000 },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: ${'x'.repeat(1000)}
      c: .
      s: 552 5.3.4
      c: NOOP
      s: 250`,
  },
  {
    title: 'more than 100 recipients: the rest is for another transaction',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      ${Array.from({ length: 100 }, (_, n) => `c: RCPT TO:<c${String(n)}@help.acme.example>\ns: 250 2.1.5`).join('\n')}
      ${Array.from({ length: 40 }, (_, n) => `c: RCPT TO:<d${String(n)}@help.acme.example>\ns: 452 4.5.3`).join('\n')}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 250 2.0.0`,
    stored: 1,
  },
  {
    title: 'one recipient named 3,000 times: counted each time',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      ${'c: RCPT TO:<support@acme.example>\ns: 250 2.1.5\n'.repeat(100)}
      ${'c: RCPT TO:<Support@Acme.example>\ns: 452 4.5.3\n'.repeat(1001)}
      c: RCPT TO:<support@acme.example>
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'one recipient named more than 100 times: the message is for it all the same',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      ${'c: RCPT TO:<support@acme.example>\ns: 250 2.1.5\n'.repeat(100)}
      c: RCPT TO:<support@acme.example>
      s: 452 4.5.3
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 250 2.0.0
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      c: RCPT TO:<support@acme.example>
      s: 250 2.1.5`,
    stored: 1,
  },
  {
    title: 'parameters that nobody has offered (RFC 5321 §4.1.1.11)',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com> FOO=bar
      s: 555 5.5.4
      c: MAIL FROM:<ann@example.com> SIZE=10 X-FLAG
      s: 555 5.5.4
      c: MAIL FROM:<ann@example.com> AUTH=<>
      s: 555 5.5.4
      c: MAIL FROM:<ann@example.com> REQUIRETLS
      s: 555 5.5.4
      c: MAIL FROM:<ann@example.com> size=10 body=8bitmime
      s: 250 2.1.0
      c: RCPT TO:<support@acme.example> FOO=bar
      s: 555 5.5.4
      c: RCPT TO:<support@acme.example> SMTPUTF8
      s: 555 5.5.4
      c: RCPT TO:<support@acme.example>
      s: 250 2.1.5`,
  },
  {
    title: 'parameters of DSN, which is not offered either, are passed over',
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com> RET=HDRS ENVID=one
      s: 250 2.1.0
      c: RCPT TO:<support@acme.example> NOTIFY=NEVER ORCPT=rfc822;support@acme.example
      s: 250 2.1.5`,
  },
  {
    title: 'an address in UTF-8 without SMTPUTF8 (RFC 6531 §3.4)',
    script: `${HELLO}
      c: MAIL FROM:<${utf8('jörg@example.com')}>
      s: 553 5.6.7
      c: MAIL FROM:<${utf8('ann@bücher.example')}> BODY=8BITMIME
      s: 553 5.6.7
      c: MAIL FROM:<ann@xn--bcher-kva.example>
      s: 250 2.1.0
      c: RCPT TO:<${utf8('süpport@help.acme.example')}>
      s: 553 5.6.7
      c: RCPT TO:<support@acme.example>
      s: 250 2.1.5
      c: RSET
      s: 250
      c: MAIL FROM:<${utf8('jörg@bücher.example')}> SMTPUTF8
      s: 250 2.1.0
      c: RCPT TO:<${utf8('süpport@help.acme.example')}>
      s: 250 2.1.5`,
  },
  {
    title: 'a message that has been through more than 50 servers',
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${'c: Received: from here by there\n'.repeat(51)}
      ${MESSAGE}
      c: .
      s: 554 5.4.6`,
  },
  {
    title: 'too many errors',
    script: `${HELLO}
      ${'c: RCPT TO:<support@acme.example>\ns: 503 5.5.1\n'.repeat(20)}
      c: NOOP
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'too many unknown commands',
    script: `${HELLO}
      ${'c: XYZZY\ns: 500 5.5.2\n'.repeat(20)}
      c: XYZZY
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'too many commands that lead nowhere',
    script: `${HELLO}
      ${'c: NOOP\ns: 250\nc: RSET\ns: 250\n'.repeat(49)}
      c: NOOP
      s: 250
      c: NOOP
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'a message in between starts the counts anew',
    script: `${HELLO}
      ${`${'c: XYZZY\ns: 500\n'.repeat(19)}
        c: MAIL FROM:<ann@example.com>
        s: 250
        c: RCPT TO:<support@acme.example>
        s: 250
        c: DATA
        s: 354
        ${MESSAGE}
        c: .
        s: 250 2.0.0
      `.repeat(2)}`,
    stored: 1,
  },
  {
    title: 'a command line without an end',
    script: `${HELLO}
      c: ${'x'.repeat(5000)}
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'one sender that begins too many messages',
    change: { messageRate: { messages: 2, perMs: 60_000 }, trustedRelays: [] },
    script: `${HELLO}
      ${'c: MAIL FROM:<ann@example.com>\ns: 250\nc: RSET\ns: 250\n'.repeat(2)}
      c: MAIL FROM:<ann@example.com>
      s: 450 4.7.1`,
  },
  {
    title: 'a trusted relay may begin as many as it likes',
    change: { messageRate: { messages: 2, perMs: 60_000 } },
    script: `${HELLO}
      ${'c: MAIL FROM:<ann@example.com>\ns: 250\nc: RSET\ns: 250\n'.repeat(5)}`,
  },
  {
    title: 'a disk that is short before the message',
    change: {
      parts: ({ intake }) => ({
        intake: { ...intake, assertSpace: () => Promise.reject(new SpoolFull('full')) },
      }),
    },
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 452 4.3.1`,
  },
  {
    title: 'a shop that has its share of the disk, and one that has not',
    change: { parts: ({ intake }) => ({ intake: { ...intake, assertSpace: fullOf(ACME) } }) },
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250
      c: RCPT TO:<support@acme.example>
      s: 452 4.3.1
      c: RCPT TO:<hello@other.example>
      s: 250`,
  },
  {
    title: 'a disk that is full when the message is stored',
    change: { parts: () => ({ intake: failing(new SpoolFull('full')) }) },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 452 4.3.1`,
  },
  {
    title: 'a disk that fills up while a large message comes',
    change: { parts: ({ blobs }) => ({ blobs: fillingUp(blobs) }) },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      ${`c: ${'x'.repeat(900)}\n`.repeat(400)}
      c: .
      s: 452 4.3.1
      c: NOOP
      s: 250`,
  },
  {
    title: 'a spool that is down',
    change: { parts: () => ({ intake: failing(new SpoolUnavailable('fsync')) }) },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 451 4.3.0`,
  },
  {
    title: 'an error that nobody has thought of',
    change: { parts: () => ({ intake: failing(new TypeError('bug')) }) },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 451 4.3.0
      c: NOOP
      s: 250`,
  },
  {
    title: 'a recipient lookup that is down',
    change: {
      parts: ({ directory }) => {
        const down = {
          ...directory,
          route: () => {
            throw new Error('lookup');
          },
          snapshot: () => down,
        };
        return { directory: down };
      },
    },
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250
      c: RCPT TO:<support@acme.example>
      s: 451 4.3.0`,
  },
  {
    title: 'an answer that does not come in time',
    change: {
      answerWithinMs: 50,
      parts: () => ({
        intake: { ...failing(new Error()), accept: () => new Promise(() => undefined) },
      }),
    },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      ${MESSAGE}
      c: .
      s: 451 4.3.0
      c: NOOP
      s: 250`,
  },
  {
    title: 'a client that is idle',
    change: { idleMs: 50 },
    script: `${HELLO}
      s: 421 4.4.2`,
    closes: true,
  },
  {
    title: 'a client that keeps talking and brings no message',
    change: { noMessageMs: 100 },
    script: `${HELLO}
      c: MAIL FROM:<ann@example.com>
      s: 250 2.1.0
      s: 421 4.4.2`,
    closes: true,
  },
  {
    title: 'one client that connects too often',
    change: { connectionRate: { connections: 0, perMs: 60_000 }, trustedRelays: [] },
    script: `
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'one client that has more connections than it may',
    change: { maxConnectionsPerIp: 0, trustedRelays: [] },
    script: `
      s: 421 4.7.0`,
    closes: true,
  },
  {
    title: 'a trusted relay may connect as often as it likes',
    change: { connectionRate: { connections: 0, perMs: 60_000 }, maxConnectionsPerIp: 0 },
    script: HELLO,
  },
  {
    title: 'a client that sends its message too slowly',
    change: { dataPace: { minBytesPerSecond: 500, windowMs: 60, totalMs: 10_000 } },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      c: Subject: x
      s: 421 4.4.2`,
    closes: true,
  },
  {
    title: 'a message that takes too long in all',
    change: { dataPace: { minBytesPerSecond: 0, windowMs: 60, totalMs: 100 } },
    script: `${ENVELOPE}
      c: DATA
      s: 354
      c: Subject: x
      s: 421 4.4.2`,
    closes: true,
  },
  {
    title: 'commands that are switched off',
    script: `${HELLO}
      c: AUTH PLAIN AGFubgBwYXNz
      s: 502 5.5.1
      c: VRFY ann
      s: 502 5.5.1
      c: HELP
      s: 502 5.5.1
      c: XCLIENT ADDR=192.0.2.1
      s: 500 5.5.2
      c: XFORWARD ADDR=192.0.2.1
      s: 500 5.5.2
      c: WIZ please
      s: 500 5.5.2`,
  },
  {
    title: 'a web page that makes a browser talk SMTP',
    script: `
      s: 220
      c: POST / HTTP/1.1
      s: 421 4.7.0`,
    closes: true,
  },
];

describe('the door answers', () => {
  let door: EmailDoor | undefined;

  afterEach(async () => {
    await door?.close();
    door = undefined;
  });

  test.each(cases)('$title', async ({ change, script, closes, stored = 0 }) => {
    door = await openDoor(change);
    const client = await door.connect();
    await converse(client, script);
    if (closes === true) expect(await client.reply()).toBe('');
    client.destroy();
    await client.closed;
    await door.stop();
    expect(await door.entries()).toHaveLength(stored);
  });

  test('more connections in all than there may be', async () => {
    door = await openDoor({ maxConnections: 1 });
    const first = await door.greeted();
    const second = await door.connect();
    expect(await second.reply()).toMatch(/^421 4\.7\.0 /);
    expect(await second.reply()).toBe('');
    expect(await first.say('NOOP')).toMatch(/^250 /);
    first.destroy();
  });

  test('another sender while a trusted relay wants every connection', async () => {
    door = await openDoor({ maxConnections: 8, trustedRelays: ['127.0.0.1'] });
    const relays = [];
    for (let count = 0; count < 8; count += 1) relays.push(await door.connect());
    const greetings = await Promise.all(relays.map((relay) => relay.reply()));
    expect(greetings.map((each) => each.slice(0, 3))).toEqual([
      ...Array<string>(6).fill('220'),
      ...['421', '421'],
    ]);
    const other = await SmtpClient.connect(door.port, '127.0.0.2');
    expect(await other.reply()).toMatch(/^220 /);
    for (const client of [...relays, other]) client.destroy();
  });

  test('a session while the door shuts down', async () => {
    door = await openDoor();
    const client = await door.greeted();
    const stopped = door.stop();
    expect(await client.reply()).toMatch(/^421 4\.3\.2 /);
    expect(await client.reply()).toBe('');
    client.destroy();
    await stopped;
  });

  test('nothing to a client that sends twice the limit: its socket is destroyed', async () => {
    door = await openDoor({ maxMessageBytes: 1000 });
    const client = await door.greeted();
    await client.envelope(['support@acme.example']);
    await client.say('DATA');
    client.send(`${'x'.repeat(998)}\r\n`.repeat(3));
    expect(await client.reply()).toBe('');
    await client.closed;
    expect(await door.entries()).toEqual([]);
  });

  test('EHLO with what it can and nothing that is off', async () => {
    door = await openDoor({ maxMessageBytes: 36_700_160 });
    const client = await door.greeted();
    const features = (await client.say('EHLO client.example'))
      .split('|')
      .map((line) => line.slice(4));
    expect(features).toEqual([
      'mx.acme.example',
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      'STARTTLS',
      'SIZE 36700160',
    ]);
    client.destroy();
  });
});

function failing(error: Error) {
  return {
    assertSpace: () => Promise.resolve(),
    accept: () => Promise.reject(error),
    acceptChat: () => Promise.reject(error),
    entryFor: () => {
      throw error;
    },
  };
}

function fullOf(full: ShopId): Intake['assertSpace'] {
  return (shopIds) =>
    shopIds.includes(full) ? Promise.reject(new SpoolFull('full')) : Promise.resolve();
}

/** Its files fail at the second write, as a full disk does. */
function fillingUp(blobs: BlobStore): BlobStore {
  return {
    read: (blob) => blobs.read(blob),
    isRemote: false,
    scratch: (blob) => blobs.scratch(blob),
    exists: (blob) => blobs.exists(blob),
    remove: (blob) => blobs.remove(blob),
    assertSpace: () => Promise.resolve(),
    writer: () => {
      let writes = 0;
      const writer = new Writable({
        highWaterMark: 1024,
        write: (_chunk, _encoding, done) => {
          writes += 1;
          setImmediate(done, writes < 2 ? null : new SpoolFull('full'));
        },
      });
      return Object.assign(writer, {
        size: 0,
        commit: () => Promise.reject(new SpoolFull('full')),
        abort: () => Promise.resolve(),
      });
    },
  };
}
