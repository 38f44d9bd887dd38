import type { CompleteConfig } from '../../config/complete.ts';
import { ShopPlatform } from '../../delivery/shop-platform.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Current, Holder } from '../../runtime/current.ts';
import type { StopStack } from '../../runtime/stop-stack.ts';
import type { WaitingQueue } from '../../spool/spool.ts';
import type { LiveConfig } from '../live-config.ts';
import { type ConnectShop, likeness, shopConnector } from '../platform-clients.ts';
import { platformUrlOf } from '../platform-url.ts';
import { isOwnShop, type Share } from './share.ts';

export interface ShopsParts {
  readonly live: LiveConfig;
  /** Which of the shops. */
  readonly share: Share;
  readonly store: { readonly spool: Pick<WaitingQueue, 'hasten'> };
  /** The URL of the embedded platform while it runs. */
  readonly localUrl: Current<string | undefined>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
}

/** The shops as delivery sees them, also after a reload. */
export function connectShops(parts: ShopsParts): Current<readonly ShopPlatform[]> {
  const { live, store } = parts;
  const connect = shopConnector(parts);
  const shops = new Holder(connected(live.value, connect, parts));
  live.add({
    name: 'shops of delivery',
    reads: ['shops', 'platform', 'delivery.requestTimeout', 'delivery.mediaTimeout'],
    prepare: (next, config) => {
      const before = { config, shops: shops.value };
      const prepared = connected(next, connect, parts, before);
      return {
        commit: () => void (shops.value = prepared),
        after: () => deliverSoon(before.shops, prepared, store.spool),
      };
    },
  });
  return shops;
}

/**
 * Makes waiting messages due for shops whose platform has changed, and probes unchanged shops now.
 */
async function deliverSoon(
  before: readonly ShopPlatform[],
  now: readonly ShopPlatform[],
  spool: ShopsParts['store']['spool'],
): Promise<void> {
  for (const shop of now) {
    if (before.some((old) => old.isSameAs(shop))) shop.tryNow();
    else await spool.hasten(shop.settings.shopId, 1);
  }
}

/** The connected shops and the configuration that they were connected with. */
interface Before {
  readonly config: CompleteConfig;
  readonly shops: readonly ShopPlatform[];
}

/**
 * A shop that has not changed keeps its client; a shop with the same platform and key keeps the
 * recorded health of the platform.
 */
function connected(
  config: CompleteConfig,
  connect: ConnectShop,
  { localUrl, clock, share }: Pick<ShopsParts, 'localUrl' | 'clock' | 'share'>,
  before?: Before,
): readonly ShopPlatform[] {
  const own = config.shops.filter(({ shopId }) => isOwnShop(share, shopId));
  return own.map((shop) => {
    const like = before === undefined ? 'none' : likeness(shop, config, before.config);
    const known = before?.shops.find(({ settings }) => settings.shopId === shop.shopId);
    if (known !== undefined && like === 'all') return known;
    const { continuity } = shop.sms ?? { continuity: 'forever' };
    return new ShopPlatform(
      {
        shopId: shop.shopId,
        name: shop.name,
        platformUrl: platformUrlOf(config, shop),
        mediaPermission: {
          email: shop.email?.mediaPermission ?? 'private',
          sms: shop.sms?.mediaPermission ?? 'private',
          web_chat: shop.chat?.mediaPermission ?? 'private',
        },
        ...(typeof continuity === 'number' && { smsContinuityMs: continuity }),
        client: connect(config, shop, localUrl.value),
      },
      { clock, random: Math.random },
      known,
      like !== 'none',
    );
  });
}
