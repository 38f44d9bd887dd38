import { expect, test } from '@jest/globals';
import { sniffType } from '../../src/runtime/sniff-type.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

test.each<[string, Buffer, object | undefined]>([
  ['a picture', PNG, { mime: 'image/png', extension: 'png' }],
  ['a text', Buffer.from('Hello, where is my order?'), undefined],
  ['a text in UTF-16', Buffer.from('\ufeffWhere is my order?', 'utf16le'), undefined],
  ['a text in UTF-16, high byte first', Buffer.from('\ufeffHello', 'utf16le').swap16(), undefined],
  [
    'a zip that is cut off',
    Buffer.from('504b0304', 'hex'),
    { mime: 'application/zip', extension: 'zip' },
  ],
  ['nothing', Buffer.alloc(0), undefined],
])('the type of %s', async (_, start, expected) => {
  expect(await sniffType(start)).toEqual(expected);
});
