/** A file as somebody uploads it. */
export interface OfferedFile {
  readonly what: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** What the client says it is. */
  readonly type: string;
}

/** What each of them asks for when it runs. */
export const RAN = '/ran';

const JS = `new Image().src='${RAN}'`;
const SCRIPT = `<script>${JS}</script>`;
const IMG = `<img src="x:" onerror="${JS}">`;
const SVG_NS = 'xmlns="http://www.w3.org/2000/svg"';
const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = `<svg ${SVG_NS}>${SCRIPT}</svg>`;
const HTML = `<html><body>${SCRIPT}</body></html>`;
const XML = '<?xml version="1.0"?>';
const comment = (length: number): string => `<!--${'x'.repeat(length)}-->`;
const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

type Case = readonly [what: string, bytes: string | Buffer, name?: string, type?: string];

const HTML_FILES: readonly Case[] = [
  ['a document type', `<!DOCTYPE html>${SCRIPT}`],
  ['a document type in lower case, after a line', `\n<!doctype html>${SCRIPT}`],
  ['html', HTML],
  ['HTML', HTML.toUpperCase().replace(JS.toUpperCase(), JS)],
  ['head', `<head>${SCRIPT}</head>`],
  ['body', `<body onload="${JS}">`],
  ['script', SCRIPT],
  ['iframe', `<iframe srcdoc="${SCRIPT.replaceAll('"', '&quot;')}"></iframe>`],
  ['img', IMG],
  ['p', `<p>${IMG}`],
  ['a', `<a href="#">${IMG}</a>`],
  ['b', `<b>${SCRIPT}</b>`],
  ['br', `<br>${SCRIPT}`],
  ['div', `<div>${IMG}</div>`],
  ['h1', `<h1>${SCRIPT}</h1>`],
  ['font', `<font>${SCRIPT}</font>`],
  ['table', `<table><tr><td>${IMG}</table>`],
  ['style', `<style>p{}</style>${SCRIPT}`],
  ['title', `<title>Invoice</title>${SCRIPT}`],
  ['a comment', `<!-- Invoice -->${SCRIPT}`],
  ['a comment of 5,000 bytes', `${comment(5_000)}${HTML}`],
  ['a comment that HTML ends early', `<!-->${SCRIPT}<!-- -->`],
  ['a bogus comment', `<!x>${SCRIPT}`],
  ['an instruction', `<?php echo 1 ?>${HTML}`],
  ['4,200 blanks', `${' '.repeat(4_200)}${HTML}`],
  ['70,000 blanks', `${' '.repeat(70_000)}${HTML}`],
  ['every kind of blank', `\t\n\f\r ${HTML}`],
  ['the mark of UTF-8', `\ufeff${HTML}`],
  ['UTF-16', Buffer.from(`\ufeff${HTML}`, 'utf16le')],
  ['UTF-16, the other way round', bigEndian(`\ufeff${HTML}`)],
  ['UTF-16 without its mark', Buffer.from(HTML, 'utf16le')],
  ['UTF-7', '+ADw-script+AD4-alert(1)+ADw-/script+AD4-<p>', 'a.txt', 'text/plain;charset=utf-7'],
  ['a NUL', `\0${HTML}`],
  ['words', `Hello ${SCRIPT}`],
  ['a table of values', `a,b\n1,${SCRIPT}`, 'list.csv', 'text/csv'],
  ['Markdown', `# Hello\n\n${SCRIPT}`, 'read.md', 'text/markdown'],
  ['a type that says so', 'hello', 'a.txt', 'text/html'],
  ['a name that says so', HTML, 'page.html', 'text/plain'],
  ['a name with a dot behind', HTML, 'page.html.'],
  ['a name with blanks behind', HTML, 'page.htm . '],
  ['an archive of a page', `MIME-Version: 1.0\nContent-Type: text/html\n\n${HTML}`, 'page.mht'],
];

