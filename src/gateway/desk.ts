import type { DeskAccess, DeskPort } from '../console/server/desk-access.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import type { LiveConfig } from './live-config.ts';

/** How the console reaches the desk of the shops on the local platform. */
export const deskAccess = (
  live: Pick<LiveConfig, 'value'>,
  port: () => DeskPort | undefined,
): DeskAccess => ({
  port,
  shops: () =>
    live.value.shops.map((shop) => ({
      ...{ name: shop.name, shopId: shop.shopId },
      isLocal: platformUrlOf(live.value, shop) === LOCAL,
    })),
});
