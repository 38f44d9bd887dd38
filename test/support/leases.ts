import type { Leases } from '../../src/runtime/leases.ts';

/** Leases in memory that never expire: each call gives those of another gateway. */
export function sharedLeases(): () => Leases {
  const holders = new Map<string, Leases>();
  return () => {
    const own: Leases = {
      take: (name) => {
        if (!holders.has(name)) holders.set(name, own);
        return Promise.resolve(holders.get(name) === own);
      },
      release: (name) => {
        if (holders.get(name) === own) holders.delete(name);
        return Promise.resolve();
      },
    };
    return own;
  };
}
