import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { type KeyPair, pairTroubles } from '../../src/runtime/key-pair.ts';

const HOST = 'mx.acme.example';
const DAY_MS = 86_400_000;
const now = Date.UTC(2026, 5, 1);

/** Of an authority, or of a server whose certificate an authority has issued. */
async function pairOf(name: string, issuer?: KeyPair): Promise<KeyPair> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...{ keyType: 'ec', algorithm: 'sha256' },
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + 60 * DAY_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    ...(issuer && { ca: issuer }),
  });
  return { cert: made.cert, key: made.private };
}

let authority: KeyPair;
let own: KeyPair;
let whole: KeyPair;
let locked: string;
beforeAll(async () => {
  authority = await pairOf('Authority');
  own = await pairOf(HOST, authority);
  whole = { ...own, cert: `${own.cert}\n${authority.cert}` };
  ({ privateKey: locked } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }));
});

const kinds = (pair: KeyPair, atMs = now, hostname = HOST) =>
  pairTroubles(pair, hostname, atMs).map(({ kind, of, found }) => `${kind} ${of}: ${found}`);

test('a pair with its whole chain has no trouble, nor has a self-signed one', async () => {
  expect(kinds(whole)).toEqual([]);
  expect(kinds(await pairOf(HOST))).toEqual([]);
});

describe('a pair is unusable', () => {
  test('if one of its texts is something else', () => {
    expect(kinds({ ...own, cert: 'hello' })).toEqual(['unusable cert: not a certificate']);
    const noKey = ['unusable key: not a private key without a passphrase'];
    expect(kinds({ ...own, key: '' })).toEqual(noKey);
    expect(kinds({ ...own, key: locked })).toEqual(noKey);
  });

  test('if the two do not belong together, also with keys of different types', () => {
    const another = ['unusable key: the key of another certificate'];
    expect(kinds({ ...whole, key: authority.key })).toEqual(another);
    expect(kinds({ ...own, cert: `${authority.cert}\n${own.cert}` })).toEqual(another);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(kinds({ ...whole, key })).toEqual(another);
  });

  test('if its chain is damaged', () => {
    const cert = `${own.cert}\n${authority.cert.slice(0, 200)}`;
    expect(kinds({ ...own, cert })).toEqual([
      expect.stringMatching(/^unusable cert: refused by OpenSSL \(ERR_\w+\)$/),
    ]);
  });
});

test.each([
  [61, HOST, ['doubtful cert: expired on 2026-07-31']],
  [-2, HOST, ['doubtful cert: not valid yet']],
  [46, HOST, []],
  [46.1, HOST, ['doubtful cert: expires on 2026-07-31, in 13 days']],
  [0, 'mx.other.example', ['doubtful cert: does not include mx.other.example']],
])('in %d days, for %s: %j', (days, hostname, expected) => {
  expect(kinds(whole, now + days * DAY_MS, hostname)).toEqual(expected);
});

test('a chain without the issuer, and all that is wrong at once, with what to do', () => {
  const troubles = pairTroubles(own, 'mx.other.example', now + 61 * DAY_MS);
  expect(troubles.map(({ found }) => found)).toEqual([
    'expired on 2026-07-31',
    'does not include mx.other.example',
    'the chain is incomplete: the certificate of the issuer is not in the file',
  ]);
  for (const { todo } of troubles) expect(todo).not.toBe('');
});
