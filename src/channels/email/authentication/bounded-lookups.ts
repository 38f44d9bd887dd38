import type { Resolve } from './dns-resolver.ts';
import { DnsError } from './dns-error.ts';

/** Look-ups of one part of one check. */
export interface BoundedLookups {
  readonly resolve: Resolve;
  /** A server failed to answer one of them. */
  readonly hadTrouble: () => boolean;
}

/**
 * At most so many look-ups, of names that are worth asking for; others do not exist. Past the
 * bound nothing exists either: who needs more wants to keep us busy, and that is not DNS trouble.
 */
export function boundLookups(
  resolve: Resolve,
  maxLookups: number,
  isWorthAsking: (name: string) => boolean = () => true,
): BoundedLookups {
  let asked = 0;
  let trouble = false;
  return {
    hadTrouble: () => trouble,
    async resolve(name, type) {
      asked += 1;
      if (asked > maxLookups || !isWorthAsking(name)) throw new DnsError('ENOTFOUND');
      try {
        return await resolve(name, type);
      } catch (error) {
        const { code } = error instanceof DnsError ? error : new DnsError('ESERVFAIL');
        trouble ||= code === 'ETIMEOUT' || code === 'ESERVFAIL';
        throw error;
      }
    },
  };
}
