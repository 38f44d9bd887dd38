import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { isSecureOf, networkOf } from '../../src/gateway/console.ts';
import { clientIpOf } from '../../src/gateway/public-http.ts';

/** What the functions read of a request. */
const request = (remoteAddress: string, headers: Readonly<Record<string, string>> = {}) =>
  ({
    headers,
    socket: { remoteAddress },
    connection: { remoteAddress },
  }) as unknown as IncomingMessage;

test.each([
  ['192.0.2.7', [], undefined, '192.0.2.7'],
  ['::ffff:192.0.2.7', [], undefined, '192.0.2.7'],
  ['::ffff:192.0.2.7', [], '198.51.100.1', '192.0.2.7'],
  ['::ffff:10.0.0.5', ['10.0.0.0/8'], '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.0.0.5', ['10.0.0.5'], '::ffff:198.51.100.1', '198.51.100.1'],
  ['10.0.0.5', ['::ffff:10.0.0.5'], '2001:db8::1', '2001:db8::1'],
  ['::ffff:192.0.2.7', ['10.0.0.0/8'], '198.51.100.1', '192.0.2.7'],
  ['::1', ['::1'], '198.51.100.1', '198.51.100.1'],
])('the client of %s behind %j with %s is %s', (peer, proxies, forwarded, client) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  expect(clientIpOf(proxies)(request(peer, headers))).toBe(client);
});

test("the console's limits and its TLS behind a proxy see an IPv4 client on :: as IPv4", () => {
  expect(networkOf([])(request('::ffff:192.0.2.7'))).toBe('192.0.2.7');
  const secure = { 'x-forwarded-proto': 'https' };
  expect(isSecureOf(['10.0.0.0/8'])(request('::ffff:10.0.0.5', secure))).toBe(true);
  expect(isSecureOf(['10.0.0.0/8'])(request('::ffff:192.0.2.7', secure))).toBe(false);
});
