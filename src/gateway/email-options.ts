import { EMAIL_SERVER_DEFAULTS, type EmailServerOptions } from '../channels/email/email-server.ts';
import type { TlsOptions } from '../channels/email/tls.ts';
import type { CompleteConfig } from '../config/complete.ts';

const MINUTE = 60_000;
const CERTIFICATE_CHECKED_EVERY_MS = 30_000;

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
    messageRate: { messages: smtp.rates.messagesPerMinutePerIp, perMs: MINUTE },
    proxyProtocol: smtp.proxyProtocol,
  };
}

export function tlsOptions({ smtp, dataDir }: CompleteConfig): TlsOptions {
  const { cert, key } = smtp.tls ?? {};
  return {
    dataDir,
    hostname: smtp.hostname,
    checkEveryMs: CERTIFICATE_CHECKED_EVERY_MS,
    ...(cert !== undefined && key !== undefined && { files: { cert, key } }),
  };
}
