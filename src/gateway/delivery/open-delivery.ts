import type { Intake } from '../../intake/intake.ts';
import { metricsText } from '../../observability/metrics.ts';
import type { Store } from '../../spool/store.ts';
import { type Delivery, type DeliveryParts, startDelivery } from './delivery.ts';
import { type DeliveryThreadParts, startDeliveryThread } from './delivery-thread.ts';

export interface OpenDelivery extends Delivery {
  /** Called when a message was accepted. */
  accepted(): void;
  /** The metrics of all threads, as a scraper reads them. */
  metricsText(): Promise<string>;
}

interface Parts
  extends Omit<DeliveryParts, 'store' | 'intake'>, Omit<DeliveryThreadParts, 'sharing' | 'intake'> {
  readonly store: Store;
  readonly intake: Intake;
  readonly isHere: boolean;
}

/**
 * Delivers in a thread of its own where the store can be shared with one. A gateway with a database
 * delivers in its main thread: more gateways use more cores.
 */
export async function openDelivery({ store, isHere, ...parts }: Parts): Promise<OpenDelivery> {
  const { sharing } = store;
  if (isHere || sharing === undefined) {
    const delivery = startDelivery({ ...parts, store });
    return {
      ...delivery,
      accepted: () => delivery.wake(),
      metricsText: () => metricsText(parts.metrics, []),
    };
  }
  const delivery = await startDeliveryThread({ ...parts, sharing });
  return {
    ...delivery,
    // The store wakes the thread.
    accepted: () => undefined,
    metricsText: async () => metricsText(parts.metrics, [await delivery.metrics()]),
  };
}
