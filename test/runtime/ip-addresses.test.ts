import type { LookupFunction } from 'node:net';
import { describe, expect, it, test } from '@jest/globals';
import {
  clientAddress,
  createPublicLookup,
  ipNetwork,
  isPublicAddress,
  PrivateAddress,
  sitesNetwork,
} from '../../src/runtime/ip-addresses.ts';

describe('an address is public', () => {
  it.each([
    '8.8.8.8',
    '54.172.60.0',
    '100.128.0.1',
    '172.32.0.1',
    '2600:1f18::1',
    '64:ff9b::808:808',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('an address is not public', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '0x7f000001',
    '2130706433',
    '127.1',
    '',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('the lookup', () => {
  const resolving =
    (...addresses: string[]): LookupFunction =>
    (_hostname, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
  const ask = (lookup: LookupFunction, all: boolean) =>
    new Promise((resolve, reject) =>
      lookup('host.example', { all }, (error, address, family) =>
        error ? reject(error) : resolve([address, family]),
      ),
    );

  it('hands on all public addresses, or the first', async () => {
    const lookup = createPublicLookup(resolving('8.8.8.8', '2600::1'));
    expect(await ask(lookup, true)).toEqual([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2600::1', family: 6 },
      ],
      undefined,
    ]);
    expect(await ask(lookup, false)).toEqual(['8.8.8.8', 4]);
  });

  it.each([
    ['a private address among public ones', resolving('8.8.8.8', '10.0.0.1')],
    ['no address', resolving()],
  ])('fails on %s', async (_label, resolve) => {
    await expect(ask(createPublicLookup(resolve), true)).rejects.toThrow(PrivateAddress);
  });

  it('passes on what the resolver fails with', async () => {
    const failure = new Error('ENOTFOUND');
    const lookup = createPublicLookup((_hostname, _options, callback) => callback(failure, []));
    await expect(ask(lookup, true)).rejects.toBe(failure);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['::192.0.2.7', '::192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['', ''],
])('the client %s is %s', (address, client) => {
  expect(clientAddress(address)).toBe(client);
});

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

it.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2::5', '2001:db8:1::/48'],
  ['2001:db8::', '2001:db8:0::/48'],
  [ipNetwork('2001:db8:1:2::5'), '2001:db8:1::/48'],
])('the network of the site of %s is %s', (address, network) => {
  expect(sitesNetwork(address)).toBe(network);
});
