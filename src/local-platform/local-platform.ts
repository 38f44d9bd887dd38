import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { errorFields, type Logger } from '../observability/logger.ts';
import { AgentDesk, type ReplyNotice } from './agent/agent-desk.ts';
import { BuiltinAgent } from './agent/builtin-agent.ts';
import type { Agent } from './agent/agent.ts';
import { createApp } from './app.ts';
import type { Shop } from './authenticate.ts';
import { DECISIONS } from './decisions.ts';
import type { Faults } from './faults.ts';
import { Inspection } from './inspection.ts';
import { MediaFolder } from './media-folder.ts';
import { EmailOutbox } from './outbound/email-outbox.ts';
import { SmsLog, webChat } from './outbound/sms-log.ts';
import { Store } from './store/store.ts';

export interface LocalPlatformOptions {
  /** Everything is kept below this folder. */
  readonly dir: string;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly shops: readonly Shop[];
  readonly logger: Logger;
  readonly agent:
    | { readonly kind: 'builtin'; readonly knowledgeDir: string }
    | { readonly kind: 'custom'; readonly agent: Agent }
    | { readonly kind: 'off' };
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
  start(): Promise<void>;
  /** Answers what is in flight, at most for two seconds, then closes. May be called again. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 2000;

/**
 * The embedded platform: the whole API of version 2026-04 on one port, its store, and its agent.
 * @throws {LocalPlatformUnusable} the database is damaged or of a newer version
 * @throws when the knowledge folder cannot be read; nothing has been opened then
 */
export function createLocalPlatform(options: LocalPlatformOptions): LocalPlatform {
  const { dir, logger, shops } = options;
  const now = options.clock ?? Date.now;
  const agent = createAgent(options);
  const store = new Store(dir);
  for (const { shopId } of shops) store.shops.add(shopId.toLowerCase());
  const media = new MediaFolder(join(dir, 'media'), store.shops.secret('media-links'));
  const desk = agent && createDesk(options, agent, store, now);
  let url = '';
  let stopped: Promise<void> | undefined;

  const app = createApp(
    {
      store,
      media,
      logger,
      now,
      baseUrl: () => url,
      agentListens: desk !== undefined,
      onMessage: (conversationId) => desk?.notify(conversationId),
    },
    {
      shops,
      uploadMaxBytes: options.uploadMaxBytes ?? DECISIONS.uploadMaxBytes,
      ...(options.requestsPerSecond !== undefined && {
        requestsPerSecond: options.requestsPerSecond,
      }),
      ...(options.faults && { faults: options.faults }),
    },
  );
  const server = createServer(app);
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('error', (error) => logger.error('platform.server', errorFields(error)));

  return {
    get url() {
      return url;
    },
    inspect: new Inspection(store, media),
    async start() {
      const { port } = await listen(server, options.host, options.port);
      url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`;
      desk?.start();
      logger.info('platform.listening', { url });
    },
    stop() {
      stopped ??= close(server)
        .then(() => desk?.stop())
        .finally(() => store.close());
      return stopped;
    },
  };
}

function createAgent({ agent }: LocalPlatformOptions): Agent | undefined {
  switch (agent.kind) {
    case 'off':
      return undefined;
    case 'custom':
      return agent.agent;
    case 'builtin':
      return new BuiltinAgent(agent.knowledgeDir);
  }
}

function createDesk(
  { dir, shops, logger, onReply }: LocalPlatformOptions,
  agent: Agent,
  store: Store,
  now: () => number,
): AgentDesk {
  const outbox = join(dir, 'outbox');
  return new AgentDesk({
    store,
    agent,
    outbound: { email: new EmailOutbox(outbox), sms: new SmsLog(outbox), web_chat: webChat },
    shopNames: new Map(shops.map(({ shopId, name }) => [shopId.toLowerCase(), name])),
    logger,
    now,
    onReply: onReply ?? (() => undefined),
  });
}

/** @throws the listen error, for instance EADDRINUSE */
function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // The address of a server on a port is never a string or null.
      resolve(server.address() as AddressInfo);
    });
  });
}

/** Lets requests in flight finish; connections that still hang after the grace are cut. */
async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
  await closed;
  clearTimeout(cut);
}
