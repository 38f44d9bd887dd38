import type { CompleteConfig } from '../config/complete.ts';
import type { ShopId } from '../domain/ids.ts';
import type { ChangedTicket } from '../domain/desk.ts';
import type { LocalPlatform, LocalPlatformOptions } from '../local-platform/local-platform.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { type Current, Holder } from '../runtime/current.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { LiveConfig } from './live-config.ts';
import { type OnBlocked, type RunningLocal, startLocalPlatform } from './local.ts';
import { likeness, shopConnector } from './platform-clients.ts';
import type { RoutedStore } from './text-routes.ts';

export interface PlatformsParts {
  readonly live: LiveConfig;
  readonly store: RoutedStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stack: StopStack;
  readonly onBlocked: OnBlocked;
  /** Called after each change of a ticket of the local platform. */
  readonly onTicketChanged?: (ticket: ChangedTicket) => void;
  /** Called once a reply of the local platform has been sent. */
  readonly onReply?: LocalPlatformOptions['onReply'];
  /** Called when a person at its desk has a chat visitor's message before them. */
  readonly onSeen?: LocalPlatformOptions['onSeen'];
}

/** A shop and the client of its platform. */
export interface ShopClient {
  readonly shopId: ShopId;
  /** The configured name. */
  readonly name: string;
  readonly client: PlatformClient;
}

/** The current platforms of the shops. */
export interface Platforms {
  readonly clients: Current<readonly ShopClient[]>;
  /**
   * The URL of the embedded platform, if a shop has used it since the start. While a reload is
   * prepared, also of one that the reload has started.
   */
  readonly localUrl: Current<string | undefined>;
  /** The desk of the embedded platform, if a shop has used it since the start. */
  readonly desk: () => LocalPlatform['desk'] | undefined;
  /** Its replies that have not arrived. */
  readonly outbox: () => LocalPlatform['outbox'] | undefined;
  /** Whether one of these message-ids is that of a reply of it. */
  readonly hasReply: (shopId: ShopId, ids: readonly string[]) => boolean;
  /** The files of its replies. */
  readonly replyFiles: () => LocalPlatform['replyFiles'] | undefined;
  /** The addresses that chat visitors have left, and their page. */
  readonly leftAddresses: () => LocalPlatform['leftAddresses'] | undefined;
  /** Takes reports of what became of its replies. */
  readonly fates: () => LocalPlatform['fates'] | undefined;
}

/** Makes a client for every shop, and starts the embedded platform if a shop uses it. */
export async function connectPlatforms(parts: PlatformsParts): Promise<Platforms> {
  const { live, stack } = parts;
  const running = new Holder<RunningLocal | undefined>(undefined);
  stack.push('local platform', () => running.value?.platform.stop());
  running.value = await startLocalPlatform(live.value, parts);
  const connect = shopConnector(parts);
  let starting: RunningLocal | undefined;
  const localUrl = {
    get value() {
      return (starting ?? running.value)?.platform.url;
    },
  };
  const connectAll = (
    config: CompleteConfig,
    before?: { readonly config: CompleteConfig; readonly clients: readonly ShopClient[] },
  ): readonly ShopClient[] =>
    config.shops.map((shop) => {
      const { shopId, name } = shop;
      const known =
        before !== undefined && likeness(shop, config, before.config) === 'all'
          ? before.clients.find((each) => each.shopId === shopId)
          : undefined;
      return known ?? { shopId, name, client: connect(config, shop, localUrl.value) };
    });
  const clients = new Holder(connectAll(live.value));

  live.add({
    name: 'platforms',
    reads: [
      'shops',
      'platform',
      'http.publicUrl',
      'http.trustProxy',
      'delivery.requestTimeout',
      'delivery.mediaTimeout',
    ],
    prepare: async (next, config) => {
      if (running.value === undefined) starting = await startLocalPlatform(next, parts);
      const connected = connectAll(next, { config, clients: clients.value });
      return {
        commit: () => {
          running.value ??= starting;
          starting = undefined;
          running.value?.serve(next);
          clients.value = connected;
        },
        undo: async () => {
          await starting?.platform.stop();
          starting = undefined;
        },
      };
    },
  });
  return {
    ...{ clients, localUrl },
    desk: () => running.value?.platform.desk,
    outbox: () => running.value?.platform.outbox,
    hasReply: (shopId, ids) => {
      const { inspect } = running.value?.platform ?? {};
      return ids.some((id) => inspect?.isReply(shopId, id));
    },
    replyFiles: () => running.value?.platform.replyFiles,
    leftAddresses: () => running.value?.platform.leftAddresses,
    fates: () => running.value?.platform.fates,
  };
}
