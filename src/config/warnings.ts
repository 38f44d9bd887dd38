import { isIP } from 'node:net';
import { isSharedDomain } from '../domain/shared-domains.ts';
import { clientAddress, isPublicAddress } from '../runtime/ip-addresses.ts';
import type { Config } from './config.ts';
import { writtenDuration } from './duration.ts';
import { descriptions } from './field.ts';
import { schemaAt } from './schema-paths.ts';
import { configSchema } from './schema.ts';

type Shop = Config['shops'][number];
/** A setting that is allowed but probably not intended, in one sentence without secrets. */
type Doubt = readonly [isDoubtful: boolean, sentence: string];

/** One sentence each, without secrets. */
export function warningsOf(config: Config): string[] {
  const { localPlatform, alerts } = config;
  return [
    ...doubtsAboutPublicUrl(config),
    ...doubtsAboutDoors(config),
    ...config.shops.flatMap((shop, index) => doubtsAboutShop(config, shop, `shops[${index}]`)),
    inTheClear('localPlatform.replies', localPlatform.replies),
    inTheClear('alerts.email', alerts.email),
    ...doubtsAboutUrls(config),
    ...doubtsAboutAgent(config),
    ...doubtsAboutTimes(config),
    ...withoutEffect(config),
  ]
    .flatMap(([isDoubtful, sentence]) => (isDoubtful ? [sentence] : []))
    .concat(sharedSecrets(config));
}

function doubtsAboutPublicUrl(config: Config): Doubt[] {
  const { shops } = config;
  const { hostname, protocol, pathname } = new URL(config.http.publicUrl);
  const local = isLoopback(hostname);
  const sites = shops.flatMap(({ chat }) => chat?.origins ?? []).map((origin) => new URL(origin));
  const hasTexts = shops.some(({ sms }) => sms !== undefined);
  return [
    [
      local && hasTexts,
      'http.publicUrl is this machine: the SMS provider cannot reach it, and the signatures of Twilio will not match',
    ],
    [
      !local && hasTexts && isOfOwnNetwork(hostname),
      'http.publicUrl is an address of your own network: the SMS provider cannot reach it',
    ],
    [
      local && sites.some((site) => !isLoopback(site.hostname)),
      'http.publicUrl is this machine: visitors of the sites in chat.origins cannot reach the chat',
    ],
    [
      !local && protocol === 'http:' && sites.some((site) => site.protocol === 'https:'),
      'http.publicUrl is http: browsers refuse to load the chat from it on the https sites in chat.origins',
    ],
    [
      /\/(?:sms|email|chat)(?:\/|$)/.test(pathname),
      'http.publicUrl is the URL of a webhook: write what comes before /sms, /email or /chat',
    ],
    [
      local && mailsChatVisitors(config),
      'http.publicUrl is this machine: the links in emails to chat visitors, and those to the files of replies, work on it only',
    ],
  ];
}

function doubtsAboutDoors({ smtp, http, admin, shops, platform }: Config): Doubt[] {
  const trusted = { 'smtp.trustedRelays': smtp.trustedRelays, 'http.trustProxy': http.trustProxy };
  const isMailedOutside = ({ email, platformUrl = platform.url }: Shop): boolean =>
    // One on the local platform may be a trial.
    email !== undefined && platformUrl !== 'local';
  return [
    [
      smtp.enabled && !smtp.lmtp && isLoopback(smtp.hostname) && shops.some(isMailedOutside),
      `smtp.hostname is ${smtp.hostname}: set it to the name in the MX record, with which this server introduces itself`,
    ],
    [
      smtp.enabled && (smtp.port === 465 || smtp.port === 587),
      `smtp.port is ${smtp.port}, where mail programs sign in: other mail servers deliver to port 25`,
    ],
    [
      !isLoopback(admin.host) && admin.password === undefined,
      'admin.host is not the loopback interface; set admin.password yourself',
    ],
    [
      !http.enabled && shops.some(({ sms, chat }) => sms ?? chat),
      'http.enabled is false: SMS and chat cannot arrive',
    ],
    ...Object.entries({ smtp, http }).map(
      ([door, { maxConnections, maxConnectionsPerIp }]): Doubt => [
        maxConnectionsPerIp > maxConnections,
        `${door}.maxConnectionsPerIp is more than ${door}.maxConnections: one address can take all of them`,
      ],
    ),
    // Whoever is trusted says who sent a message, and is counted by no limit.
    ...Object.entries(trusted).map(([key, networks]): Doubt => [
      networks.some((network) => network.endsWith('/0')),
      `${key} trusts every address: name only your own servers`,
    ]),
  ];
}

