import dns from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 that is not the public internet (IANA special-purpose registry; RFC 6890). */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, and the metadata service of the large clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Parts of the global unicast space 2000::/3 that lead elsewhere or nowhere. */
const SPECIAL_IPV6 = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 carries any IPv4 address
  ['3fff::', 20],
] as const;

const NAT64_PREFIX = '64:ff9b::';

const special = new BlockList();
const reachable = new BlockList();
reachable.addSubnet('2000::', 3, 'ipv6');
// A network without IPv4 sees all of it under this prefix (RFC 6052): public as what it carries.
reachable.addSubnet(NAT64_PREFIX, 96, 'ipv6');
for (const [network, bits] of SPECIAL_IPV4) {
  special.addSubnet(network, bits, 'ipv4');
  special.addSubnet(NAT64_PREFIX + network, 96 + bits, 'ipv6');
}
for (const [network, bits] of SPECIAL_IPV6) special.addSubnet(network, bits, 'ipv6');

/** Whether an IP address is on the public internet: no private, loopback, link-local or such. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  // IPv4-mapped addresses (::ffff:0:0/96) are not in the reachable space, so they are refused.
  return version === 6 && reachable.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** A host's name resolves to an address inside a private network. */
export class PrivateAddress extends Error {
  override name = 'PrivateAddress';
}

/**
 * A `lookup` for sockets that fails with PrivateAddress unless every address of the name is
 * public. The socket connects to what this call returned: a name that resolves differently the
 * next time (DNS rebinding) gains nothing.
 * @param resolve the system's resolver by default
 */
export function createPublicLookup(resolve: LookupFunction = dns.lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        callback(error, []);
        return;
      }
      const addresses = typeof found === 'string' ? [] : found;
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        callback(new PrivateAddress('The host resolves to no public address'), []);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
