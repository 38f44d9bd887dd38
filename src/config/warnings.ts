import { isIP } from 'node:net';
import { isSharedDomain } from '../domain/shared-domains.ts';
import { clientAddress } from '../runtime/ip-addresses.ts';
import type { Config } from './config.ts';
import { writtenDuration } from './duration.ts';
import { descriptions } from './field.ts';
import { schemaAt } from './schema-paths.ts';
import { configSchema } from './schema.ts';

/**
 * Warns of settings that are allowed but probably not intended. One sentence each, without secrets.
 */
export function warningsOf(config: Config): string[] {
  const warnings: string[] = [];
  const { shops } = config;
  const publicUrl = new URL(config.http.publicUrl);
  const local = isLoopback(publicUrl.hostname);
  const sites = shops.flatMap(({ chat }) => chat?.origins ?? []).map((origin) => new URL(origin));
  if (local && shops.some((shop) => shop.sms !== undefined)) {
    warnings.push(
      'http.publicUrl is this machine: the SMS provider cannot reach it, and the signatures of Twilio will not match',
    );
  }
  if (local && sites.some(({ hostname }) => !isLoopback(hostname))) {
    warnings.push(
      'http.publicUrl is this machine: visitors of the sites in chat.origins cannot reach the chat',
    );
  }
  if (
    !local &&
    publicUrl.protocol === 'http:' &&
    sites.some((site) => site.protocol === 'https:')
  ) {
    warnings.push(
      'http.publicUrl is http: browsers refuse to load the chat from it on the https sites in chat.origins',
    );
  }
  const { smtp } = config;
  const isServer = smtp.enabled && !smtp.lmtp;
  if (isServer && isLoopback(smtp.hostname) && shops.some(isMailedOutside(config))) {
    warnings.push(
      `smtp.hostname is ${smtp.hostname}: set it to the name in the MX record, with which this server introduces itself`,
    );
  }
  if (/\/(?:sms|email|chat)(?:\/|$)/.test(publicUrl.pathname)) {
    warnings.push(
      'http.publicUrl is the URL of a webhook: write what comes before /sms, /email or /chat',
    );
  }
  if (local && mailsChatVisitors(config)) {
    warnings.push(
      'http.publicUrl is this machine: the links in emails to chat visitors, and those to the files of replies, work on it only',
    );
  }
  if (!isLoopback(config.admin.host) && config.admin.password === undefined) {
    warnings.push('admin.host is not the loopback interface; set admin.password yourself');
  }
  if (!config.smtp.enabled && shops.some((shop) => shop.email !== undefined)) {
    warnings.push('smtp.enabled is false: email arrives through POST /email/inbound only');
  }
  if (!config.http.enabled && shops.some((shop) => shop.sms ?? shop.chat)) {
    warnings.push('http.enabled is false: SMS and chat cannot arrive');
  }
  for (const [index, shop] of shops.entries()) {
    const url = shop.platformUrl ?? config.platform.url;
    if (url.startsWith('http:') && !isLoopback(new URL(url).hostname)) {
      warnings.push(`shops[${index}] sends its apiKey over unencrypted http`);
    }
  }
  return [
    ...warnings,
    ...relayInTheClear('localPlatform.replies', config.localPlatform.replies),
    ...relayInTheClear('alerts.email', config.alerts.email),
    ...webhookInTheClear(config),
    ...endpointInTheClear(config),
    ...agentWithoutTexts(config),
    ...shortTimes(config),
    ...openToAll(config),
    ...withoutEffect(config),
    ...sharedSecrets(config),
    ...doubtfulPlaces(config),
  ];
}

/** Whether a shop gets email, and has a platform of its own: one on the local platform may be a trial. */
const isMailedOutside =
  ({ platform }: Pick<Config, 'platform'>) =>
  ({ email, platformUrl = platform.url }: Config['shops'][number]): boolean =>
    email !== undefined && platformUrl !== 'local';

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

function relayInTheClear(
  at: string,
  { relay, relayTls }: Pick<Config['alerts']['email'], 'relay' | 'relayTls'>,
): string[] {
  if (relay === undefined || relayTls !== 'off') return [];
  const { hostname, password } = new URL(relay.reveal());
  if (password === '' || isLoopback(hostname)) return [];
  return [`${at}.relayTls is off: the relay's password is sent unencrypted`];
}

function webhookInTheClear({ alerts: { webhook } }: Config): string[] {
  if (webhook.url === undefined) return [];
  const { protocol, hostname } = new URL(webhook.url.reveal());
  if (protocol === 'https:' || isLoopback(hostname)) return [];
  return ['alerts.webhook.url is http: alerts, and the token in the URL, are sent unencrypted'];
}

function endpointInTheClear({ localPlatform: { agent } }: Config): string[] {
  if (agent.kind !== 'openai' || !agent.baseUrl.startsWith('http:')) return [];
  if (isLoopback(new URL(agent.baseUrl).hostname)) return [];
  return ['localPlatform.agent.baseUrl is http: its key and the messages are sent unencrypted'];
}

