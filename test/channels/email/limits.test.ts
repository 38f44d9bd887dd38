import { describe, expect, test } from '@jest/globals';
import { clientKey, createNetworks } from '../../../src/channels/email/client-address.ts';
import { ConnectionLimits } from '../../../src/channels/email/connection-limits.ts';
import { DataPace } from '../../../src/channels/email/data-pace.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
])('%s is counted as %s', (address, key) => {
  expect(clientKey(address)).toBe(key);
});

describe('trusted relays', () => {
  const trusted = createNetworks(['127.0.0.0/8', '::1/128', '192.0.2.7', '2001:db8::/32']);

  test.each([
    ['127.0.0.1', true],
    ['127.255.0.1', true],
    ['::1', true],
    ['192.0.2.7', true],
    ['2001:db8:ffff::1', true],
    ['192.0.2.8', false],
    ['2001:db9::1', false],
    ['', false],
    ['not an address', false],
  ])('%s: %s', (address, expected) => {
    expect(trusted.has(address)).toBe(expected);
    // Asked again it answers from memory.
    expect(trusted.has(address)).toBe(expected);
  });

  test.each(['', 'example.com', '10.0.0.0/33', '10.0.0.0/x'])('%j is no network', (cidr) => {
    expect(() => createNetworks([cidr])).toThrow();
  });
});

describe('connection limits', () => {
  const limits = () =>
    new ConnectionLimits(
      { maxConnections: 4, maxConnectionsPerIp: 2 },
      createNetworks(['127.0.0.0/8']),
    );

  test('count per client and give back', () => {
    const counted = limits();
    expect([1, 2, 3].map(() => counted.admit('192.0.2.1'))).toEqual([true, true, false]);
    expect(counted.admit('192.0.2.2')).toBe(true);
    counted.release('192.0.2.1');
    expect(counted.admit('192.0.2.1')).toBe(true);
    expect(counted.open).toBe(3);
  });

  test('take an IPv6 /64 for one client', () => {
    const counted = limits();
    const admitted = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map(
      (address) => counted.admit(address),
    );
    expect(admitted).toEqual([true, true, false, true]);
  });

  test('hold for trusted relays only in all', () => {
    const counted = limits();
    const admitted = [1, 2, 3, 4, 5].map(() => counted.admit('127.0.0.1'));
    expect(admitted).toEqual([true, true, true, true, false]);
  });
});

describe('the pace of DATA', () => {
  const options = { minBytesPerSecond: 500, windowMs: 30_000, totalMs: 600_000 };

  test('is measured over whole windows', () => {
    const pace = new DataPace(options, 0);
    expect(pace.isTooSlow(29_999, 0, false)).toBe(false);
    expect(pace.isTooSlow(30_000, 15_000, false)).toBe(false);
    expect(pace.isTooSlow(60_000, 29_999, false)).toBe(true);
  });

  test('does not count the time that the client waits for us', () => {
    const pace = new DataPace(options, 0);
    expect(pace.isTooSlow(30_000, 0, true)).toBe(false);
    expect(pace.isTooSlow(60_000, 0, false)).toBe(true);
  });

  test('has an end for a fast client too', () => {
    const pace = new DataPace(options, 0);
    expect(pace.isTooSlow(600_001, 1e9, false)).toBe(true);
  });
});
