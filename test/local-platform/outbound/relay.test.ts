import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import {
  type Attempt,
  type OutgoingReply,
  SendFailed,
} from '../../../src/local-platform/outbound/outbound.ts';
import { Relay } from '../../../src/local-platform/outbound/email.ts';
import type { RelayOptions } from '../../../src/runtime/relay-transport.ts';
import { ends } from '../../support/ends.ts';
import { type MailRelay, type RelayStage, startMailRelay } from '../../support/mail-relay.ts';

const PASSWORD = 'of-the-relay';
const REPLY: OutgoingReply = {
  id: '7b0c8a52-4be4-4a0e-9d0a-6d1c2b3a4f55',
  shop: 'shop',
  content: 'Hello **Ann**,\n\nsee [returns](https://acme.example/returns).',
  format: 'MARKDOWN',
  from: 'support@acme.example',
  fromName: 'Acme Shoes',
  to: 'ann@example.com',
  toName: 'Ann "A" Lee',
  at: new Date('2026-04-21T09:30:00Z'),
  email: {
    messageId: '<7b0c8a52@acme.example>',
    subject: 'Re: Grüße',
    inReplyTo: '<q@example.com>',
    references: ['<a@example.com>', '<q@example.com>'],
  },
};
const ATTEMPT: Attempt = {
  unsureSince: undefined,
  partsSent: 0,
  partSent: () => Promise.resolve(),
  isKnown: () => false,
  signal: new AbortController().signal,
};
const TIMEOUTS = { connectMs: 5000, greetingMs: 300, silenceMs: 300, totalMs: 5000 };

function relayTo(port: number, options: Partial<RelayOptions> = {}): Relay {
  const relay = new Relay({ host: '127.0.0.1', port, implicitTls: false, tls: 'auto', ...options });
  ends(() => relay.close());
  return relay;
}

async function aRelay(options: Parameters<typeof startMailRelay>[0] = {}): Promise<MailRelay> {
  const relay = await startMailRelay(options);
  ends(() => relay.close());
  return relay;
}

/** A TCP server that does not speak SMTP. */
async function listener(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A listening TCP server has an address of this kind.
  return (server.address() as AddressInfo).port;
}

async function failureOf(relay: Relay, attempt = ATTEMPT): Promise<SendFailed> {
  const error: unknown = await relay.send(REPLY, attempt).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof SendFailed) return error;
  throw new Error('it did not fail as expected', { cause: error });
}

const withPassword = { user: 'acme', password: PASSWORD } as const;

async function certificate() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  return { key, cert };
}

test('a reply is sent as an email with text, HTML and threading headers', async () => {
  const server = await aRelay();
  await relayTo(server.port).send(REPLY, ATTEMPT);
  const [{ from, to, mail, raw } = { mail: undefined }] = server.taken;
  expect({ from, to }).toEqual({ from: 'support@acme.example', to: ['ann@example.com'] });
  expect(mail).toMatchObject({
    subject: 'Re: Grüße',
    messageId: '<7b0c8a52@acme.example>',
    inReplyTo: '<q@example.com>',
    references: ['<a@example.com>', '<q@example.com>'],
    date: REPLY.at,
    from: { value: [{ name: 'Acme Shoes', address: 'support@acme.example' }] },
    to: { value: [{ name: 'Ann "A" Lee', address: 'ann@example.com' }] },
    text: expect.stringMatching(
      /^Hello Ann,\n\nsee returns \(https:\/\/acme\.example\/returns\)\.\s*$/,
    ),
    html: expect.stringContaining('<a href="https://acme.example/returns">returns</a>'),
  });
  expect(mail?.headers.get('auto-submitted')).toBe('auto-replied');
  expect(mail?.headers.get('x-auto-response-suppress')).toBe('All');
  expect(raw).toMatch(/^Content-Type: multipart\/alternative/m);
});

test('the same reply is the same message at each attempt', async () => {
  const server = await aRelay();
  const relay = relayTo(server.port);
  await relay.send(REPLY, ATTEMPT);
  await relay.send(REPLY, ATTEMPT);
  const [first, second] = server.taken.map(({ mail }) => [mail.messageId, mail.date, mail.text]);
  expect(first).toEqual(second);
});

