import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { ShopPlatform } from '../delivery/shop-platform.ts';
import type { LocalPlatform } from '../local-platform/local-platform.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { PlatformClient } from '../platform-api/client.ts';
import { ConnectionPool, type RequestObserver } from '../platform-api/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Current, Holder } from '../runtime/current.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { Spool } from '../spool/spool.ts';
import { changedPaths } from './config-leaves.ts';
import type { LiveConfig } from './live-config.ts';
import { type RunningLocal, startLocalPlatform } from './local.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import type { RoutedStore } from './text-routes.ts';

export interface PlatformsParts {
  readonly live: LiveConfig;
  readonly store: RoutedStore & { readonly spool: Pick<Spool, 'hasten'> };
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
}

/** The current platforms of the shops. */
export interface Platforms {
  readonly shops: Current<readonly ShopPlatform[]>;
  /** The embedded platform, if a shop has used it since the start. */
  readonly local: Current<LocalPlatform | undefined>;
}

/** Connects every shop, and starts the embedded platform if a shop uses it. */
export async function connectPlatforms(parts: PlatformsParts): Promise<Platforms> {
  const { live, store, stack, logger, metrics } = parts;
  const running = new Holder<RunningLocal | undefined>(undefined);
  stack.push('local platform', () => running.value?.platform.stop());
  running.value = await startLocalPlatform(live.value, store, logger);
  // `delivery.concurrency` limits the requests. A limit of the pool would make the requests of one
  // shop time out while they wait for another shop's slow host.
  const pool = new ConnectionPool(Infinity);
  stack.push('connections', () => pool.close());
  // Created once: a closure per reload would keep every earlier configuration in memory.
  const onRequest: RequestObserver = (operation, status, seconds) =>
    metrics.platformSeconds.observe({ operation, status }, seconds);
  const connect = (config: CompleteConfig, local: RunningLocal | undefined, before?: Before) =>
    connectShops(config, { ...parts, pool, onRequest, localUrl: local?.platform.url }, before);
  const shops = new Holder(connect(live.value, running.value));

  live.add({
    name: 'platforms',
    reads: ['shops', 'platform', 'delivery.requestTimeout', 'delivery.mediaTimeout'],
    prepare: async (next, config) => {
      const local = running.value ?? (await startLocalPlatform(next, store, logger));
      const before = { config, shops: shops.value };
      const connected = connect(next, local, before);
      return {
        commit: () => {
          running.value = local;
          local?.serve(next);
          shops.value = connected;
        },
        after: () => deliverSoon(before.shops, connected, store.spool),
        undo: async () => {
          if (local !== running.value) await local?.platform.stop();
        },
      };
    },
  });
  return {
    shops,
    local: {
      get value() {
        return running.value?.platform;
      },
    },
  };
}

/**
 * Makes waiting messages due for shops whose platform has changed, and probes unchanged shops now.
 */
async function deliverSoon(
  before: readonly ShopPlatform[],
  now: readonly ShopPlatform[],
  spool: PlatformsParts['store']['spool'],
): Promise<void> {
  for (const shop of now) {
    if (before.some((old) => old.isSameAs(shop))) shop.tryNow();
    else await spool.hasten(shop.settings.shopId, 1);
  }
}

interface Connecting {
  readonly localUrl: string | undefined;
  readonly pool: ConnectionPool;
  readonly onRequest: RequestObserver;
  readonly clock: Clock;
}

/** The connected shops and the configuration that they were connected with. */
interface Before {
  readonly config: CompleteConfig;
  readonly shops: readonly ShopPlatform[];
}

/** Several answers may be in memory at once; larger pages are requested in parts. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Creates one client per shop, all on the same connection pool. A shop that has not changed keeps
 * its client; a shop with the same platform and key keeps the recorded health of the platform.
 */
function connectShops(
  config: CompleteConfig,
  { localUrl, pool, onRequest, clock }: Connecting,
  before?: Before,
): readonly ShopPlatform[] {
  return config.shops.map((shop) => {
    const known = before && connectedBefore(shop, config, before);
    if (known?.unchanged === true) return known.platform;
    const url = platformUrlOf(config, shop);
    const { continuity } = shop.sms ?? { continuity: 'forever' };
    return new ShopPlatform(
      {
        shopId: shop.shopId,
        name: shop.name,
        platformUrl: url,
        mediaPermission: {
          email: shop.email?.mediaPermission ?? 'private',
          sms: shop.sms?.mediaPermission ?? 'private',
          web_chat: shop.chat?.mediaPermission ?? 'private',
        },
        ...(typeof continuity === 'number' && { smsContinuityMs: continuity }),
        client: new PlatformClient({
          baseUrl: url === LOCAL ? (localUrl ?? '') : url,
          apiKey: shop.apiKey.reveal(),
          shopId: shop.shopId,
          requestTimeoutMs: config.delivery.requestTimeout,
          mediaTimeoutMs: config.delivery.mediaTimeout,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          pool,
          onRequest,
        }),
      },
      { clock, random: Math.random },
      known?.platform,
    );
  });
}

/** The earlier connection with the same platform and key, if any. */
function connectedBefore(
  shop: ShopConfig,
  config: CompleteConfig,
  before: Before,
): { readonly platform: ShopPlatform; readonly unchanged: boolean } | undefined {
  const platform = before.shops.find(({ settings }) => settings.shopId === shop.shopId);
  const old = before.config.shops.find(({ shopId }) => shopId === shop.shopId);
  if (platform === undefined || old === undefined) return undefined;
  const sameUrl = platformUrlOf(config, shop) === platformUrlOf(before.config, old);
  if (!sameUrl || shop.apiKey.reveal() !== old.apiKey.reveal()) return undefined;
  const { requestTimeout, mediaTimeout } = before.config.delivery;
  const sameTimes =
    config.delivery.requestTimeout === requestTimeout &&
    config.delivery.mediaTimeout === mediaTimeout;
  return { platform, unchanged: sameTimes && changedPaths(old, shop).length === 0 };
}
