import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import type { ChangedTicket } from '../domain/desk.ts';
import type { Logger } from '../observability/logger.ts';
import type { RelayOptions } from '../runtime/relay-transport.ts';
import { clientAddress } from '../runtime/ip-addresses.ts';
import { AgentRunner } from './agent/agent-runner.ts';
import type { Agent } from './agent/agent.ts';
import { type AppOptions, createApp, createPlatformListener } from './app.ts';
import type { RouteContext } from './routes/resource.ts';
import { ServedShops, type Shop } from './authenticate.ts';
import { LIMITS } from './open-points.ts';
import { FolderLock } from './store/database.ts';
import type { Channel, MessageRow } from './store/rows.ts';
import { Inspection, Store } from './store/store.ts';
import { MediaFolder } from './store/media.ts';
import { ChatSockets } from './outbound/chat-sockets.ts';
import { ReplyFates } from './outbound/reply-fates.ts';
import { ReplyFiles } from './outbound/reply-files.ts';
import { EmailOutbox, Relay } from './outbound/email.ts';
import type { Outbound } from './outbound/outbound.ts';
import {
  ReplySender,
  type ReplyNotice,
  type ReplySenderOptions,
  RETRY_SCHEDULE,
  type RetrySchedule,
} from './outbound/reply-sender.ts';
import { PART_MAX_CHARS, SmsLog } from './outbound/sms.ts';
import type { FindTextRoute } from './outbound/text-route.ts';
import { type TextSender, ProviderSms } from './outbound/provider-sms.ts';
import { createAddressPage } from './reply-mails/address-page.ts';
import { LeftAddresses, MAIL_AFTER_MS } from './reply-mails/left-addresses.ts';
import { ReplyMailer } from './reply-mails/reply-mailer.ts';
import { Desk, type SeenNotice } from './desk/desk.ts';
import { Outbox } from './desk/outbox.ts';
import { BuiltinAgent } from './agent/builtin-agent.ts';
import { type KnowledgeSource, KnowledgeFolder, NO_KNOWLEDGE } from './agent/knowledge-folder.ts';
import type { EndpointOptions } from './agent/openai/endpoint.ts';

