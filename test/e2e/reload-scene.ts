import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createLocalPlatform,
  type LocalPlatform,
} from '../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import {
  twilioSignature,
  encodeForm,
  inboundForm,
  postWebhook,
} from '../support/twilio-stand-in.ts';
import { ends } from '../support/ends.ts';
import {
  ACME,
  freePorts,
  gatewayConfig,
  ownLoopbackAddress,
  PUBLIC_URL,
} from '../support/gateway-config.ts';
import { GatewayProcess, type LogLine } from '../support/gateway-process.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

export type WrittenConfig = ReturnType<typeof gatewayConfig>;
export type WrittenShop = WrittenConfig['shops'][number];

/** A second tenant, beside `ACME`. */
export const BETA = {
  name: 'beta',
  shopId: '9b7d5a44-1d0c-4b5e-8a63-0f2e6c7d8b02',
  apiKey: 'key-of-beta',
} as const;
export const BETA_INBOX = 'support@beta.example';
export const BETA_NUMBER = '+15550002222';
export const BETA_CHAT = 'beta';

export interface ReloadScene {
  readonly platform: LocalPlatform;
  readonly gateway: GatewayProcess;
  readonly httpUrl: string;
  readonly adminUrl: string;
  readonly dataDir: string;
  /** What is in the file now. */
  readonly config: WrittenConfig;
  /** Writes the file and sends SIGHUP; resolves with the line that tells what became of it. */
  readonly reload: (next: object | string) => Promise<LogLine>;
  /** A mail client that has been greeted. */
  greeted(): Promise<SmtpClient>;
  /** A text to one of our numbers, signed as the account with this token signs; the status. */
  text(name: string, how: { readonly token: string; readonly to?: string }): Promise<number>;
  /** Customers' messages that the platform has of a shop, in the order of their creation. */
  readonly contents: (shopId: string) => readonly string[];
}

/** A gateway in a process of its own, on a platform where both shops exist. */
export async function reloadScene(
  change: (config: WrittenConfig) => WrittenConfig = (config) => config,
): Promise<ReloadScene> {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = createLocalPlatform({
    dir: join(dir.path, 'platform'),
    host: '127.0.0.1',
    port: 0,
    shops: [ACME, BETA],
    logger: silentLogger,
    agent: { kind: 'off' },
  });
  ends(() => platform.stop());
  await platform.start();
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const dataDir = join(dir.path, 'data');
  const config = change(gatewayConfig({ dataDir, platformUrl: platform.url, host, ports }));
  const configFile = join(dir.path, 'gateway.json');
  const write = (content: object | string): void => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    // As careful operators do: never half a file.
    writeFileSync(`${configFile}.new`, text);
    renameSync(`${configFile}.new`, configFile);
  };
  write(config);
  const choices = { configFile, host, ports };
  const gateway = new GatewayProcess(choices);
  ends(() => gateway.kill());
  await gateway.ready(choices);
  const httpUrl = `http://${host}:${ports.http}`;
  return {
    ...{ platform, gateway, httpUrl, dataDir, config },
    adminUrl: `http://${host}:${ports.admin}`,
    reload: async (next) => {
      const answers = () =>
        gateway.log.filter(({ message }) =>
          ['config.reloaded', 'config.refused'].includes(message),
        );
      const before = answers().length;
      write(next);
      process.kill(gateway.pid, 'SIGHUP');
      return waitFor('the reload', () => answers()[before], 10);
    },
    greeted: async () => {
      const client = await SmtpClient.connect(ports.smtp, '127.0.0.1', host);
      ends(() => client.destroy());
      await client.reply();
      return client;
    },
    text: async (name, { token, to }) => {
      const sid = `SM${Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32)}`;
      const pairs = inboundForm({
        MessageSid: sid,
        Body: name,
        ...(to !== undefined && { To: to }),
      });
      const { status } = await postWebhook({
        target: `${httpUrl}/sms/twilio`,
        body: encodeForm(pairs),
        signature: twilioSignature(token, `${PUBLIC_URL}/sms/twilio`, pairs),
      });
      return status;
    },
    contents: (shopId) =>
      platform.inspect
        .messages(shopId)
        .filter(({ role }) => role === 'customer')
        .map(({ content }) => content),
  };
}

/** The first shop's section, changed. */
export function withAcme(
  config: WrittenConfig,
  change: (shop: WrittenShop) => object,
  ...others: readonly object[]
): object {
  const [acme, ...rest] = config.shops;
  if (acme === undefined) throw new Error('a configuration without its shop');
  return { ...config, shops: [change(acme), ...rest, ...others] };
}

/** The second shop's section, with an account of its own at Twilio. */
export function betaShop(config: WrittenConfig): object {
  const [acme] = config.shops;
  return {
    ...BETA,
    platformUrl: acme?.platformUrl,
    email: { addresses: [BETA_INBOX], loop: acme?.email.loop },
    sms: { numbers: [BETA_NUMBER], twilio: acme?.sms.twilio },
    chat: { key: BETA_CHAT, allowNoOrigin: true },
  };
}
