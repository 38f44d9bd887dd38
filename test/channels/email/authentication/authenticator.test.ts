import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createAuthenticator,
  type AuthenticatorOptions,
} from '../../../../src/channels/email/authentication/authenticator.ts';
import type { CheckRequest } from '../../../../src/channels/email/authentication/check-message.ts';
import { UNENDED_VERDICT } from '../../../../src/channels/email/authentication/verdict.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import type { Clock } from '../../../../src/runtime/clock.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { authFixture, authZone } from './auth-fixtures.ts';

/** More than a busy machine needs. */
const PATIENT_MS = 60_000;

async function running(options: Partial<AuthenticatorOptions> = {}, clock: Clock = Date.now) {
  const dns = await DnsServer.start(authZone());
  ends(() => dns.stop());
  const metrics = createMetrics();
  const authenticator = createAuthenticator(
    {
      hostname: 'mx.acme.example',
      trustedAuthservIds: [],
      dns: { servers: [dns.address] },
      totalMs: PATIENT_MS,
      ...options,
    },
    { logger: silentLogger, metrics, clock },
  );
  ends(() => authenticator.stop());
  const check = (bytes: Uint8Array, request: Partial<CheckRequest> = {}) =>
    authenticator.check({
      raw: { kind: 'bytes', bytes: new Uint8Array(bytes) },
      remoteAddress: '198.51.100.9',
      heloName: 'mx.elsewhere.example',
      envelopeFrom: 'ann@elsewhere.example',
      trustedRelay: false,
      trustedArcSealers: ['sealer.example'],
      ...request,
    });
  return { authenticator, check, metrics, dns };
}

test('a verdict comes from the thread and is counted', async () => {
  const { check, metrics } = await running();
  expect(await check(authFixture('signed-reject'))).toMatchObject({ dkim: 'pass', dmarc: 'pass' });
  const counted = await metrics.authenticated.get();
  expect(counted.values).toContainEqual(
    expect.objectContaining({ labels: { method: 'dmarc', result: 'pass' }, value: 1 }),
  );
});

test('results with names of prototypes change nothing for the next message', async () => {
  const { check } = await running();
  const hostile = authFixture('arc-sealer')
    .toString('latin1')
    .replace(
      'dmarc=pass',
      'dmarc=pass __proto__.toString=x __proto__.result=pass __proto__.isOrgRecord=1',
    );
  expect(await check(Buffer.from(hostile, 'latin1'))).toMatchObject({ arc: 'fail', dmarc: 'fail' });
  expect(await check(authFixture('signed-reject'))).toMatchObject({ dkim: 'pass', dmarc: 'pass' });
  expect(await check(authFixture('unsigned-reject'))).toMatchObject({ dmarc: 'fail' });
});

test('a check that fails has not ended', async () => {
  const { authenticator } = await running();
  const verdict = await authenticator.check({
    raw: { kind: 'file', path: '/nowhere/at/all' },
    remoteAddress: '198.51.100.9',
    heloName: '',
    envelopeFrom: '',
    trustedRelay: false,
    trustedArcSealers: [],
  });
  expect(verdict).toEqual(UNENDED_VERDICT);
});

test('a check that is under way at a stop has not ended', async () => {
  const { authenticator, check } = await running();
  const checking = check(authFixture('signed-reject'));
  await authenticator.stop();
  expect(await checking).toEqual(UNENDED_VERDICT);
});

