import { expect, test } from '@jest/globals';
import { Canaries } from './canaries.ts';

const canaries = new Canaries();
const word = canaries.of('word');
const key = canaries.keep('key', 'p@ss/w=rd"of+ours');
const quoted = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `=${byte.toString(16).toUpperCase()}`).join('');

test.each([
  ['as it is', (text: string) => `...${text}...`],
  ['in capitals', (text: string) => text.toUpperCase()],
  ['in JSON', (text: string) => JSON.stringify({ text })],
  [
    'in JSON in JSON',
    (text: string) => JSON.stringify(JSON.stringify([text.slice(0, 4) + text.slice(4)])),
  ],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded throughout', (text: string) => quoted(text).replaceAll('=', '%')],
  ['quoted-printable', quoted],
  ['quoted-printable over two lines', (text: string) => `${text.slice(0, 6)}=\r\n${text.slice(6)}`],
  ['folded', (text: string) => `${text.slice(0, 6)}\r\n ${text.slice(6)}`],
  ['base64', (text: string) => Buffer.from(text).toString('base64')],
  ['base64 after one byte', (text: string) => Buffer.from(`a${text}b`).toString('base64')],
  ['base64 after two bytes', (text: string) => Buffer.from(`ab${text}c`).toString('base64url')],
  ['hexadecimal', (text: string) => Buffer.from(text).toString('hex')],
])('%s it is found, and no other', (how, write) => {
  expect(canaries.foundIn(write(word))).toEqual(['word']);
  if (how !== 'in JSON' && how !== 'in JSON in JSON') {
    expect(canaries.foundIn(write(key))).toEqual(['key']);
  }
  expect(canaries.foundIn(write('anything else, which is as long'))).toEqual([]);
});