const XML_FILES: readonly Case[] = [
  ['SVG', SVG, 'logo.png', 'image/png'],
  ['SVG behind a declaration', `${XML}${SVG}`],
  ['SVG behind a comment of 5,000 bytes', `${XML}${comment(5_000)}${SVG}`],
  ['SVG behind a comment of 70,000 bytes', `${XML}${comment(70_000)}${SVG}`],
  [
    'SVG behind its document type',
    `${XML}<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "">${SVG}`,
  ],
  ['SVG behind entities', `${XML}<!DOCTYPE x [<!ENTITY a "]>">]>${SVG}`],
  ['SVG behind an instruction', `${XML}<?x ${'y'.repeat(5_000)}?>${SVG}`],
  [
    'SVG with a prefix',
    `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>${JS}</s:script></s:svg>`,
  ],
  ['SVG with an event', `<svg ${SVG_NS} onload="${JS}"/>`],
  ['SVG with a slash', `<svg/onload="${JS}">`],
  ['SVG in UTF-16', Buffer.from(`\ufeff${XML}${SVG}`, 'utf16le')],
  ['SVG that is called so', SVG, 'logo.svg', 'application/xml'],
  ['SVG with a dot behind its name', SVG, 'logo.svg.', 'application/xml'],
  ['SVG within another root', `${XML}<a>${SVG}</a>`, 'a.xml', 'application/xml'],
  ['XHTML', `${XML}<html xmlns="${XHTML}">${SCRIPT}</html>`, 'a.xml', 'application/xml'],
  [
    'XHTML with a prefix',
    `${XML}<x:html xmlns:x="${XHTML}"><x:script>${JS}</x:script></x:html>`,
    'a.xml',
    'application/xml',
  ],
  [
    'XHTML without html',
    `${XML}<x:div xmlns:x="${XHTML}"><x:script>${JS}</x:script></x:div>`,
    'a.xml',
    'text/xml',
  ],
  [
    'XHTML in an invoice',
    `${XML}<Invoice><x:script xmlns:x="${XHTML}">${JS}</x:script></Invoice>`,
    'invoice.xml',
    'application/xml',
  ],
  [
    'XHTML in a feed',
    `${XML}<feed xmlns="http://www.w3.org/2005/Atom"><div xmlns="${XHTML}">${SCRIPT}</div></feed>`,
    'feed.xml',
    'application/atom+xml',
  ],
  [
    'XHTML in MathML',
    `<math xmlns="http://www.w3.org/1998/Math/MathML"><script xmlns="${XHTML}">${JS}</script></math>`,
    'a.xml',
    'application/mathml+xml',
  ],
  [
    'XHTML under another document type',
    `<!DOCTYPE note><note><script xmlns="${XHTML}">${JS}</script></note>`,
    'a.xml',
    'text/xml',
  ],
  [
    'a style sheet',
    `${XML}<?xml-stylesheet type="text/xsl" href="#s"?><a><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html>${SCRIPT}</html></xsl:template></xsl:stylesheet></a>`,
    'a.xml',
    'application/xml',
  ],
];

const PNG_HEAD = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
  'hex',
);
const after = (head: Buffer | string, tail = HTML): Buffer =>
  Buffer.concat([Buffer.from(head), Buffer.from(tail)]);

const POLYGLOTS: readonly Case[] = [
  ['GIF', after(`GIF89a/*${'\0'.repeat(8)}*/`), 'a.gif', 'image/gif'],
  ['GIF that is a script', after('GIF89a=0;/*', `*/${JS};//${SCRIPT}`), 'a.gif', 'image/gif'],
  ['PNG', after(PNG_HEAD), 'a.png', 'image/png'],
  [
    'JPEG',
    after(Buffer.from('ffd8ffe000104a46494600010100000100010000fffe0100', 'hex')),
    'a.jpg',
    'image/jpeg',
  ],
  ['BMP', after(Buffer.from('424d46000000000000003600000028000000', 'hex')), 'a.bmp', 'image/bmp'],
  ['WebP', after('RIFF\u0010\0\0\0WEBPVP8 '), 'a.webp', 'image/webp'],
  ['PDF', after('%PDF-1.7\n'), 'a.pdf', 'application/pdf'],
  ['ZIP', after(Buffer.from('504b0304140000000000', 'hex')), 'a.zip', 'application/zip'],
  ['MP3', after('ID3\u0003\0\0\0\0\0\0', SVG), 'a.mp3', 'audio/mpeg'],
  ['RTF', after('{\\rtf1 '), 'a.rtf', 'application/rtf'],
  ['vCard', after('BEGIN:VCARD\r\nNOTE:', SCRIPT), 'a.vcf', 'text/vcard'],
  ['iCalendar', after('BEGIN:VCALENDAR\r\nX-A:', SCRIPT), 'a.ics', 'text/calendar'],
  ['WebVTT', after('WEBVTT\n\n', SCRIPT), 'a.vtt', 'text/vtt'],
];

const offered = ([what, bytes, name = 'file.txt', type = '']: Case): OfferedFile => ({
  ...{ what, name, type },
  bytes: Buffer.from(bytes),
});

/** Files that ran a script in some browser under some type that a careless server may send. */
export const ACTIVE_FILES: readonly OfferedFile[] = [
  ...HTML_FILES.map(([what, ...rest]) => offered([`HTML: ${what}`, ...rest])),
  ...XML_FILES.map(offered),
  ...POLYGLOTS.map(([what, ...rest]) => offered([`HTML in ${what}`, ...rest])),
];
