import express, { type Router } from 'express';
import type { ShopId } from '../../domain/ids.ts';
import type { Spool } from '../../spool/spool.ts';
import { tryShop } from '../../spool/try-shop.ts';
import type { ShopTrial } from '../contract.ts';
import { TRIAL_TIMEOUT_MS } from '../trial-words.ts';
import type { Audit } from './audit.ts';
import { Refusal } from './refusal.ts';
import { visitorOf } from './sign-in.ts';

/** The shops that are configured now. */
export interface ShopNames {
  idOf(name: string): ShopId | undefined;
  /** The id itself when no shop has it any more. */
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
  const underWay = new Map<ShopId, Promise<ShopTrial>>();

  /** Requests that come while a shop is being tried share its result. */
  const tried = (shopId: ShopId): Promise<ShopTrial> => {
    const known = underWay.get(shopId);
    if (known !== undefined) return known;
    const trial = tryShop(parts.spool, shopId, { timeoutMs: TRIAL_TIMEOUT_MS }).finally(() =>
      underWay.delete(shopId),
    );
    underWay.set(shopId, trial);
    return trial;
  };

  router.post('/shops/:shop/try', async (req, res) => {
    const { shop } = req.params;
    const shopId = parts.shops.idOf(shop);
    if (shopId === undefined) throw new Refusal('not_found', 'There is no such shop');
    if (parts.deliveryPaused()) {
      throw new Refusal('conflict', 'Delivery is paused in the configuration: nothing is tried');
    }
    const trial = await tried(shopId);
    parts.wake();
    const who = visitorOf(res).operator;
    await audit.write({ who, action: 'try', target: shop, outcome: outcomeOf(trial) });
    res.json(trial);
  });
  return router;
}

/** For the audit: without the platform's words, which may quote a message. */
function outcomeOf({ parts }: ShopTrial): string {
  if (parts.length === 0) return 'flows';
  return parts.map(({ part, outcome }) => `${part}: ${outcome.replaceAll('_', ' ')}`).join(', ');
}