function doubtsAboutShop(
  { smtp, platform, localPlatform }: Config,
  { email, platformUrl = platform.url }: Shop,
  at: string,
): Doubt[] {
  const { protocol, hostname, port } = new URL(
    platformUrl === 'local' ? 'https://local' : platformUrl,
  );
  const tokens = email?.inboundTokens ?? [];
  return [
    [protocol === 'http:' && !isLoopback(hostname), `${at} sends its apiKey over unencrypted http`],
    [
      isLoopback(hostname) && port === String(localPlatform.port),
      `${at} has the URL of this gateway's own local platform: write local instead`,
    ],
    [
      email !== undefined && !smtp.enabled,
      `smtp.enabled is false: email of ${at} ${
        tokens.length > 0
          ? 'arrives through POST /email/inbound only'
          : 'cannot arrive; set smtp.enabled to true, or email.inboundTokens for POST /email/inbound'
      }`,
    ],
    ...(email?.addresses ?? []).map((address): Doubt => [
      address.startsWith('*@') && isSharedDomain(address.slice(2)),
      `${at}.email.addresses has ${address}: mail to that domain goes to its provider, not here; name your own domain`,
    ]),
  ];
}

function doubtsAboutUrls({ alerts: { webhook }, localPlatform: { agent }, tracing }: Config) {
  const isClear = (url: string | undefined): boolean =>
    url?.startsWith('http:') === true && !isLoopback(new URL(url).hostname);
  return [
    [
      isClear(webhook.url?.reveal()),
      'alerts.webhook.url is http: alerts, and the token in the URL, are sent unencrypted',
    ],
    [
      agent.kind === 'openai' && isClear(agent.baseUrl),
      'localPlatform.agent.baseUrl is http: its key and the messages are sent unencrypted',
    ],
    [
      tracing.endpoint !== undefined && new URL(tracing.endpoint).port === '4317',
      'tracing.endpoint has the port of gRPC, 4317: that of HTTP is usually 4318',
    ],
  ] satisfies Doubt[];
}

/** Whether the local platform sends emails to chat visitors of a shop through a relay. */
export const mailsChatVisitors = ({
  shops,
  platform,
  localPlatform,
}: Pick<Config, 'shops' | 'platform' | 'localPlatform'>): boolean =>
  localPlatform.replies.relay !== undefined &&
  shops.some(
    ({ chat, platformUrl = platform.url }) => chat !== undefined && platformUrl === 'local',
  );

function inTheClear(
  at: string,
  { relay, relayTls }: Pick<Config['alerts']['email'], 'relay' | 'relayTls'>,
): Doubt {
  const { hostname, password } = new URL(relay?.reveal() ?? 'smtp://localhost');
  return [
    relayTls === 'off' && password !== '' && !isLoopback(hostname),
    `${at}.relayTls is off: the relay's password is sent unencrypted`,
  ];
}

/** The sample shop has texts of its own. */
function doubtsAboutAgent({ shops, platform, localPlatform: { agent } }: Config): Doubt[] {
  const answers = (shop: Shop): boolean =>
    (shop.platformUrl ?? platform.url) === 'local' && shop.agent === 'on';
  return [
    [
      agent.kind !== 'off' && agent.knowledge === undefined && shops.some(answers),
      'localPlatform.agent.knowledge is not set: the agent has no texts to answer from and hands every question to a ' +
        'person. Set it to a folder of Markdown files, such as ./knowledge, or localPlatform.agent.kind to off',
    ],
  ];
}

