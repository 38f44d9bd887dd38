import { join } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import type {
  LocalPlatform,
  LocalPlatformOptions,
  RepliesOptions,
} from '../local-platform/local-platform.ts';
import type { Logger } from '../observability/logger.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import { type RoutedStore, textRoutes } from './text-routes.ts';
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import type { BlockedText } from '../channels/sms/normalize/consent.ts';
import type { OutgoingText, ProviderAccount, SenderOptions } from '../channels/sms/provider.ts';
import { apiOf } from '../channels/sms/providers/registry.ts';
import { TextNotSent } from '../channels/sms/providers/text-not-sent.ts';
import { SendFailed } from '../local-platform/outbound/outbound.ts';
import type { TextSender } from '../local-platform/outbound/provider-sms.ts';
import { clientIpOf } from './public-http.ts';
import { relayOf } from './relay-options.ts';
import { smsShops } from './shops.ts';
import { withoutEnd } from '../runtime/without-end.ts';

export interface RunningLocal {
  readonly platform: LocalPlatform;
  /**
   * Applies the current shops: their keys, whether the agent answers, and their senders; the public
   * URL and the trusted proxies.
   */
  serve(config: CompleteConfig): void;
}

/** Called when a provider blocks a text because the person has opted out. */
export type OnBlocked = (blocked: BlockedText) => Promise<void>;

interface LocalParts {
  readonly store: RoutedStore;
  readonly onBlocked?: OnBlocked | undefined;
  readonly logger: Logger;
  readonly onTicketChanged?: LocalPlatformOptions['onTicketChanged'];
  readonly onReply?: LocalPlatformOptions['onReply'];
  readonly onSeen?: LocalPlatformOptions['onSeen'];
}

/** Starts the embedded platform if a shop uses it. It listens on loopback only. */
export async function startLocalPlatform(
  config: CompleteConfig,
  { store, logger, onBlocked, onTicketChanged, onReply, onSeen }: LocalParts,
): Promise<RunningLocal | undefined> {
  const shops = localShops(config);
  if (shops.length === 0) return undefined;
  const senders = textSenders(config, onBlocked);
  let { publicUrl: current } = config.http;
  const publicUrl = () => current;
  let clientIp = clientIpOf(config.http.trustProxy);
  // Imported here, because a gateway whose shops all have another platform does not need it.
  const { createLocalPlatform } = await import('../local-platform/local-platform.ts');
  const platform = createLocalPlatform({
    dir: join(config.dataDir, 'platform'),
    host: '127.0.0.1',
    port: config.localPlatform.port,
    ...(config.localPlatform.requestsPerSecond !== undefined && {
      requestsPerSecond: config.localPlatform.requestsPerSecond,
    }),
    shops,
    logger,
    ...localAgent(config),
    ...deskTexts(config),
    ...(onTicketChanged && { onTicketChanged }),
    ...(onSeen && { onSeen }),
    publicUrl,
    clientIp: (request) => clientIp(request),
    replies: { ...localReplies(config, senders), findTextRoute: textRoutes(store) },
    onReply: (reply) => {
      const { channel, conversationId, messageId, outboxPath } = reply;
      logger.info('agent.replied', {
        ...{ channel, conversationId, messageId },
        ...(outboxPath !== undefined && { outboxPath }),
      });
      onReply?.(reply);
    },
  });
  await platform.start();
  return {
    platform,
    serve: (next) => {
      platform.serve(localShops(next), withoutAgent(next));
      current = next.http.publicUrl;
      clientIp = clientIpOf(next.http.trustProxy);
      senders.clear();
      for (const [shop, sender] of textSenders(next, onBlocked)) senders.set(shop, sender);
    },
  };
}

function localShops(config: CompleteConfig) {
  return config.shops
    .filter((shop) => platformUrlOf(config, shop) === LOCAL)
    .map(({ shopId, name, apiKey, email }) => ({
      ...{ shopId, name, apiKey: apiKey.reveal() },
      emailAddresses: email?.addresses ?? [],
      ...(email && { unverifiedAnswers: email.unverifiedAnswers }),
    }));
}

/** The texts of the sample shop, which are part of the program. Only that shop's customers get them. */
const SAMPLE_KNOWLEDGE = fileURLToPath(new URL('../../config/knowledge/demo', import.meta.url));

/** What people look up for their replies. A shop of one's own never gets the sample shop's texts. */
function deskTexts({
  localPlatform,
  demo,
}: CompleteConfig): Pick<LocalPlatformOptions, 'textsDir'> {
  const textsDir = localPlatform.agent.knowledge ?? (demo ? SAMPLE_KNOWLEDGE : undefined);
  return textsDir === undefined ? {} : { textsDir };
}