test('names and subjects cannot inject headers', async () => {
  const server = await aRelay();
  const toName = 'Ann\r\nBcc: all@example.com\u0007 "x" <eve@example.com>';
  await relayTo(server.port).send({ ...REPLY, toName, fromName: 'Acme, "Shoes"' }, ATTEMPT);
  const [{ to, mail } = { mail: undefined }] = server.taken;
  expect(to).toEqual(['ann@example.com']);
  expect(mail?.headers.has('bcc')).toBe(false);
  expect(mail?.to).toMatchObject({ value: [{ address: 'ann@example.com' }] });
  expect(mail?.from).toMatchObject({ value: [{ name: 'Acme, "Shoes"' }] });
});

test.each([
  ['goes out by SMTPUTF8 (RFC 6531)', 'jörg@bücher.example', true],
  ['with an ASCII local part needs no SMTPUTF8', 'joerg@bücher.example', false],
])('an address that is not ASCII %s', async (_title, to, smtpUtf8) => {
  const server = await aRelay();
  await relayTo(server.port).send({ ...REPLY, to }, ATTEMPT);
  // The server shows domains in Unicode, however they came.
  expect(server.taken).toMatchObject([{ to: [to], smtpUtf8 }]);
});

test('a plain text has no HTML part', async () => {
  const server = await aRelay();
  await relayTo(server.port).send({ ...REPLY, format: 'TEXT', content: 'a *b* <c>' }, ATTEMPT);
  expect(server.taken[0]?.mail).toMatchObject({ text: 'a *b* <c>\n', html: false });
});

describe('the relay’s answers', () => {
  test.each<[RelayStage, number, 'transient' | 'permanent']>([
    ['connect', 421, 'transient'],
    ['connect', 554, 'transient'],
    ['mail', 451, 'transient'],
    ['mail', 550, 'permanent'],
    ['mail', 530, 'transient'],
    ['rcpt', 450, 'transient'],
    ['rcpt', 421, 'transient'],
    ['rcpt', 503, 'transient'],
    ['rcpt', 550, 'permanent'],
    ['data', 421, 'transient'],
    ['data', 554, 'permanent'],
  ])('at %s: %d is %s', async (stage, code, kind) => {
    const server = await aRelay();
    server.answerNext(stage, code);
    const failure = await failureOf(relayTo(server.port));
    expect(failure).toMatchObject({ kind, code: String(code) });
    expect(inspect(failure)).not.toMatch(/ann@|not now/);
    expect(server.taken).toEqual([]);
  });

  test.each<RelayStage>(['connect', 'mail', 'rcpt', 'data'])(
    'a connection that is dropped at %s is transient',
    async (stage) => {
      const server = await aRelay();
      server.answerNext(stage, 'drop');
      expect(await failureOf(relayTo(server.port))).toMatchObject({ kind: 'transient' });
    },
  );
});

