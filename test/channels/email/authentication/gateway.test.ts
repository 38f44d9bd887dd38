import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConfig } from '../../../../src/config/complete.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { createGateway } from '../../../../src/gateway.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { ends } from '../../../support/ends.ts';
import { gatewayConfig, INBOX } from '../../../support/gateway-config.ts';
import { PlatformFront } from '../../../support/platform-front.ts';
import { SmtpClient } from '../../../support/smtp-client.ts';
import { entriesOf } from '../../../support/spool-guest.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { authFixture, authZone } from './auth-fixtures.ts';

interface Choices {
  readonly dmarc?: string;
  readonly unverified?: string;
  readonly silentDns?: boolean;
}

/** A gateway, its platform, and the name server that it asks. */
async function setting({ dmarc = 'hold', unverified = 'deliver', silentDns = false }: Choices) {
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
    smtp: { ...base.smtp, trustedRelays: [] },
    dns: { servers: [dns.address] },
    shops: base.shops.map((shop) => ({ ...shop, email: { ...shop.email, dmarc, unverified } })),
  };
  writeFileSync(file, JSON.stringify(config));
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error('the configuration has mistakes');
  const gateway = createGateway({
    config: await completeConfig(loaded.config),
    logger: silentLogger,
  });
  const { smtp } = await gateway.start();
  ends(() => gateway.stop());
  const send = async (message: Buffer): Promise<string> => {
    const client = await SmtpClient.connect(smtp?.port ?? 0);
    ends(() => client.destroy());
    await client.reply();
    await client.envelope([INBOX], 'ann@elsewhere.example');
    await client.say('DATA');
    client.send(message);
    return await client.say('\r\n.');
  };
  return { platform, send, dataDir: dir.path };
}

test('a forged sender whose domain asks for rejection is held', async () => {
  const { send, dataDir, platform } = await setting({});
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^250 /);
  await waitFor('the entry', async () => (await entriesOf(dataDir))[0]?.state === 'held');
  expect((await entriesOf(dataDir))[0]).toMatchObject({ reason: 'dmarc' });
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

test('a verified sender keeps his copies and has no label', async () => {
  const { send, platform } = await setting({ unverified: 'label' });
  await send(authFixture('signed-reject'));
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(platform.payloads[0]?.message).toMatchObject({
    content: 'Hello,\n\nWhere is my order 1001?',
    email: { cc: [{ email: 'eve@elsewhere.example' }] },
  });
});

test('a shop that rejects answers 550, and only what the domain disowns', async () => {
  const { send, dataDir } = await setting({ dmarc: 'reject' });
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^550 5\.7\.1 /);
  expect(await entriesOf(dataDir)).toEqual([]);
  expect(await send(authFixture('unsigned-quarantine'))).toMatch(/^250 /);
  expect(await send(authFixture('signed-reject'))).toMatch(/^250 /);
});

test('without DNS nothing is refused or held, and it is quick', async () => {
  const { send, platform } = await setting({ dmarc: 'reject', silentDns: true });
  const started = performance.now();
  expect(await send(authFixture('unsigned-reject'))).toMatch(/^250 /);
  await waitFor('the message', () => platform.payloads.length === 1);
  expect(performance.now() - started).toBeLessThan(3000);
});
