// Long because it is tables: one for each mechanism, over one zone and one set of signed messages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  checkMessage,
  type CheckRequest,
} from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DnsError,
  DnsResolver,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import type { AuthenticationVerdict } from '../../../../src/channels/email/authentication/verdict.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { ends } from '../../../support/ends.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { authFixture, authZone } from './auth-fixtures.ts';

let server: DnsServer;
beforeAll(async () => {
  server = await DnsServer.start(authZone());
});
afterAll(() => server.stop());

const settings = {
  hostname: 'mx.acme.example',
  trustedAuthservIds: ['relay.acme.example'],
  // More than a busy machine needs.
  totalMs: 60_000,
  endsWithinMs: 60_000,
};
/** Sent from where no SPF record allows it; the null sender of this HELO has no record either. */
const stranger: Omit<CheckRequest, 'raw'> = {
  remoteAddress: '198.51.100.9',
  heloName: 'mx.elsewhere.example',
  envelopeFrom: 'ann@elsewhere.example',
  trustedRelay: false,
  trustedArcSealers: ['sealer.example', 'sealer2.example'],
};

async function check(
  bytes: Uint8Array,
  request: Partial<CheckRequest> = {},
  at: DnsServer = server,
  totalMs = settings.totalMs,
): Promise<AuthenticationVerdict> {
  const resolver = new DnsResolver(
    { servers: [at.address], queryMs: 20_000, silenceMs: 10_000, openMs: 30_000 },
    Date.now,
  );
  ends(() => resolver.close());
  const resolve = (name: string, type: string) => resolver.resolve(name, type);
  const raw = { kind: 'bytes' as const, bytes };
  return await checkMessage({ ...stranger, raw, ...request }, { ...settings, totalMs }, resolve);
}

const change = (name: string, edit: (text: string) => string) =>
  Buffer.from(edit(authFixture(name).toString('latin1')), 'latin1');

interface Row {
  readonly what: string;
  readonly mail: string;
  readonly edit?: (text: string) => string;
  readonly request?: Partial<CheckRequest>;
  readonly expected: Partial<AuthenticationVerdict>;
}

const from = (sender: string, remoteAddress: string): Partial<CheckRequest> => ({
  envelopeFrom: sender,
  remoteAddress,
});
const pass = (aligned: AuthenticationVerdict['aligned']) => ({ dmarc: 'pass', aligned }) as const;
const relay = (line: string) => (text: string) => `Authentication-Results: ${line}\r\n${text}`;

