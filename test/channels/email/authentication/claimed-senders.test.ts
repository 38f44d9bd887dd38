import { describe, expect, test } from '@jest/globals';
import {
  checkMessage,
  type CheckRequest,
} from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DnsError,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import { mail, type Seal, sealed, SIGNING_KEY } from './signing.ts';

const zone = new Map([
  ['_dmarc.legit.example', 'v=DMARC1; p=reject'],
  ['_dmarc.strict.example', 'v=DMARC1; p=reject; sp=quarantine'],
  ['_dmarc.lenient.example', 'v=DMARC1; p=none'],
  ['_dmarc.yahoo.com', 'v=DMARC1; p=reject'],
  ['legit.example', 'v=spf1 ip4:192.0.2.1 -all'],
  ['s1._domainkey.sealer.example', SIGNING_KEY],
  ['s1._domainkey.stranger.example', SIGNING_KEY],
]);
const resolve: Resolve = (name) => {
  if (name.includes('broken.example')) return Promise.reject(new DnsError('ESERVFAIL'));
  const record = zone.get(name);
  return record === undefined
    ? Promise.reject(new DnsError('ENOTFOUND'))
    : Promise.resolve([[record]]);
};

async function claimed(
  message: string,
  change: Partial<CheckRequest> = {},
): Promise<string | undefined> {
  const verdict = await checkMessage(
    {
      raw: { kind: 'bytes', bytes: Buffer.from(message) },
      remoteAddress: '198.51.100.9',
      heloName: 'mx.attack.example',
      envelopeFrom: 'mallory@attack.example',
      trustedRelay: false,
      trustedArcSealers: ['sealer.example'],
      senders: { addresses: ['support@acme.example'], formSenders: ['forms@site.example'] },
      ...change,
    },
    { hostname: 'mx.acme.example', trustedAuthservIds: [], totalMs: 5000, endsWithinMs: 60_000 },
    resolve,
  );
  return verdict.claimed;
}

const noReply = 'From: no-reply@attack.example';

describe('what the claimed domain publishes', () => {
  test.each<[string, readonly string[], string | undefined]>([
    ['p=reject', [noReply, 'Reply-To: a@legit.example'], 'reject'],
    ['that of a subdomain', [noReply, 'Reply-To: a@shop.strict.example'], 'quarantine'],
    ['p=none', [noReply, 'Reply-To: a@lenient.example'], 'none'],
    ['nothing', [noReply, 'Reply-To: a@unpublished.example'], 'none'],
    ['a name server that fails', [noReply, 'Reply-To: a@broken.example'], 'temperror'],
    ['of a configured form', ['From: forms@site.example', 'Reply-To: a@legit.example'], 'reject'],
    ['of a known form', ['From: mailer@shopify.com', 'Reply-To: a@legit.example'], 'reject'],
    ['of a group', ['From: support@acme.example', 'X-Original-Sender: a@legit.example'], 'reject'],
    ['no From, but Sender', ['Sender: a@legit.example'], 'reject'],
    ['From is the person', ['From: a@attack.example', 'Reply-To: a@legit.example'], undefined],
    ['a no-reply that names nobody', [noReply], undefined],
  ])('%s', async (_, head, expected) => {
    expect(await claimed(mail(...head))).toBe(expected);
  });

  test('the envelope is claimed too, where nobody is named and SPF does not cover it', async () => {
    const message = mail('Subject: Hello');
    const envelopeFrom = 'a@legit.example';
    expect(await claimed(message, { envelopeFrom })).toBe('reject');
    expect(await claimed(message, { envelopeFrom, remoteAddress: '192.0.2.1' })).toBe('none');
    expect(await claimed(message, { envelopeFrom: '' })).toBeUndefined();
  });
});

describe('a seal over what a group passed on', () => {
  const group = "From: 'Ann' via Support <support@acme.example>";
  const pass = (domain: string) => `dmarc=pass (p=REJECT) header.from=${domain}`;
  const toLegit = mail(group, 'Reply-To: ann@legit.example');

  test('of a sealer whom the shop trusts verifies the claimed domain', async () => {
    const message = sealed(toLegit, { results: pass('legit.example'), fields: ['from'] });
    expect(await claimed(message)).toBe('verified');
  });

  test.each<[string, Seal]>([
    ['that saw another domain pass', { results: pass('attack.example'), fields: ['from'] }],
    ['that saw a failure', { results: 'dmarc=fail header.from=legit.example', fields: ['from'] }],
    [
      'of a sealer whom nobody trusts',
      { sealer: 'stranger.example', results: pass('legit.example'), fields: ['from'] },
    ],
  ])('%s verifies nothing', async (_, seal) => {
    expect(await claimed(sealed(toLegit, seal))).toBe('reject');
  });

  test('of a message that was changed since verifies nothing', async () => {
    const message = sealed(toLegit, { results: pass('legit.example'), fields: ['from'] });
    expect(await claimed(message.replace('Hello', 'Pay me'))).toBe('reject');
  });

  describe('where strangers share the domain', () => {
    const results = `${pass('yahoo.com')}; spf=pass smtp.mailfrom=mallory@yahoo.com`;
    const original = 'X-Original-From: Mallory <mallory@yahoo.com>';
    const fields = ['from', 'x-original-from'];

    test('verifies the address that the sealer saw in the reverse-path', async () => {
      const message = mail(group, 'Reply-To: mallory@yahoo.com');
      expect(await claimed(sealed(message, { results, fields: ['from'] }))).toBe('verified');
    });

    test('verifies the address in a header that the group wrote and signed', async () => {
      const bounces = `${pass('yahoo.com')}; spf=pass smtp.mailfrom=bounce-7@yahoo.com`;
      const message = mail(group, original);
      expect(await claimed(sealed(message, { results: bounces, fields }))).toBe('verified');
    });

    test.each<[string, string, readonly string[]]>([
      [
        'a Reply-To that was added to a sealed message',
        mail(group, 'Reply-To: ann@yahoo.com', original),
        fields,
      ],
      [
        'a Reply-To that the sender wrote before it was sealed',
        mail(group, 'Reply-To: ann@yahoo.com', original),
        [...fields, 'reply-to'],
      ],
      ['a header that is not signed', mail(group, 'X-Original-From: ann@yahoo.com'), ['from']],
      [
        'a second header above the signed one',
        mail(group, 'X-Original-From: ann@yahoo.com', original),
        fields,
      ],
    ])('does not verify another person there by %s', async (_, message, covered) => {
      const found = await claimed(sealed(message, { results, fields: covered }));
      expect(found).toBe('reject');
    });
  });
});
