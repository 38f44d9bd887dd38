import { describe, expect, test } from '@jest/globals';
import {
  checkMessage,
  type CheckRequest,
} from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DNS_DEFAULTS,
  DnsResolver,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import {
  isRejected,
  type SenderRules,
  treatSender,
} from '../../../../src/channels/email/authentication/verdict.ts';
import { DnsServer, type Zone } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { mail, signed, SIGNING_KEY } from './signing.ts';

const settings = {
  hostname: 'mx.acme.example',
  trustedAuthservIds: [],
  // More than a busy machine needs.
  totalMs: 60_000,
  endsWithinMs: 60_000,
};
const rules: SenderRules = { dmarc: 'hold', unverified: 'deliver' };

/** Checks a message by the real resolver, with a name server for the zone. */
async function checking(zone: Zone, failsOn: (question: string) => boolean = () => false) {
  const server = await DnsServer.start(zone);
  ends(() => server.stop());
  server.failsOn = failsOn;
  const options = { ...DNS_DEFAULTS, servers: [server.address], queryMs: 20_000 };
  const resolver = new DnsResolver({ ...options, silenceMs: 10_000 }, Date.now);
  ends(() => resolver.close());
  const check = (message: string, request: Partial<CheckRequest> = {}) =>
    checkMessage(
      {
        raw: { kind: 'bytes', bytes: Buffer.from(message) },
        remoteAddress: '198.51.100.9',
        heloName: 'mx.elsewhere.example',
        envelopeFrom: 'a@elsewhere.example',
        trustedRelay: false,
        trustedArcSealers: [],
        ...request,
      },
      settings,
      (name, type) => resolver.resolve(name, type),
    );
  const asked = (pattern: RegExp) => server.questions.filter((each) => pattern.test(each));
  return { check, asked };
}
const from = (address: string, ...head: readonly string[]) => mail(`From: ${address}`, ...head);

describe('mail that nothing confirms', () => {
  const zone: Zone = {
    '_dmarc.rejectn.com TXT': ['v=DMARC1; p=reject'],
    '_dmarc.rejecty.com TXT': ['v=DMARC1; p=reject; t=y'],
    '_dmarc.qy.com TXT': ['v=DMARC1; p=quarantine; t=y'],
    '_dmarc.npreject.com TXT': ['v=DMARC1; p=none; sp=none; np=reject'],
    '_dmarc.badp.com TXT': ['v=DMARC1; p=rejekt; rua=mailto:a@badp.com'],
    '_dmarc.bank TXT': ['v=DMARC1; p=reject; psd=y'],
    'exists.npreject.com MX': ['10 mx.npreject.com'],
  };

  test.each<[string, 'held' | 'delivered', boolean, number]>([
    ['a@rejectn.com', 'held', true, 1],
    ['a@rejecty.com', 'held', false, 1],
    ['a@qy.com', 'delivered', false, 1],
    ['a@ghost.npreject.com', 'held', true, 6],
    ['a@exists.npreject.com', 'delivered', false, 4],
    ['a@badp.com', 'delivered', false, 1],
    ['a@someone.bank', 'held', true, 2],
    ['a@published.net', 'delivered', false, 2],
  ])(
    'of %s is %s, and refused by `dmarc: reject`: %s',
    async (address, expected, refused, count) => {
      const { check, asked } = await checking(zone);
      const verdict = await check(from(address));
      const { hold } = treatSender(verdict, undefined, rules);
      expect(hold === undefined ? 'delivered' : 'held').toBe(expected);
      expect(isRejected(verdict)).toBe(refused);
      const domain = address.slice(2);
      expect(asked(new RegExp(`^_dmarc\\.| (?:A|AAAA|MX)$`))).toHaveLength(count);
      expect(asked(/^_dmarc/)[0]).toBe(`_dmarc.${domain} TXT`);
    },
  );

  test('is not refused for a policy that DNS does not show', async () => {
    const { check } = await checking(zone, (asked) => asked.startsWith('_dmarc.ghost'));
    const verdict = await check(from('a@ghost.npreject.com'));
    expect(verdict).toMatchObject({ dmarc: 'temperror', policy: 'none' });
    expect(isRejected(verdict)).toBe(false);
  });

  test('is held for the record that was found, while the names above fail', async () => {
    const { check } = await checking(zone, (asked) => /^_dmarc\.(?:com|bank) /.test(asked));
    expect(await check(from('a@m.rejectn.com'))).toMatchObject({ dmarc: 'fail', policy: 'reject' });
  });

  test('is held for a claimed person whose domain has such a policy', async () => {
    const { check } = await checking(zone);
    const senders = { addresses: ['support@acme.example'], formSenders: [] };
    const claiming = (address: string) =>
      check(from('no-reply@published.net', `Reply-To: ${address}`), { senders });
    expect(await claiming('boss@ghost.npreject.com')).toMatchObject({ claimed: 'reject' });
    expect(await claiming('boss@qy.com')).toMatchObject({ claimed: 'none' });
  });
});

