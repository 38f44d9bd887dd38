import {
  canonicalAddress,
  canonicalDomain,
  domainOf,
  matchKey,
} from '../../domain/email-addresses.ts';

const CATCH_ALL = '*@';

/** How an address was matched: by a listed address, or only by a `*@domain`. */
export type AddressMatch =
  | { readonly kind: 'exact'; readonly address: string }
  | { readonly kind: 'catch-all'; readonly address: string };

/** A set of addresses and catch-alls (`*@domain`), compared in the same way as RCPT TO. */
export interface AddressMatcher {
  /**
   * The list entry that matches. `exact` returns the listed address in canonical form; `catch-all`
   * returns the given address in lower case and without its `+tag`.
   */
  match(address: string): AddressMatch | undefined;
  has(address: string): boolean;
  /** All domains in the list, in its order. */
  readonly domains: readonly string[];
}

/**
 * @throws {TypeError} for an entry that is neither an address nor `*@domain`; the configuration
 * rejects such entries earlier
 */
export function createAddressMatcher(patterns: readonly string[]): AddressMatcher {
  const exact = new Map<string, string>();
  const catchAll = new Set<string>();
  const domains = new Set<string>();
  for (const pattern of patterns) {
    const domain = canonicalDomain(domainOf(pattern));
    const address = canonicalAddress(pattern)?.toLowerCase();
    if (domain === undefined || address === undefined) {
      throw new TypeError('expected an email address or *@domain');
    }
    domains.add(domain);
    if (pattern.startsWith(CATCH_ALL)) catchAll.add(domain);
    else exact.set(address, address);
  }

  const match = (address: string): AddressMatch | undefined => {
    if (domains.size === 0) return undefined;
    const key = matchKey(address);
    if (key === undefined) return undefined;
    // An address configured with a +tag matches only with this tag.
    const tagged = canonicalAddress(address)?.toLowerCase();
    const listed = exact.get(tagged ?? key) ?? exact.get(key);
    if (listed !== undefined) return { kind: 'exact', address: listed };
    return catchAll.has(domainOf(key)) ? { kind: 'catch-all', address: key } : undefined;
  };
  return { match, has: (address) => match(address) !== undefined, domains: [...domains] };
}
