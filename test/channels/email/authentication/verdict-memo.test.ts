import { describe, expect, test } from '@jest/globals';
import {
  checkMessage,
  type CheckRequest,
} from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DNS_DEFAULTS,
  DnsError,
  DnsResolver,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import { checkWithLifetime } from '../../../../src/channels/email/authentication/verdict-lifetime.ts';
import {
  questionOf,
  VerdictMemo,
} from '../../../../src/channels/email/authentication/verdict-memo.ts';
import { UNKNOWN_VERDICT } from '../../../../src/channels/email/authentication/verdict.ts';
import { DnsServer, type Zone } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { authFixture } from './auth-fixtures.ts';

const settings = {
  hostname: 'mx.acme.example',
  trustedAuthservIds: [],
  totalMs: 5000,
  endsWithinMs: 60_000,
};
const zone: Zone = {
  'ann.example TXT': ['v=spf1 ip4:192.0.2.1 -all'],
  '_dmarc.ann.example TXT': ['v=DMARC1; p=reject'],
  'bob.example TXT': ['v=spf1 ip4:192.0.2.2 -all'],
  '_dmarc.bob.example TXT': ['v=DMARC1; p=quarantine'],
  'host.example TXT': ['v=spf1 a -all'],
  'host.example A': ['192.0.2.1'],
  'macro.example TXT': ['v=spf1 exists:%{l}.users.example -all'],
  'included.example TXT': ['v=spf1 include:macro.example -all'],
  'explained.example TXT': ['v=spf1 ip4:192.0.2.1 -all exp=%{o}.example'],
};

type Change = Partial<Omit<CheckRequest, 'raw'>>;

function mail(head: string | readonly string[], change: Change = {}): CheckRequest {
  const lines = typeof head === 'string' ? [head] : head;
  const bytes = Buffer.from([...lines, 'Subject: Order', '', 'Hello', ''].join('\r\n'), 'latin1');
  return {
    raw: { kind: 'bytes', bytes },
    remoteAddress: '192.0.2.1',
    heloName: 'mx.ann.example',
    envelopeFrom: 'a@ann.example',
    trustedRelay: false,
    trustedArcSealers: ['sealer.example'],
    senders: { addresses: ['support@acme.example'], formSenders: ['forms@site.example'] },
    ...change,
  };
}
const FROM = 'From: Ann <a@ann.example>';

