import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { newBlobs, sharedGateway, type ShopScene } from '../../../e2e/shared-gateway.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { INBOX } from '../../../support/gateway-config.ts';
import { sluiceHere } from '../../../support/sluice-command.ts';
import { SmtpClient } from '../../../support/smtp-client.ts';
import type { EntryState } from '../../../../src/domain/entry-state.ts';
import { withSpool } from '../../../support/spool-beside.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { authFixture, authZone } from './auth-fixtures.ts';
import { mail, signed, SIGNING_KEY } from './signing.ts';

let dns: DnsServer;
let silentDns: DnsServer;
beforeAll(async () => {
  dns = await DnsServer.start({
    ...authZone(),
    '_dmarc.legit.example TXT': ['v=DMARC1; p=reject'],
    '_dmarc.np.example TXT': ['v=DMARC1; p=none; np=reject'],
    'shop.np.example MX': ['10 mx.np.example'],
    's1._domainkey.legit.example TXT': [SIGNING_KEY],
  });
  silentDns = await DnsServer.start(authZone());
  silentDns.silentTo = () => true;
});
afterAll(() => Promise.all([dns.stop(), silentDns.stop()]));

const held = { dmarc: 'hold' };
const rejected = { dmarc: 'reject' };
const labelled = { dmarc: 'hold', unverified: 'label' };

/** A shop for each test. */
const bySmtp = sharedGateway(
  {
    forged: { email: held },
    copied: { email: labelled },
    original: { email: held },
    original_rejecting: { email: rejected },
    list: { email: held },
    list_rejecting: { email: rejected },
    form: { email: { ...held, formSenders: ['ann@none.example'] } },
    // The inbox that stands in To is no copy.
    verified: { email: { ...labelled, addresses: ['support@verified.example', INBOX] } },
    timeline: { email: held },
    replayed: { email: held },
    covered: { email: held },
    retitled: { email: labelled },
    rejecting: { email: rejected },
    released: { email: held },
    post_small: { email: rejected },
    post_large: { email: rejected },
    large: { email: rejected },
  },
  () => ({ dns: { servers: [dns.address] }, smtp: { trustedRelays: [] } }),
);
const byLmtp = sharedGateway({ small: { email: rejected }, large: { email: rejected } }, () => ({
  ...{ dns: { servers: [dns.address] }, smtp: { trustedRelays: [], lmtp: true } },
}));
const withoutDns = sharedGateway({ rejecting: { email: rejected } }, () => ({
  ...{ dns: { servers: [silentDns.address] }, smtp: { trustedRelays: [] } },
}));

/** Sends a message by SMTP or LMTP. @returns the answer to its final dot */
async function send(
  { gateway, shop }: ShopScene,
  message: Buffer,
  greeting: 'EHLO' | 'LHLO' = 'EHLO',
): Promise<string> {
  const client = await SmtpClient.connect(gateway.smtpPort);
  ends(() => client.destroy());
  await client.reply();
  if (greeting === 'LHLO') await client.say('LHLO mta.example');
  await client.envelope([shop.inbox], 'ann@elsewhere.example');
  await client.say('DATA');
  client.send(message);
  return await client.say('\r\n.');
}

const post = ({ gateway, shop }: ShopScene, message: Buffer) =>
  fetch(`${gateway.httpUrl}/email/inbound?from=ann@elsewhere.example&to=${shop.inbox}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.inboundToken}`,
      'content-type': 'message/rfc822',
    },
    body: new Uint8Array(message),
  });

const entryIn = ({ waitForEntries }: ShopScene, state: EntryState) =>
  waitForEntries(`a ${state} entry`, ([entry]) => entry?.state === state && entry);

test('a forged sender whose domain asks for rejection is held', async () => {
  const shop = bySmtp('forged');
  expect(await send(shop, authFixture('unsigned-reject'))).toMatch(/^250 /);
  expect(await entryIn(shop, 'held')).toMatchObject({ reason: { code: 'dmarc' } });
  expect(shop.platform.payloads).toEqual([]);
});

