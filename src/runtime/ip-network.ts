import { isIPv4, isIPv6 } from 'node:net';

/**
 * What a limit per address counts: the IPv4 address, or the /64 of an IPv6 address, since one
 * customer line has that many addresses to choose from (RFC 6177 §2). An IPv4-mapped address
 * (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2), which is how a socket that listens on `::` names an
 * IPv4 client, is its IPv4 address: else all of IPv4 would be one client.
 */
export function ipNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address.replace(/%.*$/, ''));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of an IPv6 address; its last two may be written as an IPv4 address. */
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