type AgentOptions = Pick<
  LocalPlatformOptions,
  'agent' | 'agentGiveUpAfterMs' | 'echoSilenceMs' | 'answersPerHour' | 'withoutAgent'
>;

/** The agent of the local platform, and the shops for which it is off. */
export function localAgent(config: CompleteConfig): AgentOptions {
  const { agent } = config.localPlatform;
  return {
    agent: agentChoice(agent, config.demo ? SAMPLE_KNOWLEDGE : undefined),
    agentGiveUpAfterMs: agent.giveUpAfter,
    echoSilenceMs: config.whatsapp.echoSilence,
    ...(agent.answersPerHour !== undefined && { answersPerHour: agent.answersPerHour }),
    withoutAgent: withoutAgent(config),
  };
}

/** The shops whose tickets only people answer. */
export function withoutAgent({ shops }: CompleteConfig): string[] {
  return shops.filter((shop) => shop.agent === 'off').map(({ shopId }) => shopId);
}

function agentChoice(
  agent: CompleteConfig['localPlatform']['agent'],
  sampleDir: string | undefined,
): AgentOptions['agent'] {
  const dir = agent.knowledge ?? sampleDir;
  const knowledge = dir !== undefined && { knowledgeDir: dir };
  if (agent.kind !== 'openai') return { kind: agent.kind, ...knowledge };
  const { baseUrl, model, apiKey, stallTimeout, timeout } = agent;
  if (model === undefined || apiKey === undefined) {
    throw new Error('an endpoint without model or key: the configuration was not checked');
  }
  return {
    kind: 'openai',
    ...knowledge,
    endpoint: { baseUrl, model, apiKey: apiKey.reveal(), stallTimeoutMs: stallTimeout },
    timeoutMs: timeout,
  };
}

/**
 * How the embedded platform sends its answers, from the configuration.
 * @throws when the relay's CA file cannot be read
 */
export function localReplies(
  config: CompleteConfig,
  senders: ReadonlyMap<string, TextSender> = textSenders(config),
): RepliesOptions {
  const relay = relayOf(config.localPlatform.replies, config.smtp.hostname);
  return {
    ...(relay && { relay }),
    ...(config.localPlatform.replies.sms !== 'log' && { texts: senders }),
  };
}

/** The senders of texts by shop id, for `localReplies`, which reads the map on every use. */
export function textSenders(
  config: CompleteConfig,
  onBlocked?: OnBlocked,
): Map<string, TextSender> {
  const templates = new Map(
    config.shops.map(({ shopId, sms }) => [
      shopId,
      sms?.whatsappTemplate ?? sms?.whatsappCloud?.template?.name,
    ]),
  );
  return new Map(
    smsShops(config).map(({ shopId, account }) => [
      shopId,
      textSender(account, {
        whatsappTemplate: templates.get(shopId),
        statusUrl: statusUrlOf(config, account),
        onBlocked:
          onBlocked &&
          (({ from: ours, to: theirs }) =>
            onBlocked({ shopId, account: account.id, ours, theirs, id: randomUUID() })),
      }),
    ]),
  );
}

/** Twilio refuses a message whose callback is not on the internet. */
function statusUrlOf({ http }: CompleteConfig, { provider }: ProviderAccount): string | undefined {
  const url = new URL(http.publicUrl);
  if (url.protocol !== 'https:') return undefined;
  return `${withoutEnd(url.href, /\//)}/sms/${provider}`;
}

/** Implements the platform's sender port with the channel's sender. */
export function textSender(
  account: ProviderAccount,
  {
    whatsappTemplate,
    onBlocked,
    ...options
  }: SenderOptions & {
    readonly whatsappTemplate?: string | undefined;
    readonly onBlocked?: ((text: OutgoingText) => Promise<void>) | undefined;
  } = {},
): TextSender {
  const api = apiOf(account.provider);
  const sender = api.createSender(account, options);
  return {
    sendText: (text) =>
      sender.sendText(text).catch(async (error: unknown) => {
        const isBlocked = error instanceof TextNotSent && error.code === api.optOutCode;
        // A refusal that could not be recorded is met again at the next try.
        if (isBlocked) await onBlocked?.(text).catch(asNotRecorded);
        return asSendFailed(error);
      }),
    findSent: (text, since) => sender.findSent(text, since).catch(asSendFailed),
    maxChars: (text) => sender.maxChars(text),
    ...(sender.mediaPerMessage && { mediaPerMessage: sender.mediaPerMessage }),
    ...(whatsappTemplate !== undefined && { whatsappTemplate }),
  };
}

function asNotRecorded(cause: unknown): never {
  throw new SendFailed('transient', 'the opt-out could not be recorded', { cause });
}

function asSendFailed(error: unknown): never {
  if (!(error instanceof TextNotSent)) throw error;
  const { kind, message, code, words } = error;
  throw new SendFailed(kind, message, { code, words });
}
