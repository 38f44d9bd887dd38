import { z } from 'zod';
import { canonicalAddress } from '../domain/email-addresses.ts';
import { type Cures, field } from './field.ts';
import {
  blobsUrl,
  httpUrl,
  dnsServer,
  domain,
  host,
  ipAddress,
  network,
  platformUrl,
  relayUrl,
  spoolUrl,
} from './network-fields.ts';
import {
  atLeast,
  choice,
  duration,
  durationOrNone,
  path,
  secret,
  secretOf,
  bytes,
  flag,
  longerThan,
  port,
  whole,
} from './scalar-fields.ts';
import { Secret } from './secret.ts';
import { isPasswordHash, parsePasswordHash } from '../runtime/password-hash.ts';
import { shopSchema } from './shop-schema.ts';

const modelName = () =>
  field({ expected: 'the name of a model of the endpoint', example: 'llama3.1' }, (value) =>
    /^[^\s\p{C}](?:[^\p{C}]{0,198}[^\s\p{C}])?$/u.test(value) ? value : undefined,
  );

/** What answers on the local platform. The keys of the endpoint apply to `kind: openai` only. */
const agentSchema = z.strictObject({
  kind: choice('builtin', 'openai', 'off'),
  knowledge: z.exactOptional(path('./knowledge')),
  baseUrl: httpUrl(
    'the base URL of an endpoint with the chat completions API, including /v1 if it has one',
    'http://localhost:11434/v1',
    [[/^https:\/\/api\.openai\.com\/?$/, 'write its path, too: https://api.openai.com/v1']],
  ),
  model: z.exactOptional(modelName()),
  apiKey: z.exactOptional(secret('the key of the endpoint, or any text if it needs none')),
  timeout: duration('2m'),
  stallTimeout: duration('30s'),
  giveUpAfter: duration('15m'),
  answersPerHour: z.exactOptional(whole(1, 100_000, 600)),
});

