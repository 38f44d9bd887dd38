import { join } from 'node:path';
import type { Logger } from '../observability/logger.ts';
import { AgentRunner } from './agent/agent-runner.ts';
import type { Agent } from './agent/agent.ts';
import { createApp } from './app.ts';
import { ServedShops, type Shop } from './authenticate.ts';
import { LIMITS } from './open-points.ts';
import type { Faults } from './respond.ts';
import { FolderLock, Inspection, Store } from './store/store.ts';
import { MediaFolder } from './store/media.ts';
import { ChatSockets } from './outbound/chat-sockets.ts';
import { ReplySender, type ReplyNotice, RETRY_SCHEDULE } from './outbound/reply-sender.ts';
import { type RepliesOptions, waysOut } from './outbound/ways-out.ts';
import { createPlatformListener } from './platform-listener.ts';
import { BuiltinAgent } from './agent/builtin-agent.ts';
import { KnowledgeFolder } from './agent/knowledge-folder.ts';
import type { EndpointOptions } from './agent/openai/endpoint.ts';
import { OpenAiAgent } from './agent/openai/openai-agent.ts';

export interface LocalPlatformOptions {
  /** Everything is kept below this folder. */
  readonly dir: string;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly shops: readonly Shop[];
  readonly logger: Logger;
  readonly agent: AgentChoice;
  /** Shops, by id, whose messages wait for a person: there the agent is silent. */
  readonly withoutAgent?: readonly string[];
  /** How long a message waits for an agent that cannot answer; 15 minutes when absent. */
  readonly agentGiveUpAfterMs?: number;
  /** How replies leave; by default none leaves this machine. */
  readonly replies?: RepliesOptions;
  /** Called when a reply of the agent's has gone out. */
  readonly onReply?: (reply: ReplyNotice) => void;
  /** Misbehaviour for tests and benchmarks. */
  readonly faults?: Faults;
  /** No limit when absent. */
  readonly requestsPerSecond?: number;
  readonly uploadMaxBytes?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface LocalPlatform {
  /** `http://host:port`, once started: the client's base URL. */
  readonly url: string;
  /** What is stored, read directly. */
  readonly inspect: Inspection;
  /** @throws when it cannot listen; everything is closed again then */
  start(): Promise<void>;
  /**
   * The shops from now on, and those among them without the agent. What is stored of a shop that
   * is not among them stays, for when it is again.
   */
  serve(shops: readonly Shop[], withoutAgent?: readonly string[]): void;
  /** Answers what is in flight, at most for two seconds, then closes. May be called again. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 2000;

/**
 * The embedded platform: the whole API of version 2026-04 on one port, its store, and its agent.
 * @throws {LocalPlatformUnusable} the folder is in use; its database is damaged or of a newer version
 * @throws when the knowledge folder cannot be read; nothing is open then
 */
export function createLocalPlatform(options: LocalPlatformOptions): LocalPlatform {
  const served = new ServedShops(options.shops, options.withoutAgent);
  const agentOf = agentsOf(options, served);
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
  for (const shop of served.names.keys()) store.shops.add(shop);
  const media = new MediaFolder(join(dir, 'media'), store.shops.secret('media-links'));
  const sockets = new ChatSockets(store, served.ofKey, logger);
  const replySender = createReplySender(options, served, store, now, sockets);
  const runner = createRunner(options, served, agentOf, store, now, (conversationId) => {
    replySender.wake();
    sockets.stored(conversationId);
  });
  let url = '';
  let stopped: Promise<void> | undefined;

  const app = createApp(
    {
      store,
      media,
      logger,
      now,
      baseUrl: () => url,
      agentListens: (shop) => agentOf(shop) !== undefined,
      onMessage: (conversationId) => {
        runner.notify(conversationId);
        sockets.stored(conversationId);
      },
    },
    {
      shopOfKey: served.ofKey,
      uploadMaxBytes: options.uploadMaxBytes ?? LIMITS.uploadMaxBytes,
      ...(options.requestsPerSecond !== undefined && {
        requestsPerSecond: options.requestsPerSecond,
      }),
      ...(options.faults && { faults: options.faults }),
    },
  );
  const listener = createPlatformListener(app);
  sockets.attach(listener.server);

  const start = async () => {
    await media.sweep((id) => store.media.byLink(id) !== undefined);
    const port = await listener.listen(options.host, options.port);
    url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`;
    await replySender.start();
    runner.start();
    logger.info('platform.listening', { url });
  };
  const stop = () => {
    sockets.stop();
    stopped ??= listener
      .stop(STOP_GRACE_MS)
      .then(() => runner.stop())
      .then(() => replySender.stop())
      .finally(closeStore);
    return stopped;
  };
  return {
    get url() {
      return url;
    },
    inspect: new Inspection(store, media),
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
      for (const shop of served.names.keys()) store.shops.add(shop);
    },
    stop,
  };
}

function agentsOf(
  options: LocalPlatformOptions,
  served: ServedShops,
): (shop: string) => Agent | undefined {
  const agent = createAgent(options.agent, options.logger);
  return (shop) => (served.isWithoutAgent(shop) ? undefined : agent);
}

function createRunner(
  { logger, agentGiveUpAfterMs }: LocalPlatformOptions,
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
    shopNames: served.names,
    logger,
    now,
    onStored: (reply) => onStored(reply.conversation_id),
  });
}

function createReplySender(
  { dir, logger, replies = {}, onReply }: LocalPlatformOptions,
  served: ServedShops,
  store: Store,
  now: () => number,
  sockets: ChatSockets,
): ReplySender {
  return new ReplySender({
    store,
    outbound: waysOut(join(dir, 'outbox'), replies),
    shopNames: served.names,
    logger,
    now,
    schedule: replies.schedule ?? RETRY_SCHEDULE,
    ...(replies.findTextRoute && { findTextRoute: replies.findTextRoute }),
    onReply: onReply ?? (() => undefined),
    onSettled: (reply) => sockets.updated(reply),
  });
}

/** Who answers. */
export type AgentChoice =
  | { readonly kind: 'builtin'; readonly knowledgeDir: string }
  | {
      readonly kind: 'openai';
      readonly knowledgeDir: string;
      readonly endpoint: EndpointOptions;
      /** One answer with everything that belongs to it, in milliseconds. */
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
      return new BuiltinAgent(new KnowledgeFolder(choice.knowledgeDir, logger));
    case 'openai':
      return new OpenAiAgent({
        knowledge: new KnowledgeFolder(choice.knowledgeDir, logger),
        endpoint: choice.endpoint,
        timeoutMs: choice.timeoutMs,
        logger,
      });
  }
}
