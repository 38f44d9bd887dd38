import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Canaries } from '../support/canaries.ts';
import { CHAT_KEY, gatewayConfig, type Ports } from '../support/gateway-config.ts';
import { ACCOUNT_SID, OUR_NUMBER } from '../support/twilio-stand-in.ts';

export const FAR_INBOX = 'support@far.example';
export const NEAR_INBOX = 'support@near.example';
export const NEAR_KEY = 'near';

/** Where the rest of the world is. */
export interface World {
  readonly dataDir: string;
  readonly host: string;
  readonly ports: Ports;
  readonly platformUrl: string;
  readonly twilioUrl: string;
  readonly relayPort: number;
  readonly alertRelayPort: number;
  readonly webhookPort: number;
  readonly collectorUrl: string;
  readonly modelUrl: string;
  /** The key that the far platform takes. */
  readonly farKey: string;
}

export interface Secrets {
  readonly file: string;
  readonly adminPassword: string;
  readonly authToken: string;
  readonly identitySecret: string;
  readonly inboundToken: string;
}

/**
 * Two shops, one on a platform far away and one on the embedded platform, with every secret that a
 * configuration can have.
 */
export function writeSecretConfig(world: World, canaries: Canaries): Secrets {
  const secret = (name: string): string => `${canaries.of(`secret: ${name}`)}-${'x'.repeat(24)}`;
  const { dataDir, host, ports } = world;
  const base = gatewayConfig({ dataDir, host, ports, requestTimeout: '2s' });
  const adminPassword = secret('admin.password');
  const authToken = secret('authTokens');
  const identitySecret = secret('identitySecrets');
  const inboundToken = secret('inboundTokens');
  const email = { ...base.shops[0]?.email, inboundTokens: [inboundToken] };
  const chat = { ...base.shops[0]?.chat, identitySecrets: [identitySecret] };
  const config = {
    ...base,
    log: { level: 'debug', format: 'json' },
    admin: {
      ...base.admin,
      password: adminPassword,
      operators: [{ name: 'ann', password: secret('operators.password') }],
    },
    localPlatform: {
      port: 0,
      agent: {
        kind: 'openai',
        baseUrl: world.modelUrl,
        model: 'm',
        apiKey: secret('agent.apiKey'),
        giveUpAfter: '1h',
      },
      replies: {
        relay: `smtp://${canaries.of('secret: user of the relay')}:${secret('relay')}@127.0.0.1:${world.relayPort}`,
      },
    },
    alerts: {
      ...{ every: '200ms', for: '1ms', settle: '1ms', group: '1ms' },
      webhook: {
        url: `http://127.0.0.1:${world.webhookPort}/services/${secret('alerts.webhook.url')}`,
      },
      email: {
        to: ['oncall@ops.example'],
        from: 'sluice@ops.example',
        relay: `smtp://${canaries.of('secret: user of the alerts')}:${secret('alerts.email.relay')}@127.0.0.1:${world.alertRelayPort}`,
      },
      rules: { breakerOpen: '1ms', oldestQueued: '1s', badSignaturesPer10min: 1 },
    },
    tracing: {
      endpoint: world.collectorUrl,
      headers: [`authorization: Bearer ${secret('tracing.headers')}`],
    },
    shops: [
      {
        name: 'far',
        shopId: '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c01',
        apiKey: world.farKey,
        platformUrl: world.platformUrl,
        email: { ...email, addresses: [FAR_INBOX] },
        sms: {
          numbers: [OUR_NUMBER],
          twilio: {
            accountSid: ACCOUNT_SID,
            authTokens: [authToken, secret('the other of authTokens')],
            apiKeySid: `SK${'0'.repeat(32)}`,
            apiKeySecret: secret('apiKeySecret'),
            baseUrl: world.twilioUrl,
          },
        },
        chat: { ...chat, key: CHAT_KEY },
      },
      {
        name: 'near',
        shopId: '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c02',
        apiKey: secret('apiKey of near'),
        email: {
          ...email,
          addresses: [NEAR_INBOX],
          inboundTokens: [secret('inboundTokens of near')],
        },
        chat: { ...chat, key: NEAR_KEY, identitySecrets: [secret('identitySecrets of near')] },
      },
    ],
  };
  const file = join(dataDir, 'gateway.json');
  writeFileSync(file, JSON.stringify(config));
  return { file, adminPassword, authToken, identitySecret, inboundToken };
}
