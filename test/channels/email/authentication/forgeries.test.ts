import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { checkMessage } from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DnsError,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { authFixture, authZone } from './auth-fixtures.ts';

const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = own.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const zone = {
  ...authZone(),
  'own._domainkey.reject.example TXT': [`v=DKIM1; k=rsa; p=${publicKey}`],
};
const resolve: Resolve = (name, type) => {
  const records = new Map(Object.entries(zone)).get(`${name} ${type}`);
  if (records === undefined) return Promise.reject(new DnsError('ENOTFOUND'));
  return Promise.resolve(records.map((record) => [record]));
};

/** What a message may take. */
const LIMIT_MS = 5000;

function check(text: string, totalMs = LIMIT_MS) {
  const raw = { kind: 'bytes' as const, bytes: Buffer.from(text, 'latin1') };
  const request = {
    ...{ raw, remoteAddress: '198.51.100.9', heloName: 'mx.elsewhere.example' },
    envelopeFrom: 'eve@elsewhere.example',
    trustedRelay: false,
    trustedArcSealers: [],
  };
  const settings = {
    hostname: 'mx.acme.example',
    trustedAuthservIds: [],
    totalMs,
    endsWithinMs: 60_000,
  };
  return checkMessage(request, settings, resolve);
}

const signed = authFixture('signed-reject').toString('latin1');
const [from = ''] = /^From: .*\r\n/m.exec(signed) ?? [];
const [, bodyHash = ''] = /bh=([^;]+);/.exec(signed) ?? [];
const body = signed.slice(signed.indexOf('\r\n\r\n'));
const FORGED = 'From: Boss <boss@reject.example>\r\n';

describe('a signed message with another From above its own', () => {
  test.each([
    ['a vertical tab before the colon', (line: string) => line.replace(':', '\v:')],
    ['a form feed before the colon', (line: string) => line.replace(':', '\f:')],
    ['a no-break space before the colon', (line: string) => line.replace(':', '\xa0:')],
    ['a vertical tab at its start', (line: string) => `\v${line}`],
    ['a no-break space at its start', (line: string) => `\xa0${line}`],
    ['a byte order mark at its start', (line: string) => `\ufeff${line}`],
  ])('%s does not hide it from one reader alone', async (_, hide) => {
    const verdict = await check(FORGED + signed.replace(from, hide(from)));
    expect(verdict).toMatchObject({ dmarc: 'fail', policy: 'reject' });
    const first = await check(hide(from) + signed.replace(from, FORGED));
    expect(first).toMatchObject({ dmarc: 'fail', policy: 'reject' });
  });

  test('two that both readers see have no author', async () => {
    expect(await check(FORGED + signed)).toMatchObject({ dmarc: 'permerror' });
  });
});

/** A signature that somebody else writes in the domain's name, over the body as it is. */
const signature = (tags: string) =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=reject.example; s=s1; h=from; ` +
  `bh=${bodyHash}; b=AAAA; ${tags}\r\n${FORGED.trimEnd()}`;

describe('what a sender writes into a signature does not leave the verdict open', () => {
  test.each([
    't=99999999999999999',
    't=-99999999999999999',
    't=Infinity',
    'x=99999999999999999',
    't=99999999999999999; t=1',
    't=1; x=1e300',
    '__proto__=1; constructor=2',
    'a=foo-sha256',
    'a=ed25519-sha256',
    's=a b\0c',
    'd=rej\xff.reject.example',
    'h=',
    'b=',
  ])('%s', async (tags) => {
    expect(await check(signature(tags) + body)).toMatchObject({ dmarc: 'fail', policy: 'reject' });
  });
});

/**
 * Each took more than the five seconds that there are, which left the verdict open. The limit is one
 * of processor time here: a busy machine must not open the verdict either.
 */
describe('no message takes longer than it may', () => {
  const head = `${signature('')}\r\n`;
  test.each([
    ['a run of CRs in a header', () => `${head}X: ${'\r'.repeat(120_000)}x\r\n${body}`],
    ['a line of 25 MB', () => `${head}\r\n${'a'.repeat(25_000_000)}`],
    ['a line of 25 MB of spaces', () => `${head}\r\n${' '.repeat(25_000_000)}x`],
    ['8 million lines of a space', () => `${head}\r\n${' \r\n'.repeat(8_000_000)}x`],
  ])('%s', async (_, text) => {
    const message = text();
    const verdict = await withinProcessorTime(LIMIT_MS, () => check(message, LIMIT_MS * 50));
    expect(verdict).toMatchObject({ dmarc: 'fail', policy: 'reject' });
  });
});

/** A whole message with a signature that holds, over the fields that are named. */
function signedOver(fields: readonly string[]): string {
  const lines: Readonly<Record<string, string>> = { from: 'boss@reject.example', subject: 'Order' };
  const hash = createHash('sha256').update('Hello\r\n').digest('base64');
  const value = `v=1; a=rsa-sha256; c=relaxed/relaxed; d=reject.example; s=own; h=${fields.join(':')}; bh=${hash}; b=`;
  const over = fields.map((name) => `${name}:${lines[name] ?? ''}\r\n`).join('');
  const made = sign('sha256', Buffer.from(`${over}dkim-signature:${value}`), own.privateKey);
  const head = Object.entries(lines).map(([name, text]) => `${name}: ${text}\r\n`);
  return `DKIM-Signature: ${value}${made.toString('base64')}\r\n${head.join('')}\r\nHello\r\n`;
}

test('a signature that leaves From out says nothing of who wrote (RFC 6376 §5.4)', async () => {
  expect(await check(signedOver(['from', 'subject']))).toMatchObject({ dmarc: 'pass' });
  expect(await check(signedOver(['subject']))).toMatchObject({ dkim: 'policy', dmarc: 'fail' });
});