const rows: readonly Row[] = [
  // SPF, RFC 7208
  {
    what: 'SPF passes from an address of the record',
    mail: 'unsigned-reject',
    request: from('a@reject.example', '192.0.2.1'),
    expected: { spf: 'pass', dkim: 'none', ...pass('spf'), policy: 'reject' },
  },
  {
    what: 'SPF fails from another address',
    mail: 'unsigned-reject',
    request: from('a@reject.example', '192.0.2.2'),
    expected: { spf: 'fail', dmarc: 'fail', policy: 'reject' },
  },
  {
    what: 'SPF is none without a record',
    mail: 'unsigned-reject',
    expected: { spf: 'none', dmarc: 'fail' },
  },
  {
    what: 'SPF of another domain vouches for nobody',
    mail: 'unsigned-reject',
    request: from('a@none.example', '192.0.2.1'),
    expected: { spf: 'pass', dmarc: 'fail' },
  },
  {
    what: 'the null sender counts by its HELO',
    mail: 'unsigned-reject',
    request: { envelopeFrom: '', heloName: 'reject.example', remoteAddress: '192.0.2.1' },
    expected: { spf: 'pass', ...pass('spf') },
  },
  {
    what: 'another door than SMTP has no SPF',
    mail: 'unsigned-reject',
    request: { remoteAddress: 'file' },
    expected: { spf: 'none' },
  },
  // DKIM, RFC 6376
  {
    what: 'a relaxed signature holds',
    mail: 'signed-reject',
    expected: { dkim: 'pass', ...pass('dkim') },
  },
  {
    what: 'a simple signature holds',
    mail: 'signed-simple',
    expected: { dkim: 'pass', ...pass('dkim') },
  },
  {
    what: 'bare line feeds are the same message',
    mail: 'signed-reject',
    edit: (text) => text.replaceAll('\r\n', '\n'),
    expected: { dkim: 'pass' },
  },
  {
    what: 'one bit of the body breaks it',
    mail: 'signed-reject',
    edit: (text) => text.replace('order 1001', 'order 1000'),
    expected: { dkim: 'fail', dmarc: 'fail', policy: 'reject' },
  },
  {
    what: 'one letter of the subject breaks it',
    mail: 'signed-reject',
    edit: (text) => text.replace('Subject: Order', 'Subject: Orders'),
    expected: { dkim: 'fail', dmarc: 'fail' },
  },
  {
    what: 'a key of 512 bits proves nothing',
    mail: 'key-512',
    expected: { dkim: 'policy', dmarc: 'fail' },
  },
  {
    what: 'a signature of a part of the body proves nothing',
    mail: 'signed-part',
    expected: { dkim: 'policy', dmarc: 'fail' },
  },
  {
    what: 'a signature of SHA-1 proves nothing',
    mail: 'signed-reject',
    edit: (text) => text.replace('rsa-sha256', 'rsa-sha1'),
    expected: { dkim: 'policy', dmarc: 'fail' },
  },
  {
    what: 'a key that is gone proves nothing',
    mail: 'signed-reject',
    edit: (text) => text.replace('s=s1', 's=s2'),
    expected: { dkim: 'permerror', dmarc: 'fail' },
  },
  {
    what: 'a selector that is no name is not DNS trouble',
    mail: 'signed-reject',
    edit: (text) => text.replace('s=s1', 's=a..b'),
    expected: { dkim: 'permerror', dmarc: 'fail' },
  },
  {
    what: 'a signature of another domain is not looked at',
    mail: 'signed-reject',
    edit: (text) => text.replace('From: Ann <ann@reject', 'From: Ann <ann@quarantine'),
    expected: { dkim: 'unrelated', dmarc: 'fail', policy: 'quarantine' },
  },
  // DMARC, RFC 9989
  {
    what: 'relaxed alignment takes a subdomain',
    mail: 'from-subdomain',
    expected: { ...pass('dkim'), policy: 'reject' },
  },
  { what: 'strict alignment takes the same domain', mail: 'strict-same', expected: pass('dkim') },
  {
    what: 'strict alignment takes no subdomain by DKIM',
    mail: 'strict-subdomain',
    expected: { dkim: 'pass', dmarc: 'fail', policy: 'reject' },
  },
  {
    what: 'strict alignment takes no subdomain by SPF',
    mail: 'strict-subdomain',
    edit: (text) => text.replace('order', 'offer'),
    request: from('a@strict.example', '192.0.2.1'),
    expected: { spf: 'pass', dmarc: 'fail' },
  },
  {
    what: 'sp= is for subdomains',
    mail: 'unsigned-lenient-subdomain',
    expected: { dmarc: 'fail', policy: 'none' },
  },
  {
    what: 'pct=0 takes the next milder policy',
    mail: 'unsigned-testing',
    expected: { dmarc: 'fail', policy: 'quarantine' },
  },
  {
    what: 'pct=50 is no lottery',
    mail: 'unsigned-half',
    expected: { dmarc: 'fail', policy: 'reject' },
  },
  {
    what: 'without a record there is no DMARC',
    mail: 'unsigned-unpublished',
    expected: { dmarc: 'none', policy: 'none', aligned: 'none' },
  },
  {
    what: 'without a record SPF still passes for the domain in From',
    mail: 'unsigned-unpublished',
    request: from('a@mail.unpublished.example', '192.0.2.1'),
    expected: { spf: 'pass', dmarc: 'none', policy: 'none', aligned: 'spf' },
  },
  { what: 'p=none fails too', mail: 'unsigned-none', expected: { dmarc: 'fail', policy: 'none' } },
  {
    what: 'two From lines have no author',
    mail: 'two-from',
    expected: { dmarc: 'permerror', aligned: 'none' },
  },
  {
    what: 'two mailboxes in From have no author',
    mail: 'signed-reject',
    edit: (text) => text.replace('From: Ann', 'From: bob@none.example, Ann'),
    expected: { dmarc: 'permerror' },
  },
  // ARC, RFC 8617
  {
    what: 'a trusted sealer carries the original verdict',
    mail: 'arc-sealer',
    expected: { arc: 'pass', ...pass('arc') },
  },
  {
    what: 'a trusted sealer that saw a failure vouches for nothing',
    mail: 'arc-failed',
    expected: { arc: 'pass', dmarc: 'fail' },
  },
  {
    what: 'a sealer that nobody trusts counts for nothing',
    mail: 'arc-stranger',
    expected: { arc: 'unrelated', dmarc: 'fail' },
  },
  {
    what: 'a body that was changed after the seal breaks it',
    mail: 'arc-sealer',
    edit: (text) => text.replace('order 1001', 'order 1000'),
    expected: { arc: 'fail', dmarc: 'fail' },
  },
  {
    what: 'results that were changed after the seal break it',
    mail: 'arc-failed',
    edit: (text) => text.replace('dmarc=fail', 'dmarc=pass'),
    expected: { arc: 'fail', dmarc: 'fail' },
  },
  // Trusted relays, RFC 8601
  {
    what: 'a trusted relay has no SPF of its own',
    mail: 'unsigned-reject',
    request: { ...from('a@reject.example', '192.0.2.1'), trustedRelay: true },
    expected: { spf: 'skipped', dmarc: 'fail' },
  },
  {
    what: 'DKIM counts through a trusted relay',
    mail: 'signed-reject',
    request: { trustedRelay: true },
    expected: { spf: 'skipped', ...pass('dkim') },
  },
  {
    what: "a trusted relay's DMARC counts",
    mail: 'unsigned-reject',
    edit: relay('relay.acme.example; dmarc=pass header.from=reject.example'),
    request: { trustedRelay: true },
    expected: pass('relay'),
  },
  {
    what: "a trusted relay's SPF counts",
    mail: 'unsigned-reject',
    edit: relay('relay.acme.example; spf=pass (it is) smtp.mailfrom=ann@reject.example'),
    request: { trustedRelay: true },
    expected: { spf: 'pass', ...pass('spf') },
  },
  {
    what: 'results of an id that is not configured count for nothing',
    mail: 'unsigned-reject',
    edit: relay('other.example; dmarc=pass header.from=reject.example'),
    request: { trustedRelay: true },
    expected: { dmarc: 'fail' },
  },
  {
    what: 'results under our own id count for nothing',
    mail: 'unsigned-reject',
    edit: relay('mx.acme.example; dmarc=pass header.from=reject.example'),
    request: { trustedRelay: true },
    expected: { dmarc: 'fail' },
  },
  {
    what: 'results of a sender who is no relay count for nothing',
    mail: 'unsigned-reject',
    edit: relay('relay.acme.example; dmarc=pass header.from=reject.example'),
    expected: { dmarc: 'fail' },
  },
];

