import dns from 'node:dns';
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';

const MAX_REMEMBERED = 4096;

/** A set of addresses and CIDR blocks. */
export interface Networks {
  has(address: string): boolean;
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** The length of the prefix of IPv4-mapped addresses, `::ffff:0:0/96`. */
const MAPPED_BITS = 96;

/** @throws {TypeError} for anything but an address or `address/prefix` */
export function createNetworks(cidrs: readonly string[]): Networks {
  // Apart, because a BlockList finds an IPv4 address in the IPv6 networks that hold its mapped form.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const [written = '', prefix] = cidr.split('/');
    const version = isIP(written);
    if (version === 0) throw new TypeError('expected an IP address or address/prefix');
    const width = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? width : Number(prefix);
    const address = bits >= MAPPED_BITS ? clientAddress(written) : written;
    const isMapped = address !== written;
    const family = familyOf(address);
    lists[family].addSubnet(address, isMapped ? bits - MAPPED_BITS : bits, family);
  }
  // A client is checked several times per message, and each check creates an address object.
  const known = new Map<string, boolean>();
  return {
    has(client) {
      const before = known.get(client);
      if (before !== undefined) return before;
      const address = clientAddress(client);
      const family = familyOf(address);
      const contained = isIP(address) !== 0 && lists[family].check(address, family);
      if (known.size === MAX_REMEMBERED) known.clear();
      known.set(client, contained);
      return contained;
    },
  };
}

/**
 * The address of a client as the rest of the program knows it: an IPv4-mapped address
 * (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2), which is how a socket on `::` shows an IPv4 client, is its
 * IPv4 address. Every place that takes an address from a socket or a proxy passes it through here.
 */
export function clientAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(withoutZone(address));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? groups.slice(6).flatMap(bytesOf).join('.') : address;
}

/** RFC 4007 §11: `fe80::1%eth0`. */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? '';

/**
 * The key of limits per address: the IPv4 address, or the /64 of an IPv6 address, because one
 * customer line can choose from that many addresses (RFC 6177 §2). An IPv4-mapped address counts as
 * its IPv4 address; otherwise all of IPv4 would share one key.
 */
export function ipNetwork(client: string): string {
  const address = clientAddress(client);
  return isIPv6(address) ? ipv6Network(address, 4) : address;
}

/**
 * The network of limits per site: the /24 of an IPv4 address, the /48 of an IPv6 address (RFC 6177
 * §2), from which one owner can send under many addresses.
 * @param client an address, or the `ipNetwork` of one
 */
export function sitesNetwork(client: string): string {
  const address = clientAddress(client.split('/', 1)[0] ?? '');
  if (isIPv6(address)) return ipv6Network(address, 3);
  return `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

function ipv6Network(address: string, groups: number): string {
  const prefix = groupsOf(withoutZone(address)).slice(0, groups);
  return `${prefix.map((group) => group.toString(16)).join(':')}::/${16 * groups}`;
}

/** The eight groups of an IPv6 address, whose last two may be written as an IPv4 address. */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address.split('::').map(groupsOfPart);
  if (tail === undefined) return head;
  const missing = Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array<number>(missing).fill(0), ...tail];
}

function groupsOfPart(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!isIPv4(group)) return parseInt(group, 16);
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

const bytesOf = (group: number): number[] => [group >> 8, group & 255];

/** The name of an address in the reverse zone (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  if (!isIPv6(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = groupsOf(address).map((group) => group.toString(16).padStart(4, '0'));
  return `${digits.join('').split('').reverse().join('.')}.ip6.arpa`;
}

/** IPv4 ranges outside the public internet (IANA special-purpose registry; RFC 6890). */
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

/** Ranges within the global unicast space 2000::/3 that are not public. */
const SPECIAL_IPV6 = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 carries any IPv4 address
  ['3fff::', 20],
] as const;

const NAT64_PREFIX = '64:ff9b::';

const special = new BlockList();
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
// A network without IPv4 maps all of it to this prefix (RFC 6052); `special` covers the private
// ranges.
globalUnicast.addSubnet(NAT64_PREFIX, 96, 'ipv6');
for (const [network, bits] of SPECIAL_IPV4) {
  special.addSubnet(network, bits, 'ipv4');
  special.addSubnet(NAT64_PREFIX + network, 96 + bits, 'ipv6');
}
for (const [network, bits] of SPECIAL_IPV6) special.addSubnet(network, bits, 'ipv6');

/**
 * Whether an IP address is on the public internet: not private, loopback, link-local or reserved.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  // IPv4-mapped addresses (::ffff:0:0/96) are outside the global unicast space, so they are refused.
  return version === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** A host name resolves to an address within a private network. */
export class PrivateAddress extends Error {
  override name = 'PrivateAddress';
}

/**
 * A `lookup` for sockets that fails with PrivateAddress unless every address of the name is public.
 * The socket connects to the addresses returned here, so a name that resolves differently the next
 * time (DNS rebinding) has no effect.
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

/**
 * The host under which a program on this machine reaches a listener on all interfaces. One on `::`
 * accepts IPv4 too, also on a machine without IPv6.
 */
export const ownHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;

/** The same with the port: `host:port`. */
export function reachable({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): string {
  const own = ownHost(host);
  return `${own.includes(':') ? `[${own}]` : own}:${port}`;
}