describe('messages with the same question', () => {
  const heads: readonly (readonly string[])[] = [
    [FROM],
    ['From: Someone Else <b@ANN.example>'],
    ['FROM :a@ann.example'],
    ['From: Ann', ' <a@ann.example>'],
    ['From: b@bob.example'],
    ['From: a@ann.example, b@bob.example'],
    ['From: "a@ann.example" <b@bob.example>'],
    ['From: "Ann, a@ann.example" <b@bob.example>'],
    ['From: a@ann.example (b@bob.example)'],
    ['From: (a@ann.example) b@bob.example'],
    ['From: friends: a@ann.example;'],
    ['From: friends: a@ann.example, b@bob.example;'],
    ['From: undisclosed:;'],
    ['From: =?utf-8?Q?a=40ann.example?= <b@bob.example>'],
    ['From: =?utf-8?Q?a@ann.example,?= <b@bob.example>'],
    ['From: =?utf-8?B?YUBhbm4uZXhhbXBsZQ==?='],
    ['From: <a@ann.example> <b@bob.example>'],
    ['From: <@bob.example:a@ann.example>'],
    ['From: a@ann.example\0@bob.example'],
    ['From: "a@ann.example\\" <b@bob.example>'],
    ['From: a@ann.example', '.bob.example'],
    ['From: a@[192.0.2.1]'],
    ['From: a@localhost'],
    ['From: a@m\xfcller.example'],
    ['From: a@ann.example', 'From: b@bob.example'],
    ['From: b@bob.example', 'From: a@ann.example'],
    ['From: a@ann.example\rFrom: b@bob.example'],
    ['From: a@ann.example\nFrom: b@bob.example'],
    ['From: a@ann.example', 'Reply-To: b@bob.example'],
    ['From: no-reply@ann.example', 'Reply-To: b@bob.example'],
    ['From: no-reply@ann.example', 'Reply-To: b@host.example'],
    ['From: support@acme.example', 'X-Original-From: b@bob.example'],
    ['From: forms@site.example', 'Reply-To: b@bob.example'],
    ['Reply-To: b@bob.example'],
    ['Sender: b@bob.example'],
    [],
  ];
  const changes: readonly Change[] = [
    {},
    { envelopeFrom: 'other@ann.example', heloName: 'elsewhere.example' },
    { envelopeFrom: 'b@bob.example' },
    { envelopeFrom: 'b@bob.example', remoteAddress: '192.0.2.2' },
    { envelopeFrom: '"b@bob.example"@ann.example' },
    { envelopeFrom: 'a@ann.example@bob.example' },
    { envelopeFrom: '@ann.example' },
    { envelopeFrom: 'ann.example' },
    { envelopeFrom: 'a@ann.example ' },
    { envelopeFrom: '' },
    { envelopeFrom: '', heloName: 'ann.example' },
    { envelopeFrom: '', heloName: 'x@ann.example' },
    { envelopeFrom: '', heloName: '' },
    { remoteAddress: '::ffff:192.0.2.1' },
    { remoteAddress: 'file' },
    { senders: { addresses: ['a@ann.example'], formSenders: [] } },
  ];
  const resolve: Resolve = (name, type) => {
    const found = zone[`${name.toLowerCase()} ${type}`];
    if (found === undefined) return Promise.reject(new DnsError('ENOTFOUND'));
    return Promise.resolve(type === 'TXT' ? found.map((text) => [text]) : found);
  };

  test('have the same verdict', async () => {
    const verdicts = new Map<string, Set<string>>();
    for (const request of changes.flatMap((change) => heads.map((head) => mail(head, change)))) {
      const question = questionOf(request);
      if (question === undefined) continue;
      const verdict = JSON.stringify(await checkMessage(request, settings, resolve));
      verdicts.set(question, (verdicts.get(question) ?? new Set()).add(verdict));
    }
    expect(verdicts.size).toBeGreaterThan(50);
    expect([...verdicts].filter(([, different]) => different.size > 1)).toEqual([]);
  });

  test('may have other local parts, names and HELO', () => {
    const other = { envelopeFrom: 'bounce-1@ANN.example', heloName: 'mx2.ann.example' };
    const question = questionOf(mail(FROM));
    expect(question).toBeDefined();
    expect(questionOf(mail('From: Carl <c@ann.example>', other))).toBe(question);
  });

  test.each<[string, string | readonly string[], Change]>([
    ['client', FROM, { remoteAddress: '192.0.2.2' }],
    ['envelope sender', FROM, { envelopeFrom: 'a@bob.example' }],
    ['From', 'From: b@bob.example', {}],
    ['subdomain in From', 'From: a@sub.ann.example', {}],
    ['HELO of the null sender', FROM, { envelopeFrom: '', heloName: 'mx.bob.example' }],
    ['claimed person', ['From: no-reply@ann.example', 'Reply-To: b@bob.example'], {}],
  ])('do not have another %s', (_, head, change) => {
    const other = questionOf(mail(head, change));
    expect(other).toBeDefined();
    expect(other).not.toBe(questionOf(mail(FROM)));
  });
});

describe('the thread reads a message', () => {
  test.each<[string, string | readonly string[], Change]>([
    ['with a signature', [FROM, 'DKIM-Signature: v=1'], {}],
    ['whose signature is on top', ['DKIM-Signature: v=1', FROM], {}],
    ['with a signature in odd capitals', [FROM, 'dKIM-SIGNATURE \t: v=1'], {}],
    ['with a folded signature', [FROM, 'DKIM-Signature:', ' v=1;', '\td=ann.example'], {}],
    ['with a signature after a bare line feed', `${FROM}\nDKIM-Signature: v=1`, {}],
    ['with a signature after a bare CR', `${FROM}\rDKIM-Signature: v=1`, {}],
    ['with a seal', [FROM, 'ARC-Seal: i=1'], {}],
    ['with any part of a seal', [FROM, 'Arc-Authentication-Results: i=1'], {}],
    ['with a signature among raw bytes', ['X: \xff\x1b$B', 'DKIM-Signature: v=1', FROM], {}],
    ['of a trusted relay', FROM, { trustedRelay: true }],
    ['with two From headers', [FROM, FROM], {}],
    ['with two mailboxes in From', `${FROM}, b@bob.example`, {}],
    ['without From', 'To: support@acme.example', {}],
    ['with two @ in the envelope sender', FROM, { envelopeFrom: '"a@b"@ann.example' }],
    ['with a strange HELO and the null sender', FROM, { envelopeFrom: '', heloName: '[::1]' }],
    ['with a long header block', [FROM, `X: ${'x'.repeat(20_000)}`], {}],
    [
      'with a signature behind a long header',
      [FROM, `X: ${'x'.repeat(20_000)}`, 'ARC-Seal: 1'],
      {},
    ],
  ])('%s', (_, head, change) => {
    expect(questionOf(mail(head, change))).toBeUndefined();
  });

  test('that is in a file', () => {
    const raw = { kind: 'file', path: '/nowhere' } as const;
    expect(questionOf({ ...mail(FROM), raw })).toBeUndefined();
  });

  test('only if the signature is in its header block', () => {
    const text = `${FROM}\r\n\r\nDKIM-Signature: v=1\r\n`;
    const raw = { kind: 'bytes', bytes: Buffer.from(text) } as const;
    expect(questionOf({ ...mail(FROM), raw })).toBeDefined();
  });
});

