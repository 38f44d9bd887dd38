import { expect, test } from '@jest/globals';
import { Secret } from '../../src/config/secret.ts';
import { changedPaths, leavesOf } from '../../src/gateway/config-leaves.ts';

const shop = (name: string, more: object = {}) => ({
  name,
  shopId: `id-of-${name}`,
  apiKey: new Secret('key'),
  ...more,
});

test('every value has a path, a shop by its name', () => {
  const config = {
    smtp: { port: 25, tls: {}, trustedRelays: ['10.0.0.1', '10.0.0.2'] },
    shops: [shop('acme', { chat: undefined })],
  };
  expect(leavesOf(config).map(({ path, at }) => [path, at.join('/')])).toEqual([
    ['smtp.port', 'smtp/port'],
    ['smtp.trustedRelays', 'smtp/trustedRelays'],
    ['shops[acme].name', 'shops/0/name'],
    ['shops[acme].shopId', 'shops/0/shopId'],
    ['shops[acme].apiKey', 'shops/0/apiKey'],
  ]);
});

test.each<[string, object, object, string[]]>([
  ['nothing', { a: [1, 2] }, { a: [1, 2] }, []],
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b']],
  ['a value that is new', {}, { a: { b: 2 } }, ['a.b']],
  ['the order of a list', { a: ['x', 'y'] }, { a: ['y', 'x'] }, ['a']],
  ['an emptied list', { a: ['x'] }, { a: [] }, ['a']],
  ['a secret', { a: new Secret('1') }, { a: new Secret('2') }, ['a']],
  ['the same secret, read again', { a: new Secret('1') }, { a: new Secret('1') }, []],
  ['a list of secrets', { a: [new Secret('1')] }, { a: [new Secret('1'), new Secret('2')] }, ['a']],
  ['the order of shops', { shops: [shop('a'), shop('b')] }, { shops: [shop('b'), shop('a')] }, []],
  ['a shop that is new', { shops: [] }, { shops: [shop('a')] }, ['shops[a]']],
  ['a shop that is gone', { shops: [shop('a'), shop('b')] }, { shops: [shop('b')] }, ['shops[a]']],
  [
    'a channel that is new',
    { shops: [shop('a')] },
    { shops: [shop('a', { chat: { key: 'k', origins: [] } })] },
    ['shops[a].chat.key', 'shops[a].chat.origins'],
  ],
])('changed: %s', (_what, before, after, paths) => {
  // A list without shops is a value of its own.
  const told = changedPaths(before, after).filter((path) => path !== 'shops');
  expect(told).toEqual(paths);
});
