import type { Intake } from '../../intake/intake.ts';
import { metricsText } from '../../observability/metrics.ts';
import type { Store } from '../../spool/store.ts';
import type { Delivery, DeliveryParts } from './delivery.ts';
import type { DeliveryThreadParts, LoadedThread } from './delivery-thread.ts';

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
  /** Without it, this thread delivers. */
  readonly thread: LoadedThread | undefined;
}

/** Delivers in the thread, if the store can be shared with one, or else here. */
export async function openDelivery({ store, thread, ...parts }: Parts): Promise<OpenDelivery> {
  const { sharing } = store;
  if (thread === undefined || sharing === undefined) {
    // Imported here, because it is needed only here or in the thread.
    const { startDelivery } = await import('./delivery.ts');
    const delivery = startDelivery({ ...parts, store });
    return {
      ...delivery,
      accepted: () => delivery.wake(),
      metricsText: () => metricsText(parts.metrics, []),
    };
  }
  const delivery = await thread.deliver({ ...parts, sharing });
  return {
    ...delivery,
    // The store wakes the thread.
    accepted: () => undefined,
    metricsText: async () => metricsText(parts.metrics, [await delivery.metrics()]),
  };
}