/** One header of a request (RFC 9110 §5.1, §5.5). Its value may be a secret. */
const header = () =>
  field(
    {
      expected: 'an HTTP header: its name, a colon and its value',
      example: '"authorization: ${OTLP_AUTHORIZATION}"',
      secret: true,
    },
    (text) => {
      const [, name, value] =
        /^([\w!#$%&'*+.^`|~-]+): *([\x21-\x7e][\x20-\x7e]*)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) return undefined;
      if (name.length > 100 || value.length > 4000) return undefined;
      return new Secret(`${name.toLowerCase()}: ${value.trim()}`);
    },
  );

const ratio = () =>
  field<number>({ expected: 'a number from 0 to 1', example: '0.1' }, (value) => {
    const share = /^(?:\d{1,4}|\d{0,4}\.\d{1,9})$/.test(value) ? Number(value) : NaN;
    return share >= 0 && share <= 1 ? share : undefined;
  });

const serviceName = () =>
  field({ expected: 'a name without spaces', example: 'sluice' }, (value) =>
    /^[\w.-]{1,100}$/.test(value) ? value : undefined,
  );

/** Where traces are sent. Without an endpoint, no traces are written. */
const tracingSchema = z.strictObject({
  endpoint: z.exactOptional(
    httpUrl('the URL of an OTLP/HTTP collector, without /v1/traces', 'http://localhost:4318', [
      [/^grpcs?:/, 'write http:// or https://, and the port of OTLP over HTTP, usually 4318'],
    ]),
  ),
  headers: z.array(header()),
  sampleRatio: ratio(),
  serviceName: serviceName(),
});

/** The name of an operator who signs in without one. */
const OPERATOR = 'operator';

const NO_PASSWORD: Cures = [
  [
    /^(?:\$(?:2[abxy]?|5|6|y|apr1|argon2\w{0,3})\$|\{S?(?:SHA|MD5|CRYPT)\d{0,3}\})/,
    'make the hash with sluice config hash-password: this is one of another kind',
  ],
  [/^=\d+,r=\d+/, "write the hash in '…': a shell replaced parts of it that begin with $"],
  [/^\$\(/, 'write ${NAME}, and set this variable in the shell: no command is run here'],
];

/** The password itself, or its scrypt hash. */
const consolePassword = () =>
  secretOf(
    'a password of at least 8 characters, or its scrypt hash ($scrypt$ln=...), as sluice config hash-password prints it',
    (bare) =>
      bare.length <= 500 &&
      !/[\r\n\0]/.test(bare) &&
      (!isPasswordHash(bare) || parsePasswordHash(bare) !== undefined),
    8,
    NO_PASSWORD,
  );

/** Long enough that guessing it is impractical, without a limit on wrong attempts. */
const metricsToken = () =>
  secretOf(
    'a token of 32 to 500 letters, digits or any of -._~+/= (openssl rand -hex 32 makes one)',
    (bare) => /^[\w.~+/=-]{1,500}$/.test(bare),
    32,
  );

/** The name in the audit log. It cannot look like a terminal user's (`terminal:ann`). */
const operatorName = () =>
  field(
    {
      expected: `a name of 1 to 40 letters, digits, dots, dashes or underscores; not "${OPERATOR}"`,
      example: 'ann',
      hint: (value) =>
        value
          .replace(/@.*$/s, '')
          .replace(/[^\p{L}\p{N}._-]/gu, '')
          .slice(0, 40) || undefined,
    },
    (value) => (/^[\p{L}\p{N}._-]{1,40}$/u.test(value) && value !== OPERATOR ? value : undefined),
  );

/** Of what does not take Slack's messages. */
const NO_WEBHOOK: Cures = [
  [
    /^https:\/\/(?:\w{1,20}\.)?discord(?:app)?\.com\/\S{0,500}(?<!\/slack)$/i,
    'add /slack at its end',
  ],
  [
    /^(?:xox[a-z]-|https:\/\/(?!hooks\.)[\w-]{1,100}\.slack\.com\/)/i,
    'make an incoming webhook in Slack: its URL begins with https://hooks.slack.com/services/',
  ],
  [
    /^https:\/\/[\w.-]{1,100}\.pagerduty\.com\//i,
    "write the address of PagerDuty's integration by email into alerts.email.to: its webhooks take other messages",
  ],
];

/** The URL is a secret as a whole: anyone who has it can post to the webhook. */
const webhookUrl = () =>
  field(
    {
      expected:
        'the https:// URL of an incoming webhook, as Slack gives it; of one of Discord, with /slack at its end',
      example: '"${ALERTS_WEBHOOK_URL}"',
      secret: true,
      shown: (value) => /^[a-z]+:\/\//i.exec(value)?.[0].concat(' and more (not shown)'),
      cures: NO_WEBHOOK,
    },
    (value) => (isWebhook(value) ? new Secret(value) : undefined),
  );

function isWebhook(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  // fetch refuses credentials in a URL.
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '';
}

const mailAddress = (example: string) =>
  field({ expected: 'an email address', example }, (value) => canonicalAddress(value));

/** When alerts fire and where they are sent. */
const alertSchema = z.strictObject({
  every: duration('30s'),
  for: duration('30s'),
  settle: duration('1m'),
  group: duration('10s'),
  repeat: duration('4h'),
  webhook: z.strictObject({
    url: z.exactOptional(webhookUrl()),
    timeout: duration('10s'),
  }),
  email: z.strictObject({
    to: z.array(mailAddress('oncall@acme.example')),
    from: z.exactOptional(mailAddress('sluice@acme.example')),
    relay: z.exactOptional(relayUrl()),
    relayTls: choice('auto', 'required', 'off'),
    relayCa: z.exactOptional(path('/etc/ssl/private-ca.pem')),
  }),
  rules: z.strictObject({
    dead: atLeast(1),
    held: atLeast(1),
    breakerOpen: longerThan('1m'),
    refusedAlike: atLeast(5),
    oldestQueued: longerThan('10m'),
    certificate: duration('14d'),
    diskBelow: bytes(0, 1e15, 1_000_000_000),
    badSignaturesPer10min: atLeast(10),
  }),
});

/**
 * The whole configuration. It has no defaults: those are in `config/default.yaml`, over which the
 * operator's file is laid. An exactly optional key has no default.
 */
export const configSchema = z.strictObject({
  dataDir: path('./data'),
  stopDelay: z.exactOptional(durationOrNone('10s')),
  log: z.strictObject({
    level: choice('info', 'debug', 'warn', 'error'),
    format: choice('pretty', 'json'),
  }),
  smtp: z.strictObject({
    enabled: flag(),
    host: host('"::"'),
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
    host: host('"::"'),
    port: port(8080),
    publicUrl: httpUrl('the public URL of the HTTP port', 'https://gw.acme.example'),
    trustProxy: z.array(network('10.0.0.5')),
    maxConnections: whole(1, 100_000, 4000),
    maxConnectionsPerIp: whole(1, 100_000, 200),
  }),
  admin: z.strictObject({
    host: host('127.0.0.1'),
    port: port(8081),
    password: z.exactOptional(consolePassword()),
    operators: z.exactOptional(
      z.array(
        z.strictObject({
          name: operatorName(),
          password: consolePassword(),
          role: choice('operator', 'desk').prefault('operator'),
        }),
      ),
    ),
    metricsToken: z.exactOptional(metricsToken()),
    hosts: z.array(host('console.acme.example')),
    snippets: flag(),
  }),
  dns: z.strictObject({
    servers: z.array(dnsServer('1.1.1.1')),
  }),
  spool: z.strictObject({
    url: spoolUrl(),
    blobs: z.exactOptional(blobsUrl()),
    retain: z.strictObject({
      raw: duration('7d'),
      dead: duration('30d'),
      entries: duration('90d'),
    }),
  }),
  delivery: z.strictObject({
    paused: flag(),
    concurrency: whole(1, 1000, 16, undefined, [
      [/^0$/, 'write paused: true instead, which stops deliveries'],
    ]),
    threads: whole(1, 16, 1),
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
      // `twilio` is what `provider` was called when there was no other one.
      sms: choice('log', 'provider', 'twilio'),
    }),
  }),
  whatsapp: z.strictObject({ echoSilence: duration('1h') }),
  alerts: alertSchema,
  tracing: tracingSchema,
  shops: z.array(shopSchema),
});
