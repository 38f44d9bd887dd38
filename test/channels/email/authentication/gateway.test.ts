import { expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../../../src/cli/run.ts';
import { completeConfig } from '../../../../src/config/complete.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { captureTerminal } from '../../../support/capture-terminal.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { gatewayConfig, INBOUND_TOKEN, INBOX } from '../../../support/gateway-config.ts';
import { PlatformFront } from '../../../support/platform-front.ts';
import { SmtpClient } from '../../../support/smtp-client.ts';
import type { EntryState } from '../../../../src/domain/entry-state.ts';
import { entriesOf, waitForEntries, withSpool } from '../../../support/spool-beside.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { authFixture, authZone } from './auth-fixtures.ts';

interface Choices {
  readonly dmarc?: string;
  readonly unverified?: string;
  readonly silentDns?: boolean;
  readonly lmtp?: boolean;
  readonly formSenders?: readonly string[];
}

/** A gateway, its platform, and the name server that it asks. */
async function setting(choices: Choices) {
  const { dmarc = 'hold', unverified = 'deliver', silentDns = false, lmtp = false } = choices;
  const { formSenders = [] } = choices;
  const dns = await DnsServer.start(authZone());
  ends(() => dns.stop());
  dns.silentTo = () => silentDns;
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new PlatformFront({ dir: dir.path });
  ends(() => platform.stop());
  await platform.start();
  const base = gatewayConfig({ dataDir: dir.path, platformUrl: platform.url });
  const file = join(dir.path, 'gateway.json');
  const config = {
    ...base,
    smtp: { ...base.smtp, trustedRelays: [], lmtp },
    dns: { servers: [dns.address] },
    shops: base.shops.map((shop) => ({
      ...shop,
      email: { ...shop.email, dmarc, unverified, formSenders },
    })),
  };
  writeFileSync(file, JSON.stringify(config));
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error('the configuration has mistakes');
  const gateway = createGateway({
    config: await completeConfig(loaded.config),
    logger: silentLogger,
  });
  const { smtp, http } = await gateway.start();
  ends(() => gateway.stop());
  const send = async (message: Buffer): Promise<string> => {
    const client = await SmtpClient.connect(smtp?.port ?? 0);
    ends(() => client.destroy());
    await client.reply();
    if (lmtp) await client.say('LHLO mta.example');
    await client.envelope([INBOX], 'ann@elsewhere.example');
    await client.say('DATA');
    client.send(message);
    return await client.say('\r\n.');
  };
  const post = (message: Buffer) =>
    fetch(
      `http://127.0.0.1:${http?.port ?? 0}/email/inbound?from=ann@elsewhere.example&to=${INBOX}`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${INBOUND_TOKEN}`,
          'content-type': 'message/rfc822',
        },
        body: new Uint8Array(message),
      },
    );
  const files = () => readdirSync(join(dir.path, 'blobs'));
  return { platform, send, post, files, dataDir: dir.path };
}

const entryIn = (dataDir: string, state: EntryState) =>
  waitForEntries(dataDir, `a ${state} entry`, ([entry]) => entry?.state === state && entry);

test('a forged sender whose domain asks for rejection is held', async () => {
  const { send, dataDir, platform } = await setting({});
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^250 /);
  expect(await entryIn(dataDir, 'held')).toMatchObject({ reason: { code: 'dmarc' } });
  expect(platform.payloads).toEqual([]);
});

test('a forged sender under p=none goes without the copies he asked for', async () => {
  const { send, platform } = await setting({ unverified: 'label' });
  await send(authFixture('unsigned-none'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]).toMatchObject({
    contact: { email: 'ann@none.example' },
    message: {
      content:
        '(It could not be verified who sent this message.)\n\nHello,\n\nWhere is my order 1001?',
    },
  });
  expect(platform.payloads[0]?.message.email).not.toHaveProperty('cc');
});

/** From none.example, which passes, in the name of somebody at reject.example. */
const claiming = (...head: readonly string[]) =>
  Buffer.from(
    authFixture('signed-none')
      .toString('latin1')
      .replace(/^(?=DKIM-Signature)/, head.map((line) => `${line}\r\n`).join('')),
    'latin1',
  );

test.each([
  ['X-Original-From', ['X-Original-From: Boss <boss@reject.example>']],
  ['List-Post', ['List-Post: <mailto:ann@none.example>', 'Reply-To: boss@reject.example']],
])('nobody passes by p=reject with %s', async (_, head) => {
  for (const dmarc of ['hold', 'reject']) {
    const { send, dataDir, platform } = await setting({ dmarc });
    expect(await send(claiming(...head))).toMatch(/^250 /);
    const entry = await entryIn(dataDir, 'held');
    expect(entry).toMatchObject({ reason: { code: 'dmarc' } });
    expect(platform.payloads).toEqual([]);
    const steps = await withSpool(dataDir, (spool) => spool.timeline(entry.id));
    expect(steps.find(({ step }) => step === 'authenticated')?.detail).toMatchObject({
      dmarc: 'pass',
      claimed: 'reject',
    });
  }
});

test('a form that is configured and passes may, labelled and without copies', async () => {
  const { send, platform } = await setting({ formSenders: ['ann@none.example'] });
  await send(claiming('Reply-To: Boss <boss@reject.example>'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]).toMatchObject({
    contact: { email: 'boss@reject.example', name: 'Boss' },
    message: { content: expect.stringMatching(/^\(It could not be verified/) },
  });
  expect(platform.payloads[0]?.message.email).not.toHaveProperty('cc');
});

test('a verified sender keeps his copies and has no label', async () => {
  const { send, platform } = await setting({ unverified: 'label' });
  await send(authFixture('signed-reject'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message).toMatchObject({
    content: 'Hello,\n\nWhere is my order 1001?',
    email: { cc: [{ email: 'eve@elsewhere.example' }] },
  });
});

test('the timeline says what was found of the sender, and nothing of who he is', async () => {
  const { send, dataDir, platform } = await setting({});
  await send(authFixture('signed-reject'));
  await waitFor('the message', () => platform.payloads.length === 1);
  const { id } = await entryIn(dataDir, 'delivered');
  const steps = await withSpool(dataDir, (spool) => spool.timeline(id));
  expect(steps.find(({ step }) => step === 'authenticated')?.detail).toEqual({
    spf: 'none',
    dkim: 'pass',
    arc: 'none',
    dmarc: 'pass',
    policy: 'reject',
    aligned: 'dkim',
  });
});

test('a shop that rejects answers 550, and only what the domain disowns', async () => {
  const { send, dataDir } = await setting({ dmarc: 'reject' });
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^550 5\.7\.1 /);
  expect(await entriesOf(dataDir)).toEqual([]);
  expect(await send(authFixture('unsigned-quarantine'))).toMatch(/^250 /);
  expect(await send(authFixture('signed-reject'))).toMatch(/^250 /);
});

test('without DNS nothing is refused or held', async () => {
  const { send, platform } = await setting({ dmarc: 'reject', silentDns: true });
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^250 /);
  await waitFor('the message', () => platform.payloads.length === 1);
});

test('an entry that was held for dmarc goes out when it is released', async () => {
  const { send, dataDir, platform } = await setting({});
  await send(authFixture('unsigned-reject'));
  const held = await entryIn(dataDir, 'held');
  const config = join(dataDir, 'gateway.json');
  const process = Object.assign(new EventEmitter(), { exit: () => undefined });
  const args = ['queue', 'release', held.id, '--config', config];
  expect(await runCli(args, captureTerminal(), process)).toBe(0);
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message.content).toBe('Hello,\n\nWhere is my order 1001?');
  await entryIn(dataDir, 'delivered');
});

/** Past what is kept inline with its row: it goes into a file while it comes in. */
const large = (name: string) =>
  Buffer.concat([authFixture(name), Buffer.from('More about the order.\r\n'.repeat(20_000))]);

test.each<[string, (name: string) => Buffer]>([
  ['small', authFixture],
  ['large', large],
])(
  'POST /email/inbound answers 422 to a %s message that its domain disowns, and keeps nothing',
  async (_, message) => {
    const { post, files, dataDir } = await setting({ dmarc: 'reject' });
    const before = files();
    const refused = await post(message('unsigned-reject'));
    expect(refused.status).toBe(422);
    expect(await refused.json()).toEqual({ ok: false, error: expect.stringMatching(/DMARC/) });
    expect(await entriesOf(dataDir)).toEqual([]);
    expect(files()).toEqual(before);
    expect((await post(message('unsigned-quarantine'))).status).toBe(202);
  },
);

test.each<[string, boolean, (name: string) => Buffer]>([
  ['LMTP, a small message', true, authFixture],
  ['LMTP, a large message', true, large],
  ['SMTP, a large message', false, large],
])('%s that its domain disowns is answered 550 and leaves no file', async (_, lmtp, message) => {
  const { send, files, dataDir } = await setting({ dmarc: 'reject', lmtp });
  const before = files();
  expect(await send(message('unsigned-reject'))).toMatch(/^550 5\.7\.1 /);
  expect(await entriesOf(dataDir)).toEqual([]);
  expect(files()).toEqual(before);
  expect(await send(message('unsigned-quarantine'))).toMatch(/^250 /);
});
