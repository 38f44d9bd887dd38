import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { DkimVerifier, parseHeaders } from '../../../src/channels/email/authentication/mailauth.ts';
import { LeafParser } from '../../../src/channels/email/normalize/parts/leaf-parser.ts';

/**
 * Of three libraries more is used than they document: smtp-connection.ts, authentication/mailauth.ts
 * and normalize/parts/leaf-parser.ts say what and why. When this fails a library has changed: read
 * what the members named here do now before the expectation is changed.
 */
const require = createRequire(import.meta.url);
function versionOf(library: string): string {
  const folder = dirname(require.resolve(`${library}/package.json`));
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

test.each([
  ['smtp-server', '3.21.6'],
  ['mailauth', '4.13.3'],
  ['mailparser', '3.9.31'],
])('%s is the version whose internals are used', (library, version) => {
  expect(versionOf(library)).toBe(version);
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

test('mailauth still has what is used of it and not documented', async () => {
  const methods = ['messageHeaders', 'nextChunk', 'finalChunk'].map((name) => {
    const method: unknown = Reflect.get(DkimVerifier.prototype, name);
    return typeof method === 'function' ? method.length : undefined;
  });
  expect(methods).toEqual([1, 1, 0]);
  const verifier = new DkimVerifier({});
  await verifier.messageHeaders(parseHeaders(Buffer.from('From: ann@acme.example\r\n\r\n')));
  await verifier.nextChunk(Buffer.from('text\r\n'));
  await verifier.finalChunk();
  expect(verifier).toMatchObject({ results: expect.any(Array), arc: { chain: false } });
  const signed = new DkimVerifier({ resolver: () => Promise.resolve([]) });
  const signature = 'DKIM-Signature: a=rsa-sha256; d=acme.example; s=s; h=from:to:to; bh=x; b=y';
  await signed.messageHeaders(
    parseHeaders(
      Buffer.from(`${signature}\r\nFrom: ann@acme.example\r\nTo: b@acme.example\r\n\r\n`),
    ),
  );
  await signed.finalChunk();
  expect(signed.results).toMatchObject([{ signingHeaders: { keys: 'From: To' } }]);
});

test("mailparser's splitter still has what is used of it and not documented", () => {
  const { splitter } = new LeafParser();
  const original = Object.getPrototypeOf(splitter) as object;
  const lengths = ['newNode', 'checkBoundary', 'processLine', 'parentMultipartNode'].map((name) => {
    const method: unknown = Reflect.get(original, name);
    return [name, typeof method === 'function' ? method.length : undefined];
  });
  expect(lengths).toEqual([
    ['newNode', 1],
    ['checkBoundary', 1],
    ['processLine', 3],
    ['parentMultipartNode', 0],
  ]);
  // In the head of the root.
  expect(splitter.state).toBe(1);
  expect(splitter.node).toMatchObject({
    parentNode: false,
    _headersLines: [],
    _headerlen: 0,
    _parentBoundaryOwner: false,
    headers: false,
    contentType: false,
    multipart: false,
    getDecoder: expect.any(Function),
  });
  const { node } = splitter;
  splitter.newNode(node);
  expect(splitter.node).toMatchObject({ parentNode: node, _parentBoundaryOwner: node });
  // What a delimiter does, and that a head calls what replaces it.
  const source = String(Reflect.get(original, 'processLine'));
  expect(source).toMatch(/truncatedLine \? false : this\.checkBoundary\(line\)/);
  expect(source).toMatch(/case 1:\s+\/\/ next child\s+this\.newNode\(this\.node\)/);
  expect(source).toMatch(
    /case 3: \{\s+\/\/ next sibling\s+this\.newNode\(this\.parentMultipartNode\(\)\)/,
  );
  expect(source).toMatch(/currentNode\.parseHeaders\(\);/);
});

const ALTERNATIVES = [
  'From: ann@customer.example',
  'Content-Type: multipart/alternative; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'x',
  '--b',
  'Content-Type: text/html',
  '',
  '<p>x</p>',
  '--b--',
  '',
].join('\r\n');

test('mailparser still has the parts that are used of it and not documented', async () => {
  const parser = new LeafParser();
  expect(parser.textTypes).toEqual([]);
  const types: string[] = [];
  parser.on(
    'data',
    (data: {
      type: string;
      contentType?: string;
      content?: NodeJS.ReadableStream;
      release?: () => void;
    }) => {
      types.push(data.contentType ?? data.type);
      data.content?.on('end', () => data.release?.()).resume();
    },
  );
  const ended = new Promise((resolve) => parser.once('end', resolve));
  parser.end(Buffer.from(ALTERNATIVES, 'latin1'));
  await ended;
  expect(types).toEqual(['text/plain', 'text/html', 'text']);
  expect(parser.tree).toMatchObject({
    contentType: 'multipart/alternative',
    children: [{ children: [] }, {}],
  });
  expect(parser.tree === false ? undefined : parser.tree.headers.has('from')).toBe(false);
});
