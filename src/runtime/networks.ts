import { BlockList, isIP, isIPv4 } from 'node:net';

const MAX_REMEMBERED = 4096;

/** Addresses and blocks of them that somebody has named. */
export interface Networks {
  has(address: string): boolean;
}

/** @throws {TypeError} for what is neither an address nor `address/prefix` */
export function createNetworks(cidrs: readonly string[]): Networks {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const version = isIP(address);
    if (version === 0) throw new TypeError('expected an IP address or address/prefix');
    const family = version === 4 ? 'ipv4' : 'ipv6';
    const width = version === 4 ? 32 : 128;
    list.addSubnet(address, prefix === undefined ? width : Number(prefix), family);
  }
  // A client is asked about several times per message, and each check makes an address object.
  const known = new Map<string, boolean>();
  return {
    has(address) {
      const before = known.get(address);
      if (before !== undefined) return before;
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      const contained = isIP(address) !== 0 && list.check(address, family);
      if (known.size === MAX_REMEMBERED) known.clear();
      known.set(address, contained);
      return contained;
    },
  };
}
