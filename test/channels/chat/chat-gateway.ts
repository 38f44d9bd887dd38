import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ChatServer, type ChatServerOptions } from '../../../src/channels/chat/door.ts';
import type { ChatShop } from '../../../src/channels/chat/shop.ts';
import {
  createReplyPoller,
  type ReplyPoller,
  type ReplyPollerOptions,
} from '../../../src/channels/chat/replies/reply-poller.ts';
import type { ReplySource } from '../../../src/channels/chat/replies/message-reader.ts';
import { createIntake, type Intake } from '../../../src/intake/intake.ts';
import { type Logger, silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { BlobStore } from '../../../src/spool/blobs.ts';
import type { Entry } from '../../../src/spool/entry.ts';
import type { Store } from '../../../src/spool/store.ts';
import { openStore } from '../../support/store.ts';
import { ChatClient, type ChatClientOptions } from '../../support/chat-client.ts';
import { OTHER_SHOP, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

export const SECRET = 'an identity secret of 32 bytes..';
export const SIGNING_KEYS = [{ id: 'k1', secret: 'a signing secret of some length' }];

export const aShop = (change: Partial<ChatShop> = {}): ChatShop => ({
  shopId: SHOP,
  key: 'demo',
  origins: ['https://acme.example', 'http://localhost:8080'],
  allowNoOrigin: true,
  identitySecrets: [SECRET],
  limits: {
    messagesPer10s: 10,
    newVisitorsPerHourPerIp: 60,
    socketsPerIp: 50,
    uploadBytesPerHourPerIp: 2 ** 29,
  },
  ...change,
});

export const otherShop = (change: Partial<ChatShop> = {}): ChatShop =>
  aShop({
    shopId: OTHER_SHOP,
    key: 'other',
    origins: ['https://other.example'],
    allowNoOrigin: false,
    ...change,
  });

/** Limits that no test reaches by accident. */
export const ROOMY = {
  messagesPer10s: 100_000,
  newVisitorsPerHourPerIp: 100_000,
  socketsPerIp: 1_000,
  uploadBytesPerHourPerIp: 1e12,
};

export interface GatewayOptions extends Partial<ChatServerOptions> {
  /** The data of an earlier gateway. */
  readonly dir?: string;
  /** A store of the caller, who closes it. */
  readonly store?: ChatGateway['store'];
  readonly source?: ReplySource;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Wraps the intake, to slow it down or to make it fail. */
  readonly intake?: (intake: Intake) => Pick<Intake, 'acceptChat'>;
  readonly clientIp?: () => string;
  /** Wraps the blob folder, to make it fail. */
  readonly blobs?: (blobs: BlobStore) => BlobStore;
  readonly replies?: ReplyPollerOptions;
}

/** The chat channel over a real store and a real HTTP server. */
export class ChatGateway {
  readonly url: string;
  readonly store: Pick<Store, 'spool' | 'chat' | 'signals' | 'openBudget'>;
  readonly server: ChatServer;
  readonly metrics: Metrics;
  /** Of a gateway with a source of replies. */
  readonly poller: ReplyPoller | undefined;
  readonly clients: ChatClient[] = [];
  readonly dir: string;
  readonly #http: Server;
  readonly #end: () => Promise<void>;

  private constructor(
    parts: Pick<ChatGateway, 'store' | 'server' | 'metrics' | 'dir' | 'poller'>,
    http: Server,
    end: () => Promise<void>,
  ) {
    this.store = parts.store;
    this.server = parts.server;
    this.metrics = parts.metrics;
    this.dir = parts.dir;
    this.poller = parts.poller;
    this.#http = http;
    this.#end = end;
    // A listening TCP server's address is never a string.
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  static async start(options: GatewayOptions = {}): Promise<ChatGateway> {
    const temp = options.dir === undefined ? tempDir() : undefined;
    const dir = temp?.path ?? options.dir ?? '';
    const store = options.store ?? (await openStore(dir));
    const metrics = createMetrics();
    const logger = options.logger ?? silentLogger;
    const clock = options.clock ?? Date.now;
    const blobs = options.blobs?.(store.spool.blobs) ?? store.spool.blobs;
    const intake = createIntake({
      ...{ spool: { ...store.spool, blobs }, chat: store.chat, metrics, clock },
      onAccepted: () => undefined,
    });
    const server = new ChatServer(
      { shops: [aShop()], signingKeys: SIGNING_KEYS, ...options },
      {
        ...{ store: store.chat, signals: store.signals, blobs, clock, logger, metrics },
        openBudget: store.openBudget,
        intake: { ...intake, ...options.intake?.(intake) },
        conversations: store.spool,
        clientIp: options.clientIp ?? ((request) => request.socket.remoteAddress ?? ''),
      },
    );
    const poller =
      options.source &&
      createReplyPoller(
        {
          requestsPerSecond: 200,
          fastestMs: 50,
          unsignedWaitMs: 500,
          pendingWaitMs: 500,
          ...options.replies,
        },
        {
          ...{ chatStore: store.chat, spool: store.spool, source: options.source },
          ...{ visitors: server.visitors, clock, logger },
          onReply: (shopId, reply) => server.publish(shopId, reply),
        },
      );
    const app = express();
    app.use(server.router);
    const http = createServer(app);
    server.attach(http);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return new ChatGateway({ store, server, metrics, dir, poller }, http, async () => {
      await poller?.stop();
      await server.stop();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      if (options.store === undefined) await store.spool.close();
      temp?.remove();
    });
  }

  async connect(options: Partial<ChatClientOptions> = {}): Promise<ChatClient> {
    const client = this.client(options);
    await client.open();
    return client;
  }

  /** One that has not connected yet. */
  client(options: Partial<ChatClientOptions> = {}): ChatClient {
    const client = new ChatClient({ url: this.url, auth: { key: 'demo' }, ...options });
    this.clients.push(client);
    return client;
  }

  entries(): Promise<readonly Entry[]> {
    return this.store.spool.list({ limit: 1_000 });
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    await this.#end();
  }

  get connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#http.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }
}
