import type { RequestHandler } from 'express';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { createDemoRouter } from '../demo/demo-router.ts';

type ChatShop = ShopConfig & { readonly chat: NonNullable<ShopConfig['chat']> };

/** The generated demo shop; undefined once shops are configured. */
export const demoShopOf = ({ demo, shops }: CompleteConfig): ChatShop | undefined =>
  demo ? shops.find((each): each is ChatShop => each.chat !== undefined) : undefined;

/**
 * `GET /demo` for the shop of `demoShopOf`. A configured shop has no such page: its secret never
 * signs for a visitor of it.
 */
export function demoRouter(config: CompleteConfig): RequestHandler {
  const shop = demoShopOf(config);
  if (shop === undefined) return (_request, _response, next) => next();
  const secret = shop.chat.identitySecrets[0]?.reveal();
  return createDemoRouter({
    widgetKey: shop.chat.key,
    ...(secret !== undefined && { identitySecret: secret }),
  });
}
