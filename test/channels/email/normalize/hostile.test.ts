import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop, type ShopMailSettings } from '../../../../src/channels/email/shop.ts';
import { createMessageRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, meta, shopSettings } from './jobs.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { runCases, runCount } from '../../../support/run-count.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

const BODIES = ['auto', 'html', 'text'] as const;

let jobs = 0;
const read = async (bytes: Uint8Array, part: Partial<ShopMailSettings> = {}) => {
  jobs += 1;
  return normalizeMessage(emailJob(bytes, `${scratch.path}/${jobs}`), {
    shop: compileShop({ ...shopSettings, quotes: 'always', ...part }),
    maxBufferBytes: Infinity,
    isKnown: () => Promise.resolve(true),
  });
};
const mail = (headers: string, body: string) =>
  Buffer.from(`From: Ann <ann@customer.example>\r\nSubject: Hostile\r\n${headers}\r\n\r\n${body}`);
const html = (body: string) => mail('Content-Type: text/html', body);
const both = (body: string) =>
  mail(
    'Content-Type: multipart/alternative; boundary=b',
    `--b\r\nContent-Type: text/plain\r\n\r\n${'short '.repeat(10)}\r\n--b\r\nContent-Type: text/html\r\n\r\n${body}\r\n--b--`,
  );
const plain = (body: string) => mail('Content-Type: text/plain', body);
const nested = (depth: number) => {
  let text = '';
  for (let at = 0; at < depth; at += 1) {
    text += `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`;
  }
  return mail('Content-Type: multipart/mixed; boundary=b0', `${text}--b${depth}\r\n\r\ndeep\r\n`);
};

/**
 * Each of these is quadratic, or worse, in some library or in a careless regular expression. The
 * worker's deadline is 30 s; the bound here tells linear from quadratic on any machine.
 */
describe('bounded work', () => {
  const MAILS: [string, Buffer][] = [
    ['MIME nested 900 deep', nested(900)],
    ['MIME nested 1,000 deep', nested(1000)],
    [
      '5,000 parts',
      mail('Content-Type: multipart/mixed; boundary=b', '--b\r\n\r\nx\r\n'.repeat(5000)),
    ],
    ['1 MB of <div>', html('<div>'.repeat(210_000))],
    ['the same beside plain text', both('<div>'.repeat(210_000))],
    ['40,000 table rows', html(`<table>${'<tr><td>a</td></tr>'.repeat(40_000)}`)],
    ['40,000 rows of data', html(`<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(40_000)}`)],
    ['500 KB of <', html('<'.repeat(500_000))],
    ['500 KB of &', html('&'.repeat(500_000))],
    ['styles that never end', both('<style>'.repeat(70_000))],
    ['comments that never end', both('<!--'.repeat(120_000))],
    ['attributes without end', html(`<a ${'x=y '.repeat(120_000)}>hi`)],
    ['one long style', html(`<p style="${'font-size:0;'.repeat(40_000)}">a</p>`)],
    ['500 KB of _', html('_'.repeat(500_000))],
    ['zero-width joiners', html('\u200d'.repeat(170_000))],
    ['a flag that never ends', html(`\u{1f3f4}${'\u{e0061}'.repeat(100_000)}`)],
    ['spaces', html(`a${' '.repeat(500_000)}b`)],
    ['quotes in quotes', html(`${'<blockquote>'.repeat(390)}${'x<br>'.repeat(80_000)}`)],
    ['links in links', html(`${'<b><i><a href="http://x.y">'.repeat(120)}${'x '.repeat(200_000)}`)],
    ['On a a a', plain(`${'On a a a '.repeat(30_000)}:`)],
    ['lines like attributions', plain('On 2020 10:00 a wrote\r\n'.repeat(30_000))],
    ['quoted lines like attributions', plain('> On 2020 10:00 a wrote:\r\n'.repeat(30_000))],
    ['lines like header blocks', plain('From: a\r\n'.repeat(60_000))],
    ['dashes', plain(`${'-'.repeat(500)}\r\n`.repeat(2000))],
    ['one line of 3 MB', plain('a'.repeat(3_000_000))],
    ['flowed lines', mail('Content-Type: text/plain; format=flowed', 'a \r\n'.repeat(200_000))],
    ['a To of 0.9 MB', mail(`To: ${'a:'.repeat(450_000)}`, 'x')],
    ['a To of groups', mail(`To: ${'a:'.repeat(40_000)}`, 'x')],
    ['a To of comments', mail(`To: ${'('.repeat(60_000)}`, 'x')],
    ['a To of quotes', mail(`To: ${'"'.repeat(60_000)}`, 'x')],
    ['a subject of encoded words', mail(`Subject: ${'=?utf-8?Q?a?= '.repeat(8000)}`, 'x')],
    ['a subject of half an encoded word', mail(`Subject: ${'=?'.repeat(60_000)}`, 'x')],
    ['references without an end', mail(`References: ${'<'.repeat(120_000)}`, 'x')],
    ['a date of comments', mail(`Date: ${'('.repeat(60_000)}`, 'x')],
    [
      'a boundary of 60 KB',
      mail(`Content-Type: multipart/mixed; boundary="${'b'.repeat(60_000)}"`, '--'.repeat(100_000)),
    ],
    ['parameters without end', mail(`Content-Type: text/plain; ${'a*0*=x; '.repeat(10_000)}`, 'x')],
    [
      'a file name of dots',
      mail(`Content-Type: application/pdf; name="${'.'.repeat(60_000)}/x"`, 'x'),
    ],
    [
      'bad quoted-printable',
      mail('Content-Transfer-Encoding: quoted-printable', '='.repeat(500_000)),
    ],
    ['bad base64', mail('Content-Transfer-Encoding: base64', '!'.repeat(500_000))],
  ];
  test.each(runCases(MAILS))('%s', async (_, bytes) => {
    for (const body of BODIES.slice(0, runCount(BODIES.length))) {
      const { request, files } = await withinProcessorTime(
        10_000,
        async () => await read(bytes, { body }),
      );
      expect(createMessageRequestSchema.safeParse(request).error).toBeUndefined();
      expect(request.message.content.length).toBeLessThanOrEqual(100_000);
      expect(request.message.content.trim()).not.toBe('');
      expect(files.length).toBeLessThanOrEqual(50);
    }
  });

  test('a structure that breaks off leaves what came before, and the original', async () => {
    const parts = `--b\r\nContent-Type: text/plain\r\n\r\nReadable.\r\n${'--b\r\nContent-Disposition: attachment\r\n\r\nx\r\n'.repeat(2000)}`;
    const { request, files, findings } = await read(
      mail('Content-Type: multipart/mixed; boundary=b', parts),
    );
    expect(request.message.content).toContain('Readable.');
    expect(request.message.content).toContain('the original is attached');
    expect(files[0]).toMatchObject({ name: 'Hostile.eml', source: { kind: 'raw' } });
    expect(findings).toMatchObject({ brokenMime: true });
  });
});

