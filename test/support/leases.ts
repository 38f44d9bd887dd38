import type { Clock } from '../../src/runtime/clock.ts';
import type { Leases } from '../../src/runtime/leases.ts';

/**
 * Leases in memory: each call gives those of another gateway.
 * @param clock decides when they end; without it they never do
 */
export function sharedLeases(clock: Clock = () => 0): () => Leases {
  const held = new Map<string, { readonly holder: Leases; readonly until: number }>();
  return () => {
    const own: Leases = {
      take: (name, ttlMs) => {
        const lease = held.get(name);
        const isFree = lease === undefined || lease.holder === own || lease.until <= clock();
        if (isFree) held.set(name, { holder: own, until: clock() + ttlMs });
        return Promise.resolve(isFree);
      },
      release: (name) => {
        if (held.get(name)?.holder === own) held.delete(name);
        return Promise.resolve();
      },
    };
    return own;
  };
}
