import type { CompleteConfig } from '../../config/complete.ts';
import type { Authenticator } from '../../channels/email/authentication/authenticator.ts';
import type { DeliveryParts as AttemptsParts } from '../../delivery/deliver.ts';
import { Conversations } from '../../delivery/conversations.ts';
import { Dispatcher, type DispatcherOptions } from '../../delivery/dispatcher.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Tracing } from '../../observability/tracing.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Current } from '../../runtime/current.ts';
import type { StopStack } from '../../runtime/stop-stack.ts';
import type { Entry, Outcome } from '../../spool/entry.ts';
import type { ShopHealth } from '../../spool/shop-health.ts';
import type { DeliveryStore } from '../../spool/store.ts';
import type { LiveConfig } from '../live-config.ts';
import { createNormalizers, type ReadingParts } from '../normalizers.ts';
import { partOf, type Share } from './share.ts';
import { connectShops } from './shops.ts';

/** What is said of an entry whose attempt has ended. */
export type SettledEntry = Pick<Entry, 'id' | 'kind' | 'shopId' | 'channel' | 'receivedAt'> & {
  /** Complete for a chat alone. */
  readonly meta: Entry['meta'];
};

export type OnSettled = (entry: SettledEntry, state: Outcome['state']) => void;

/** The delivery of a gateway, in this thread or in one of its own. */
export interface Delivery {
  /** Call it when an entry may be ready. */
  wake(): void;
  /** Makes the probes of all shops due at once. */
  tryNow(): void;
  /** What is known of the shops' platforms. */
  health(): Promise<ReadonlyMap<ShopId, ShopHealth>>;
}

export interface DeliveryParts {
  readonly share: Share;
  readonly live: LiveConfig;
  readonly store: DeliveryStore;
  readonly intake: AttemptsParts['intake'];
  readonly localUrl: Current<string | undefined>;
  readonly hasReply: ReadingParts['hasReply'];
  readonly authenticator: Authenticator;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
  readonly stack: StopStack;
  /** The time that attempts in flight get at a stop. */
  readonly grace: { readonly ms: number };
  readonly onSettled: OnSettled;
}

/**
 * A gateway with a database asks it for due entries and operators' requests this often: twice within the
 * time that a command waits for an effect, and few enough statements while there is nothing to do.
 */
const SHARED_LOOK_EVERY_MS = 550;

/** Delivers in this thread. */
export function startDelivery(parts: DeliveryParts): Delivery {
  const { live, share, store, logger, clock, stack, grace, onSettled } = parts;
  const shops = connectShops(parts);
  const isShared = live.value.spool.url !== 'sqlite';
  const looks = isShared ? { lookEveryMs: SHARED_LOOK_EVERY_MS } : {};
  const optionsOf = ({ delivery }: CompleteConfig): DispatcherOptions => ({
    ...{ paused: delivery.paused, concurrency: partOf(share, delivery.concurrency) },
    ...looks,
  });
  if (live.value.delivery.paused && share.index === 0) logger.warn('delivery.paused');
  const dispatcher = new Dispatcher(
    shops.value,
    {
      ...parts,
      ...store,
      conversations: new Conversations(store.spool, clock),
      normalizers: createNormalizers(parts),
      random: Math.random,
      get giveUpAfterMs() {
        return live.value.delivery.giveUpAfter;
      },
      onSettled: (entry, { state }) => onSettled(entry, state),
    },
    optionsOf(live.value),
  );
  live.add({
    name: 'delivery',
    reads: ['shops', 'platform', 'delivery'],
    prepare: (next, running) => ({
      commit: () => {
        const { paused } = next.delivery;
        dispatcher.serve(shops.value, optionsOf(next));
        if (paused !== running.delivery.paused && share.index === 0) {
          logger.warn(paused ? 'delivery.paused' : 'delivery.resumed');
        }
      },
    }),
  });
  dispatcher.start();
  stack.push('delivery', () => dispatcher.stop(grace.ms));
  return {
    wake: () => dispatcher.wake(),
    tryNow: () => {
      for (const shop of shops.value) shop.tryNow();
    },
    health: () =>
      Promise.resolve(new Map(shops.value.map((shop) => [shop.settings.shopId, shop.report()]))),
  };
}