const HOUR_MS = 3_600_000;

/**
 * Probably a wrong unit: what is kept for less than an hour is deleted before anyone looks at it, and what is given up
 * then has hardly been tried.
 */
function doubtsAboutTimes({
  spool: { retain },
  delivery: { giveUpAfter },
  alerts: { every },
}: Config): Doubt[] {
  const times: [path: string[], ms: number][] = Object.entries(retain).map(([key, ms]) => [
    ['spool', 'retain', key],
    ms,
  ]);
  const short = [...times, [['delivery', 'giveUpAfter'], giveUpAfter] as const].map(
    ([path, ms]): Doubt => {
      const schema = schemaAt(configSchema, path);
      const usual = schema && descriptions.get(schema)?.example;
      return [
        ms < HOUR_MS,
        `${path.join('.')} is ${writtenDuration(ms)}, less than an hour; the default is ${usual}`,
      ];
    },
  );
  const often = `alerts.every is ${writtenDuration(every)}, less than a second; the default is 30s`;
  const raw =
    'spool.retain.raw is longer than spool.retain.entries, with which the raw message is deleted';
  return [...short, [every < 1000, often], [retain.raw > retain.entries, raw]];
}

/** Settings that nothing reads. */
function withoutEffect({ shops, platform, localPlatform, smtp, spool, delivery }: Config): Doubt[] {
  const { agent, replies } = localPlatform;
  const isUsed =
    shops.length === 0 || shops.some(({ platformUrl = platform.url }) => platformUrl === 'local');
  const nothing = 'has no effect: no shop is on the local platform';
  return [
    [!isUsed && agent.kind === 'openai', `localPlatform.agent.kind: openai ${nothing}`],
    [!isUsed && agent.knowledge !== undefined, `localPlatform.agent.knowledge ${nothing}`],
    [!isUsed && replies.relay !== undefined, `localPlatform.replies.relay ${nothing}`],
    [
      isUsed && agent.kind !== 'openai' && agent.model !== undefined,
      `localPlatform.agent.model has no effect: localPlatform.agent.kind is ${agent.kind}, not openai`,
    ],
    [
      smtp.trustedAuthservIds.includes(smtp.hostname),
      'smtp.trustedAuthservIds has smtp.hostname, which has no effect: name the id of the server that relays to this one',
    ],
    [
      delivery.threads > 1 && spool.url !== 'sqlite',
      'delivery.threads has no effect: spool.url is a PostgreSQL database',
    ],
  ];
}

/** Probably copied with the shop around it, or one for the other. */
function sharedSecrets({ shops }: Config): string[] {
  const secrets = shops.flatMap(({ apiKey, email, chat }, index) => [
    { at: `shops[${index}].apiKey`, value: apiKey.reveal() },
    ...(email?.inboundTokens ?? []).map((token, n) => ({
      ...{ at: `shops[${index}].email.inboundTokens[${n}]`, value: token.reveal() },
    })),
    ...(chat?.identitySecrets ?? []).map((one, n) => ({
      ...{ at: `shops[${index}].chat.identitySecrets[${n}]`, value: one.reveal() },
    })),
  ]);
  const first = new Map<string, string>();
  return secrets.flatMap(({ at, value }) => {
    const before = first.get(value);
    if (before !== undefined) return [`${at} is the same as ${before}: write another one`];
    // Several shops may have the customers of one site.
    if (!at.includes('identitySecrets')) first.set(value, at);
    return [];
  });
}

const bareHost = (host: string): string => clientAddress(host.replace(/^\[|\]$/g, ''));

function isLoopback(host: string): boolean {
  const bare = bareHost(host);
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

const isOfOwnNetwork = (host: string): boolean =>
  isIP(bareHost(host)) !== 0 && !isPublicAddress(bareHost(host));