export interface LocalPlatformOptions extends AppOptions {
  /** The folder that holds the database and all files. */
  readonly dir: string;
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly shops: readonly Shop[];
  readonly logger: Logger;
  readonly agent: AgentChoice;
  /** The ids of shops in which the agent does not answer: messages wait for a person. */
  readonly withoutAgent?: readonly string[];
  /** How long a message waits while the agent is unavailable. Default 15 minutes. */
  readonly agentGiveUpAfterMs?: number;
  /** How long the agent is silent after the shop has written on its own phone. Default 1 hour. */
  readonly echoSilenceMs?: number;
  /** Automatic answers of a shop. Default: 600; with a language model 200. */
  readonly answersPerHour?: number;
  /** The folder of the texts that people look up for their replies. Default: none. */
  readonly textsDir?: string;
  /**
   * The origin of the gateway's HTTP port, for the files of replies and the links in mails. Default:
   * the platform's own.
   */
  readonly publicUrl?: () => string;
  /** The address of a client of that port. Default: the connection's. */
  readonly clientIp?: (request: IncomingMessage) => string;
  /** How replies are sent. By default they are written to files in the outbox. */
  readonly replies?: RepliesOptions;
  /** Called once a reply has been sent. */
  readonly onReply?: (reply: ReplyNotice) => void;
  /** Called when a person at the desk has a chat visitor's message before them. */
  readonly onSeen?: (message: SeenNotice) => void;
  /** Called after each change of a ticket: a message, its delivery, what a person did. */
  readonly onTicketChanged?: (ticket: ChangedTicket) => void;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface LocalPlatform {
  /** `http://host:port`, once started: the client's base URL. */
  readonly url: string;
  /** Direct read access to the store. */
  readonly inspect: Inspection;
  /** For people who answer what the agent cannot. */
  readonly desk: Desk;
  /** The files of replies, under the gateway's public URL. */
  readonly replyFiles: Pick<ReplyFiles, 'of' | 'handler'>;
  /** The addresses that chat visitors have left, and the page on which they are confirmed. */
  readonly leftAddresses: Pick<LeftAddresses, 'ask' | 'forget'> & { readonly page: RequestHandler };
  /** The replies that have not arrived. */
  readonly outbox: Outbox;
  /** Takes reports of what became of replies. */
  readonly fates: Pick<ReplyFates, 'reportPart' | 'reportReplies'>;
  /** @throws when the server cannot listen; everything is closed again */
  start(): Promise<void>;
  /**
   * Replaces the served shops, and the ones without an agent. The data of a shop that is no longer
   * served is kept.
   */
  serve(shops: readonly Shop[], withoutAgent?: readonly string[]): void;
  /** Gives requests in flight two seconds to finish, then closes. May be called more than once. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 2000;

/**
 * The embedded platform: the API of version 2026-04 on one port, its store, and its agent.
 * @throws {LocalPlatformUnusable} the folder is in use, or its database is damaged or newer than
 *   this program
 * @throws when the knowledge folder cannot be read; nothing is left open
 */
export function createLocalPlatform(options: LocalPlatformOptions): LocalPlatform {
  const served = new ServedShops(options.shops, options.withoutAgent);
  const agent = createAgent(options.agent, options.logger);
  const agentOf = (shop: string) => (served.isWithoutAgent(shop) ? undefined : agent);
  const lock = FolderLock.take(options.dir);
  let store: Store | undefined;
  const close = () => {
    try {
      store?.close();
    } finally {
      lock.release();
    }
  };
  try {
    store = new Store(options.dir);
    return assemble(options, served, agentOf, store, close);
  } catch (error) {
    close();
    throw error;
  }
}

function assemble(
  options: LocalPlatformOptions,
  served: ServedShops,
  agentOf: (shop: string) => Agent | undefined,
  store: Store,
  closeStore: () => void,
): LocalPlatform {
  const { dir, logger } = options;
  const now = options.clock ?? Date.now;
  const addShops = () => {
    for (const shop of served.names.keys()) store.shops.add(shop);
  };
  addShops();
  let url = '';
  const media = new MediaFolder(join(dir, 'media'), store.shops.secret('media-links'));
  const sockets = new ChatSockets(store, served.ofKey, logger);
  const replyFiles = new ReplyFiles(store, media, () => options.publicUrl?.() ?? url);
  const agentListens = (shop: string) => agentOf(shop) !== undefined;
  const onReported = (reply: MessageRow) => desk.changed(reply.conversation_id);
  const fates = new ReplyFates({ store, now, onChanged: onReported });
  const outbound = outboundByChannel(join(dir, 'outbox'), options.replies ?? {});
  const schedule = options.replies?.schedule ?? RETRY_SCHEDULE;
  // The configured one, else one that several customers know.
  const addressOfShop = (shop: string) =>
    served.emailOf(shop) ?? store.conversations.knownEmailOfShop(shop);
  const leftAddresses = new LeftAddresses({
    ...{ store, logger, now, served, secret: store.shops.secret('left-addresses') },
    addressOfShop,
    waitMs: options.replies?.mailAfterMs ?? MAIL_AFTER_MS,
    onDue: () => replyMailer.wake(),
  });
  const replyMailer = new ReplyMailer({
    ...{ store, logger, now, schedule, addresses: leftAddresses, shopNames: served.names },
    addressOfShop,
    outbound: outbound.email,
    publicUrl: () => options.publicUrl?.() ?? url,
    onMail: (conversationId) => {
      onReplyStored(conversationId);
      desk.changed(conversationId);
    },
  });
  const replySender = createReplySender(options, served, store, now, {
    ...{ outbound, schedule },
    recipientIn: (conversationId) => replyMailer.recipientIn(conversationId),
    onSentInChat: (reply) => leftAddresses.noteSent(reply),
    pathOf: (id) => media.path(id),
    linksOf: (reply) => replyFiles.of(reply.shop, reply.id),
    fates,
    onChanged: (reply) => {
      sockets.updated(reply);
      desk.changed(reply.conversation_id);
    },
  });
  const onReplyStored = (conversationId: string) => {
    replySender.wake();
    sockets.stored(conversationId);
  };
  const runner = createRunner(options, served, agentOf, store, now, (conversationId) => {
    onReplyStored(conversationId);
    desk.changed(conversationId);
  });
  const { textsDir, onTicketChanged, onSeen } = options;
  const desk = new Desk({
    ...{ store, media, now, agentListens, addressOfShop },
    findTextRoute: options.replies?.findTextRoute,
    canLink: () => replyFiles.areReachable,
    textMaxChars: (shop, text) =>
      options.replies?.texts?.get(shop)?.maxChars(text) ?? PART_MAX_CHARS,
    texts: textsDir === undefined ? undefined : new KnowledgeFolder(textsDir, logger),
    onReply: onReplyStored,
    onChanged: onTicketChanged,
    onSeen,
    onHandedBack: (conversationId) => runner.notify(conversationId),
  });
  const outbox = new Outbox({
    ...{ store, now, addressOfShop, onReply: onReplyStored },
    findTextRoute: options.replies?.findTextRoute,
    onChanged: (conversationId) => desk.changed(conversationId),
  });
  desk.served(served.names.keys());
  let stopped: Promise<void> | undefined;
  const context: RouteContext = {
    ...{ store, media, logger, now },
    baseUrl: () => url,
    agentListens,
    samePerson: async (shop, conversationId) => {
      const find = options.replies?.findTextRoute;
      const route = await find?.({ shop, remoteId: undefined, conversationId });
      return typeof route === 'object' ? route.conversations : undefined;
    },
    fates,
    onBounced: onReported,
    onMessage: (conversationId) => {
      runner.notify(conversationId);
      sockets.stored(conversationId);
      desk.changed(conversationId);
    },
    onEvent: (contact) => desk.hasEvent(contact),
  };
  const listener = createPlatformListener(createApp(context, served.ofKey, options));
  sockets.attach(listener.server);

  const start = async () => {
    await desk.removeUnsentFiles();
    await media.sweep((id) => store.media.byLink(id) !== undefined);
    const port = await listener.listen(options.host, options.port);
    url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`;
    await replySender.start();
    replyMailer.wake();
    runner.start();
    logger.info('platform.listening', { url });
  };
  const stop = () => {
    sockets.stop();
    stopped ??= listener
      .stop(STOP_GRACE_MS)
      .then(() => runner.stop())
      .then(() => replyMailer.stop())
      .then(() => replySender.stop())
      .finally(closeStore);
    return stopped;
  };
  return {
    get url() {
      return url;
    },
    inspect: new Inspection(store, media),
    ...{ desk, outbox, fates, replyFiles },
    leftAddresses: {
      ask: (asked) => leftAddresses.ask(asked),
      forget: (visitor) => leftAddresses.forget(visitor),
      page: createAddressPage({
        ...{ addresses: leftAddresses, shopNames: served.names },
        clientIp: options.clientIp ?? (({ socket }) => clientAddress(socket.remoteAddress ?? '')),
      }),
    },
    async start() {
      try {
        await start();
      } catch (error) {
        await stop();
        throw error;
      }
    },
    serve: (shops, withoutAgent) => {
      served.replace(shops, withoutAgent);
      addShops();
      desk.served(served.names.keys());
    },
    stop,
  };
}

function createRunner(
  {
    logger,
    agent,
    agentGiveUpAfterMs,
    echoSilenceMs = 3_600_000,
    answersPerHour,
    replies,
  }: LocalPlatformOptions,
  served: ServedShops,
  agentOf: (shop: string) => Agent | undefined,
  store: Store,
  now: () => number,
  onStored: (conversationId: string) => void,
): AgentRunner {
  return new AgentRunner({
    store,
    agentOf,
    giveUpAfterMs: agentGiveUpAfterMs ?? LIMITS.agentGiveUpAfterMs,
    echoSilenceMs,
    shopNames: served.names,
    logger,
    now,
    hasRelay: replies?.relay !== undefined,
    listedEmail: (shop, writtenTo) => served.listedEmail(shop, writtenTo),
    limits: {
      answersPerHour:
        answersPerHour ??
        (agent.kind === 'openai' ? LIMITS.modelAnswersPerHour : LIMITS.answersPerHour),
      unverifiedOf: (shop) => served.unverifiedAnswersOf(shop),
    },
    onStored: (reply) => onStored(reply.conversation_id),
  });
}

function createReplySender(
  { logger, replies = {}, onReply }: LocalPlatformOptions,
  served: ServedShops,
  store: Store,
  now: () => number,
  own: Omit<
    ReplySenderOptions,
    'store' | 'shopNames' | 'logger' | 'now' | 'findTextRoute' | 'onReply'
  >,
): ReplySender {
  return new ReplySender({
    store,
    shopNames: served.names,
    logger,
    now,
    ...(replies.findTextRoute && { findTextRoute: replies.findTextRoute }),
    onReply: onReply ?? (() => undefined),
    ...own,
  });
}

/** How replies are sent. A channel without a provider writes its replies to the outbox folder. */
export interface RepliesOptions {
  /** For email. Default: each reply becomes an .eml file in the outbox. */
  readonly relay?: RelayOptions;
  /** For SMS, by shop id. Replies of a shop without an account are appended to `sms.log`. */
  readonly texts?: ReadonlyMap<string, TextSender>;
  /** The transport of a conversation's texts, and opt-outs. Default: reply by SMS. */
  readonly findTextRoute?: FindTextRoute;
  readonly schedule?: RetrySchedule;
  /** How long a reply in the chat waits for the visitor before it is mailed. Default 2 minutes. */
  readonly mailAfterMs?: number;
}

/** The sender of each channel, by the type of the conversation. */
function outboundByChannel(
  outbox: string,
  { relay, texts }: RepliesOptions,
): Readonly<Record<Channel, Outbound>> {
  const log = new SmsLog(outbox);
  return {
    email: relay ? new Relay(relay) : new EmailOutbox(outbox),
    sms: texts ? new ProviderSms(texts, log) : log,
    web_chat: webChat,
  };
}

/**
 * Web chat sends nothing: a stored reply is published on the sockets at once, and the visitor's
 * gateway reads the list of messages.
 */
const webChat: Outbound = {
  inOrder: true,
  canRepeat: true,
  send: () => Promise.resolve({}),
};

/** Which agent answers. Without a folder with the shop's texts it has nothing to answer from. */
export type AgentChoice =
  | { readonly kind: 'builtin'; readonly knowledgeDir?: string }
  | {
      readonly kind: 'openai';
      readonly knowledgeDir?: string;
      readonly endpoint: EndpointOptions;
      /** For one answer, with all of its requests; milliseconds. */
      readonly timeoutMs: number;
    }
  | { readonly kind: 'custom'; readonly agent: Agent }
  | { readonly kind: 'off' };

/** @throws when the knowledge folder cannot be read */
function createAgent(choice: AgentChoice, logger: Logger): Agent | undefined {
  switch (choice.kind) {
    case 'off':
      return undefined;
    case 'custom':
      return choice.agent;
    case 'builtin':
      return new BuiltinAgent(openKnowledge(choice, logger));
    case 'openai': {
      const { endpoint, timeoutMs } = choice;
      const knowledge = openKnowledge(choice, logger);
      const load = async (): Promise<Agent> => {
        const { OpenAiAgent } = await import('./agent/openai/openai-agent.ts');
        return new OpenAiAgent({ knowledge, endpoint, timeoutMs, logger });
      };
      // The package is large, so it is loaded only if it is used. It is loaded at the start,
      // because a failed import is not repeated.
      const agent = load();
      // The first answer reports a failed import.
      agent.catch(() => undefined);
      return { answer: async (context, signal) => (await agent).answer(context, signal) };
    }
  }
}

const openKnowledge = (
  { knowledgeDir }: { readonly knowledgeDir?: string },
  logger: Logger,
): KnowledgeSource =>
  knowledgeDir === undefined ? NO_KNOWLEDGE : new KnowledgeFolder(knowledgeDir, logger);
