import { fileURLToPath } from 'node:url';
import type { Router } from 'express';
import { chatMeta } from '../channels/chat/chat-entry.ts';
import { type ChatServer, createChatServer } from '../channels/chat/chat-server.ts';
import { Presence } from '../channels/chat/presence.ts';
import { createReplyPoller } from '../channels/chat/replies/reply-poller.ts';
import { createWidgetRoutes } from '../channels/chat/widget-routes.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopPlatform } from '../delivery/shop-platform.ts';
import type { Intake } from '../intake/intake.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Entry, Outcome } from '../spool/entry.ts';
import type { Store } from '../spool/sqlite/open.ts';
import { asVisitorId } from '../types/ids.ts';
import { replySource } from './reply-source.ts';
import { clientIpOf } from './public-http.ts';
import { chatShops } from './shops.ts';

/** Where the build puts the widget: the same from src/gateway/ and from dist/gateway/. */
const WIDGET_FOLDER = fileURLToPath(new URL('../../dist/widget/', import.meta.url));

export interface ChatParts {
  readonly store: Store;
  readonly intake: Intake;
  readonly shops: readonly ShopPlatform[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The chat channel in a gateway: its door, and the reader of the platform's replies. */
export interface RunningChat extends Pick<ChatServer, 'attach' | 'stop'> {
  /** Uploads, the widget's files and its configuration. */
  readonly routers: readonly Router[];
  /** The tick on a visitor's message, once it is settled for good. */
  onSettled(entry: Entry, outcome: Outcome): void;
  stopReplies(): Promise<void>;
}

/** Starts the chat when a shop has one and the public listener is on. */
export function startChat(config: CompleteConfig, parts: ChatParts): RunningChat | undefined {
  const served = chatShops(config);
  if (served.length === 0 || !config.http.enabled) return undefined;
  const { store, intake, clock, logger, metrics } = parts;
  const presence = new Presence();
  const chat = createChatServer(
    {
      shops: served,
      signingKeys: config.chatTokenKeys.map(({ id, secret }) => ({ id, secret: secret.reveal() })),
    },
    {
      ...{ store: store.chat, blobs: store.spool.blobs, intake, presence, clock, logger, metrics },
      clientIp: clientIpOf(config.http.trustProxy),
    },
  );
  const poller = createReplyPoller(
    {},
    {
      ...{ chatStore: store.chat, spool: store.spool, presence, clock, logger },
      source: replySource(parts.shops),
      onLine: (shopId, visitorId, line) => chat.publish(shopId, visitorId, line),
    },
  );
  return {
    attach: (server) => chat.attach(server),
    routers: [chat.router, createWidgetRoutes({ shops: served, folder: WIDGET_FOLDER })],
    onSettled: (entry, outcome) => reportToVisitor(chat, entry, outcome, logger),
    stop: () => chat.stop(),
    stopReplies: () => poller.stop(),
  };
}

function reportToVisitor(chat: ChatServer, entry: Entry, outcome: Outcome, logger: Logger): void {
  if (entry.channel !== 'web_chat' || entry.kind !== 'message') return;
  if (outcome.state !== 'delivered' && outcome.state !== 'dead') return;
  const { visitorId, messageId } = chatMeta(entry);
  const state = outcome.state === 'delivered' ? 'delivered' : 'failed';
  chat
    .messageSettled({ shopId: entry.shopId, visitorId: asVisitorId(visitorId), messageId, state })
    .catch((error: unknown) => logger.warn('chat.tick_failed', errorFields(error)));
}
