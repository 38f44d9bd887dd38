import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import type { Metrics } from '../observability/metrics.ts';
import { PlatformClient } from '../platform-api/client.ts';
import { ConnectionPool, type RequestObserver } from '../platform-api/transport.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import { changedPaths } from './config-leaves.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';

/** Several answers may be in memory at once; larger pages are requested in parts. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Makes the client of a shop. */
export type ConnectShop = (
  config: CompleteConfig,
  shop: ShopConfig,
  localUrl: string | undefined,
) => PlatformClient;

/** All clients of one thread share a connection pool. */
export function shopConnector({
  metrics,
  stack,
}: {
  readonly metrics: Metrics;
  readonly stack: StopStack;
}): ConnectShop {
  // `delivery.concurrency` limits the requests. A limit of the pool would make the requests of one
  // shop time out while they wait for another shop's slow host.
  const pool = new ConnectionPool(Infinity);
  stack.push('connections', () => pool.close());
  // Created once: a closure per reload would keep every earlier configuration in memory.
  const onRequest: RequestObserver = (operation, status, seconds) =>
    metrics.platformSeconds.observe({ operation, status }, seconds);
  return (config, shop, localUrl) => {
    const url = platformUrlOf(config, shop);
    return new PlatformClient({
      baseUrl: url === LOCAL ? (localUrl ?? '') : url,
      apiKey: shop.apiKey.reveal(),
      shopId: shop.shopId,
      isEmbedded: url === LOCAL,
      requestTimeoutMs: config.delivery.requestTimeout,
      mediaTimeoutMs: config.delivery.mediaTimeout,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      pool,
      onRequest,
    });
  };
}

/**
 * What a shop has in common with the same shop of an earlier configuration: its platform and key, or
 * all that a client or delivery depends on.
 */
export function likeness(
  shop: ShopConfig,
  config: CompleteConfig,
  before: CompleteConfig,
): 'none' | 'platform' | 'all' {
  const old = before.shops.find(({ shopId }) => shopId === shop.shopId);
  if (old === undefined) return 'none';
  const sameUrl = platformUrlOf(config, shop) === platformUrlOf(before, old);
  if (!sameUrl || shop.apiKey.reveal() !== old.apiKey.reveal()) return 'none';
  const { requestTimeout, mediaTimeout } = before.delivery;
  const sameTimes =
    config.delivery.requestTimeout === requestTimeout &&
    config.delivery.mediaTimeout === mediaTimeout;
  return sameTimes && changedPaths(old, shop).length === 0 ? 'all' : 'platform';
}