describe('the verdict', () => {
  test.each(rows)('$what', async ({ mail, edit = (text) => text, request, expected }) => {
    expect(await check(change(mail, edit), request)).toMatchObject(expected);
  });
});

describe('DNS trouble', () => {
  const troubled = async (question: RegExp) => {
    const own = await DnsServer.start(authZone());
    ends(() => own.stop());
    own.failsOn = (asked) => question.test(asked);
    return own;
  };
  const bySpf = from('a@reject.example', '192.0.2.1');

  test.each([
    {
      what: 'of the DMARC record',
      question: /^_dmarc/,
      expected: { dkim: 'pass', dmarc: 'temperror' },
    },
    {
      what: 'of the only key',
      question: /_domainkey/,
      sender: 'a@elsewhere.example',
      expected: { dkim: 'temperror', dmarc: 'temperror' },
    },
    {
      what: 'of the SPF record that might have passed',
      question: /^reject/,
      mail: 'unsigned-reject',
      expected: { spf: 'temperror', dmarc: 'temperror' },
    },
    {
      what: 'of an SPF record that is not about From',
      question: /^none/,
      mail: 'unsigned-reject',
      sender: 'a@none.example',
      expected: { spf: 'temperror', dmarc: 'fail' },
    },
  ])('$what', async ({ question, mail = 'signed-reject', sender, expected }) => {
    const request = sender === undefined ? bySpf : from(sender, '192.0.2.1');
    const verdict = await check(authFixture(mail), request, await troubled(question));
    expect(verdict).toMatchObject(expected);
  });

  test('servers that say nothing are given up soon, and not asked again', async () => {
    const own = await DnsServer.start({});
    ends(() => own.stop());
    own.silentTo = () => true;
    const resolver = new DnsResolver(
      { servers: [own.address], queryMs: 3_600_000, silenceMs: 200, openMs: 3_600_000 },
      Date.now,
    );
    ends(() => resolver.close());
    await expect(resolver.resolve('one.example', 'TXT')).rejects.toMatchObject({
      code: 'ETIMEOUT',
    });
    expect(resolver.isOpen).toBe(true);
    const asked = own.questions.length;
    await expect(resolver.resolve('two.example', 'TXT')).rejects.toMatchObject({
      code: 'ETIMEOUT',
    });
    expect(own.questions).toHaveLength(asked);
  });

  test('one zone that says nothing does not stop the others', async () => {
    const own = await DnsServer.start(authZone());
    ends(() => own.stop());
    own.silentTo = (asked) => asked.includes('elsewhere');
    const verdict = await check(authFixture('signed-reject'), {}, own, 400);
    expect(verdict).toMatchObject({ spf: 'temperror', ...pass('dkim') });
  });
});

