import type { Endpoint } from './endpoint.ts';

/** The result of trying one endpoint. */
export interface PartTrial {
  readonly part: Endpoint;
  /** `no_answer`: no probe ended in time. */
  readonly outcome: 'delivered' | 'failed' | 'nothing_to_try' | 'no_answer';
  /** The platform's error text, shown to operators only. */
  readonly reason?: string;
  readonly nextProbeAt?: number;
}

/** The result of trying a shop. Times in milliseconds since the epoch. */
export interface ShopTrial {
  /** The endpoints that were in trouble; none when deliveries succeed. */
  readonly parts: readonly PartTrial[];
  /** Groups of messages that were refused in the same words, and whether each group is resolved. */
  readonly refusedAlike: readonly { readonly words: string; readonly over: boolean }[];
  /** Messages that waited for their next attempt and are due now. */
  readonly released: number;
  /** Messages that wait for delivery now. */
  readonly waiting: number;
}
