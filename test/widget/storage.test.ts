import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PacketType } from 'socket.io-parser';
import { PlainEncoder } from '../../src/widget/engine/connection.ts';
import { gatewayAddress, SafeStorage, storagePrefix } from '../../src/widget/storage.ts';
import { BrowserStorage } from './engine/browser-storage.ts';

describe('the storage', () => {
  test('is apart for each gateway and key', () => {
    const prefixes = [
      ['https://gw.example', 'a'],
      ['https://gw.example', 'a:b'],
      ['https://gw.example:8443', 'a'],
      ['https://gw.example/chat-of-acme', 'a'],
    ].map(([url = '', key = '']) => storagePrefix(url, key));
    for (const prefix of prefixes) {
      expect(prefixes.filter((other) => other.startsWith(prefix))).toEqual([prefix]);
    }
    expect(storagePrefix('https://gw.example/', 'a')).toBe(prefixes[0]);
    expect(gatewayAddress('https://gw.example/sub/')).toEqual({
      origin: 'https://gw.example',
      basePath: '/sub',
    });
  });

  test('keeps in memory what it cannot write, and takes it back when it can', () => {
    const page = new BrowserStorage().page();
    const storage = new SafeStorage(page, 'p:');
    storage.set('name', 1);
    page.refuses = new Error('full');
    storage.set('name', 2);
    storage.set('other', 'x');
    expect([storage.get('name'), storage.get('other')]).toEqual([2, 'x']);
    expect(storage.names().sort()).toEqual(['name', 'other']);
    page.refuses = undefined;
    storage.set('name', 3);
    expect(new SafeStorage(page, 'p:').get('name')).toBe(3);
    storage.remove('other');
    expect(storage.get('other')).toBeUndefined();
  });

  test('whose every call throws is treated as missing', () => {
    const fail = (): never => {
      throw new Error('SecurityError');
    };
    const broken = new Proxy({} as Storage, { get: fail, ownKeys: fail });
    const storage = new SafeStorage(broken, 'p:');
    storage.set('name', { a: 1 });
    expect(storage.get('name')).toEqual({ a: 1 });
    expect(storage.names()).toEqual(['name']);
    storage.remove('name');
    expect(storage.get('name')).toBeUndefined();
  });

  test('tells its own keys from others’', () => {
    const page = new BrowserStorage().page();
    page.setItem('of the site', '1');
    page.setItem('p:', 'not JSON');
    const storage = new SafeStorage(page, 'p:');
    expect(storage.names()).toEqual(['']);
    expect(storage.get('')).toBeUndefined();
    expect(storage.nameOf('of the site')).toBeUndefined();
  });
});

describe('beside Prototype.js 1.6, which gives arrays and strings a toJSON', () => {
  const prototypes = [Array.prototype, String.prototype] as { toJSON?: () => string }[];
  beforeEach(() => {
    for (const prototype of prototypes) {
      prototype.toJSON = function () {
        return 'its own form';
      };
    }
  });
  afterEach(() => {
    for (const prototype of prototypes) delete prototype.toJSON;
  });

  test('values are stored as they are', () => {
    const page = new BrowserStorage().page();
    const storage = new SafeStorage(page, 'sluice:');
    storage.set('seen', ['visitor', { at: [1, 2], text: 'a "word"' }]);
    expect(page.getItem('sluice:seen') === '["visitor",{"at":[1,2],"text":"a \\"word\\""}]').toBe(
      true,
    );
  });

  test('messages are sent as they are', () => {
    const sent: unknown[] = new PlainEncoder().encode({
      type: PacketType.EVENT,
      nsp: '/',
      data: ['message', { text: 'a "word"', uploads: ['id'] }],
    });
    expect(sent[0] === '2["message",{"text":"a \\"word\\"","uploads":["id"]}]').toBe(true);
  });
});
