import { expect, test } from '@jest/globals';
import { ipNetwork } from '../../src/runtime/ip-network.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['0000:0000:0000:0000:0000:ffff:c000:0207', '192.0.2.7'],
  // Not mapped: other prefixes that end in an IPv4 address.
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['::192.0.2.7', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
  ['not an address', 'not an address'],
])('%s counts as %s', (address, network) => {
  expect(ipNetwork(address)).toBe(network);
});