describe('any bytes', () => {
  const words = fc.constantFrom(
    'From: ',
    'To: a@b.c',
    'Subject: =?utf-8?B?',
    'Content-Type: multipart/mixed; boundary=b',
    'Content-Type: text/html',
    'Content-Type: text/plain; charset=',
    'utf-7',
    'utf-16',
    'Content-Transfer-Encoding: base64',
    '--b',
    '--b--',
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\r',
    '<div>',
    '<a href="x">',
    '&#0;',
    '&#xD800;',
    '\u0000',
    '\ud800',
    '> ',
    'On 2020 10:00 x wrote:',
    'References: <',
    '>',
    '@',
    'Content-Disposition: attachment; filename="',
    'Message-ID: <x@y>',
    'Cc: "a" <a@b>, ',
    'Date: ',
    '\u200d',
    '=?',
    '?=',
    '-- ',
  );
  const shaped = fc
    .array(fc.oneof(words, fc.string({ unit: 'binary' })), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join('')));
  const arbitrary = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
    shaped,
  );

  test('give a request that the platform takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitrary,
        fc.constantFrom('auto', 'html', 'text'),
        fc.constantFrom('', meta.envelopeFrom),
        async (bytes, body, envelopeFrom) => {
          const shop = compileShop({ ...shopSettings, quotes: 'always', body });
          jobs += 1;
          const job = emailJob(bytes, `${scratch.path}/${jobs}`, {
            meta: { ...meta, envelopeFrom },
          });
          const { request, files } = await normalizeMessage(job, {
            shop,
            maxBufferBytes: Infinity,
            isKnown: () => Promise.resolve(false),
          });
          expect(createMessageRequestSchema.safeParse(request).error).toBeUndefined();
          expect(request.message.content.trim()).not.toBe('');
          expect(request.message.content).toBe(Buffer.from(request.message.content).toString());
          expect(new Set(files.map(({ part }) => part)).size).toBe(files.length);
        },
      ),
      { numRuns: runCount(400) },
    );
  });
});
