import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { RateLimits } from '../../src/spool/sender-rates.ts';
import { ACCOUNT_SID, AUTH_TOKEN, OUR_NUMBER } from './twilio-stand-in.ts';

/** The shop of every gateway that runs whole in a test or a benchmark. */
export const ACME = {
  name: 'acme',
  shopId: '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c01',
  apiKey: 'key-of-acme',
} as const;
export const INBOX = 'support@acme.example';
export const CHAT_KEY = 'acme';
export const INBOUND_TOKEN = 'inbound-token-of-acme';
/** Twilio signs this URL; no test connects to it. */
export const PUBLIC_URL = 'https://gw.acme.example';

/** Nothing listens on the discard port. */
const NO_TWILIO = 'http://127.0.0.1:9';

const NO_LIMITS: RateLimits = { per10min: 1e6, perHour: 1e6, sameBodyPerHour: 1e6 };

/** One shop of a gateway, as the world outside knows it. */
export interface ShopChoices {
  readonly name: string;
  readonly shopId: string;
  readonly apiKey: string;
  readonly inbox: string;
  readonly inboundToken: string;
  readonly number: string;
  readonly chatKey: string;
  /** Without one, the platform of all shops. */
  readonly platformUrl?: string;
  /** More of each channel's own keys, beside those of all shops. */
  readonly email?: Readonly<Record<string, unknown>>;
  readonly sms?: Readonly<Record<string, unknown>>;
  readonly chat?: Readonly<Record<string, unknown>>;
  readonly desk?: Readonly<Record<string, unknown>>;
}

export const ACME_SHOP: ShopChoices = {
  ...ACME,
  inbox: INBOX,
  inboundToken: INBOUND_TOKEN,
  number: OUR_NUMBER,
  chatKey: CHAT_KEY,
};

/** The nth shop of those that share a gateway, with nothing that another one has. */
export function shopNamed(name: string, n: number): ShopChoices {
  return {
    name,
    shopId: `00000000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`,
    apiKey: `key-of-${name}`,
    inbox: `support@${name}.example`,
    inboundToken: `inbound-token-of-${name}`,
    number: `+1555000${String(1001 + n)}`,
    chatKey: `chat-${name}`,
  };
}

/** Where a gateway listens; 0 takes a free port. */
export interface Ports {
  readonly smtp: number;
  readonly http: number;
  readonly admin: number;
}

export interface ConfigChoices {
  readonly dataDir: string;
  /** The PostgreSQL database that is the store; without one, the data folder is. */
  readonly spoolUrl?: string;
  /** Where its blobs are. */
  readonly spoolBlobs?: string;
  /** The platform's base URL; without one, the embedded platform. */
  readonly platformUrl?: string;
  readonly twilioUrl?: string;
  readonly host?: string;
  readonly ports?: Ports;
  /** ACME alone by default. */
  readonly shops?: readonly ShopChoices[];
  /** More of the SMTP port's own keys: trusted relays, LMTP. */
  readonly smtp?: Readonly<Record<string, unknown>>;
  /** The name servers that are asked; the machine's by default. */
  readonly dns?: Readonly<Record<string, unknown>>;
  /** More of the HTTP port's own keys: how the world reaches it, its limits. */
  readonly http?: Readonly<Record<string, unknown>>;
  readonly requestTimeout?: string;
  readonly stopDelay?: string;
  /** The largest email; the default otherwise. */
  readonly maxMessageBytes?: number;
  /** Takes everything in and delivers nothing. */
  readonly paused?: boolean;
  /** How many threads deliver, where a thread does; one by default. */
  readonly deliveryThreads?: number;
  /** Who may read what is uploaded of emails. */
  readonly mediaPermission?: 'private' | 'public';
  /** How much of one person is a loop; without it, more than any test sends. */
  readonly loop?: RateLimits;
  /** What answers on the embedded platform. */
  readonly localAgent?: Readonly<Record<string, unknown>>;
  /** How the embedded platform's answers leave. */
  readonly replies?: Readonly<Record<string, unknown>>;
  /** More of the console's keys: operators, hosts, another password. */
  readonly admin?: Readonly<Record<string, unknown>>;
  /** More of the texts' own keys: numbers, limits, a template. */
  readonly sms?: Readonly<Record<string, unknown>>;
  /** More of the chat's own keys: origins, identity secrets, how the widget is shown. */
  readonly chat?: Readonly<Record<string, unknown>>;
  /** Alerts and traces, as in the file. */
  readonly alerts?: Readonly<Record<string, unknown>>;
  readonly tracing?: Readonly<Record<string, unknown>>;
}

