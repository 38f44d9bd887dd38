import type { Router } from 'express';
import type { CompleteConfig } from '../config/complete.ts';
import { createDemoRouter } from '../demo/demo-router.ts';
import { LOCAL, platformUrlOf } from './platforms.ts';

/**
 * `GET /demo` for the first shop whose chat the local platform answers; none on a real platform.
 * Only the demo shop has a customer to log in as: nobody else's secret signs for a stranger.
 */
export function demoRouters(config: CompleteConfig): Router[] {
  const shop = config.shops.find(
    (each) => each.chat !== undefined && platformUrlOf(config, each) === LOCAL,
  );
  if (shop?.chat === undefined) return [];
  const secret = config.demo ? shop.chat.identitySecrets[0]?.reveal() : undefined;
  return [
    createDemoRouter({
      widgetKey: shop.chat.key,
      ...(secret !== undefined && { identitySecret: secret }),
    }),
  ];
}