describe('no relay', () => {
  test('nobody listens', async () => {
    // The discard port.
    expect(await failureOf(relayTo(9))).toMatchObject({ kind: 'transient', code: 'ESOCKET' });
  });

  test('no such host', async () => {
    const relay = relayTo(25, { host: 'relay.invalid', timeouts: TIMEOUTS });
    expect(await failureOf(relay)).toMatchObject({ kind: 'transient' });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['stops after its greeting', (socket) => void socket.write('220 mx ESMTP\r\n')],
    ['speaks another language', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes at once', (socket) => void socket.end()],
  ])('a server that %s', async (_title, serve) => {
    const relay = relayTo(await listener(serve), { timeouts: TIMEOUTS });
    expect(await failureOf(relay)).toMatchObject({ kind: 'transient' });
  });

  test('a server that never stops sending is disconnected', async () => {
    const port = await listener((socket) => {
      const drip = setInterval(() => socket.write('220-still\r\n'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    const relay = relayTo(port, { timeouts: { ...TIMEOUTS, greetingMs: 60_000, totalMs: 400 } });
    expect(await failureOf(relay)).toMatchObject({ kind: 'transient', code: 'EABORT' });
  });

  test('the program ends', async () => {
    const stop = new AbortController();
    const relay = relayTo(await listener(() => stop.abort()));
    const failure = await failureOf(relay, { ...ATTEMPT, signal: stop.signal });
    expect(failure).toMatchObject({ kind: 'transient', code: 'EABORT' });
  });
});

describe('TLS and passwords', () => {
  const withTls = async (more: object = {}) => {
    const seen: string[] = [];
    const server = await aRelay({
      ...(await certificate()),
      disabledCommands: [],
      authOptional: true,
      allowInsecureAuth: true,
      onAuth: ({ username = '', password = '' }, session, done) => {
        seen.push(`${username}:${password}:${session.secure ? 'tls' : 'clear'}`);
        if (password === PASSWORD) done(null, { user: username });
        else done(Object.assign(new Error('no'), { responseCode: 535 }));
      },
      ...more,
    });
    return { server, seen };
  };

  test('on this machine, STARTTLS is used with any certificate', async () => {
    const { server, seen } = await withTls();
    await relayTo(server.port, withPassword).send(REPLY, ATTEMPT);
    expect(seen).toEqual([`acme:${PASSWORD}:tls`]);
    expect(server.taken[0]?.raw).toContain('Subject:');
  });

  test('an untrusted certificate is refused where TLS is required', async () => {
    const { server, seen } = await withTls();
    const relay = relayTo(server.port, { ...withPassword, tls: 'required' });
    expect(await failureOf(relay)).toMatchObject({ kind: 'transient' });
    expect(seen).toEqual([]);
  });

  test("a private authority's certificate is accepted with its CA", async () => {
    const pair = await certificate();
    const { server, seen } = await withTls(pair);
    const options = { ...withPassword, host: 'localhost', tls: 'required', ca: pair.cert } as const;
    await relayTo(server.port, options).send(REPLY, ATTEMPT);
    expect(seen).toEqual([`acme:${PASSWORD}:tls`]);
  });

  test('smtps:// is TLS from the first byte', async () => {
    const pair = await certificate();
    const { server, seen } = await withTls({ ...pair, secure: true });
    const options = { ...withPassword, host: 'localhost', implicitTls: true, ca: pair.cert };
    await relayTo(server.port, options).send(REPLY, ATTEMPT);
    expect(seen).toEqual([`acme:${PASSWORD}:tls`]);
  });

  test('a relay without STARTTLS gets neither the password nor the email where TLS is required', async () => {
    const { server, seen } = await withTls({ disabledCommands: ['STARTTLS'] });
    const relay = relayTo(server.port, { ...withPassword, tls: 'required' });
    expect(await failureOf(relay)).toMatchObject({ kind: 'transient' });
    expect(seen).toEqual([]);
    expect(server.taken).toEqual([]);
  });

  test('off sends in the clear', async () => {
    const { server, seen } = await withTls();
    await relayTo(server.port, { ...withPassword, tls: 'off' }).send(REPLY, ATTEMPT);
    expect(seen).toEqual([`acme:${PASSWORD}:clear`]);
  });

  test('a wrong password is retried, because an operator can fix it, and is not logged', async () => {
    const { server } = await withTls();
    const relay = relayTo(server.port, { user: 'acme', password: 'wrong-one' });
    const failure = await failureOf(relay);
    expect(failure).toMatchObject({ kind: 'transient', code: '535' });
    expect(inspect(failure, { depth: 9 })).not.toContain('wrong-one');
    expect(inspect(relay, { depth: 9, showHidden: true })).not.toContain('wrong-one');
  });
});

test.each(['from', 'to', 'email'] as const)('without %s there is nothing to send', async (part) => {
  const server = await aRelay();
  const relay = relayTo(server.port);
  const sending = relay.send({ ...REPLY, [part]: undefined }, ATTEMPT);
  await expect(sending).rejects.toMatchObject({ kind: 'permanent' });
  expect(server.connections).toBe(0);
});

test.each([
  ['user.@docomo.ne.jp', '"user."@docomo.ne.jp'],
  ['"ann,lee"@example.com', '"ann,lee"@example.com'],
])('a reply to %s has that one recipient', async (to, recipient) => {
  const server = await aRelay();
  await relayTo(server.port).send({ ...REPLY, to }, ATTEMPT);
  expect(server.taken.map((mail) => mail.to)).toEqual([[recipient]]);
});