/** As the shops' own texts. */
const SAMPLE_TEXTS = fileURLToPath(new URL('../../config/knowledge/demo', import.meta.url));

/** What an operator would write into his file, with limits that no test reaches by accident. */
export function gatewayConfig(choices: ConfigChoices) {
  const { host = '127.0.0.1', ports = { smtp: 0, http: 0, admin: 0 } } = choices;
  return {
    dataDir: choices.dataDir,
    ...(choices.stopDelay !== undefined && { stopDelay: choices.stopDelay }),
    ...(choices.spoolUrl !== undefined && {
      spool: { url: choices.spoolUrl, ...(choices.spoolBlobs && { blobs: choices.spoolBlobs }) },
    }),
    log: { level: 'info', format: 'json' },
    smtp: {
      ...{ host, port: ports.smtp, hostname: 'mx.acme.example' },
      ...(choices.maxMessageBytes && { maxMessageBytes: choices.maxMessageBytes }),
      ...choices.smtp,
    },
    ...(choices.dns && { dns: choices.dns }),
    http: {
      ...{ host, port: ports.http, publicUrl: PUBLIC_URL },
      ...{ maxConnections: 100_000, maxConnectionsPerIp: 100_000, ...choices.http },
    },
    admin: { host, port: ports.admin, password: 'of-the-console', ...choices.admin },
    localPlatform: {
      port: 0,
      agent: choices.localAgent ?? { knowledge: SAMPLE_TEXTS },
      ...(choices.replies && { replies: choices.replies }),
    },
    delivery: {
      requestTimeout: choices.requestTimeout ?? '10s',
      paused: choices.paused ?? false,
      threads: choices.deliveryThreads ?? 1,
    },
    ...(choices.alerts && { alerts: choices.alerts }),
    ...(choices.tracing && { tracing: choices.tracing }),
    shops: (choices.shops ?? [ACME_SHOP]).map((shop) => shopConfig(shop, choices)),
  };
}

function shopConfig(shop: ShopChoices, choices: ConfigChoices) {
  const { name, shopId, apiKey, platformUrl = choices.platformUrl } = shop;
  return {
    ...{ name, shopId, apiKey },
    ...(platformUrl !== undefined && { platformUrl }),
    ...(shop.desk && { desk: shop.desk }),
    email: {
      addresses: [shop.inbox],
      inboundTokens: [shop.inboundToken],
      mediaPermission: choices.mediaPermission ?? 'private',
      loop: choices.loop ?? { ...NO_LIMITS, perThreadPer10min: 1e6 },
      ...shop.email,
    },
    sms: {
      numbers: [shop.number],
      twilio: {
        accountSid: ACCOUNT_SID,
        authTokens: [AUTH_TOKEN],
        // Reconciliation must find nobody rather than Twilio.
        baseUrl: choices.twilioUrl ?? NO_TWILIO,
      },
      loop: { ...NO_LIMITS, perDay: 1e6 },
      ...choices.sms,
      ...shop.sms,
    },
    chat: {
      key: shop.chatKey,
      allowNoOrigin: true,
      limits: { messagesPer10s: 10_000, newVisitorsPerHourPerIp: 1e6, socketsPerIp: 1e5 },
      ...choices.chat,
      ...shop.chat,
    },
  };
}

/**
 * A loopback address of this test's own (Linux answers on all of 127.0.0.0/8), so that a gateway
 * that is started again finds its ports free: nobody else binds there, and outgoing connections
 * take their ports on 127.0.0.1.
 */
export function ownLoopbackAddress(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${randomInt(16, 250)}.${randomInt(1, 250)}.${randomInt(2, 250)}`;
}

/** Free ports for a gateway that will be started more than once. */
export async function freePorts(host: string): Promise<Ports> {
  const [smtp = 0, http = 0, admin = 0] = await portsOf(host, 3);
  return { smtp, http, admin };
}

/** Free ports, each another. */
export async function portsOf(host: string, count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listener(host)));
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function listener(host: string) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return server;
}