describe('a verdict holds', () => {
  async function holding(records: Zone = zone) {
    const server = await DnsServer.start(records);
    ends(() => server.stop());
    const time = { now: 1000 };
    const clock = () => time.now;
    const resolver = new DnsResolver({ ...DNS_DEFAULTS, servers: [server.address] }, clock);
    ends(() => resolver.close());
    const check = (request: CheckRequest) => checkWithLifetime(request, settings, resolver, clock);
    return { server, time, check };
  }
  const of = (domain: string) => mail(`From: a@${domain}`, { envelopeFrom: `a@${domain}` });

  test('as long as the cache keeps the answers', async () => {
    const { check, time } = await holding();
    expect(await check(of('ann.example'))).toMatchObject({
      verdict: { spf: 'pass', dmarc: 'pass', aligned: 'spf' },
      holdsMs: 300_000,
    });
    time.now += 100_000;
    expect((await check(of('ann.example'))).holdsMs).toBe(200_000);
  });

  test('as long as the shortest of the TTLs', async () => {
    const { check } = await holding({ ...zone, '_dmarc.host.example TXT': ['v=DMARC1; p=none'] });
    const { verdict, holdsMs } = await check(of('host.example'));
    expect(verdict).toMatchObject({ spf: 'pass', dmarc: 'pass' });
    // Of the address record.
    expect(holdsMs).toBe(60_000);
  });

  test('as long as a name is known not to exist', async () => {
    const { check } = await holding();
    const { verdict, holdsMs } = await check(of('nowhere.example'));
    expect(verdict).toMatchObject({ spf: 'none', dmarc: 'none' });
    expect(holdsMs).toBe(60_000);
  });

  test('for at most five minutes, also if nothing was looked up', async () => {
    const { check, server } = await holding();
    const { holdsMs } = await check(mail('From: a@localhost', { remoteAddress: 'file' }));
    expect(holdsMs).toBe(300_000);
    expect(server.questions).toEqual([]);
  });

  test.each(['macro.example', 'included.example', 'explained.example'])(
    'for one message only if SPF reads a macro: %s',
    async (domain) => {
      const { check } = await holding();
      expect((await check(of(domain))).holdsMs).toBe(0);
    },
  );

  test.each(['ann.example TXT', '_dmarc.ann.example TXT'])(
    'for one message only if %s fails',
    async (question) => {
      const { check, server } = await holding();
      server.failsOn = (asked) => asked === question;
      expect((await check(of('ann.example'))).holdsMs).toBe(0);
    },
  );

  test('for one message only if a failure of an included record was ignored', async () => {
    const { check, server } = await holding({
      ...zone,
      'both.example TXT': ['v=spf1 include:bob.example ip4:192.0.2.1 -all'],
    });
    server.failsOn = (asked) => asked === 'bob.example TXT';
    expect(await check(of('both.example'))).toMatchObject({ verdict: { spf: 'pass' }, holdsMs: 0 });
  });

  test('for one message only if it was signed', async () => {
    const { check } = await holding();
    const raw = { kind: 'bytes', bytes: authFixture('signed-reject') } as const;
    expect((await check({ ...of('ann.example'), raw })).holdsMs).toBe(0);
  });
});

test('the memory is bounded, and keeps what is used', () => {
  const memo = new VerdictMemo(() => 0, 3);
  for (const question of ['a', 'b', 'c']) memo.set(question, UNKNOWN_VERDICT, 1);
  expect(memo.get('a')).toBe(UNKNOWN_VERDICT);
  memo.set('d', UNKNOWN_VERDICT, 1);
  expect(memo.size).toBe(3);
  expect(memo.get('b')).toBeUndefined();
  expect(memo.get('a')).toBe(UNKNOWN_VERDICT);
});
