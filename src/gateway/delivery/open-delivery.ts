import type { Intake } from '../../intake/intake.ts';
import { metricsText } from '../../observability/metrics.ts';
import type { Store } from '../../spool/store.ts';
import type { Delivery, DeliveryParts } from './delivery.ts';
import type { DeliveryThreadParts, LoadedDelivery } from './delivery-thread.ts';
import { WHOLE } from './share.ts';

export interface OpenDelivery extends Delivery {
  /** Called when a message was accepted. */
  accepted(): void;
  /** The metrics of all threads, as a scraper reads them. */
  metricsText(): Promise<string>;
}

interface Parts
  extends
    Omit<DeliveryParts, 'store' | 'intake' | 'share'>,
    Omit<DeliveryThreadParts, 'sharing' | 'intake'> {
  readonly store: Store;
  readonly intake: Intake;
  /** Without them, this thread delivers. */
  readonly threads: LoadedDelivery | undefined;
}

/** Delivers in the threads, if the store can be shared with them, or else here. */
export async function openDelivery({ store, threads, ...parts }: Parts): Promise<OpenDelivery> {
  const { sharing } = store;
  if (threads === undefined || sharing === undefined) {
    // Imported here, because it is needed only here or in the thread.
    const { startDelivery } = await import('./delivery.ts');
    const delivery = startDelivery({ ...parts, store, share: WHOLE });
    return {
      ...delivery,
      accepted: () => delivery.wake(),
      metricsText: () => metricsText(parts.metrics, []),
    };
  }
  const delivery = await threads.deliver({ ...parts, sharing });
  return {
    ...delivery,
    // The store wakes the threads.
    accepted: () => undefined,
    metricsText: async () => metricsText(parts.metrics, await delivery.metrics()),
  };
}