/** A thread whose checks hold for a second; the first one passes, and all others fail. */
function passingOnce(): Partial<AuthenticatorOptions> {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'worker.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
     const verdict = { spf: 'pass', dkim: 'none', arc: 'none', dmarc: 'pass', policy: 'none', aligned: 'spf' };
     let checks = 0;
     const next = () => ({ verdict: (checks += 1) === 1 ? verdict : { ...verdict, spf: 'fail' }, holdsMs: 1000 });
     parentPort.on('message', (asked) => {
       parentPort.postMessage(asked.map(({ id }) => ({ id, value: next() })));
     });`,
  );
  return { worker: pathToFileURL(file) };
}

describe('a verdict on mail without signatures', () => {
  const unsigned = authFixture('unsigned-reject');

  test('is remembered until it no longer holds, and counted each time', async () => {
    let now = 0;
    const { check, metrics } = await running(passingOnce(), () => now);
    expect(await check(unsigned)).toMatchObject({ spf: 'pass' });
    now = 999;
    expect(await check(unsigned)).toMatchObject({ spf: 'pass' });
    now = 1000;
    expect(await check(unsigned)).toMatchObject({ spf: 'fail' });
    const counted = await metrics.authenticated.get();
    expect(counted.values).toContainEqual(
      expect.objectContaining({ labels: { method: 'spf', result: 'pass' }, value: 2 }),
    );
  });

  test.each<[string, Uint8Array, Partial<CheckRequest>]>([
    ['with a signature', authFixture('signed-reject'), {}],
    ['from another address', unsigned, { remoteAddress: '198.51.100.10' }],
    ['from a trusted relay', unsigned, { trustedRelay: true }],
  ])('does not apply to a message %s', async (_, other, request) => {
    const { check } = await running(passingOnce(), () => 0);
    expect(await check(unsigned)).toMatchObject({ spf: 'pass' });
    expect(await check(other, request)).toMatchObject({ spf: 'fail' });
    expect(await check(other, request)).toMatchObject({ spf: 'fail' });
    expect(await check(unsigned)).toMatchObject({ spf: 'pass' });
  });

  test('comes from the thread with the time that it holds', async () => {
    let now = 0;
    const { check, dns } = await running({}, () => now);
    const verdict = await check(unsigned);
    expect(verdict).toMatchObject({ spf: 'none', dmarc: 'fail', policy: 'reject' });
    expect(await check(unsigned)).toBe(verdict);
    now = 300_000;
    const again = await check(unsigned);
    expect(again).not.toBe(verdict);
    expect(again).toEqual(verdict);
    expect(dns.questions.filter((asked) => asked === 'elsewhere.example TXT')).toHaveLength(1);
  });
});

/** A thread in the real one's place: what it does with its first message, and with the next ones. */
function failing(first: string, totalMs: number): Partial<AuthenticatorOptions> {
  const dir = tempDir();
  ends(() => dir.remove());
  const mark = join(dir.path, 'started');
  const file = join(dir.path, 'worker.mjs');
  writeFileSync(
    file,
    `import { existsSync, writeFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     const again = existsSync(${JSON.stringify(mark)});
     writeFileSync(${JSON.stringify(mark)}, '');
     const verdict = { spf: 'none', dkim: 'pass', arc: 'none', dmarc: 'pass', policy: 'none', aligned: 'dkim' };
     parentPort.on('message', (asked) => {
       if (again) parentPort.postMessage(asked.map(({ id }) => ({ id, value: { verdict, holdsMs: 0 } })));
       else { ${first} }
     });`,
  );
  return { worker: pathToFileURL(file), totalMs, endsWithinMs: totalMs };
}

test.each([
  ['ends', 'process.exit(1)'],
  ['throws', "throw new Error('broken')"],
  ['rejects', "void Promise.reject(new Error('broken'))"],
  ['runs out of memory', 'const all = []; for (;;) all.push(new Array(100_000).fill({}))'],
  ['hangs', 'for (;;);', 1_000],
  ['says nothing', '', 1_000],
])(
  'no check in a thread that %s has ended, and the next message has a new one',
  async (_, first, totalMs = PATIENT_MS) => {
    const { check } = await running(failing(first, totalMs));
    const message = authFixture('signed-reject');
    const verdicts = await Promise.all([check(message), check(message), check(message)]);
    expect(verdicts).toEqual([UNENDED_VERDICT, UNENDED_VERDICT, UNENDED_VERDICT]);
    expect(await check(message)).toMatchObject({ dmarc: 'pass' });
  },
);

describe('a check that did not end', () => {
  const forged = {
    raw: { kind: 'bytes' as const, bytes: new Uint8Array(authFixture('unsigned-reject')) },
    ...{ remoteAddress: '198.51.100.9', heloName: '', envelopeFrom: '', trustedRelay: false },
    trustedArcSealers: [],
  };
  test('is decided by the policies of the domains that the message names', async () => {
    const { authenticator } = await running();
    const raw = { ...forged.raw, bytes: new Uint8Array(authFixture('unsigned-unpublished')) };
    expect(await authenticator.check({ ...forged, raw, policiesOnly: true })).toMatchObject({
      ...{ dmarc: 'temperror', policy: 'none', unfinished: 'check' },
    });
    expect(await authenticator.check({ ...forged, policiesOnly: true })).toMatchObject({
      ...{ dmarc: 'temperror', policy: 'reject', unfinished: 'check' },
    });
  });

  test('has no verdict if not even these can be read', async () => {
    const { authenticator } = await running(failing('process.exit(1)', PATIENT_MS));
    expect(await authenticator.check({ ...forged, policiesOnly: true })).toBe(UNENDED_VERDICT);
  });

  test('raises an alarm only where a message is held for it', async () => {
    const { authenticator, metrics } = await running();
    const alarms = async () =>
      (await metrics.alarms.get()).values.filter(
        ({ labels, value }) => labels.alarm === 'sender_not_checked' && value > 0,
      );
    await authenticator.check({ ...forged, policiesOnly: true });
    expect(await alarms()).toEqual([]);
    authenticator.alarm();
    expect(await alarms()).toMatchObject([{ value: 1 }]);
  });
});