describe('a signature', () => {
  const key = (domain: string) => ({ [`s1._domainkey.${domain} TXT`]: [SIGNING_KEY] });
  const zone: Zone = {
    ...key('shop.com'),
    ...key('mail.shop.com'),
    ...key('lab.shop.com'),
    ...key('a.host.com'),
    ...key('b.host.com'),
    '_dmarc.shop.com TXT': ['v=DMARC1; p=reject'],
    '_dmarc.lab.shop.com TXT': ['v=DMARC1; p=reject; psd=n'],
    '_dmarc.host.com TXT': ['v=DMARC1; p=none; psd=y'],
    '_dmarc.a.host.com TXT': ['v=DMARC1; p=reject'],
  };
  const by = (domain: string, author: string) =>
    signed(from(author, 'Subject: Order'), { domain, fields: ['from', 'subject'] });

  test.each<[string, string, 'pass' | 'fail', number]>([
    ['shop.com', 'a@shop.com', 'pass', 1],
    ['mail.shop.com', 'a@shop.com', 'pass', 3],
    ['shop.com', 'a@mail.shop.com', 'pass', 3],
    ['shop.com', 'a@lab.shop.com', 'fail', 1],
    ['lab.shop.com', 'a@shop.com', 'fail', 3],
    ['a.host.com', 'a@a.host.com', 'pass', 1],
    ['b.host.com', 'a@a.host.com', 'fail', 2],
  ])('of %s under %s: DMARC %s', async (domain, author, dmarc, count) => {
    const { check, asked } = await checking(zone);
    expect(await check(by(domain, author))).toMatchObject({ dkim: 'pass', dmarc });
    expect(asked(/^_dmarc/)).toHaveLength(count);
  });

  test('that is broken costs no walk', async () => {
    const { check, asked } = await checking(zone);
    const broken = by('mail.shop.com', 'a@shop.com').replace('Order', 'Offer');
    expect(await check(broken)).toMatchObject({ dkim: 'fail', dmarc: 'fail' });
    expect(asked(/^_dmarc/)).toEqual(['_dmarc.shop.com TXT']);
  });

  test.each([
    ['above both names decides nothing', /^_dmarc\.com /, 'pass'],
    ['of the signer leaves it open', /^_dmarc\.mail\./, 'temperror'],
  ])('after a DNS failure %s', async (_, failing, dmarc) => {
    const { check } = await checking(zone, (asked) => failing.test(asked));
    const verdict = await check(by('mail.shop.com', 'a@shop.com'));
    expect(verdict).toMatchObject({ dkim: 'pass', dmarc, policy: 'reject' });
  });

  test.each([
    'http://shop.com/.evil.net',
    'shop.com/.evil.net',
    'shop.com:1.evil.net',
    'shop.com?.evil.net',
    'shop.com#.evil.net',
    'x@shop.com',
    'shop.com\\.evil.net',
  ])('of %s confirms nobody at shop.com', async (domain) => {
    const evil: Zone = { ...zone, ...key(domain), [`${domain} TXT`]: ['v=spf1 +all'] };
    const { check } = await checking(evil);
    const request = { envelopeFrom: `a@${domain}` };
    expect(await check(by(domain, 'a@shop.com'), request)).toMatchObject({ dmarc: 'fail' });
  });
});

describe('at most 16 look-ups', () => {
  const evil = (labels: number) => `${'x.'.repeat(labels - 2)}com`.replace(/com$/, 'evil.com');

  test.each([8, 9, 60, 124])(
    'for a name of %i labels in From, signed by eight others',
    async (labels) => {
      const domain = evil(labels);
      const signers = Array.from({ length: 8 }, (_, index) => `${index}.${'y.'.repeat(6)}evil.com`);
      const zone: Zone = {
        '_dmarc.evil.com TXT': ['v=DMARC1; p=none; np=reject'],
        ...Object.fromEntries(signers.map((each) => [`s1._domainkey.${each} TXT`, [SIGNING_KEY]])),
      };
      const { check, asked } = await checking(zone);
      let message = from(`a@${domain}`, 'Subject: Order');
      for (const signer of signers) {
        message = signed(message, { domain: signer, fields: ['from', 'subject'] });
      }
      await check(message);
      expect(asked(/^_dmarc| (?:A|AAAA|MX)$/).length).toBeLessThanOrEqual(16);
    },
  );

  test('for a person of a name of 253 characters, who is claimed too', async () => {
    const { check, asked } = await checking({});
    const long = `${'x'.repeat(60)}.`.repeat(4).slice(0, 244) + '.evil.com';
    const senders = { addresses: ['support@acme.example'], formSenders: [] };
    const message = from(`a@${evil(30)}`, `Reply-To: b@${long}`);
    const verdict = await check(message, { senders });
    expect(verdict.dmarc).toBe('none');
    expect(asked(/^_dmarc/).length).toBeLessThanOrEqual(16);
  });
});

test.each([
  ['a dot at the end', 'a@shop.com.'],
  ['capitals', 'a@SHOP.com'],
  ['an IDN', 'a@bücher.com'],
  ['an underscore', 'a@_x.shop.com'],
  ['a label that DNS cannot have', `a@${'x'.repeat(64)}.shop.com`],
])('a forged From with %s has the policy of its domain', async (_, address) => {
  const { check } = await checking({
    '_dmarc.shop.com TXT': ['v=DMARC1; p=reject'],
    '_dmarc.xn--bcher-kva.com TXT': ['v=DMARC1; p=reject'],
  });
  expect(await check(from(address))).toMatchObject({ dmarc: 'fail', policy: 'reject' });
});
