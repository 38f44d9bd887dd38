// Long because it is tables: records, policies and alignment, over zones of a line each.
import { describe, expect, test } from '@jest/globals';
import {
  DmarcLookups,
  type DmarcRecord,
} from '../../../../src/channels/email/authentication/dmarc-lookups.ts';
import {
  mayAlign,
  parseRecord,
  recordAmong,
  walkNames,
} from '../../../../src/channels/email/authentication/dmarc.ts';
import {
  DnsError,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';

/**
 * The DMARC record of each domain, or several. `exists`: the name has no records that matter.
 * `fails`: the server cannot answer for it.
 */
type Records = Readonly<Record<string, string | readonly string[]>>;

function lookupsIn(records: Records) {
  const asked: string[] = [];
  const answer = (domain: string, type: string) => {
    const found = records[domain];
    if (found === 'fails') throw new DnsError('ESERVFAIL');
    if (found === 'exists' && type !== 'TXT') throw new DnsError('ENODATA');
    if (found === undefined || found === 'exists' || type !== 'TXT')
      throw new DnsError('ENOTFOUND');
    return [found].flat().map((text) => [text]);
  };
  const resolve: Resolve = (name, type) => {
    asked.push(`${name} ${type}`);
    return Promise.resolve().then(() => answer(name.replace(/^_dmarc\./, ''), type));
  };
  return { asked, lookups: new DmarcLookups(resolve) };
}

const outcome = (record: DmarcRecord) => (record.kind === 'found' ? record.policy : record.kind);
const REJECT = 'v=DMARC1; p=reject';

describe('a record', () => {
  interface Read {
    readonly own?: string;
    readonly psd?: string;
    readonly spf?: boolean;
    readonly dkim?: boolean;
  }
  test.each<[string, string, Read | 'none' | undefined]>([
    ['p=reject', REJECT, { own: 'reject' }],
    ['no spaces', 'v=DMARC1;p=quarantine;', { own: 'quarantine' }],
    [
      'spaces and tabs around = and ;',
      'v \t= DMARC1 ;\tp = reject ; psd\t=\ty ',
      { own: 'reject', psd: 'y' },
    ],
    ['capitals in names and values', 'V=DMARC1; P=Reject; ASPF=S', { own: 'reject', spf: true }],
    ['strict DKIM alone', `${REJECT}; adkim=s; aspf=r`, { own: 'reject', dkim: true }],
    ['the version in small letters', 'v=dmarc1; p=reject', undefined],
    ['another version', 'v=DMARC2; p=reject', undefined],
    ['a version that only begins so', 'v=DMARC10; p=reject', undefined],
    ['the version not first', 'p=reject; v=DMARC1', undefined],
    ['a blank before the version', ' v=DMARC1; p=reject', undefined],
    ['no semicolon after the version', 'v=DMARC1 p=reject', undefined],
    ['SPF', 'v=spf1 -all', undefined],
    ['nothing', '', undefined],
    ['the version alone', 'v=DMARC1', 'none'],
    ['unknown tags', 'v=DMARC1; x=1; p=reject; rf=afrf; ri=3600', { own: 'reject' }],
    ['p at the end', 'v=DMARC1; rua=mailto:a@b.example; p=reject', { own: 'reject' }],
    ['no p, and reports', 'v=DMARC1; rua=mailto:a@b.example', { own: 'none' }],
    ['no p, and no reports', 'v=DMARC1; sp=reject', 'none'],
    ['a wrong p, and reports', 'v=DMARC1; p=rejekt; rua=mailto:a@b.example!10m', { own: 'none' }],
    ['a wrong p, and no reports', 'v=DMARC1; p=rejekt', 'none'],
    ['a wrong p, and reports to nowhere', 'v=DMARC1; p=rejekt; rua=a@b.example, mailto:', 'none'],
    ['a wrong sp, and reports', `${REJECT}; sp=all; rua=mailto:a@b.example`, { own: 'none' }],
    ['a wrong np, and no reports', `${REJECT}; np=all`, 'none'],
    [
      'wrong values of other tags',
      `${REJECT}; t=maybe; psd=x; aspf=strict`,
      { own: 'reject', psd: 'u', spf: false },
    ],
    ['a part without =', `${REJECT}; quarantine; =none`, { own: 'reject' }],
    ['t=y', `${REJECT}; t=y`, { own: 'quarantine' }],
    ['t=y and quarantine', 'v=DMARC1; p=quarantine; t=y', { own: 'none' }],
    ['t=y and none', 'v=DMARC1; p=none; t=y', { own: 'none' }],
    ['t=n', `${REJECT}; t=n`, { own: 'reject' }],
    ['pct=0', `${REJECT}; pct=0`, { own: 'quarantine' }],
    ['pct=0 and t=n', `${REJECT}; pct=0; t=n`, { own: 'reject' }],
    ['pct=0 and t=y', `${REJECT}; pct=0; t=y`, { own: 'quarantine' }],
    ['pct=50', `${REJECT}; pct=50`, { own: 'reject' }],
  ])('with %s', (_, text, expected) => {
    const record = parseRecord(text);
    if (expected === undefined || expected === 'none') {
      expect(record === undefined ? undefined : (record.policies ?? 'none')).toBe(expected);
      return;
    }
    const { own = '', psd = 'u', spf = false, dkim = false } = expected;
    expect(record).toMatchObject({ policies: { own }, psd, strictSpf: spf, strictDkim: dkim });
  });

  test('is one of several only if the others are of something else', () => {
    expect(recordAmong(['v=spf1 -all', REJECT])?.policies?.own).toBe('reject');
    expect(recordAmong([REJECT, REJECT])).toBeUndefined();
    expect(recordAmong([])).toBeUndefined();
  });

  test('of any length is parsed at once', () => {
    const texts = [
      `v=DMARC1;${';'.repeat(1_000_000)}p=reject`,
      `v=DMARC1; x${'='.repeat(1_000_000)}; p=reject`,
      `v=DMARC1; x=${' '.repeat(1_000_000)}; p=reject`,
      `v=DMARC1; ${'a=b; '.repeat(200_000)}p=reject`,
      `v=DMARC1; rua=${'a,'.repeat(500_000)}; p=reject`,
      `v=DMARC1; rua=${'a'.repeat(1_000_000)}; p=reject`,
    ];
    const startedAt = performance.now();
    for (const text of texts) expect(parseRecord(text)?.policies?.own).toBe('reject');
    expect(parseRecord(`v${' '.repeat(1_000_000)}x`)).toBeUndefined();
    expect(parseRecord(`v=DMARC1${' '.repeat(1_000_000)}x`)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});

describe('a walk asks', () => {
  test.each([
    ['a.com', 2],
    ['b.c.d.e.f.g.com', 7],
    ['a.b.c.d.e.f.g.com', 8],
    ['0.a.b.c.d.e.f.g.com', 8],
    [`${'a.'.repeat(126)}com`, 8],
  ])('for %s %i names', (domain, count) => {
    expect(walkNames(domain)).toHaveLength(count);
  });

  test('the whole name, and then the last seven labels', () => {
    expect(walkNames('a.b.c.d.e.f.g.h.i.j.mail.example.com')).toEqual([
      'a.b.c.d.e.f.g.h.i.j.mail.example.com',
      'g.h.i.j.mail.example.com',
      'h.i.j.mail.example.com',
      'i.j.mail.example.com',
      'j.mail.example.com',
      'mail.example.com',
      'example.com',
      'com',
    ]);
  });
});

const DEEPEST = `${'a.'.repeat(126)}com`;
/** The cells of each line of a table. */
const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => [cells[0] ?? '', cells.slice(1)] as const);
/** From `a.com: p=none; sp=reject + b.com: fails`; several records of a name stand between slashes. */
function recordsIn(cell: string): Records {
  if (cell === 'nothing') return {};
  const read = (text: string) =>
    /^(?:p|google)/.test(text) ? text.replace(/^p/, 'v=DMARC1; p') : text;
  return Object.fromEntries(
    cell.split(' + ').map((each) => {
      const [domain = '', texts = ''] = each.split(': ');
      const [only = '', ...others] = texts.split(' / ').map(read);
      return [domain, others.length === 0 ? only : [only, ...others]];
    }),
  );
}

/** What is read, From, the records, the policy, and the number of look-ups of any type. */
const POLICIES = `
  no record                                              | a.com                 | nothing                                                              | none       | 2
  its own record                                         | a.com                 | a.com: p=reject                                                      | reject     | 1
  its own record, whatever is above                      | m.a.com               | m.a.com: p=none + a.com: p=reject                                    | none       | 1
  its own p, not sp                                      | a.com                 | a.com: p=reject; sp=none; np=none                                    | reject     | 1
  p of the organization                                  | m.a.com               | a.com: p=reject                                                      | reject     | 3
  sp of the organization                                 | m.a.com               | a.com: p=reject; sp=quarantine                                       | quarantine | 3
  sp for a name that does not exist, without np          | m.a.com               | a.com: p=none; sp=reject                                             | reject     | 3
  np for a name that does not exist                      | m.a.com               | a.com: p=none; sp=none; np=reject                                    | reject     | 6
  np without sp                                          | m.a.com               | a.com: p=none; np=reject                                             | reject     | 6
  sp for a name that exists                              | m.a.com               | a.com: p=none; sp=quarantine; np=reject + m.a.com: exists            | quarantine | 4
  p for a name that exists                               | m.a.com               | a.com: p=none; np=reject + m.a.com: exists                           | none       | 4
  np that is milder                                      | m.a.com               | a.com: p=reject; np=none                                             | none       | 6
  np and t=y                                             | m.a.com               | a.com: p=none; np=reject; t=y                                        | quarantine | 6
  np and sp that t=y makes the same                      | m.a.com               | a.com: p=none; np=quarantine; t=y                                    | none       | 3
  sp and pct=0                                           | m.a.com               | a.com: p=none; sp=reject; pct=0                                      | quarantine | 3
  a wrong policy of the organization                     | m.a.com               | a.com: p=reject; sp=all                                              | none       | 3
  a wrong policy of its own, and none above              | m.a.com               | m.a.com: p=all + a.com: p=reject                                     | none       | 1
  several records as none                                | a.com                 | a.com: p=reject / p=reject                                           | none       | 2
  several records as none, and goes up                   | m.a.com               | m.a.com: p=reject / p=none + a.com: p=quarantine                     | quarantine | 3
  a record among others                                  | a.com                 | a.com: google-site-verification=x / p=reject                         | reject     | 1
  the record with the fewest labels                      | x.m.a.com             | m.a.com: p=none + a.com: p=reject                                    | reject     | 4
  psd=n below the record with the fewest labels          | x.m.a.com             | m.a.com: p=quarantine; psd=n + a.com: p=reject                       | quarantine | 2
  psd=u as no tag                                        | x.m.a.com             | m.a.com: p=none; psd=u + a.com: p=reject                             | reject     | 4
  psd=y of the suffix for a name that exists             | a.bank                | bank: p=reject; np=quarantine; sp=none; psd=y + a.bank: exists       | none       | 3
  psd=y of the suffix for a name that does not exist     | a.bank                | bank: p=reject; np=quarantine; sp=none; psd=y                        | quarantine | 5
  the record below psd=y                                 | m.a.gov.xx            | gov.xx: p=reject; np=quarantine; sp=none; psd=y + a.gov.xx: p=reject | reject     | 3
  psd=y, not a record between                            | x.m.a.gov.xx          | gov.xx: p=quarantine; psd=y + m.a.gov.xx: p=reject                   | quarantine | 4
  psd=y, and nothing above it                            | m.a.gov.xx            | gov.xx: p=none; psd=y + xx: p=reject                                 | none       | 3
  the suffix itself by p                                 | gov.xx                | gov.xx: p=reject; np=quarantine; sp=none; psd=y                      | reject     | 1
  nothing for a suffix without psd=y and no record below | a.co.uk               | nothing                                                              | none       | 3
  eight labels up                                        | a.b.c.d.e.f.g.com     | com: p=reject; psd=y                                                 | reject     | 8
  nine labels, the second of which is left out           | x.a.b.c.d.e.f.g.com   | a.b.c.d.e.f.g.com: p=reject                                          | none       | 8
  nine labels, seven of which are read                   | x.a.b.c.d.e.f.g.com   | b.c.d.e.f.g.com: p=reject                                            | reject     | 8
  nine labels with a record of their own                 | x.a.b.c.d.e.f.g.com   | x.a.b.c.d.e.f.g.com: p=reject                                        | reject     | 1
  the example of §5.1.8: psd=n where nobody asks         | mail.a.b.c.d.e.f.g.example.com | b.c.d.e.f.g.example.com: p=reject; psd=n + example.com: p=none | none | 8
  eight labels and np                                    | a.b.c.d.e.f.g.com     | g.com: p=none; np=reject                                             | reject     | 11
  127 labels                                             | (127 labels)          | a.com: p=reject                                                      | reject     | 8
  an underscore                                          | _x.a.com              | a.com: p=reject                                                      | reject     | 3
  an IDN                                                 | xn--bcher-kva.example | xn--bcher-kva.example: p=reject                                      | reject     | 1
  a host of one label                                    | localhost             | localhost: p=reject                                                  | none       | 0
  an address                                             | [192.0.2.1]           | nothing                                                              | none       | 0
  its own record, while what is above fails              | m.a.com               | m.a.com: p=reject + a.com: fails + com: fails                        | reject     | 1
  the record below a look-up that fails                  | m.a.com               | a.com: p=reject + com: fails                                         | reject     | 3
  a record two below one that fails                      | x.m.a.com             | m.a.com: p=quarantine + a.com: fails                                 | quarantine | 3
  nothing if its own look-up fails                       | m.a.com               | m.a.com: fails + a.com: p=reject                                     | temperror  | 1
  nothing if a look-up below the record fails            | x.m.a.com             | m.a.com: fails + a.com: p=reject                                     | temperror  | 2
  nothing if the last look-up fails                      | a.com                 | com: fails                                                           | temperror  | 2
`;

describe('the policy is taken from', () => {
  test.each(rowsOf(POLICIES))('%s', async (_, [from = '', records = '', expected, asked]) => {
    const { lookups, asked: questions } = lookupsIn(recordsIn(records));
    const domain = from === '(127 labels)' ? DEEPEST : from;
    expect(outcome(await lookups.read(domain))).toBe(expected);
    expect(questions).toHaveLength(Number(asked));
  });

  test('sp or np, but from neither while DNS does not say which', async () => {
    const resolve: Resolve = (name, type) => {
      if (name === '_dmarc.a.com') return Promise.resolve([['v=DMARC1; p=none; np=reject']]);
      return Promise.reject(new DnsError(type === 'TXT' ? 'ENOTFOUND' : 'ETIMEOUT'));
    };
    expect(await new DmarcLookups(resolve).read('m.a.com')).toEqual({ kind: 'temperror' });
  });

  test('a record that DNS splits into strings', async () => {
    const resolve: Resolve = () => Promise.resolve([['v=DMA', 'RC1; p=rej', 'ect']]);
    expect(outcome(await new DmarcLookups(resolve).read('a.com'))).toBe('reject');
  });
});

/** What is compared, From, the other, the mode, the records, the result, and the number of look-ups. */
const ALIGNMENTS = `
  the same name                                     | a.com                 | a.com                  | relaxed  | a.com: p=reject                                | aligned   | 1
  the same name, in capitals, with a dot            | a.com                 | A.Com.                 | relaxed  | a.com: p=reject                                | aligned   | 1
  the same IDN                                      | xn--bcher-kva.example | Bücher.example         | relaxed  | nothing                                        | aligned   | 2
  the same name, strictly                           | a.com                 | a.com                  | strictly | a.com: p=reject                                | aligned   | 1
  another name, strictly                            | a.com                 | m.a.com                | strictly | a.com: p=reject                                | unaligned | 1
  a subdomain                                       | a.com                 | m.a.com                | relaxed  | a.com: p=reject                                | aligned   | 3
  the parent                                        | m.a.com               | a.com                  | relaxed  | a.com: p=reject                                | aligned   | 3
  a sibling                                         | m.a.com               | n.a.com                | relaxed  | a.com: p=reject                                | aligned   | 4
  a parent without a record                         | m.a.com               | a.com                  | relaxed  | m.a.com: p=reject                              | unaligned | 3
  a parent with a record, both with one             | m.a.com               | a.com                  | relaxed  | m.a.com: p=reject + a.com: p=reject            | aligned   | 3
  a parent above psd=n                              | m.a.com               | a.com                  | relaxed  | m.a.com: p=reject; psd=n + a.com: p=reject     | unaligned | 1
  a subdomain with psd=n                            | a.com                 | m.a.com                | relaxed  | m.a.com: p=reject; psd=n + a.com: p=reject     | unaligned | 3
  a name below the same psd=n                       | m.a.com               | x.m.a.com              | relaxed  | m.a.com: p=reject; psd=n + a.com: p=reject     | aligned   | 2
  two customers of a suffix with psd=y              | a.host.com            | b.host.com             | relaxed  | host.com: p=none; psd=y + a.host.com: p=reject | unaligned | 2
  a subdomain below psd=y                           | a.host.com            | m.a.host.com           | relaxed  | host.com: p=none; psd=y + a.host.com: p=reject | aligned   | 3
  a subdomain below psd=y, by its policy alone      | a.host.com            | m.a.host.com           | relaxed  | host.com: p=none; psd=y                        | aligned   | 3
  the suffix with psd=y itself                      | a.host.com            | host.com               | relaxed  | host.com: p=none; psd=y + a.host.com: p=reject | unaligned | 2
  a suffix with psd=y that writes itself            | host.com              | a.host.com             | relaxed  | host.com: p=none; psd=y                        | unaligned | 2
  customers of a private suffix that has a record   | a.blogspot.com        | blogspot.com           | relaxed  | blogspot.com: p=reject                         | aligned   | 3
  customers of a registry whose record has no psd=y | a.co.uk               | b.co.uk                | relaxed  | a.co.uk: p=reject + co.uk: p=reject            | unaligned | 1
  customers of a top-level domain with a record     | a.com                 | b.com                  | relaxed  | a.com: p=reject + com: p=reject                | unaligned | 1
  another domain                                    | a.com                 | other.net              | relaxed  | a.com: p=reject                                | unaligned | 1
  a name that ends alike                            | a.com                 | xa.com                 | relaxed  | a.com: p=reject                                | unaligned | 1
  nothing                                           | a.com                 | (empty)                | relaxed  | a.com: p=reject                                | unaligned | 1
  a URL of the name below another                   | a.com                 | http://a.com/.evil.net | relaxed  | a.com: p=reject                                | unaligned | 1
  a port of the name below another                  | a.com                 | a.com:1.evil.net       | relaxed  | a.com: p=reject                                | unaligned | 1
  without a record, a subdomain by the list         | a.co.uk               | m.a.co.uk              | relaxed  | nothing                                        | aligned   | 3
  without a record, another customer by the list    | a.co.uk               | b.co.uk                | relaxed  | nothing                                        | unaligned | 3
  without a record, a private suffix by the list    | a.blogspot.com        | blogspot.com           | relaxed  | nothing                                        | unaligned | 3
  after a DNS failure, by the list                  | a.com                 | m.a.com                | relaxed  | a.com: fails                                   | aligned   | 1
  both below a look-up that fails                   | a.com                 | m.a.com                | relaxed  | a.com: p=reject + com: fails                   | aligned   | 3
  a parent that fails                               | m.a.com               | a.com                  | relaxed  | m.a.com: p=reject + a.com: fails               | unknown   | 2
  a parent without a record below one that fails    | m.a.com               | a.com                  | relaxed  | m.a.com: p=reject + com: fails                 | unknown   | 3
  a subdomain that fails                            | a.com                 | m.a.com                | relaxed  | a.com: p=reject + m.a.com: fails               | unknown   | 3
  a parent above a name that fails                  | x.m.a.com             | a.com                  | relaxed  | x.m.a.com: p=reject + m.a.com: fails + a.com: p=reject; psd=n| unknown   | 3
  eight labels and eight others                     | a.b.c.d.e.f.g.com     | 1.2.3.4.5.6.g.com      | relaxed  | g.com: p=reject                                | aligned   | 14
  more look-ups than there are                      | a.b.c.d.e.f.g.com     | 1.2.3.4.5.6.g.com      | relaxed  | g.com: p=none; np=reject                       | unaligned | 11
`;

describe('aligned with From or not:', () => {
  test.each(rowsOf(ALIGNMENTS))('%s', async (_, cells) => {
    const [from = '', authenticated = '', mode, records = '', expected, asked] = cells;
    const other = authenticated === '(empty)' ? '' : authenticated;
    const { lookups, asked: questions } = lookupsIn(recordsIn(records));
    const record = await lookups.read(from);
    expect(await lookups.alignment(from, record, other, mode === 'strictly')).toBe(expected);
    expect(questions).toHaveLength(Number(asked));
    if (expected !== 'unaligned') expect(mayAlign(from, other)).toBe(true);
  });
});

describe('the look-ups of a message', () => {
  const NP = 'v=DMARC1; p=none; np=reject';
  const counting = (record: (domain: string) => string | undefined) => {
    const asked: string[] = [];
    const resolve: Resolve = (name, type) => {
      asked.push(name);
      const text = type === 'TXT' ? record(name.replace(/^_dmarc\./, '')) : undefined;
      return text === undefined
        ? Promise.reject(new DnsError('ENOTFOUND'))
        : Promise.resolve([[text]]);
    };
    return { asked, lookups: new DmarcLookups(resolve) };
  };
  const from = 'a.b.c.d.e.f.evil.com';

  test.each<[string, (domain: string) => string | undefined]>([
    ['every name has a record', () => NP],
    ['every name but the whole one has a record', (domain) => (domain === from ? undefined : NP)],
    ['the organization has a record', (domain) => (domain === 'evil.com' ? NP : undefined)],
    ['no name has a record', () => undefined],
    ['every name is a suffix', () => `${NP}; psd=y`],
  ])('of a stranger are 16 at most if %s', async (_, recordOf) => {
    const { asked, lookups } = counting(recordOf);
    const record = await lookups.read(from);
    for (let index = 0; index < 100; index += 1) {
      await lookups.alignment(from, record, `${index}.b.c.d.e.f.evil.com`, false);
      await lookups.alignment(from, record, `${index}.b${index}.c.d${index}.evil.com`, false);
    }
    expect(asked.length).toBeLessThanOrEqual(16);
  });

  test('of a stranger leave those of the person whom they claim to be', async () => {
    const victim = '1.2.3.4.5.victim.net';
    const { lookups } = counting((domain) =>
      domain === 'evil.com' || domain === 'victim.net' ? NP : undefined,
    );
    const [, claimed] = await Promise.all([lookups.read(from), lookups.read(victim)]);
    expect(outcome(claimed)).toBe('reject');
  });

  test('do not suffice for alignment if both names took most of them', async () => {
    const victim = '1.2.3.4.5.6.victim.net';
    const { asked, lookups } = counting((domain) =>
      domain === from || domain === 'victim.net' ? NP : undefined,
    );
    const record = await lookups.read(from);
    await lookups.read(victim);
    expect(await lookups.alignment(from, record, `x.${from}`, false)).toBe('unaligned');
    expect(asked).toHaveLength(12);
  });

  test('end for a name that is an alias of itself', async () => {
    const lookups = new DmarcLookups((name) =>
      Promise.resolve(name === '_dmarc.evil.com' ? [[NP]] : []),
    );
    expect(outcome(await lookups.read(from))).toBe('none');
  });

  test('ask each name once, also one that fails', async () => {
    const { asked, lookups } = lookupsIn({ 'a.com': REJECT, com: 'fails' });
    const record = await lookups.read('a.com');
    for (const other of ['m.a.com', 'n.a.com', 'm.a.com']) {
      await lookups.alignment('a.com', record, other, false);
    }
    expect(asked).toHaveLength(4);
  });
});
