import { EMAIL_SERVER_DEFAULTS, type EmailServerOptions } from '../channels/email/door-smtp.ts';
import type { InboundOptions } from '../channels/email/door-http.ts';
import type { TlsOptions } from '../channels/email/tls.ts';
import type { CompleteConfig } from '../config/complete.ts';
import { inboundTokens } from './shops.ts';

const MINUTE = 60_000;
/** Concurrent messages per shop; each holds at most 64 KiB in memory. */
const INBOUND_MAX_IN_PROGRESS = 64;
const CERTIFICATE_CHECKED_EVERY_MS = 30_000;
/** A renewal that replaces both files takes less. */
const CERTIFICATE_AWAITED_MS = 30_000;

/** The configured values over constants that are not configurable. */
export function emailServerOptions({ smtp }: CompleteConfig): EmailServerOptions {
  return {
    ...EMAIL_SERVER_DEFAULTS,
    host: smtp.host,
    port: smtp.port,
    hostname: smtp.hostname,
    maxMessageBytes: smtp.maxMessageBytes,
    maxConnections: smtp.maxConnections,
    maxConnectionsPerIp: smtp.maxConnectionsPerIp,
    trustedRelays: smtp.trustedRelays,
    connectionRate: { connections: smtp.rates.connectionsPerMinutePerIp, perMs: MINUTE },
    messageRate: { messages: smtp.rates.messagesPerMinutePerIp, perMs: MINUTE },
    lmtp: smtp.lmtp,
    proxyProtocol: smtp.proxyProtocol,
  };
}

/** The HTTP door has the same limits as the SMTP door. */
export function inboundOptions(config: CompleteConfig): InboundOptions {
  return {
    ...emailServerOptions(config),
    shops: inboundTokens(config),
    maxInProgress: INBOUND_MAX_IN_PROGRESS,
  };
}

export function tlsOptions({ smtp, dataDir }: CompleteConfig): TlsOptions {
  const { cert, key } = smtp.tls ?? {};
  return {
    dataDir,
    hostname: smtp.hostname,
    checkEveryMs: CERTIFICATE_CHECKED_EVERY_MS,
    awaitMs: CERTIFICATE_AWAITED_MS,
    ...(cert !== undefined && key !== undefined && { files: { cert, key } }),
  };
}
