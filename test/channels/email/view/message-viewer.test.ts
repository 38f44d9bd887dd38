import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { MessageViewer } from '../../../../src/channels/email/view/message-viewer.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const MAX_DOCUMENT = 16 * 1024 * 1024;

const dir = tempDir();
const viewer = new MessageViewer({
  scratchFolder: join(dir.path, 'view'),
  deadlineMs: 120_000,
});
afterAll(async () => {
  await viewer.stop();
  dir.remove();
});

const mail = (html: string) =>
  Buffer.from(
    `From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`,
  );
const view = (raw: Uint8Array) =>
  viewer.view({ kind: 'bytes', bytes: new Uint8Array(raw) }, { html: true });

const MEGABYTE = 1024 * 1024;
const HOSTILE: [what: string, html: string][] = [
  ['a megabyte of open elements', '<div>'.repeat(MEGABYTE / 5)],
  ['links within links', '<a href="https://evil.example/x">'.repeat(20_000)],
  ['links within cells', '<table><tr><td><a href="https://evil.example/x">'.repeat(10_000)],
  [
    'styles that backtrack',
    `<p style="border:${'a'.repeat(1900)};margin:${'1'.repeat(90)}!">x</p>`.repeat(250),
  ],
  ['entities', '&lt;'.repeat(MEGABYTE / 4)],
  ['attributes', `<p ${'a="b" '.repeat(80_000)}>x</p>`],
  ['open comments', '<!--'.repeat(MEGABYTE / 4)],
  ['35 MB of text', 'word '.repeat(7 * MEGABYTE)],
];

test.each(HOSTILE)('%s is shown within bounds', async (_what, html) => {
  const shown = await view(mail(html));
  expect(shown.hasHtml).toBe(true);
  expect((shown.html ?? '').length).toBeLessThan(MAX_DOCUMENT);
});

const parts = (each: readonly string[]) =>
  Buffer.from(
    `From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n` +
      `${each.map((part) => `\r\n--b\r\n${part}`).join('')}\r\n--b--\r\n`,
  );

test('many HTML parts make no larger document than a few', async () => {
  const long = `Content-Type: text/html\r\n\r\n<p>${'word '.repeat(50_000)}</p>`;
  const shown = await view(parts(Array<string>(100).fill(long)));
  expect(shown.html).toContain('word');
  expect((shown.html ?? '').length).toBeLessThan(MAX_DOCUMENT);
  const short = `Content-Type: text/html\r\n\r\n<p>x</p>`;
  expect((await view(parts(Array<string>(10_000).fill(short)))).hasHtml).toBe(true);
});

test('a picture that stands in it a thousand times does not make it a gigabyte', async () => {
  const picture = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(100_000)]);
  const raw = parts([
    `Content-Type: text/html\r\n\r\n${'<img src="cid:one" alt="one">'.repeat(1000)}`,
    `Content-Type: image/gif\r\nContent-ID: <one>\r\nContent-Transfer-Encoding: base64\r\n\r\n` +
      picture.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ]);
  const { html = '' } = await view(raw);
  expect(html).toContain('<img src="data:image/gif;base64,R0lGODlhAAAA');
  expect(html).toContain('picture not shown: one');
  expect(html.length).toBeLessThan(MAX_DOCUMENT);
});
