import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
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

/** Where a gateway listens; 0 takes a free port. */
export interface Ports {
  readonly smtp: number;
  readonly http: number;
  readonly admin: number;
}

export interface ConfigChoices {
  readonly dataDir: string;
  /** The platform's base URL; without one, the embedded platform. */
  readonly platformUrl?: string;
  readonly twilioUrl?: string;
  readonly host?: string;
  readonly ports?: Ports;
  /** More of the HTTP port's own keys: how the world reaches it, its limits. */
  readonly http?: Readonly<Record<string, unknown>>;
  readonly requestTimeout?: string;
  /** The largest email; the default otherwise. */
  readonly maxMessageBytes?: number;
  /** Takes everything in and delivers nothing. */
  readonly paused?: boolean;
  /** Who may read what is uploaded of emails. */
  readonly mediaPermission?: 'private' | 'public';
  /** How much of one person is a loop; without it, more than any test sends. */
  readonly loop?: RateLimits;
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

/** What an operator would write into his file, with limits that no test reaches by accident. */
export function gatewayConfig(choices: ConfigChoices) {
  const { host = '127.0.0.1', ports = { smtp: 0, http: 0, admin: 0 } } = choices;
  return {
    dataDir: choices.dataDir,
    log: { level: 'info', format: 'json' },
    smtp: {
      ...{ host, port: ports.smtp, hostname: 'mx.acme.example' },
      ...(choices.maxMessageBytes && { maxMessageBytes: choices.maxMessageBytes }),
    },
    http: {
      ...{ host, port: ports.http, publicUrl: PUBLIC_URL },
      ...{ maxConnections: 100_000, maxConnectionsPerIp: 100_000, ...choices.http },
    },
    admin: { host, port: ports.admin, password: 'of-the-console', ...choices.admin },
    localPlatform: { port: 0, ...(choices.replies && { replies: choices.replies }) },
    delivery: {
      requestTimeout: choices.requestTimeout ?? '10s',
      paused: choices.paused ?? false,
    },
    ...(choices.alerts && { alerts: choices.alerts }),
    ...(choices.tracing && { tracing: choices.tracing }),
    shops: [
      {
        ...ACME,
        ...(choices.platformUrl !== undefined && { platformUrl: choices.platformUrl }),
        email: {
          addresses: [INBOX],
          inboundTokens: [INBOUND_TOKEN],
          mediaPermission: choices.mediaPermission ?? 'private',
          loop: choices.loop ?? { ...NO_LIMITS, perThreadPer10min: 1e6 },
        },
        sms: {
          numbers: [OUR_NUMBER],
          twilio: {
            accountSid: ACCOUNT_SID,
            authTokens: [AUTH_TOKEN],
            // Reconciliation must find nobody rather than Twilio.
            baseUrl: choices.twilioUrl ?? NO_TWILIO,
          },
          loop: { ...NO_LIMITS, perDay: 1e6 },
          ...choices.sms,
        },
        chat: {
          key: CHAT_KEY,
          allowNoOrigin: true,
          limits: { messagesPer10s: 10_000, newVisitorsPerHourPerIp: 1e6, socketsPerIp: 1e5 },
          ...choices.chat,
        },
      },
    ],
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
  const servers = await Promise.all([listener(host), listener(host), listener(host)]);
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const [smtp = 0, http = 0, admin = 0] = ports;
  return { smtp, http, admin };
}

async function listener(host: string) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return server;
}
