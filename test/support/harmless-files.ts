import type { OfferedFile } from './active-files.ts';

const UNKNOWN = 'application/octet-stream';
const TEXT = 'text/plain';

type Case = readonly [name: string, body: string | Buffer, stored: string, declared?: string];

const invoice = (root: string, rest = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${rest}<${root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>4711</ID></${root}>\n`;
const zipped = (first: string, tail = ''): Buffer => {
  const head = Buffer.alloc(30);
  head.write('PK\u0003\u0004', 'latin1');
  head.writeUInt16LE(20, 4);
  head.writeUInt32LE(tail.length, 18);
  head.writeUInt32LE(tail.length, 22);
  head.writeUInt16LE(first.length, 26);
  return Buffer.concat([head, Buffer.from(first + tail)]);
};
const office = (kind: string): Buffer =>
  zipped(
    '[Content_Types].xml',
    `<?xml version="1.0"?><Types><Override ContentType="application/vnd.openxmlformats-officedocument.${kind}.main+xml"/></Types>`,
  );
const opened = (format: string): Buffer =>
  zipped('mimetype', `application/vnd.oasis.opendocument.${format}`);
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const mail = (type: string, body: string): string =>
  `From: Ann Lee <ann@example.com>\r\nTo: <support@acme.example>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}`;

/** Name, bytes and the type under which each has to be stored. */
const KINDS: readonly Case[] = [
  ['notes.txt', 'Where is my order?\n', TEXT],
  ['formula.txt', 'a < b and c > d; 1<2', TEXT],
  ['addresses.txt', 'Ann Lee <ann@example.com>, Bob <bob@example.com>', TEXT],
  ['wide.txt', Buffer.from('\ufeffWo ist meine Bestellung?', 'utf16le'), TEXT],
  ['latin.txt', Buffer.from('Gr\u00fc\u00dfe', 'latin1'), TEXT],
  ['server.log', '2026-11-22 10:00:01 INFO started\n'.repeat(40), TEXT],
  ['trace.log', 'TypeError: x\n    at run (app.js:1:2)\n    at <anonymous>\n', UNKNOWN],
  ['tags.log', '10:00:01 got <order id="1"> from <b>Ann</b>\n', UNKNOWN],
  ['page.log', '10:00:01 sent <html><script>alert(1)</script></html>\n', UNKNOWN],
  ['orders.csv', 'id,total\n1,20\n', 'text/csv', 'text/csv'],
  ['orders.tsv', 'id\ttotal\n1\t20\n', TEXT, 'text/tab-separated-values'],
  ['order.json', '{"id":1}', TEXT, 'application/json'],
  ['README.md', '# Hello\n\n* one\n', 'text/markdown', 'text/markdown'],
  ['tagged.md', '# Hello <br> you\n', UNKNOWN, 'text/markdown'],
  ['settings.yaml', 'a: 1\n', TEXT],
  ['settings.ini', '[a]\nb=1\n', TEXT],
  ['dump.sql', "INSERT INTO a VALUES ('x');\n", TEXT],
  ['meeting.ics', 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n', 'text/calendar'],
  ['ann.vcf', 'BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ann\r\nEND:VCARD\r\n', 'text/vcard'],
  ['ubl.xml', invoice('Invoice'), UNKNOWN, 'application/xml'],
  ['cii.xml', invoice('rsm:CrossIndustryInvoice'), UNKNOWN, 'text/xml'],
  [
    'fattura.xml',
    invoice('p:FatturaElettronica', '<?xml-stylesheet type="text/xsl" href="f.xsl"?>'),
    UNKNOWN,
    'application/xml',
  ],
  [
    'cxml.xml',
    invoice('cXML', '<!DOCTYPE cXML SYSTEM "http://xml.cxml.org/schemas/cXML.dtd">\n'),
    UNKNOWN,
    'text/xml',
  ],
  ['long-comment.xml', invoice('Invoice', `<!--${'x'.repeat(9_000)}-->`), UNKNOWN, 'text/xml'],
  ['route.gpx', invoice('gpx'), UNKNOWN],
  [
    'prefs.plist',
    invoice('plist', '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "">'),
    UNKNOWN,
  ],
  ['plain.eml', mail('text/plain', 'Hello\r\n'), TEXT, 'message/rfc822'],
  [
    'html.eml',
    mail('text/html', '<html><body><p>Hello</p></body></html>'),
    UNKNOWN,
    'message/rfc822',
  ],
  ['box.mbox', `From ann@example.com Mon Jan  1\r\n${mail('text/plain', 'Hello')}`, TEXT],
  [
    'letter.docx',
    office('wordprocessingml.document'),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  [
    'table.xlsx',
    office('spreadsheetml.sheet'),
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  [
    'talk.pptx',
    office('presentationml.presentation'),
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  ['letter.odt', opened('text'), 'application/vnd.oasis.opendocument.text'],
  ['table.ods', opened('spreadsheet'), 'application/vnd.oasis.opendocument.spreadsheet'],
  ['old.doc', hex('d0cf11e0a1b11ae1 00000000'), 'application/x-cfb'],
  ['letter.rtf', '{\\rtf1\\ansi Hello}', 'application/rtf'],
  ['invoice.pdf', '%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n', 'application/pdf'],
  [
    'photo.jpg',
    Buffer.concat([
      hex('ffd8ffe1 0040'),
      Buffer.from('Exif\0\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF></rdf:RDF></x:xmpmeta>'),
    ]),
    'image/jpeg',
  ],
  ['picture.gif', Buffer.from('GIF89a\u0001\0\u0001\0\0\0\0;', 'latin1'), 'image/gif'],
  ['program.exe', hex('4d5a9000 03000000'), UNKNOWN],
];

const VARIANTS = 5;

/** What customers send to a shop, and the type under which each has to be stored: 200 files. */
export const HARMLESS_FILES: readonly (OfferedFile & { readonly stored: string })[] = KINDS.flatMap(
  ([name, body, stored, type = '']) =>
    Array.from({ length: VARIANTS }, (_, nth) => ({
      ...{ what: `${name}, ${nth}`, stored, type },
      name: nth === 0 ? name : `${nth} ${name}`,
      // The same kind in other sizes: what follows is blank, as it is in padded files.
      bytes: Buffer.concat([Buffer.from(body), padding(body, nth)]),
    })),
);

function padding(body: string | Buffer, nth: number): Buffer {
  const isWide = Buffer.isBuffer(body) && body[0] === 0xff && body[1] === 0xfe;
  const blanks = '\n'.repeat(nth * 997);
  return Buffer.from(blanks, isWide ? 'utf16le' : 'latin1');
}