test('a forged sender under p=none goes without the copies he asked for', async () => {
  const shop = bySmtp('copied');
  const { platform } = shop;
  await send(shop, authFixture('unsigned-none'));
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

test.each<[string, 'original' | 'list', readonly string[]]>([
  ['X-Original-From', 'original', ['X-Original-From: Boss <boss@reject.example>']],
  ['List-Post', 'list', ['List-Post: <mailto:ann@none.example>', 'Reply-To: boss@reject.example']],
])('nobody passes by p=reject with %s', async (_, name, head) => {
  for (const shop of [bySmtp(name), bySmtp(`${name}_rejecting`)]) {
    expect(await send(shop, claiming(...head))).toMatch(/^250 /);
    const entry = await entryIn(shop, 'held');
    expect(entry).toMatchObject({ reason: { code: 'dmarc' } });
    expect(shop.platform.payloads).toEqual([]);
    const steps = await withSpool(shop.dataDir, (spool) => spool.timeline(entry.id));
    expect(steps.find(({ step }) => step === 'authenticated')?.detail).toMatchObject({
      dmarc: 'pass',
      claimed: 'reject',
    });
  }
});

test('a form that is configured and passes may, labelled and without copies', async () => {
  const shop = bySmtp('form');
  const { platform } = shop;
  await send(shop, claiming('Reply-To: Boss <boss@reject.example>'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]).toMatchObject({
    contact: { email: 'boss@reject.example', name: 'Boss' },
    message: { content: expect.stringMatching(/^\(It could not be verified/) },
  });
  expect(platform.payloads[0]?.message.email).not.toHaveProperty('cc');
});

test('a verified sender keeps his copies and has no label', async () => {
  const shop = bySmtp('verified');
  const { platform } = shop;
  await send(shop, authFixture('signed-reject'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message).toMatchObject({
    content: 'Hello,\n\nWhere is my order 1001?',
    email: { cc: [{ email: 'eve@elsewhere.example' }] },
  });
});

test('the timeline says what was found of the sender, and nothing of who he is', async () => {
  const shop = bySmtp('timeline');
  await send(shop, authFixture('signed-reject'));
  await waitFor('the message', () => shop.platform.payloads.length === 1);
  const { id } = await entryIn(shop, 'delivered');
  const steps = await withSpool(shop.dataDir, (spool) => spool.timeline(id));
  expect(steps.find(({ step }) => step === 'authenticated')?.detail).toEqual({
    spf: 'none',
    dkim: 'pass',
    arc: 'none',
    dmarc: 'pass',
    policy: 'reject',
    aligned: 'dkim',
  });
});

/** Signed by its sender, and sent again by somebody else. */
const replayed = (
  fields: readonly string[],
  added: readonly string[],
  ...head: readonly string[]
) =>
  Buffer.from(
    [...added, signed(mail(...head), { domain: 'legit.example', fields })].join('\r\n'),
    'latin1',
  );
const FROM = 'From: Ann <ann@legit.example>';
const CC = 'Cc: eve@elsewhere.example';

test('a copy that was added to a signed message is left out, and the timeline says so', async () => {
  const shop = bySmtp('replayed');
  const { platform } = shop;
  await send(shop, replayed(['from', 'subject'], [CC], FROM, 'Subject: Order'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message.email).not.toHaveProperty('cc');
  const { id } = await entryIn(shop, 'delivered');
  const steps = await withSpool(shop.dataDir, (spool) => spool.timeline(id));
  const detailOf = (name: string) => steps.find(({ step }) => step === name)?.detail;
  expect(detailOf('authenticated')).toMatchObject({ dmarc: 'pass', uncovered: 'cc' });
  expect(detailOf('normalized')).toMatchObject({ copiesLeftOut: 1 });
});

test('a copy that the signature covers is kept', async () => {
  const shop = bySmtp('covered');
  const { platform } = shop;
  await send(shop, replayed(['from', 'subject', 'cc'], [], FROM, 'Subject: Order', CC));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message).toMatchObject({
    email: { cc: [{ email: 'eve@elsewhere.example' }] },
  });
});

test('a second subject makes the sender unverified, and is not held as a forgery', async () => {
  const shop = bySmtp('retitled');
  const { platform } = shop;
  const added = ['Subject: You won'];
  await send(shop, replayed(['from', 'subject', 'cc'], added, FROM, 'Subject: Order', CC));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]).toMatchObject({
    message: { content: expect.stringMatching(/^\(It could not be verified/) },
  });
  expect(platform.payloads[0]?.message.email).not.toHaveProperty('cc');
  const { id } = await entryIn(shop, 'delivered');
  const steps = await withSpool(shop.dataDir, (spool) => spool.timeline(id));
  expect(steps.find(({ step }) => step === 'authenticated')?.detail).toMatchObject({
    ...{ dmarc: 'pass', repeated: 'subject' },
  });
});

test('a shop that rejects answers 550, and only what the domain disowns', async () => {
  const shop = bySmtp('rejecting');
  expect(await send(shop, authFixture('unsigned-reject'))).toMatch(/^550 5\.7\.1 /);
  expect(await shop.entries()).toEqual([]);
  expect(await send(shop, authFixture('unsigned-quarantine'))).toMatch(/^250 /);
  expect(await send(shop, authFixture('signed-reject'))).toMatch(/^250 /);
  const from = (address: string) => Buffer.from(mail(`From: ${address}`));
  expect(await send(shop, from('ann@ghost.np.example'))).toMatch(/^550 5\.7\.1 /);
  expect(await send(shop, from('ann@shop.np.example'))).toMatch(/^250 /);
  expect(await send(shop, authFixture('unsigned-testing'))).toMatch(/^250 /);
});

test('without DNS nothing is refused or held', async () => {
  const shop = withoutDns('rejecting');
  expect(await send(shop, authFixture('unsigned-reject'))).toMatch(/^250 /);
  await waitFor('the message', () => shop.platform.payloads.length === 1);
});

test('an entry that was held for dmarc goes out when it is released', async () => {
  const shop = bySmtp('released');
  const { platform } = shop;
  await send(shop, authFixture('unsigned-reject'));
  const { id } = await entryIn(shop, 'held');
  const config = join(shop.dataDir, 'gateway.json');
  expect(await sluiceHere(['queue', 'release', id, '--config', config])).toMatchObject({ code: 0 });
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message.content).toBe('Hello,\n\nWhere is my order 1001?');
  await entryIn(shop, 'delivered');
});

/** Past what is kept inline with its row: it goes into a file while it comes in. */
const large = (name: string) =>
  Buffer.concat([authFixture(name), Buffer.from('More about the order.\r\n'.repeat(20_000))]);

test.each<[string, 'post_small' | 'post_large', (name: string) => Buffer]>([
  ['small', 'post_small', authFixture],
  ['large', 'post_large', large],
])(
  'POST /email/inbound answers 422 to a %s message that its domain disowns, and keeps nothing',
  async (_, name, message) => {
    const shop = bySmtp(name);
    const blobs = newBlobs(shop);
    const refused = await post(shop, message('unsigned-reject'));
    expect(refused.status).toBe(422);
    expect(await refused.json()).toEqual({ ok: false, error: expect.stringMatching(/DMARC/) });
    expect(await shop.entries()).toEqual([]);
    expect(blobs()).toEqual([]);
    expect((await post(shop, message('unsigned-quarantine'))).status).toBe(202);
  },
);

test.each<[string, () => ShopScene, 'LHLO' | 'EHLO', (name: string) => Buffer]>([
  ['LMTP, a small message', () => byLmtp('small'), 'LHLO', authFixture],
  ['LMTP, a large message', () => byLmtp('large'), 'LHLO', large],
  ['SMTP, a large message', () => bySmtp('large'), 'EHLO', large],
])(
  '%s that its domain disowns is answered 550 and leaves no file',
  async (_, shopOf, greeting, message) => {
    const shop = shopOf();
    const blobs = newBlobs(shop);
    expect(await send(shop, message('unsigned-reject'), greeting)).toMatch(/^550 5\.7\.1 /);
    expect(await shop.entries()).toEqual([]);
    expect(blobs()).toEqual([]);
    expect(await send(shop, message('unsigned-quarantine'), greeting)).toMatch(/^250 /);
  },
);