/** The sample shop has texts of its own. */
function agentWithoutTexts({ shops, platform, localPlatform: { agent } }: Config): string[] {
  if (agent.kind === 'off' || agent.knowledge !== undefined) return [];
  const answered = shops.some(
    (shop) => (shop.platformUrl ?? platform.url) === 'local' && shop.agent === 'on',
  );
  if (!answered) return [];
  return [
    'localPlatform.agent.knowledge is not set: the agent has no texts to answer from and hands every question to a ' +
      'person. Set it to a folder of Markdown files, such as ./knowledge, or localPlatform.agent.kind to off',
  ];
}

const HOUR_MS = 3_600_000;

/**
 * Probably a wrong unit: what is kept for less than an hour is deleted before anyone looks at it, and what is given up
 * then has hardly been tried.
 */
function shortTimes({ spool: { retain }, delivery: { giveUpAfter } }: Config): string[] {
  const times: [path: string[], ms: number][] = Object.entries(retain).map(([key, ms]) => [
    ['spool', 'retain', key],
    ms,
  ]);
  return [...times, [['delivery', 'giveUpAfter'], giveUpAfter] as const]
    .filter(([, ms]) => ms < HOUR_MS)
    .map(([path, ms]) => {
      const schema = schemaAt(configSchema, path);
      const usual = schema && descriptions.get(schema)?.example;
      return `${path.join('.')} is ${writtenDuration(ms)}, less than an hour; the default is ${usual}`;
    });
}

/** Whoever is trusted says who sent a message, and is counted by no limit. */
const openToAll = ({ smtp: { trustedRelays }, http: { trustProxy } }: Config): string[] =>
  Object.entries({ 'smtp.trustedRelays': trustedRelays, 'http.trustProxy': trustProxy })
    .filter(([, networks]) => networks.some((network) => network.endsWith('/0')))
    .map(([key]) => `${key} trusts every address: name only your own servers`);

/** Settings of the local platform that nothing reads. */
function withoutEffect({ shops, platform, localPlatform: { agent, replies } }: Config): string[] {
  const isUsed =
    shops.length === 0 || shops.some(({ platformUrl = platform.url }) => platformUrl === 'local');
  const given = [
    ...(agent.kind === 'openai' ? ['agent.kind: openai'] : []),
    ...(replies.relay === undefined ? [] : ['replies.relay']),
  ];
  if (!isUsed) {
    return given.map(
      (key) => `localPlatform.${key} has no effect: no shop is on the local platform`,
    );
  }
  if (agent.kind === 'openai' || agent.model === undefined) return [];
  return [
    `localPlatform.agent.model has no effect: localPlatform.agent.kind is ${agent.kind}, not openai`,
  ];
}

/** Probably copied with the shop around it. */
function sharedSecrets({ shops }: Config): string[] {
  const secrets = shops.flatMap(({ apiKey, email }, index) => [
    { at: `shops[${index}].apiKey`, value: apiKey.reveal() },
    ...(email?.inboundTokens ?? []).map((token, n) => ({
      ...{ at: `shops[${index}].email.inboundTokens[${n}]`, value: token.reveal() },
    })),
  ]);
  const first = new Map<string, string>();
  return secrets.flatMap(({ at, value }) => {
    const before = first.get(value);
    if (before !== undefined) return [`${at} is the same as ${before}: write another one`];
    first.set(value, at);
    return [];
  });
}

function doubtfulPlaces({ shops, platform, localPlatform, tracing, spool: { retain } }: Config) {
  const isOwnPlatform = (url: string) =>
    url !== 'local' &&
    isLoopback(new URL(url).hostname) &&
    new URL(url).port === String(localPlatform.port);
  return [
    ...shops.flatMap(({ platformUrl = platform.url, email }, index) => [
      ...(isOwnPlatform(platformUrl)
        ? [`shops[${index}] has the URL of this gateway's own local platform: write local instead`]
        : []),
      ...(email?.addresses ?? [])
        .filter((address) => address.startsWith('*@') && isSharedDomain(address.slice(2)))
        .map(
          (address) =>
            `shops[${index}].email.addresses has ${address}: mail to that domain goes to its provider, not here; name your own domain`,
        ),
    ]),
    ...(tracing.endpoint !== undefined && new URL(tracing.endpoint).port === '4317'
      ? ['tracing.endpoint has the port of gRPC, 4317: that of HTTP is usually 4318']
      : []),
    ...(retain.raw > retain.entries
      ? [
          'spool.retain.raw is longer than spool.retain.entries, with which the raw message is deleted',
        ]
      : []),
  ];
}

function isLoopback(host: string): boolean {
  const bare = clientAddress(host.replace(/^\[|\]$/g, ''));
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
