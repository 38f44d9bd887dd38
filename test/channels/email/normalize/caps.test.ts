import { afterAll, describe, expect, test } from '@jest/globals';
import { MAX_ATTACHMENTS } from '../../../../src/channels/email/normalize/parts/attached-files.ts';
import { MAX_CONTENT_LENGTH } from '../../../../src/channels/email/normalize/body/content-limits.ts';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { createMessageRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, RECEIVED_AT, shopSettings } from './jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

const DAY = 24 * 60 * 60 * 1000;
const MINUTE = 60 * 1000;
const at = (offset: number) => new Date(RECEIVED_AT + offset).toUTCString().replace('GMT', '+0000');

async function read(head: readonly string[], body: string) {
  const raw = ['To: support@acme.example', 'MIME-Version: 1.0', ...head, '', body].join('\r\n');
  const result = await normalizeMessage(emailJob(Buffer.from(raw), scratch.path), {
    shop: compileShop(shopSettings),
    maxBufferBytes: Infinity,
    isKnown: () => Promise.resolve(false),
  });
  expect(createMessageRequestSchema.safeParse(result.request).error).toBeUndefined();
  return result;
}

const ann = 'From: Ann <ann@customer.example>';
const multipart = 'Content-Type: multipart/mixed; boundary=b';
const attachment = (name: string) =>
  `--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\na;b\r\n`;
const mixed = (names: readonly string[]) =>
  `--b\r\nContent-Type: text/plain\r\n\r\nHere they are.\r\n${names.map(attachment).join('')}--b--\r\n`;

describe('at most 50 attachments, those past the cap named in the content', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}.csv`);

  test('50 are all attached', async () => {
    const { files, request } = await read([ann, multipart], mixed(names(MAX_ATTACHMENTS)));
    expect(files.map(({ name }) => name)).toEqual(names(50));
    expect(request.message.content).toBe('Here they are.');
  });

  test('the 51st and the 52nd are named', async () => {
    const { files, request, findings } = await read([ann, multipart], mixed(names(52)));
    expect(files.map(({ name }) => name)).toEqual(names(50));
    expect(request.message.content).toBe(
      'Here they are.\n\n(2 more files were not attached: file-50.csv, file-51.csv)',
    );
    expect(findings).toMatchObject({ attachments: 50, attachmentsLeftOut: 2 });
  });
});

describe('content over 100,000 characters goes on as message.txt', () => {
  test('100,000 characters stay where they are', async () => {
    const { files, request } = await read([ann], 'x'.repeat(MAX_CONTENT_LENGTH));
    expect(request.message.content).toHaveLength(100_000);
    expect(files).toEqual([]);
  });

  test('one more, and the file has all of it', async () => {
    const text = `${'word '.repeat(20_000)}!`;
    const { files, request, findings } = await read([ann], text);
    expect(request.message.content.length).toBeLessThanOrEqual(MAX_CONTENT_LENGTH);
    expect(request.message.content.startsWith('word word')).toBe(true);
    expect(request.message.content).toContain('(The text goes on; all of it is attached.)');
    expect(files).toMatchObject([{ name: 'message.txt', type: 'text/plain', size: text.length }]);
    expect(findings).toMatchObject({ longText: true });
  });
});

test('a file name has 120 characters at most and keeps its extension', async () => {
  const { files } = await read([ann, multipart], mixed([`${'n'.repeat(300)}.csv`]));
  expect(files.map(({ name }) => name)).toEqual([`${'n'.repeat(116)}.csv`]);
});

describe('the date: from the header between 30 days ago and 5 minutes ahead, else the arrival', () => {
  test.each([
    ['30 days ago', -30 * DAY, -30 * DAY],
    ['a second more than 30 days ago', -30 * DAY - 1000, 0],
    ['5 minutes ahead', 5 * MINUTE, 5 * MINUTE],
    ['a second more than 5 minutes ahead', 5 * MINUTE + 1000, 0],
  ])('%s', async (_, written, expected) => {
    const { request } = await read([ann, `Date: ${at(written)}`], 'Hello.');
    expect(request.message.timestamp).toBe(new Date(RECEIVED_AT + expected).toISOString());
  });
});

test('a sender with a quoted local part can be answered', async () => {
  const { request } = await read(['From: Odd <"odd name"@x.example>'], 'Hello.');
  expect(request.contact).toEqual({ email: '"odd name"@x.example', name: 'Odd' });
});

describe('a header block of 128 KiB is read, of a longer one the start', () => {
  const filler = (lines: number) =>
    Array.from({ length: lines }, (_, n) => `X-Filler-${n}: ${'x'.repeat(990)}`);

  test.each([
    ['100 KB before the subject', 100, 'Late'],
    ['150 KB before the subject', 150, undefined],
  ])('%s', async (_, lines, subject) => {
    const { request, findings } = await read(
      ['From: ann@customer.example', ...filler(lines), 'Subject: Late'],
      'Hello',
    );
    expect(request.message.email?.subject).toBe(subject);
    expect(request.contact).toEqual({ email: 'ann@customer.example' });
    // Where the block is cut nobody can tell where the body begins: the original goes along.
    expect(findings['brokenMime']).toBe(subject === undefined ? true : undefined);
    expect(request.message.content).toContain(
      subject === undefined ? 'could not be read' : 'Hello',
    );
  });
});
