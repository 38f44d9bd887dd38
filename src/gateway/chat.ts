import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { chatMeta, originOf, remoteIdPrefix } from '../channels/chat/stored.ts';
import { ChatServer, type SettledMessage } from '../channels/chat/door.ts';
import { createReplyPoller } from '../channels/chat/replies/reply-poller.ts';
import { RefusedOrigins } from '../channels/chat/refused-origins.ts';
import { createWidgetRoutes } from '../channels/chat/door-widget.ts';
import { ReplyTimes } from '../channels/chat/reply-times.ts';
import type { Intake } from '../intake/intake.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { GatewayStatus } from '../observability/status.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Current } from '../runtime/current.ts';
import type { Outcome } from '../spool/entry.ts';
import type { Store } from '../spool/store.ts';
import { asVisitorId } from '../domain/ids.ts';
import type { SeenNotice } from '../local-platform/desk/desk.ts';
import type { ReplyNotice } from '../local-platform/outbound/reply-sender.ts';
import type { LiveConfig } from './live-config.ts';
import { clientIpOf, replaceableRoute } from './public-http.ts';
import type { OnSettled, SettledEntry } from './delivery/delivery.ts';
import type { Platforms, ShopClient } from './platforms.ts';
import { replySource } from './reply-source.ts';
import { chatShops } from './shops.ts';

/** Where the build puts the widget; the same path from src/gateway/ and from dist/gateway/. */
const WIDGET_FOLDER = fileURLToPath(new URL('../../dist/widget/', import.meta.url));

export interface ChatParts {
  readonly store: Store;
  readonly intake: Intake;
  readonly live: LiveConfig;
  readonly clients: Current<readonly ShopClient[]>;
  readonly platforms: Pick<Platforms, 'fates' | 'replyFiles' | 'leftAddresses'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The chat channel of a gateway: its door and the reader of the platform's replies. */
export interface RunningChat extends Pick<ChatServer, 'attach' | 'leave' | 'stop'> {
  /** Uploads, the widget's files and its configuration. */
  readonly routers: readonly RequestHandler[];
  /** Shows the visitor the final state of their message. */
  readonly onSettled: OnSettled;
  /** Brings a reply of the local platform to its visitor at once. */
  replied(reply: ReplyNotice): void;
  /** Shows a visitor that a person at the local platform's desk has their message before them. */
  seen(message: SeenNotice): void;
  stopReplies(): Promise<void>;
  /** The pages that this gateway's chat has refused since the start. */
  refusedPages(): GatewayStatus['refusedPages'];
}

/**
 * Starts the chat whenever the public listener is on, because a reload may add a shop with a chat.
 */
export function startChat(parts: ChatParts): RunningChat | undefined {
  const { live, store, intake, clock, logger, metrics } = parts;
  const config = live.value;
  if (!config.http.enabled) return undefined;
  const clientIp = live.derive('chat proxies', ['http.trustProxy'], ({ http }) =>
    clientIpOf(http.trustProxy),
  );
  const chat = new ChatServer(
    {
      shops: chatShops(config),
      signingKeys: config.chatTokenKeys.map(({ id, secret }) => ({ id, secret: secret.reveal() })),
    },
    {
      ...{ store: store.chat, signals: store.signals, blobs: store.spool.blobs },
      conversations: store.spool,
      ...{ intake, clock, logger, metrics, openBudget: store.openBudget },
      clientIp: (request) => clientIp.value(request),
      replies: {
        report: (shopId, ids, state) => {
          parts.platforms
            .fates()
            ?.reportReplies(shopId, ids, state)
            .catch((error: unknown) => logger.warn('chat.report_failed', errorFields(error)));
        },
        filesOf: (shopId, id) => parts.platforms.replyFiles()?.of(shopId, id) ?? [],
        addressLeft: async (shopId, visitorId, left) =>
          parts.platforms
            .leftAddresses()
            ?.ask({ shopId, remotePrefix: remoteIdPrefix(visitorId), ...left }),
        forgetAddress: async (shopId, visitorId) =>
          parts.platforms
            .leftAddresses()
            ?.forget({ shopId, remotePrefix: remoteIdPrefix(visitorId) }),
      },
    },
  );
  const replyTimes = new ReplyTimes();
  const refused = new RefusedOrigins({ clock, logger, metrics });
  const poller = createReplyPoller(
    {},
    {
      ...{ chatStore: store.chat, spool: store.spool, visitors: chat.visitors, clock, logger },
      source: replySource(parts.clients),
      onReply: (shopId, reply) => {
        const { isNew, line, askedAt } = reply;
        if (isNew) metrics.chatReplySeconds.observe(Math.max(0, clock() - line.at) / 1000);
        if (askedAt !== undefined) replyTimes.note(shopId, line.at - askedAt);
        chat.publish(shopId, reply);
      },
    },
  );
  live.add({
    name: 'chat',
    reads: ['shops'],
    prepare: (next) => {
      const shops = chatShops(next);
      return { commit: () => chat.serve(shops) };
    },
  });
  const widget = live.derive('widget', ['shops', 'http.publicUrl'], (next) =>
    createWidgetRoutes({
      ...{ shops: chatShops(next), publicUrl: next.http.publicUrl, folder: WIDGET_FOLDER },
      ...{ replyTimes, refused, logger },
    }),
  );
  const nameOf = (shopId: string): string =>
    live.value.shops.find((each) => each.shopId === shopId)?.name ?? shopId;
  const shopIdOf = (shop: string) =>
    live.value.shops.find((each) => each.shopId.toLowerCase() === shop)?.shopId;
  return {
    attach: (server) => chat.attach(server),
    routers: [chat.router, replaceableRoute(widget)],
    onSettled: (entry, state) => reportToVisitor(chat, entry, state, logger),
    replied: ({ channel, shop, answers = '' }) => {
      const origin = channel === 'web_chat' ? originOf(answers) : undefined;
      const shopId = shopIdOf(shop);
      if (origin !== undefined && shopId !== undefined) poller.replied(shopId, origin.visitorId);
    },
    seen: ({ shop, remoteId }) => {
      const [origin, shopId] = [originOf(remoteId), shopIdOf(shop)];
      if (origin === undefined || shopId === undefined) return;
      mark(chat, { shopId, ...origin, state: 'seen' }, logger);
    },
    leave: (overMs) => chat.leave(overMs),
    stop: () => chat.stop(),
    stopReplies: () => poller.stop(),
    refusedPages: () =>
      chatShops(live.value).flatMap((shop) =>
        refused.of(shop).map((page) => ({ ...page, shop: nameOf(shop.shopId) })),
      ),
  };
}

function reportToVisitor(
  chat: ChatServer,
  entry: SettledEntry,
  settled: Outcome['state'],
  logger: Logger,
): void {
  if (entry.channel !== 'web_chat' || entry.kind !== 'message') return;
  if (settled !== 'delivered' && settled !== 'dead') return;
  const { visitorId, messageId } = chatMeta(entry);
  const state = settled === 'delivered' ? 'delivered' : 'failed';
  const { shopId } = entry;
  mark(chat, { shopId, visitorId: asVisitorId(visitorId), messageId, state }, logger);
}

/** Without waiting: a tick that fails holds up nobody. */
function mark(chat: ChatServer, message: SettledMessage, logger: Logger): void {
  chat
    .messageSettled(message)
    .catch((error: unknown) => logger.warn('chat.tick_failed', errorFields(error)));
}
