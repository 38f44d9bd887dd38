import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { ShopPlatform } from '../delivery/shop-platform.ts';
import type { Metrics } from '../observability/metrics.ts';
import { PlatformClient } from '../platform-api/client.ts';
import type { ConnectionPool } from '../platform-api/transport.ts';
import type { Clock } from '../runtime/clock.ts';

/** The value of `platform.url` and `shops[].platformUrl` that means the embedded platform. */
export const LOCAL = 'local';

export const platformUrlOf = (config: CompleteConfig, shop: ShopConfig): string =>
  shop.platformUrl ?? config.platform.url;

/** One client per shop, all on the same sockets. */
export function connectShops(
  config: CompleteConfig,
  localUrl: string | undefined,
  pool: ConnectionPool,
  metrics: Metrics,
  clock: Clock,
): ShopPlatform[] {
  return config.shops.map((shop) => {
    const url = platformUrlOf(config, shop);
    const { continuity } = shop.sms ?? { continuity: 'forever' };
    return new ShopPlatform(
      {
        shopId: shop.shopId,
        name: shop.name,
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
          pool,
          onRequest: (operation, status, seconds) =>
            metrics.platformSeconds.observe({ operation, status }, seconds),
        }),
      },
      clock,
    );
  });
}
