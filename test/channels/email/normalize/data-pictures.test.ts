import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, shopSettings } from './jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

/** A PNG of one pixel with as many bytes of image data. */
function png(dataBytes: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const data = Buffer.from(Array.from({ length: dataBytes }, (_, n) => (n * 31) % 251));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data)]);
}
const url = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

async function normalized(html: string, plain?: string) {
  const types =
    plain === undefined
      ? ['Content-Type: text/html; charset=utf-8', '', html]
      : [
          ...['Content-Type: multipart/alternative; boundary=b', '', '--b', '', plain, '--b'],
          ...['Content-Type: text/html; charset=utf-8', '', html, '--b--', ''],
        ];
  const lines = ['From: ann@customer.example', 'To: support@acme.example', ...types];
  const { request, files } = await normalizeMessage(
    emailJob(Buffer.from(lines.join('\r\n')), scratch.path),
    {
      shop: compileShop(shopSettings),
      maxBufferBytes: Infinity,
      isKnown: () => Promise.resolve(false),
    },
  );
  const bytesOf = ({ source }: (typeof files)[number]) =>
    source.kind === 'bytes'
      ? Buffer.from(source.bytes)
      : source.kind === 'file' && readFileSync(source.path);
  return {
    content: request.message.content,
    files: files.map((file) => ({ name: file.name, type: file.type, bytes: bytesOf(file) })),
  };
}

describe('a picture that was pasted as a data: address', () => {
  test('is attached, and its place is in the text', async () => {
    const bytes = png(2000);
    const html = `<p>Before</p><img alt="x" src="${url(bytes)}"><p>after</p>`;
    expect(await normalized(html)).toEqual({
      content: 'Before\n\n[image: picture-1.png]\n\nafter',
      files: [{ name: 'picture-1.png', type: 'image/png', bytes }],
    });
  });

  test('of several megabytes does not take the text after it along', async () => {
    const bytes = png(3_000_000);
    const { content, files } = await normalized(
      `<p>Before</p><img src="${url(bytes)}"><p>after</p><img src="${url(png(1500))}">`,
    );
    expect(content).toBe('Before\n\n[image: picture-1.png]\n\nafter\n\n[image: picture-2.png]');
    expect(files.map(({ name }) => name)).toEqual(['picture-1.png', 'picture-2.png']);
    // jest would compare one byte after the other, for seconds.
    expect(files[0]?.bytes && bytes.equals(files[0].bytes)).toBe(true);
  });

  test.each([
    ['wrapped', (text: string) => text.replace(/.{76}/g, '$&\r\n')],
    ['percent-encoded', (text: string) => text.replaceAll('+', '%2B').replaceAll('=', '%3D')],
  ])('may be %s', async (_, written) => {
    const bytes = png(200_001);
    const address = `data:image/png;charset=utf-8;base64,${written(bytes.toString('base64'))}`;
    const { content, files } = await normalized(`<img class="a" src='${address}' width="9"> b`);
    expect(content).toBe('[image: picture-1.png] b');
    expect(files[0]?.bytes && bytes.equals(files[0].bytes)).toBe(true);
  });

  test('keeps its place when there is a plain text that does not name it', async () => {
    const html = `<p>It broke here</p><img src=${url(png(2000))} width=600><p>and there</p>`;
    const { content, files } = await normalized(html, 'It broke here\r\n\r\nand there');
    expect(content).toBe('It broke here\n\n[image: picture-1.png]\n\nand there');
    expect(files).toHaveLength(1);
  });

  test.each([
    ['of less than a kilobyte', `<img src="${url(png(300))}" alt="smile">`, '[image: smile]'],
    ['that is none', `<img src="${url(Buffer.alloc(5000, 'text'))}">`, '(no text)'],
    ['that is SVG', `<img src="data:image/svg+xml;base64,${'PHN2Zz4='.repeat(500)}">`, '(no text)'],
    ['in words', `<p>data:image/png;base64,AAAA</p>`, 'data:image/png;base64,AAAA'],
  ])('%s is not attached', async (_, html, expected) => {
    expect(await normalized(html)).toEqual({ content: expected, files: [] });
  });

  test('many addresses that are none cost little', async () => {
    const { files } = await normalized(`<p>${'data:image/png;base64,'.repeat(40_000)}</p>`);
    expect(files.map(({ name }) => name)).toEqual(['message.txt', 'message.html']);
  });
});