describe('a thread that gets no processor time', () => {
  /** Occupies this thread, which is the resolver's. */
  const stall = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };
  const QUERY_MS = 200;

  test('still reads the answers that came meanwhile, and the verdict is not left open', async () => {
    const own = await DnsServer.start(authZone());
    ends(() => own.stop());
    const resolver = new DnsResolver(
      { servers: [own.address], queryMs: QUERY_MS, silenceMs: QUERY_MS, openMs: 30_000 },
      Date.now,
    );
    ends(() => resolver.close());
    const raw = { kind: 'bytes' as const, bytes: authFixture('unsigned-reject') };
    let asked = 0;
    const verdict = await checkMessage(
      { ...stranger, raw },
      { ...settings, totalMs: 2 * QUERY_MS },
      (name, type) => {
        asked += 1;
        setImmediate(() => stall(3 * QUERY_MS));
        return resolver.resolve(name, type);
      },
    );
    expect(asked).toBeGreaterThan(1);
    expect(verdict).toMatchObject({ spf: 'none', dmarc: 'fail', policy: 'reject' });
    expect(resolver.isOpen).toBe(false);
  });

  test('has no verdict if it cannot tell whether the servers are late', async () => {
    const own = await DnsServer.start(authZone());
    ends(() => own.stop());
    own.silentTo = (asked) => asked.startsWith('_dmarc');
    const resolver = new DnsResolver(
      { servers: [own.address], queryMs: QUERY_MS, silenceMs: QUERY_MS, openMs: 30_000 },
      Date.now,
    );
    ends(() => resolver.close());
    const raw = { kind: 'bytes' as const, bytes: authFixture('unsigned-reject') };
    const resolve = (name: string, type: string) => resolver.resolve(name, type);
    /** The machine's other work may starve this thread, too. */
    const quietly = (message: Parameters<typeof checkMessage>[0]) =>
      waitFor('a quiet moment', () =>
        checkMessage(message, settings, resolve).catch((error: unknown) => {
          if (error instanceof Error && error.name === 'CheckOver') return undefined;
          throw error;
        }),
      );
    expect(await quietly({ ...stranger, raw })).toMatchObject({ dmarc: 'temperror' });
    const asked = { ...stranger, raw, policiesOnly: true };
    expect(await quietly(asked)).toMatchObject({
      ...{ dmarc: 'temperror', policy: 'none', unfinished: 'check' },
    });
    const starving = setInterval(() => stall(3 * QUERY_MS), 1);
    ends(() => clearInterval(starving));
    await expect(checkMessage({ ...stranger, raw }, settings, resolve)).rejects.toMatchObject({
      name: 'CheckOver',
    });
    const policies = checkMessage({ ...stranger, raw, policiesOnly: true }, settings, resolve);
    await expect(policies).rejects.toMatchObject({ name: 'CheckOver' });
  });

  test('has no verdict if the check does not end', async () => {
    const body = Buffer.from('More about the order.\r\n'.repeat(200_000));
    const bytes = Buffer.concat([authFixture('signed-reject'), body]);
    const raw = { kind: 'bytes' as const, bytes };
    const resolve = () => Promise.reject(new DnsError('ENOTFOUND'));
    const checking = checkMessage({ ...stranger, raw }, { ...settings, endsWithinMs: 1 }, resolve);
    await expect(checking).rejects.toMatchObject({ name: 'CheckOver' });
  });
});

