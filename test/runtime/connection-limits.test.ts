import { describe, expect, test } from '@jest/globals';
import { createNetworks } from '../../src/runtime/ip-addresses.ts';
import {
  type Admission,
  type ConnectionLimitOptions,
  ConnectionLimits,
  DataPace,
} from '../../src/runtime/connection-limits.ts';

describe('trusted relays', () => {
  const trusted = createNetworks(['127.0.0.0/8', '::1/128', '192.0.2.7', '2001:db8::/32']);

  test.each([
    ['127.0.0.1', true],
    ['127.255.0.1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:192.0.2.8', false],
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

  test.each([
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '11.1.2.3', false],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:0:0/96', '192.0.2.1', true],
    ['::/0', '192.0.2.1', false],
    ['::/0', '2001:db8::1', true],
  ])('%s has %s: %s', (network, address, expected) => {
    expect(createNetworks([network]).has(address)).toBe(expected);
  });

  test.each(['', 'example.com', '10.0.0.0/33', '10.0.0.0/x'])('%j is no network', (cidr) => {
    expect(() => createNetworks([cidr])).toThrow();
  });
});

describe('connection limits', () => {
  const limits = (change: Partial<ConnectionLimitOptions> = {}) =>
    new ConnectionLimits(
      {
        maxConnections: 10,
        maxConnectionsPerIp: 2,
        connectionRate: { connections: 1000, perMs: 60_000 },
        ...change,
      },
      createNetworks(['127.0.0.0/8']),
    );
  const times = (count: number, admit: (index: number) => Admission) =>
    Array.from({ length: count }, (_, index) => admit(index));

  test('count per client and give back', () => {
    const counted = limits();
    expect(times(3, () => counted.admit('192.0.2.1', 0))).toEqual([
      'admitted',
      'admitted',
      'refused',
    ]);
    expect(counted.admit('192.0.2.2', 0)).toBe('admitted');
    counted.release('192.0.2.1');
    expect(counted.admit('192.0.2.1', 0)).toBe('admitted');
    expect(counted.open).toBe(3);
  });

  test('take an IPv6 /64 for one client', () => {
    const counted = limits();
    const admitted = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map(
      (address) => counted.admit(address, 0),
    );
    expect(admitted).toEqual(['admitted', 'admitted', 'refused', 'admitted']);
  });

  test('tell IPv4 clients apart where the server listens on ::', () => {
    const counted = limits();
    const admitted = [1, 2, 3].map((host) => counted.admit(`::ffff:192.0.2.${String(host)}`, 0));
    expect(admitted).toEqual(['admitted', 'admitted', 'admitted']);
    counted.admit('192.0.2.1', 0);
    expect(counted.admit('::ffff:192.0.2.1', 0)).toBe('refused');
  });

  test('hold for trusted relays only in all', () => {
    const counted = limits({ maxConnections: 3 });
    expect(times(4, () => counted.admit('127.0.0.1', 0))).toEqual([
      ...['admitted', 'admitted', 'admitted'],
      'full',
    ]);
  });

  test('leave a quarter of all connections to others when trusted relays want everything', () => {
    const counted = limits({ maxConnections: 1000, maxConnectionsPerIp: 20 });
    const relays = times(1000, () => counted.admit('127.0.0.1', 0));
    expect(relays.filter((each) => each === 'admitted')).toHaveLength(750);
    expect(relays.at(-1)).toBe('refused');
    expect(times(20, () => counted.admit('192.0.2.1', 0))).not.toContain('refused');
    counted.release('127.0.0.1');
    expect(counted.admit('127.0.0.1', 0)).toBe('admitted');
    expect(counted.open).toBe(770);
  });

  test('keep connections back for clients that have none, however many a few others want', () => {
    const counted = limits({ maxConnections: 1000, maxConnectionsPerIp: 20 });
    for (let client = 0; client < 50; client += 1) {
      times(20, () => counted.admit(`198.51.100.${String(client)}`, 0));
    }
    expect(counted.open).toBeGreaterThan(900);
    expect(1000 - counted.open).toBeGreaterThan(50);
    expect(counted.admit('192.0.2.1', 0)).toBe('admitted');
  });

  test('say full to a client that may and for which no connection is left', () => {
    const counted = limits({ maxConnections: 3 });
    times(3, (index) => counted.admit(`198.51.100.${String(index)}`, 0));
    expect(counted.admit('192.0.2.1', 0)).toBe('full');
    expect(counted.admit('198.51.100.1', 0)).toBe('refused');
    counted.release('198.51.100.1');
    expect(counted.admitWhenRoom('192.0.2.1')).toBe('admitted');
  });

  test('refuse a client that connects too often, until the window is over', () => {
    const counted = limits({ connectionRate: { connections: 2, perMs: 60_000 } });
    const visit = (address: string, now: number): Admission => {
      const admission = counted.admit(address, now);
      if (admission === 'admitted') counted.release(address);
      return admission;
    };
    expect([1, 2, 3].map((now) => visit('192.0.2.1', now))).toEqual([
      'admitted',
      'admitted',
      'refused',
    ]);
    expect(visit('192.0.2.2', 4)).toBe('admitted');
    expect([5, 6, 7].map((now) => visit('127.0.0.1', now))).not.toContain('refused');
    expect(visit('192.0.2.1', 60_000)).toBe('admitted');
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

  test('tells for how long a message has come too slowly on average', () => {
    const pace = new DataPace(options, 0);
    expect(pace.stalledMs(12_000, 5999)).toBe(12_000);
    expect(pace.stalledMs(12_000, 6000)).toBe(0);
  });

  test('has an end for a fast client too', () => {
    const pace = new DataPace(options, 0);
    expect(pace.isTooSlow(600_001, 1e9, false)).toBe(true);
  });
});
