import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import {
  type FileKind,
  fileKind,
  fileKindAt,
  HEAD_BYTES,
  signatureOf,
} from '../../src/runtime/file-kind.ts';
import { ends } from '../support/ends.ts';
import { withinProcessorTime } from '../support/processor-time.ts';
import { tempDir } from '../support/temp-dir.ts';

const UTF16LE = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const UTF16BE = (text: string): Buffer => UTF16LE(text).swap16();
const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  deflateSync(Buffer.alloc(64)),
]);
const PDF = '%PDF-1.7\n1 0 obj\n';
const VCARD = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nEND:VCARD\n';

const recognized = (type: string, extension: string, hasPage = false): FileKind => ({
  kind: 'recognized',
  ...{ type, extension, hasPage },
});
const text = (
  markup: 'none' | 'inside' | 'start',
  type?: string,
  extension?: string,
): FileKind => ({
  kind: 'text',
  ...{ type, extension, markup },
});
const PAGE: FileKind = { kind: 'page' };
const UNKNOWN: FileKind = { kind: 'unknown' };

const FILES: readonly (readonly [string, string | Buffer, FileKind])[] = [
  ['a picture', PNG, recognized('image/png', 'png')],
  ['a document', PDF, recognized('application/pdf', 'pdf')],
  [
    'a document that is a page besides',
    `${PDF}<script>`,
    recognized('application/pdf', 'pdf', true),
  ],
  ['a page', '<!doctype html><p>Hi', PAGE],
  ['a page without a doctype', ' \n<script>alert(1)</script>', PAGE],
  ['a page behind a long comment', `<!--${'x'.repeat(9000)}--><html>`, PAGE],
  ['a page in UTF-16', UTF16LE('<script>alert(1)</script>'), PAGE],
  ['a page in UTF-16, the other way round', UTF16BE('<html>'), PAGE],
  ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>', PAGE],
  ['a drawing behind a declaration', '<?xml version="1.0"?><!-- x --><svg/>', PAGE],
  ['XHTML with a prefix', '<?xml version="1.0"?><h:html/>', PAGE],
  ['an XML invoice', '<?xml version="1.0"?><Invoice/>', text('start', 'application/xml', 'xml')],
  ['XML in UTF-16 without a mark', UTF16LE('<?xml version="1.0"?><a/>').subarray(2), UNKNOWN],
  ['a text', 'Hello', text('none')],
  ['a text in UTF-16', UTF16LE('Hello'), text('none')],
  ['a formula', '1 < 2', text('none')],
  ['an address', 'Ann <ann@example.com>', text('none')],
  ['a log with tags', 'at <main> it failed', text('inside')],
  ['a contact card', VCARD, text('none', 'text/vcard', 'vcf')],
  ['blanks', ' \n\t', UNKNOWN],
  ['nothing', '', UNKNOWN],
  ['bytes that nobody knows', Buffer.from([1, 0, 2, 0]), UNKNOWN],
];

test.each(FILES)('%s', async (_title, content, expected) => {
  const bytes = Buffer.from(content);
  expect(await fileKind(bytes)).toEqual(expected);
  const dir = tempDir();
  ends(() => dir.remove());
  const path = join(dir.path, 'file');
  writeFileSync(path, bytes);
  expect(await fileKindAt(path)).toEqual(expected);
});

test.each(['<!DOCTYPE ', '<!DOCTYPE a [', '<!DOCTYPE a []', '<!DOCTYPE a ] ', '<!--', '<?', '<a'])(
  'the longest head after %s takes no time',
  async (start) => {
    await withinProcessorTime(2000, async () => {
      for (const filler of ['a', ' ', ']', '] ', '[', '<', '-', '?', start]) {
        await fileKind(Buffer.from((start + filler.repeat(HEAD_BYTES)).slice(0, HEAD_BYTES)));
      }
    });
  },
);

test('of a long file its head is looked at', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const path = join(dir.path, 'file');
  writeFileSync(path, 'a'.repeat(HEAD_BYTES) + '<html>');
  expect(await fileKindAt(path)).toEqual(text('none'));
});

test.each<[string, Buffer, object | undefined]>([
  ['a picture', PNG, { mime: 'image/png', ext: 'png' }],
  ['a text', Buffer.from('Hello, where is my order?'), undefined],
  ['a text in UTF-16', Buffer.from('\ufeffWhere is my order?', 'utf16le'), undefined],
  ['a text in UTF-16, high byte first', Buffer.from('\ufeffHello', 'utf16le').swap16(), undefined],
  [
    'a zip that is cut off',
    Buffer.from('504b0304', 'hex'),
    { mime: 'application/zip', ext: 'zip' },
  ],
  ['nothing', Buffer.alloc(0), undefined],
])('the signature of %s', async (_title, start, expected) => {
  expect(await signatureOf(start)).toEqual(expected);
});
