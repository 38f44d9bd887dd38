import type { RequestHandler } from 'express';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { createDemoRouter } from '../demo/demo-router.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';

type ChatShop = ShopConfig & { readonly chat: NonNullable<ShopConfig['chat']> };

/** The first shop with a chat whose platform is the local one; undefined if there is none. */
export const demoShopOf = (config: CompleteConfig): ChatShop | undefined =>
  config.shops.find(
    (each): each is ChatShop => each.chat !== undefined && platformUrlOf(config, each) === LOCAL,
  );

/**
 * `GET /demo` for the shop of `demoShopOf`. Only the generated demo shop can log a sample customer
 * in: a configured shop's secret never signs for a visitor of this page.
 */
export function demoRouter(config: CompleteConfig): RequestHandler {
  const shop = demoShopOf(config);
  if (shop === undefined) return (_request, _response, next) => next();
  const secret = config.demo ? shop.chat.identitySecrets[0]?.reveal() : undefined;
  return createDemoRouter({
    widgetKey: shop.chat.key,
    ...(secret !== undefined && { identitySecret: secret }),
  });
}
