import { describe, expect, test } from '@jest/globals';
import { readPartHead } from '../../../../src/channels/email/normalize/parts/part-head.ts';
import { parseStructuredHeader } from '../../../../src/channels/email/normalize/parts/structured-header.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

const binary = (text: string): string => Buffer.from(text).toString('latin1');

test.each<[string, string, Record<string, string>]>([
  ['text/plain', 'text/plain', {}],
  ['text/plain;charset=utf-8;', 'text/plain', { charset: 'utf-8' }],
  ['text/plain ; Charset = "utf-8" ; x', 'text/plain', { charset: 'utf-8', x: '' }],
  ['text/plain (a; b="c") ; charset=(no) utf-8 (yes)', 'text/plain', { charset: 'utf-8' }],
  ['a/b; name=Invoice(1).pdf', 'a/b', { name: 'Invoice(1).pdf' }],
  ['a/b; name=Invoice (1).pdf', 'a/b', { name: 'Invoice (1).pdf' }],
  ['a/b; name=Invoice (1.pdf; x=1', 'a/b', { name: 'Invoice (1.pdf', x: '1' }],
  ['a/b; name="a;b=\\"c\\""', 'a/b', { name: 'a;b="c"' }],
  ['a/b; name="never closed; x=1', 'a/b', { name: 'never closed; x=1' }],
  ['a/b; name="a.pdf" rest; x=1', 'a/b', { name: 'a.pdf', x: '1' }],
  ['a/b; name=" padded "', 'a/b', { name: ' padded ' }],
  ['a/b; name=C:\\temp\\a.pdf', 'a/b', { name: 'C:\\temp\\a.pdf' }],
  ['a/b; name=one; name=two', 'a/b', { name: 'one' }],
  ['a/b;\r\tname=one\r', 'a/b', { name: 'one' }],
  ['a/b; name==?utf-8?Q?=C3=BC?=', 'a/b', { name: 'ü' }],
  [binary('a/b; name=für.pdf'), 'a/b', { name: 'für.pdf' }],
  ['a/b; name=f\xfcr.pdf', 'a/b', { name: 'für.pdf' }],
  ["a/b; name*=utf-8''f%C3%BCr.pdf", 'a/b', { name: 'für.pdf' }],
  ["a/b; name*=windows-1252'de'f%FCr%.pdf", 'a/b', { name: 'für%.pdf' }],
  ["a/b; name*=utf-8''f%FCr.pdf", 'a/b', { name: 'für.pdf' }],
  ["a/b; name*=no-such''f%C3%BCr.pdf", 'a/b', { name: 'für.pdf' }],
  ['a/b; name*=a%20b.pdf', 'a/b', { name: 'a b.pdf' }],
  ["a/b; name*0*=''a%20; name*1=b%20c; name*2*=%2E", 'a/b', { name: 'a b%20c.' }],
  ['a/b; name*1=b; name*0=a', 'a/b', { name: 'ab' }],
  ["a/b; name=plain; name*=''extended", 'a/b', { name: 'extended' }],
  ['a/b; name=plain; name*=', 'a/b', { name: 'plain' }],
  ['; charset=x', '', { charset: 'x' }],
  ['', '', {}],
])('%s', (text, value, parameters) => {
  const found = parseStructuredHeader(text);
  expect({ value: found.value, parameters: found.parameters }).toEqual({ value, parameters });
});

test.each(['(', ' (', 'a=(', ';', '"', '\\', 'a*0*=x; ', '=?', "a*='", '(a)', 'a;b=c '])(
  'is linear in many of %s',
  async (piece) => {
    const many = [piece.repeat(500_000), `a/b; c=d${piece.repeat(4000)}${') '.repeat(4000)}e`];
    await withinProcessorTime(1000, () => many.map(parseStructuredHeader));
  },
);

const head = (type: string, encoding = '', disposition = '', inDigest = false) =>
  readPartHead(
    [
      ['content-type', type],
      ['content-transfer-encoding', encoding],
      ['content-disposition', disposition],
    ],
    inDigest,
  );

describe('the type of a part', () => {
  test.each([
    ['TEXT/HTML; charset=x', 'text/html'],
    ['text/html, text/plain', 'text/html'],
    ['text', 'text/plain'],
    ['a/b/c', 'text/plain'],
    ['; name=a.pdf', 'application/pdf'],
    ['application/octet-stream; name=a.pdf', 'application/pdf'],
    ['multipart; boundary=b', 'multipart/mixed'],
    ['multipart/mixed boundary="b"', 'multipart/mixed'],
  ])('%s is read as %s', (type, expected) => {
    expect(head(type).contentType).toBe(expected);
  });

  test('without one: a message in a digest, a file by its name, otherwise text', () => {
    const untyped = (disposition: string, inDigest = false) =>
      readPartHead([['content-disposition', disposition]], inDigest).contentType;
    expect(untyped('', true)).toBe('message/rfc822');
    expect(untyped('attachment; filename=a.pdf')).toBe('application/pdf');
    expect(untyped('attachment')).toBe('application/octet-stream');
    expect(untyped('inline')).toBe('text/plain');
  });

  test.each([
    ['base64', 'base64', 'text/plain'],
    ['Base64 (all of it)', 'base64', 'text/plain'],
    ['quoted-printable;', 'quoted-printable', 'text/plain'],
    ['quoted printable', 'quoted-printable', 'text/plain'],
    ['x-quoted-printable', 'quoted-printable', 'text/plain'],
    ['8Bit', 'identity', 'text/plain'],
    ['7bitt', 'identity', 'text/plain'],
    ['text/html', 'identity', 'text/plain'],
    ['utf-8', 'identity', 'text/plain'],
    ['iso-8859-15', 'identity', 'text/plain'],
    ['x-uuencode', 'identity', 'application/octet-stream'],
    ['constructor', 'identity', 'application/octet-stream'],
  ])('RFC 2045 §6.4: with the encoding "%s" it is %s of %s', (name, encoding, contentType) => {
    expect(head('text/plain', name)).toMatchObject({ encoding, contentType });
    // RFC 2045 §6.4: a multipart is never encoded.
    expect(head('multipart/mixed; boundary=b', name).contentType).toBe('multipart/mixed');
  });

  test.each([
    ['https://x.example/a/lamp.gif?size=1', 'lamp.gif'],
    ['lamp.gif', 'lamp.gif'],
    ['https://x.example/a/', undefined],
    ['cid:lamp@x.example', undefined],
  ])('the Content-Location %s suggests the name %s', (location, otherName) => {
    expect(readPartHead([['content-location', location]], false)).toMatchObject({
      fileName: undefined,
      otherName,
    });
  });

  test.each([
    ['boundary="a b "', 'a b'],
    ['boundary=""', undefined],
    ['boundary==?utf-8?Q?a?=', '=?utf-8?Q?a?='],
    ['boundary*0=a; boundary*1*=%62', 'ab'],
    ['boundary=\xfc', '\xfc'],
  ])('%s', (parameter, boundary) => {
    expect(head(`multipart/mixed; ${parameter}`).boundary).toBe(boundary);
  });
});