describe('bounds', () => {
  test('a thousand signatures cost a few look-ups', async () => {
    const own = await DnsServer.start(authZone());
    ends(() => own.stop());
    const signature = (index: number) =>
      `DKIM-Signature: v=1; a=rsa-sha256; d=reject.example; s=k${index}; h=from; bh=x; b=y\r\n`;
    const many = Array.from({ length: 1000 }, (_, index) => signature(index)).join('');
    const verdict = await check(
      change('unsigned-reject', (text) => many + text),
      {},
      own,
    );
    expect(verdict.dmarc).toBe('fail');
    expect(own.questions.filter((asked) => asked.includes('_domainkey')).length).toBeLessThan(10);
  });

  test('10 MB are streamed from a file', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const path = join(dir.path, 'raw');
    const line = `${'x'.repeat(76)}\r\n`;
    writeFileSync(
      path,
      Buffer.concat([authFixture('signed-reject'), Buffer.from(line.repeat(134_000))]),
    );
    const over = new AbortController();
    const checking = check(new Uint8Array(), { raw: { kind: 'file', path } });
    void checking.finally(() => over.abort());
    let most = 0;
    const held = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      if (turn % 16 === 0) most = Math.max(most, held() - before);
      await nextTurn();
    }
    expect(await checking).toMatchObject({ dkim: 'fail', dmarc: 'fail' });
    expect(most).toBeLessThan(8 * 1024 * 1024);
  });

  test('SPF asks no more than RFC 7208 allows', async () => {
    const zone = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `c${index}.example TXT`,
        [`v=spf1 include:c${index + 1}.example -all`],
      ]),
    );
    const own = await DnsServer.start(zone);
    ends(() => own.stop());
    const verdict = await check(
      authFixture('unsigned-none'),
      from('a@c0.example', '192.0.2.1'),
      own,
    );
    expect(verdict.spf).toBe('permerror');
    expect(own.questions.filter((asked) => /^c\d/.test(asked)).length).toBeLessThanOrEqual(11);
  });
});

test('the fixtures come with no private key', () => {
  const script = readFileSync('test/fixtures/email-auth/zone.json', 'utf8');
  expect(script).not.toContain('PRIVATE');
});
