import { describe, expect, test } from '@jest/globals';
import {
  checkMessage,
  type CheckRequest,
} from '../../../../src/channels/email/authentication/check-message.ts';
import { checkWithLifetime } from '../../../../src/channels/email/authentication/verdict-lifetime.ts';
import { questionOf } from '../../../../src/channels/email/authentication/verdict-memo.ts';
import {
  DnsError,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import {
  type AuthenticationVerdict,
  confirmationOf,
  treatSender,
} from '../../../../src/channels/email/authentication/verdict.ts';
import { mail, mailWith, sealed, signed, SIGNING_KEY } from './signing.ts';

const zone = new Map([
  ['_dmarc.legit.example', 'v=DMARC1; p=reject'],
  ['_dmarc.strict.example', 'v=DMARC1; p=reject; adkim=s; aspf=s'],
  ['legit.example', 'v=spf1 ip4:192.0.2.1 -all'],
  ['unpublished.example', 'v=spf1 ip4:192.0.2.1 -all'],
  ...['legit.example', 'strict.example', 'mail.strict.example', 'unpublished.example']
    .concat('attack.example', 'sealer.example')
    .map((domain) => [`s1._domainkey.${domain}`, SIGNING_KEY] as const),
]);
const resolve: Resolve = (name) => {
  const record = zone.get(name);
  return record === undefined
    ? Promise.reject(new DnsError('ENOTFOUND'))
    : Promise.resolve([[record]]);
};
const settings = {
  hostname: 'mx.acme.example',
  trustedAuthservIds: ['relay.acme.example'],
  totalMs: 60_000,
  endsWithinMs: 60_000,
};

/** Sent again by a stranger, or forwarded: SPF is not that of From. */
const requestOf = (message: string, change: Partial<CheckRequest> = {}): CheckRequest => ({
  raw: { kind: 'bytes', bytes: new Uint8Array(Buffer.from(message)) },
  remoteAddress: '198.51.100.9',
  heloName: 'mx.attack.example',
  envelopeFrom: 'mallory@attack.example',
  trustedRelay: false,
  trustedArcSealers: ['sealer.example'],
  ...change,
});
const check = (message: string, change?: Partial<CheckRequest>): Promise<AuthenticationVerdict> =>
  checkMessage(requestOf(message, change), settings, resolve);

const HEAD = [
  'From: Ann <ann@legit.example>',
  'To: support@acme.example',
  'Subject: Order',
  'Date: Mon, 05 Jan 2026 09:00:00 +0000',
  'Message-ID: <1@legit.example>',
] as const;
const CC = 'Cc: Eve <eve@attack.example>';
const BCC = 'Bcc: eve@attack.example';
const domain = 'legit.example';
const ALL = ['from', 'to', 'subject', 'date', 'message-id'];
const signedMail = (fields: readonly string[], ...added: readonly string[]) =>
  [...added, signed(mail(...HEAD), { domain, fields })].join('\r\n');
const pass = { dmarc: 'pass', aligned: 'dkim' } as const;
const namesIn = ({ uncovered = '' }: AuthenticationVerdict, pattern: RegExp) =>
  uncovered
    .split(' ')
    .filter((name) => pattern.test(name))
    .join(' ') || undefined;
const copiesIn = (verdict: AuthenticationVerdict) => namesIn(verdict, /^(?:to|cc|bcc)$/);
const wordsIn = (verdict: AuthenticationVerdict) => namesIn(verdict, /^(?!to$|cc$|bcc$)/);

/** A message is read in parts of 64 KiB: one of them begins with each byte of a line. */
test.each([0, 1, 2, 3])(
  'a body of several parts is read whole, with any line ends: %i',
  async (n) => {
    const body = `${'x'.repeat(n)}ab\r\n`.repeat(50_000);
    const message = signed(mailWith(body, ...HEAD), { domain, fields: ALL });
    expect(await check(message)).toMatchObject({ dkim: 'pass', ...pass });
    expect(await check(message.replaceAll('\r\n', '\n'))).toMatchObject({ dkim: 'pass', ...pass });
    const changed = `${message.slice(0, 130_000)}y${message.slice(130_001)}`;
    expect(await check(changed)).toMatchObject({ dkim: 'fail', dmarc: 'fail' });
  },
);

describe('a pass by DKIM alone covers the copies that the signature covers', () => {
  test.each<[string, string, string | undefined]>([
    ['To', signedMail(ALL), undefined],
    ['not To', signedMail(['from', 'subject']), 'to'],
    ['not a Cc that was added', signedMail(ALL, CC), 'cc'],
    ['neither To nor a Cc that was added', signedMail(['from'], CC), 'to cc'],
    ['not a Bcc that was added', signedMail(ALL, BCC), 'bcc'],
    ['Cc', signed(mail(...HEAD, CC), { domain, fields: [...ALL, 'cc'] }), undefined],
    ['not a Cc that it leaves out', signed(mail(...HEAD, CC), { domain, fields: ALL }), 'cc'],
  ])('%s', async (_, message, uncovered) => {
    const verdict = await check(message);
    expect(verdict).toMatchObject(pass);
    expect(copiesIn(verdict)).toBe(uncovered);
    expect(verdict.repeated).toBeUndefined();
  });

  test('a Cc that is added to a signature that excludes one breaks it', async () => {
    expect(await check(signedMail([...ALL, 'cc'], CC))).toMatchObject({
      ...{ dkim: 'fail', dmarc: 'fail', policy: 'reject' },
    });
  });

  test('of two signatures, one is enough', async () => {
    const both = signed(signed(mail(...HEAD, CC), { domain, fields: [...ALL, 'cc'] }), {
      ...{ domain, fields: ['from'] },
    });
    expect(copiesIn(await check(both))).toBeUndefined();
    const other = signed(signed(mail(...HEAD, CC), { domain, fields: ['from', 'cc'] }), {
      ...{ domain, fields: ['from', 'to'] },
    });
    expect(copiesIn(await check(other))).toBeUndefined();
  });

  test('a signature that does not hold covers nothing', async () => {
    const broken = signed(signedMail(ALL, CC), { domain, fields: ['from', 'cc'] });
    expect(await check(broken.replace('h=from:cc', 'h=from:to:cc'))).toMatchObject({
      ...{ ...pass, uncovered: 'cc' },
    });
  });

  test('the signature of another domain covers nothing', async () => {
    const byAttacker = { domain: 'attack.example', fields: ['from', 'to', 'cc'] };
    expect(await check(signed(signedMail(ALL, CC), byAttacker))).toMatchObject({
      ...{ ...pass, uncovered: 'cc' },
    });
  });

  test('nor does that of a subdomain where alignment is strict', async () => {
    const from = mail('From: ann@strict.example', ...HEAD.slice(1), CC);
    const own = signed(from, { domain: 'strict.example', fields: ALL });
    const below = { domain: 'mail.strict.example', fields: [...ALL, 'cc'] };
    expect(await check(signed(own, below))).toMatchObject({ ...pass, uncovered: 'cc' });
  });

  test('nor does one over a part of the body', async () => {
    const partly = signed(mail(...HEAD, CC), { domain, fields: [...ALL, 'cc'], tags: 'l=7; ' });
    expect(await check(partly)).toMatchObject({ dkim: 'policy', dmarc: 'fail' });
    const whole = signed(partly, { domain, fields: ALL });
    expect(await check(whole)).toMatchObject({ ...pass, uncovered: 'cc' });
  });

  test('also for a domain without a policy', async () => {
    const from = mail('From: ann@unpublished.example', ...HEAD.slice(1), CC);
    const verdict = await check(signed(from, { domain: 'unpublished.example', fields: ALL }));
    expect(verdict).toMatchObject({ dmarc: 'none', aligned: 'dkim', uncovered: 'cc' });
  });
});

describe('a pass by DKIM alone covers the words that the signature covers', () => {
  const BARE = HEAD.filter((line) => !line.startsWith('Subject'));
  const REPLY = ['In-Reply-To: <2@shop.example>', 'References: <2@shop.example>'];
  const replaced = (fields: readonly string[], from: string, to: string) =>
    signedMail(fields).replace(from, to);
  const sparse = ['from', 'to', 'date'];
  test.each<[string, string, string | undefined, string]>([
    ['all', signedMail(ALL), undefined, 'confirmed'],
    [
      'not a Subject that was replaced',
      replaced(['from', 'to', 'date', 'message-id'], 'Order', 'Cheap pills'),
      ...(['subject', 'subject unsigned'] as const),
    ],
    [
      'not a Subject that was added',
      `Subject: Cheap pills\r\n${signed(mail(...BARE), { domain, fields: [...sparse, 'message-id'] })}`,
      ...(['subject', 'subject unsigned'] as const),
    ],
    [
      'not a Message-ID that was replaced',
      replaced([...sparse, 'subject'], '<1@', '<pills@'),
      ...(['message-id', 'confirmed'] as const),
    ],
    [
      'not a thread that was added',
      signedMail(ALL, ...REPLY),
      ...(['in-reply-to references', 'confirmed'] as const),
    ],
    [
      'nothing',
      signedMail(['from'], ...REPLY.slice(1)),
      'subject message-id references',
      'subject unsigned',
    ],
  ])('%s', async (_, message, words, confirmation) => {
    const verdict = await check(message);
    expect(verdict).toMatchObject(pass);
    expect(wordsIn(verdict)).toBe(words);
    expect(confirmationOf(verdict, undefined)).toBe(confirmation);
    // It is delivered as it came.
    const rules = { dmarc: 'hold', unverified: 'hold' } as const;
    expect(treatSender(verdict, undefined, rules)).toMatchObject({ dropCopies: false });
    expect(treatSender(verdict, undefined, rules).hold).toBeUndefined();
  });

  test('where SPF passes for the domain in From, all are covered', async () => {
    const request = { envelopeFrom: 'ann@legit.example', remoteAddress: '192.0.2.1' };
    const verdict = await check(signedMail(['from'], ...REPLY), request);
    expect(verdict.uncovered).toBeUndefined();
    expect(confirmationOf(verdict, undefined)).toBe('confirmed');
  });

  const SEEN = 'dmarc=pass header.from=legit.example';
  test.each([
    ['that names it', `${SEEN}; spf=pass smtp.mailfrom=legit.example`, ['from', 'subject'], true],
    ['that does not', `${SEEN}; spf=pass smtp.mailfrom=legit.example`, ['from', 'to'], false],
    ['that has seen DKIM alone', `${SEEN}; spf=fail`, ['from', 'subject'], false],
  ])('a Subject is covered by a seal: %s', async (_, results, fields, isCovered) => {
    const verdict = await check(sealed(mail(...HEAD), { results, fields }));
    expect(verdict).toMatchObject({ dmarc: 'pass', aligned: 'arc' });
    expect(wordsIn(verdict)).toBe(isCovered ? 'message-id' : 'subject message-id');
    expect(confirmationOf(verdict, undefined)).toBe(isCovered ? 'confirmed' : 'subject unsigned');
  });

  test('also of a person whom a group names', async () => {
    const senders = { addresses: ['support@acme.example'], formSenders: [] };
    const group = mail(
      ...["From: 'Ann' via Support <support@acme.example>", 'Reply-To: ann@legit.example'],
      'Subject: Order',
    );
    const results = `${SEEN}; spf=pass smtp.mailfrom=legit.example`;
    const found = (fields: string[]) => check(sealed(group, { results, fields }), { senders });
    const of = async (fields: string[]) => confirmationOf(await found(fields), 'by-form');
    expect(await of(['from', 'subject'])).toBe('confirmed');
    expect(await of(['from'])).toBe('subject unsigned');
  });
});

describe('where SPF passes for the domain in From, too', () => {
  const message = signedMail(['from'], CC);
  const reported = (line: string) => `Authentication-Results: ${line}\r\n${message}`;
  const throughRelay = { trustedRelay: true };

  test('all copies are covered by our own check', async () => {
    const request = { envelopeFrom: 'ann@legit.example', remoteAddress: '192.0.2.1' };
    expect(copiesIn(await check(message, request))).toBeUndefined();
  });

  test.each<[string, string, string | undefined]>([
    ['of From', 'relay.acme.example; spf=pass smtp.mailfrom=ann@legit.example', undefined],
    ['of another domain', 'relay.acme.example; spf=pass smtp.mailfrom=m@attack.example', 'to cc'],
    ['failed', 'relay.acme.example; spf=fail smtp.mailfrom=ann@legit.example', 'to cc'],
    ['under another id', 'other.example; spf=pass smtp.mailfrom=ann@legit.example', 'to cc'],
    ['not at all', 'relay.acme.example; dmarc=pass header.from=legit.example', 'to cc'],
  ])('all copies are covered by a trusted relay: %s', async (_, line, uncovered) => {
    const verdict = await check(reported(line), throughRelay);
    expect(verdict).toMatchObject(pass);
    expect(copiesIn(verdict)).toBe(uncovered);
  });

  test('not by a sender who is no relay', async () => {
    const line = 'relay.acme.example; spf=pass smtp.mailfrom=ann@legit.example';
    expect(copiesIn(await check(reported(line)))).toBe('to cc');
  });

  const byArc = { sealer: 'sealer.example', fields: ['from', 'subject'] };
  const DMARC = 'dmarc=pass header.from=legit.example';
  const SPF = 'spf=pass smtp.mailfrom=ann@legit.example';
  const COVERING = { ...byArc, fields: ['from', 'to', 'cc'] };
  test.each<[string, string, Partial<typeof byArc>, string | undefined]>([
    ['that covers them', `${DMARC}; ${SPF}`, COVERING, undefined],
    [
      'that names a domain alone',
      `${DMARC}; spf=pass smtp.mailfrom=legit.example`,
      COVERING,
      undefined,
    ],
    ['that does not cover Cc', `${DMARC}; ${SPF}`, { fields: ['from', 'to'] }, 'cc'],
    ['that covers neither', `${DMARC}; ${SPF}`, {}, 'to cc'],
    ['of another domain', `${DMARC}; spf=pass smtp.mailfrom=m@attack.example`, COVERING, 'to cc'],
    ['of DKIM alone', `${DMARC}; dkim=pass header.d=legit.example; spf=fail`, COVERING, 'to cc'],
    ['whom nobody trusts', `${DMARC}; ${SPF}`, { ...COVERING, sealer: 'attack.example' }, 'to cc'],
  ])('copies by a seal %s', async (_, results, change, uncovered) => {
    const verdict = await check(sealed(message, { ...byArc, ...change, results }));
    expect(verdict).toMatchObject(pass);
    expect(copiesIn(verdict)).toBe(uncovered);
  });

  test('a Cc that is added to a sealed copy is not covered', async () => {
    const copy = sealed(signedMail(['from']), {
      ...COVERING,
      fields: ['from', 'to'],
      results: `${DMARC}; ${SPF}`,
    });
    expect(await check(copy)).toMatchObject(pass);
    expect(copiesIn(await check(copy))).toBeUndefined();
    expect(copiesIn(await check(`${CC}\r\n${copy}`))).toBe('cc');
  });

  test('nor if the DKIM signature is taken out of it', async () => {
    const copy = sealed(signedMail(['from']), {
      ...byArc,
      fields: ['from', 'to'],
      results: `${DMARC}; ${SPF}`,
    });
    const unsigned = copy.replace(/^DKIM-Signature:.*\r\n/m, `${CC}\r\n`);
    const verdict = await check(unsigned);
    expect(verdict).toMatchObject({ dkim: 'none', dmarc: 'pass', aligned: 'arc' });
    expect(copiesIn(verdict)).toBe('cc');
  });

  test.each([
    ['both', ['from', 'to', 'cc'], undefined],
    ['the older one only', ['from'], 'to cc'],
  ])('of two seals, %s cover the copies', async (_, fields, uncovered) => {
    const inner = sealed(message, { ...COVERING, results: `${DMARC}; ${SPF}` });
    const outer = { ...byArc, fields, results: 'spf=pass smtp.mailfrom=m@attack.example' };
    const verdict = await check(sealed(inner, outer));
    expect(verdict).toMatchObject({ ...pass, arc: 'pass' });
    expect(copiesIn(verdict)).toBe(uncovered);
  });

  const broken = message.replace('h=from;', 'h=from:subject;');
  const unsigned = mail(...HEAD, CC);
  test.each([
    ['of SPF, on what is signed', broken, `${DMARC}; ${SPF}`, undefined],
    ['on what is signed', broken, DMARC, 'to cc'],
    ['on what is not signed, so it is of SPF', unsigned, DMARC, undefined],
  ])('where only a relay confirms the sender: %s', async (_, text, results, uncovered) => {
    const line = `Authentication-Results: relay.acme.example; ${results}`;
    const verdict = await check(`${line}\r\n${text}`, throughRelay);
    expect(verdict).toMatchObject({ dmarc: 'pass' });
    expect(copiesIn(verdict)).toBe(uncovered);
  });

  test.each([
    ['of SPF, which covers them', broken, `${DMARC}; ${SPF}`, COVERING, undefined],
    ['of SPF', broken, `${DMARC}; ${SPF}`, byArc, 'to cc'],
    ['of SPF, on what is not signed', unsigned, `${DMARC}; ${SPF}`, byArc, 'to cc'],
    ['of an unknown method', unsigned, DMARC, COVERING, 'to cc'],
  ])('where only a seal confirms the sender: %s', async (_, text, results, seal, uncovered) => {
    const verdict = await check(sealed(text, { ...seal, results }));
    expect(verdict).toMatchObject({ dmarc: 'pass', aligned: 'arc' });
    expect(copiesIn(verdict)).toBe(uncovered);
  });
});

describe('a second field', () => {
  const SECOND = [
    ['Subject: You won', 'subject'],
    ['To: eve@attack.example', 'to'],
    ['Date: Mon, 05 Jan 2026 10:00:00 +0000', 'date'],
    ['Message-ID: <2@attack.example>', 'message-id'],
  ] as const;
  const TWICE = [
    ['Cc: eve@attack.example', 'cc'],
    ['Reply-To: eve@attack.example', 'reply-to'],
    ['In-Reply-To: <2@attack.example>', 'in-reply-to'],
    ['References: <2@attack.example>', 'references'],
  ] as const;

  test.each(SECOND)('%s above the signed one makes the sender unverified', async (line, name) => {
    expect(await check(signedMail(ALL, line))).toMatchObject({ ...pass, repeated: name });
  });

  test.each(TWICE)('%s twice makes the sender unverified', async (line, name) => {
    const once = signed(mail(...HEAD, line), { domain, fields: [...ALL, name] });
    expect(await check(`${line}\r\n${once}`)).toMatchObject({ ...pass, repeated: name });
  });

  test.each([...SECOND, ...TWICE])('%s is covered if it is named twice', async (line, name) => {
    const message = mail(line, ...HEAD, ...(ALL.includes(name) ? [] : [line]));
    const fields = [...ALL, name, ...(ALL.includes(name) ? [] : [name])];
    const verdict = await check(signed(message, { domain, fields }));
    expect(verdict).toMatchObject(pass);
    expect(verdict.repeated).toBeUndefined();
  });

  test('breaks a signature that excludes it', async () => {
    const message = signedMail([...ALL, 'subject'], 'Subject: You won');
    expect(await check(message)).toMatchObject({ dkim: 'fail', dmarc: 'fail' });
  });

  test('is covered by a signature of the domain, not by that of another', async () => {
    const twice = mail('Subject: You won', ...HEAD);
    const fields = [...ALL, 'subject'];
    const byBoth = signed(signed(twice, { domain, fields }), { domain, fields: ['from'] });
    expect((await check(byBoth)).repeated).toBeUndefined();
    const byAttacker = signed(signed(twice, { domain, fields: ALL }), {
      ...{ domain: 'attack.example', fields },
    });
    expect(await check(byAttacker)).toMatchObject({ ...pass, repeated: 'subject' });
  });

  test('makes the sender unverified also where SPF passes', async () => {
    const request = { envelopeFrom: 'ann@legit.example', remoteAddress: '192.0.2.1' };
    const twice = mail('Subject: You won', ...HEAD);
    expect(await check(twice, request)).toMatchObject({ aligned: 'spf', repeated: 'subject' });
    // A verdict that was remembered for other mail must not apply to this message, nor its own to them.
    expect(questionOf(requestOf(mail(...HEAD), request))).toBeDefined();
    expect(questionOf(requestOf(twice, request))).toBeUndefined();
    const { holdsMs } = await checkWithLifetime(
      ...([requestOf(twice, request), settings, { resolve }, Date.now] as const),
    );
    expect(holdsMs).toBe(0);
  });

  test('of another kind says nothing', async () => {
    const verdict = await check(signedMail(ALL, 'Received: x', 'Received: y', 'Content-Type: a/b'));
    expect(verdict).toMatchObject(pass);
    expect(verdict.repeated).toBeUndefined();
  });
});

describe('a person whom a group names', () => {
  const senders = { addresses: ['support@acme.example'], formSenders: [] };
  const group = mail(
    ...["From: 'Ann' via Support <support@acme.example>", 'Reply-To: ann@legit.example', CC],
  );
  const DMARC = 'dmarc=pass header.from=legit.example';

  test.each<[string, string, string | undefined]>([
    ['of DKIM alone', DMARC, 'cc'],
    ['of SPF', `${DMARC}; spf=pass smtp.mailfrom=ann@legit.example`, undefined],
  ])('keeps the copies by a seal %s', async (_, results, uncovered) => {
    const message = sealed(group, { results, fields: ['from', 'cc'] });
    const verdict = await check(message, { senders });
    expect(verdict).toMatchObject({ claimed: 'verified' });
    expect(copiesIn(verdict)).toBe(uncovered);
  });
});
