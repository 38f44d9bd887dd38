import type { DNSResolver } from 'mailauth';
import type { DnsRecords } from './dns-cache.ts';
import type { Resolve } from './dns-resolver.ts';

/**
 * The same resolver under the library's type, which knows no MX records. The library sorts the
 * lists that it is given: it gets copies, the originals are in a cache.
 */
export function libraryResolver(resolve: Resolve): DNSResolver {
  // MX records are objects; the library reads them as such.
  return async (name, type) => copyOf(await resolve(name, type)) as string[];
}

function copyOf(records: DnsRecords): unknown[] {
  return [...records];
}
