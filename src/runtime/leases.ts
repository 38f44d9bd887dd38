/**
 * Work that only one of the gateways with a common store does, by name. A lease is only for work
 * that may happen twice without harm: a holder that is suspended does not notice the end of its
 * lease before its next call.
 */
export interface Leases {
  /**
   * Takes the lease, or renews one that this gateway holds.
   * @param ttlMs how long it lasts from now, by the store's clock
   * @returns whether this gateway holds it
   */
  take(name: string, ttlMs: number): Promise<boolean>;
  /** Ends a lease of this gateway, so that another one can take it at once. */
  release(name: string): Promise<void>;
}

/** Of a store that admits one gateway. */
export const soleLeases: Leases = {
  take: () => Promise.resolve(true),
  release: () => Promise.resolve(),
};
