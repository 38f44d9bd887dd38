import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

/**
 * The sessions override methods that smtp-server means to be private. When this fails the library
 * has changed: read what the methods named here do now before the expectation is changed.
 */
const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('smtp-server/package.json'));

test('smtp-server is the version that the overrides were written for', () => {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(version).toBe('3.21.6');
});

describe('smtp-server still has what is overridden, as it was', () => {
  test.each<[string, object, readonly (readonly [string, number])[]]>([
    [
      'the parser',
      SMTPStream.prototype,
      [
        ['_feedDataStream', 2],
        ['_endDataMode', 3],
        ['_countDataBytes', 1],
        ['startDataMode', 1],
        ['continue', 0],
      ],
    ],
    [
      'the session',
      SMTPConnection.prototype,
      [
        ['init', 0],
        ['connectionReady', 1],
        ['send', 3],
        ['close', 0],
        ['upgrade', 2],
        ['_createParser', 0],
        ['_setListeners', 1],
        ['_onCommand', 2],
        ['_parseAddressCommand', 2],
        ['handler_MAIL', 2],
        ['handler_RCPT', 2],
        ['_onClose', 0],
        ['_whenWritable', 1],
        ['_getEnhancedStatusCode', 2],
      ],
    ],
    [
      'the server',
      SMTPServer.prototype,
      [
        ['connect', 2],
        ['_onError', 1],
        ['updateSecureContext', 1],
      ],
    ],
  ])('%s', (_, prototype, methods) => {
    const found = methods.map(([name]) => {
      const method: unknown = Reflect.get(prototype, name);
      return [name, typeof method === 'function' ? method.length : undefined];
    });
    expect(found).toEqual(methods);
  });

  test('the state that the overrides read', () => {
    const parser = new SMTPStream();
    expect(parser).toMatchObject({ _remainder: '', _dataStream: null, dataBytes: 0 });
    const server = new SMTPServer({ logger: false });
    expect(server).toMatchObject({ connections: new Set(), _pendingSockets: new Map() });
  });

  test('a greeting that waits, which is why it is overridden', () => {
    expect(SMTPConnection.prototype.init.toString()).toMatch(
      /setTimeout\(\(\) => this\.connectionReady\(\), 100\)/,
    );
  });
});
