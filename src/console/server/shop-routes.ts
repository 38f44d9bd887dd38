import express, { type Router } from 'express';
import type { ShopId } from '../../domain/ids.ts';
import type { Spool } from '../../spool/spool.ts';
import { tryShop } from '../../spool/try-shop.ts';
import type { ShopTrial } from '../contract.ts';
import { TRIAL_TIMEOUT_MS } from '../trial-words.ts';
import type { Audit } from './audit.ts';
import { Refusal } from './refusal.ts';
import { actorOf } from './sign-in.ts';

/** The configured shops. */
export interface ShopNames {
  idOf(name: string): ShopId | undefined;
  /** The id itself when the shop is no longer configured. */
  nameOf(id: ShopId): string;
  isServed(id: ShopId): boolean;
}

interface ShopRouteParts {
  readonly spool: Pick<Spool, 'shopHealth' | 'requestProbe' | 'hasten' | 'counts'>;
  readonly shops: ShopNames;
  readonly audit: Audit;
  readonly deliveryPaused: () => boolean;
  /** Called when entries become claimable. */
  readonly wake: () => void;
}

/** `POST /shops/:shop/try` */
export function shopRoutes({ audit, ...parts }: ShopRouteParts): Router {
  const router = express.Router();
  const running = new Map<ShopId, Promise<ShopTrial>>();

  /** Concurrent requests for a shop share one trial. */
  const runTrial = (shopId: ShopId): Promise<ShopTrial> => {
    const known = running.get(shopId);
    if (known !== undefined) return known;
    const trial = tryShop(parts.spool, shopId, { timeoutMs: TRIAL_TIMEOUT_MS }).finally(() =>
      running.delete(shopId),
    );
    running.set(shopId, trial);
    return trial;
  };

  router.post('/shops/:shop/try', async (req, res) => {
    const { shop } = req.params;
    const shopId = parts.shops.idOf(shop);
    if (shopId === undefined) throw new Refusal('not_found', 'Shop not found');
    if (parts.deliveryPaused()) {
      throw new Refusal('conflict', 'Delivery is paused (delivery.paused): no message was tried');
    }
    const trial = await runTrial(shopId);
    parts.wake();
    await audit.write({ ...actorOf(res), action: 'try', target: shop, outcome: outcomeOf(trial) });
    res.json(trial);
  });
  return router;
}

/** The outcome for the audit log, without the platform's message, which may quote content. */
function outcomeOf({ parts }: ShopTrial): string {
  if (parts.length === 0) return 'flows';
  return parts.map(({ part, outcome }) => `${part}: ${outcome.replaceAll('_', ' ')}`).join(', ');
}
