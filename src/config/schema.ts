import { z } from 'zod';
import { agentSchema } from './agent-schema.ts';
import { alertSchema } from './alert-schema.ts';
import { consolePassword, metricsToken, operatorName } from './admin-fields.ts';
import {
  dnsServer,
  domain,
  host,
  httpUrl,
  ipAddress,
  network,
  platformUrl,
  relayUrl,
} from './network-fields.ts';
import { bytes, choice, duration, flag, path, port, spoolUrl, whole } from './scalar-fields.ts';
import { shopSchema } from './shop-schema.ts';
import { tracingSchema } from './tracing-schema.ts';

/**
 * The whole configuration. There are no defaults here: they stand in `config/default.yaml`, over
 * which the operator's file is laid. An exactly optional key is one that has none.
 */
export const configSchema = z.strictObject({
  dataDir: path('./data'),
  log: z.strictObject({
    level: choice('info', 'debug', 'warn', 'error'),
    format: choice('pretty', 'json'),
  }),
  smtp: z.strictObject({
    enabled: flag(),
    host: host('0.0.0.0'),
    port: port(2525),
    hostname: host('mx.acme.example'),
    tls: z.exactOptional(
      z.strictObject({
        cert: z.exactOptional(path('/etc/ssl/mx.crt')),
        key: z.exactOptional(path('/etc/ssl/mx.key')),
      }),
    ),
    maxMessageBytes: bytes(65_536, 268_435_456, 36_700_160),
    maxConnections: whole(1, 100_000, 1000),
    maxConnectionsPerIp: whole(1, 100_000, 20),
    rates: z.strictObject({
      connectionsPerMinutePerIp: whole(1, 1_000_000, 120),
      messagesPerMinutePerIp: whole(1, 1_000_000, 300),
    }),
    trustedRelays: z.array(network('10.0.0.0/8')),
    trustedAuthservIds: z.array(domain('mx.acme.example')),
    lmtp: flag(),
    proxyProtocol: z.array(ipAddress('10.0.0.5')),
  }),
  http: z.strictObject({
    enabled: flag(),
    host: host('0.0.0.0'),
    port: port(8080),
    publicUrl: httpUrl(
      'the URL under which the world reaches the HTTP port',
      'https://gw.acme.example',
    ),
    trustProxy: z.array(network('10.0.0.5')),
    maxConnections: whole(1, 100_000, 4000),
    maxConnectionsPerIp: whole(1, 100_000, 200),
  }),
  admin: z.strictObject({
    host: host('127.0.0.1'),
    port: port(8081),
    password: z.exactOptional(consolePassword()),
    operators: z.exactOptional(
      z.array(z.strictObject({ name: operatorName(), password: consolePassword() })),
    ),
    metricsToken: z.exactOptional(metricsToken()),
    hosts: z.array(host('console.acme.example')),
  }),
  dns: z.strictObject({
    servers: z.array(dnsServer('1.1.1.1')),
  }),
  spool: z.strictObject({
    url: spoolUrl(),
    retain: z.strictObject({
      raw: duration('7d'),
      dead: duration('30d'),
      entries: duration('90d'),
    }),
  }),
  delivery: z.strictObject({
    paused: flag(),
    concurrency: whole(1, 1000, 16),
    requestTimeout: duration('30s'),
    mediaTimeout: duration('120s'),
    giveUpAfter: duration('5d'),
  }),
  platform: z.strictObject({ url: platformUrl() }),
  localPlatform: z.strictObject({
    port: port(8082),
    requestsPerSecond: z.exactOptional(whole(1, 100_000, 50)),
    agent: agentSchema,
    replies: z.strictObject({
      relay: z.exactOptional(relayUrl()),
      relayTls: choice('auto', 'required', 'off'),
      relayCa: z.exactOptional(path('/etc/ssl/private-ca.pem')),
      sms: choice('log', 'twilio'),
    }),
  }),
  alerts: alertSchema,
  tracing: tracingSchema,
  shops: z.array(shopSchema),
});
