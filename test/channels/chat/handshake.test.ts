import { createHmac, generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { VisitorTokens } from '../../../src/channels/chat/recognition.ts';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { type ChatClient, ConnectRefused } from '../../support/chat-client.ts';
import { SHOP } from '../../support/entries.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, otherShop, SECRET, SIGNING_KEYS } from './chat-gateway.ts';

let gateway: ChatGateway;
beforeEach(async () => {
  gateway = await ChatGateway.start({ shops: [aShop(), otherShop()] });
});
afterEach(() => gateway.stop());

const codeOf = (attempt: Promise<unknown>): Promise<string | undefined> =>
  attempt.then(
    () => 'connected',
    (error: unknown) => (error instanceof ConnectRefused ? error.data.code : String(error)),
  );

interface Claims {
  sub?: string;
  aud?: string;
  exp?: number | string;
  email?: string;
  name?: string;
}
const jwt = (
  { exp = '10m', aud = 'demo', sub = 'user-1', ...claims }: Claims = {},
  secret = SECRET,
): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience(aud)
    .setExpirationTime(exp)
    .sign(new TextEncoder().encode(secret));

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

describe('a handshake', () => {
  test.each([
    ['no auth at all', {}, 'unknown_key'],
    ['a key nobody has', { key: 'nobody' }, 'unknown_key'],
    ['a key that is no text', { key: { $ne: null } }, 'unknown_key'],
    ['a key of an object', { key: '__proto__' }, 'unknown_key'],
    ['the key of a shop with other origins', { key: 'other' }, 'origin'],
    ['an identity that is no JWT', { key: 'demo', identity: 'abc' }, 'bad_identity'],
    ['an identity that is no text', { key: 'demo', identity: { name: 'me' } }, 'bad_identity'],
    ['a token that is no text', { key: 'demo', token: 7 }, 'connected'],
    ['a token from nowhere', { key: 'demo', token: 'a.b.c' }, 'connected'],
    ['a number that is none', { key: 'demo', lastSeq: 'many' }, 'connected'],
    ['unknown fields', { key: 'demo', admin: true }, 'connected'],
  ])('with %s', async (_case, auth, code) => {
    expect(await codeOf(gateway.connect({ auth }))).toBe(code);
  });

  test('begins with the session', async () => {
    const { session } = await gateway.connect();
    expect(session).toEqual({
      token: expect.any(String),
      visitorId: expect.stringMatching(/^[0-9a-f]{32}$/),
      lastSeq: 0,
      seenSeq: 0,
      verified: false,
      limits: { text: 8000, files: 10, fileBytes: 25 * 1024 * 1024 },
    });
  });

  test('is one for a connection: more sockets in it are refused', async () => {
    const client = gateway.client({ auth: { key: 'demo' } });
    const packets: string[] = [];
    const manager = client.socket.io;
    manager.on('packet', (packet) => packets.push(String(packet.type)));
    manager.open(() => {
      // Raw CONNECT packets in one burst, before any of them is answered.
      for (let nth = 0; nth < 3; nth += 1) manager.engine.send('0{"key":"demo"}');
    });
    const [connected, refused] = ['0', '4'];
    await waitFor('three answers', () => packets.filter((type) => type === refused).length === 2);
    expect(packets.filter((type) => type === connected)).toHaveLength(1);
    client.close();
  });

  test('that fails again and again on one connection ends it', async () => {
    const client = gateway.client({ auth: { key: 'nobody' } });
    const packets: string[] = [];
    const { manager, closed } = (() => {
      const manager = client.socket.io;
      const closed = new Promise<void>((resolve) => manager.on('close', () => resolve()));
      return { manager, closed };
    })();
    manager.open(() => {
      // The raw CONNECT packet, as a client that does not give up would send it.
      for (let round = 0; round < 10; round += 1) manager.engine.send('0{"key":"nobody"}');
    });
    manager.on('packet', (packet) => packets.push(String(packet.type)));
    await closed;
    expect(packets.length).toBeGreaterThanOrEqual(3);
    expect(await codeOf(gateway.connect())).toBe('connected');
  });
});

describe('an origin', () => {
  test.each([
    ['https://acme.example', 'demo', 'connected'],
    ['http://localhost:8080', 'demo', 'connected'],
    ['https://other.example', 'other', 'connected'],
    // Another shop's page: refused with a word, since the key is known by then.
    ['https://other.example', 'demo', 'origin'],
    ['https://acme.example', 'other', 'origin'],
    // Nobody's page: refused before there is a socket.
    ['https://acme.example.evil.example', 'demo', undefined],
    ['https://evil-acme.example', 'demo', undefined],
    ['http://acme.example', 'demo', undefined],
    ['https://acme.example:8443', 'demo', undefined],
    ['https://ACME.example', 'demo', undefined],
    ['null', 'demo', undefined],
  ])('%s with the key %s', async (origin, key, code) => {
    for (const transports of [['websocket'], ['polling']] as const) {
      const attempt = gateway.connect({ auth: { key }, origin, transports: [...transports] });
      expect(await codeOf(attempt)).toBe(code);
    }
  });

  test('that is missing is let in only where the shop says so', async () => {
    expect(await codeOf(gateway.connect({ auth: { key: 'other' } }))).toBe('origin');
    const strict = await ChatGateway.start({ shops: [otherShop()] });
    try {
      expect(await codeOf(strict.connect({ auth: { key: 'other' } }))).toBeUndefined();
      const origin = 'https://other.example';
      expect(await codeOf(strict.connect({ auth: { key: 'other' }, origin }))).toBe('connected');
    } finally {
      await strict.stop();
    }
  });

  test('of a shop may read the answers over polling, no other one', async () => {
    const allowed = async (origin: string): Promise<string | null> => {
      const answer = await fetch(`${gateway.url}/chat/?EIO=4&transport=polling`, {
        headers: { origin },
      });
      await answer.text();
      return answer.headers.get('access-control-allow-origin');
    };
    expect(await allowed('https://acme.example')).toBe('https://acme.example');
    expect(await allowed('https://evil.example')).toBeNull();
  });
});

describe('a token', () => {
  const tokens = new VisitorTokens(SIGNING_KEYS, Date.now);

  test('brings the visitor back, and is renewed', async () => {
    const { session } = await gateway.connect();
    const later = new VisitorTokens(SIGNING_KEYS, () => Date.now() - 1_000_000);
    const { visitorId } = session;
    const bearer = { visitorId: asVisitorId(visitorId), verified: false, logouts: 0 };
    const token = later.mint({ widgetKey: 'demo', ...bearer });
    const again = await gateway.connect({ auth: { key: 'demo', token } });
    expect(again.session.visitorId).toBe(visitorId);
    expect(again.session.token).not.toBe(token);
  });

  test('stays good while its key is being replaced, and no longer than the key', async () => {
    const [old] = SIGNING_KEYS;
    if (old === undefined) throw new Error('there is a key');
    const next = { id: 'k2', secret: 'the next signing secret, as long' };
    const { session } = await gateway.connect();
    const auth = { key: 'demo', token: session.token };
    const rotating = await ChatGateway.start({ signingKeys: [next, old] });
    const renewed = await rotating.connect({ auth });
    expect(renewed.session.visitorId).toBe(session.visitorId);
    expect(renewed.session.token).toMatch(/^k2\./);
    await rotating.stop();
    const rotated = await ChatGateway.start({ signingKeys: [next] });
    try {
      const late = await rotated.connect({ auth });
      expect(late.session.visitorId).not.toBe(session.visitorId);
      const kept = await rotated.connect({ auth: { ...auth, token: renewed.session.token } });
      expect(kept.session.visitorId).toBe(session.visitorId);
    } finally {
      await rotated.stop();
    }
  });

  test.each([
    ['signed by someone else', [{ id: 'k1', secret: 'another secret of some length' }], 'demo', 0],
    ['of another widget', SIGNING_KEYS, 'other', 0],
    ['that has expired', SIGNING_KEYS, 'demo', -366 * 24 * 3600 * 1000],
  ])('%s makes a new visitor', async (_case, keys, widgetKey, skew) => {
    const visitorId = asVisitorId('0123456789abcdef0123456789abcdef');
    const bearer = { widgetKey, visitorId, verified: false, logouts: 0 };
    const token = new VisitorTokens(keys, () => Date.now() + skew).mint(bearer);
    const { session } = await gateway.connect({ auth: { key: 'demo', token, lastSeq: 3 } });
    expect(session.visitorId).not.toBe(visitorId);
    expect(tokens.verify(session.token)?.visitorId).toBe(session.visitorId);
  });
});

describe('an identity', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rs256 = () =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setSubject('user-1')
      .setAudience('demo')
      .setExpirationTime('10m')
      .sign(privateKey);
  const handmade = (header: unknown, claims: unknown, hash: string): string => {
    const body = `${base64(header)}.${base64(claims)}`;
    return `${body}.${createHmac(hash, SECRET).update(body).digest('base64url')}`;
  };
  const claims = { sub: 'user-1', aud: 'demo', exp: inSeconds(600) };

  test.each<[string, () => string | Promise<string>, string]>([
    ['signed with the shop’s secret', () => jwt(), 'connected'],
    ['that ends in an hour', () => jwt({ exp: inSeconds(3600) }), 'connected'],
    ['with a strange email', () => jwt({ email: 'nobody' }), 'connected'],
    [
      'with the algorithm none',
      () => `${base64({ alg: 'none' })}.${base64(claims)}.`,
      'bad_identity',
    ],
    ['with RS256', rs256, 'bad_identity'],
    ['with HS512', () => handmade({ alg: 'HS512' }, claims, 'sha512'), 'bad_identity'],
    [
      'that says HS256 to another hash',
      () => handmade({ alg: 'HS256' }, claims, 'sha512'),
      'bad_identity',
    ],
    ['for another widget', () => jwt({ aud: 'other' }), 'bad_identity'],
    [
      'signed with another secret',
      () => jwt({}, 'not the secret of this shop......'),
      'bad_identity',
    ],
    ['that lasts too long', () => jwt({ exp: inSeconds(2 * 3600) }), 'bad_identity'],
    ['that has expired', () => jwt({ exp: inSeconds(-120) }), 'bad_identity'],
    [
      'without an end',
      () => handmade({ alg: 'HS256' }, { sub: 'a', aud: 'demo' }, 'sha256'),
      'bad_identity',
    ],
    [
      'without a subject',
      () => handmade({ alg: 'HS256' }, { ...claims, sub: undefined }, 'sha256'),
      'bad_identity',
    ],
    ['with an empty subject', () => jwt({ sub: '' }), 'bad_identity'],
    ['that is huge', () => jwt({ name: 'x'.repeat(20_000) }), 'bad_identity'],
  ])('%s', async (_case, make, code) => {
    expect(await codeOf(gateway.connect({ auth: { key: 'demo', identity: await make() } }))).toBe(
      code,
    );
  });

  test('is checked against each of the shop’s secrets', async () => {
    const secrets = ['a secret that is being replaced...', SECRET];
    const rotating = await ChatGateway.start({ shops: [aShop({ identitySecrets: secrets })] });
    try {
      for (const secret of secrets) {
        const identity = await jwt({}, secret);
        expect(await codeOf(rotating.connect({ auth: { key: 'demo', identity } }))).toBe(
          'connected',
        );
      }
    } finally {
      await rotating.stop();
    }
  });

  const connectAs = async (
    claims: Claims,
    more: Record<string, unknown> = {},
  ): Promise<ChatClient> =>
    gateway.connect({ auth: { key: 'demo', identity: await jwt(claims), ...more } });

  test('is the same visitor on every device, also when they come at once', async () => {
    const devices = await Promise.all([1, 2, 3].map(() => connectAs({ name: 'Ada' })));
    const [first, second] = devices;
    expect(new Set(devices.map(({ session }) => session.visitorId)).size).toBe(1);
    expect(first?.session).toMatchObject({ verified: true, name: 'Ada' });
    await first?.send('from the phone');
    await waitFor('the line on the desk', () => second?.messages.length === 1);
    const stranger = await connectAs({ sub: 'user-2' });
    expect(stranger.session.visitorId).not.toBe(first?.session.visitorId);
  });

  test('takes the history along that was written before it', async () => {
    const before = await gateway.connect();
    await before.send('before I signed in');
    const { token, visitorId } = before.session;
    const after = await connectAs({ email: 'ada@customer.example' }, { token });
    expect(after.session).toMatchObject({
      visitorId,
      verified: true,
      email: 'ada@customer.example',
    });
    await waitFor('the history', () => after.messages.length === 1);
  });

  test('outlives its JWT in the visitor token', async () => {
    const { session } = await connectAs({ email: 'ada@customer.example' });
    const later = await gateway.connect({ auth: { key: 'demo', token: session.token } });
    expect(later.session).toMatchObject({ visitorId: session.visitorId, verified: true });
  });

  test('that has expired is taken from a client with the token of that customer only', async () => {
    const { session } = await connectAs({ sub: 'user-1' });
    const other = await connectAs({ sub: 'user-2' });
    const guest = await gateway.connect();
    await guest.send('a guest’s line');
    const withToken = async (token: string, claims: Claims = {}, secret = SECRET) => {
      const expired = { sub: 'user-1', exp: inSeconds(-24 * 3600), ...claims };
      const auth = { key: 'demo', token, identity: await jwt(expired, secret) };
      return gateway.connect({ auth });
    };
    const later = await withToken(session.token);
    expect(later.session).toMatchObject({ visitorId: session.visitorId, verified: true });
    for (const { token } of [other.session, guest.session]) {
      expect(await codeOf(withToken(token))).toBe('bad_identity');
    }
    const { token } = session;
    expect(await codeOf(withToken(token, { aud: 'other' }))).toBe('bad_identity');
    const secret = 'not the secret of this shop......';
    expect(await codeOf(withToken(token, {}, secret))).toBe('bad_identity');
  });

  test('leaves the visitor who was signed in on this device before', async () => {
    const first = await connectAs({ sub: 'user-1' });
    await first.send('mine alone');
    const second = await connectAs({ sub: 'user-2' }, { token: first.session.token, lastSeq: 1 });
    expect(second.session).toMatchObject({ lastSeq: 0, verified: true });
    expect(second.session.visitorId).not.toBe(first.session.visitorId);
    expect((await second.history()).ok && second.messages).toEqual([]);
  });

  test('goes to its own visitor and sends that one’s lines from the first', async () => {
    const known = await connectAs({});
    await known.send('one');
    await known.send('two');
    const guest = await gateway.connect();
    await guest.send('a guest’s line');
    const joined = await connectAs({}, { token: guest.session.token, lastSeq: 1 });
    expect(joined.session.visitorId).toBe(known.session.visitorId);
    await waitFor('all lines', () => joined.messages.length === 3);
    expect(joined.texts).toEqual(['one', 'two', 'a guest’s line']);
  });

  test('does not turn an address that the visitor typed into a verified one', async () => {
    const guest = await gateway.connect();
    await guest.profile({ email: 'victim@example.com' });
    const joined = await connectAs({}, { token: guest.session.token });
    expect(joined.session.verified).toBe(true);
    expect(joined.session.email).toBeUndefined();
    expect(await joined.profile({ email: 'victim@example.com' })).toEqual({
      ok: false,
      error: 'unauthorized',
    });
    await joined.send('hello');
    const [entry] = await gateway.entries();
    expect(entry?.meta).toMatchObject({ verified: true });
    expect(entry?.meta).not.toHaveProperty('email');
  });

  test('has a name without controls and without what turns a text', async () => {
    const { session } = await connectAs({ name: '\u202eAda\u2069 Love\nlace\0' });
    expect(session.name).toBe('Ada Lovelace');
  });

  test('renews name and address with each JWT', async () => {
    const before = await connectAs({ email: 'old@example.com', name: 'Old' });
    const after = await connectAs({ email: 'new@example.com', name: 'New' });
    expect(after.session).toMatchObject({ email: 'new@example.com', name: 'New' });
    const id = asVisitorId(before.session.visitorId);
    const record = await gateway.store.chat.visitor(SHOP, id);
    expect(record).toMatchObject({ email: 'new@example.com', name: 'New', subject: 'user-1' });
  });
});

test('the path of the socket takes nothing else away from the application', async () => {
  const status = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${gateway.url}${path}`, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await status('/chat/uploads')).toBe(404);
  expect(await status('/chat/nothing')).toBe(404);
  expect(await status('/chat/socket.io.js')).toBe(404);
  expect(await status('/chat/?EIO=4&transport=polling')).toBe(200);
});
