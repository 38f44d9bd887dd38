import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { MediaRecord } from '../../../src/platform-api/resources.ts';
import { call, type ErrorBody, newFolder, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

function form(parts: { file?: Blob | string; name?: string; permission?: string }): FormData {
  const body = new FormData();
  if (parts.permission !== undefined) body.append('permission', parts.permission);
  if (typeof parts.file === 'string') body.append('file', parts.file);
  else if (parts.file) body.append('file', parts.file, parts.name ?? 'x.bin');
  return body;
}

const DIGITS = new Blob(['0123456789']);

async function uploaded(name: string, permission: string) {
  let now = Date.now();
  const platform = await startPlatform({ clock: () => now });
  const contract = await Contract.of(platform);
  const { status, body } = await contract.call<MediaRecord>('uploadMedia', '', {
    body: form({ file: DIGITS, name, permission }),
  });
  expect(status).toBe(201);
  return { platform, media: body, pass: (ms: number) => (now += ms) };
}

describe('uploadMedia', () => {
  it('answers with every field', async () => {
    const { platform, media } = await uploaded('digits.txt', 'private');
    expect(media).toEqual({
      id: expect.any(String),
      type: 'application/octet-stream',
      url: expect.stringContaining(`${platform.url}/media-files/`),
      original_name: 'digits.txt',
      permission: 'private',
      created_at: expect.any(String),
    });
  });

  it.each<[string, () => Parameters<typeof call>[3], number, Record<string, string>]>([
    ['no file', () => ({ body: form({}) }), 400, { file: 'required' }],
    [
      'a text in place of a file',
      () => ({ body: form({ file: 'x' }) }),
      400,
      { file: 'expected a file, with a filename, not a field' },
    ],
    [
      'another permission',
      () => ({ body: form({ file: DIGITS, permission: 'secret' }) }),
      400,
      { permission: 'expected private or public' },
    ],
    [
      'a file that is too large',
      () => ({ body: form({ file: new Blob(['x'.repeat(1001)]) }) }),
      413,
      { file: 'expected at most 1000 bytes' },
    ],
    ['JSON', () => ({ body: '{}' }), 415, { body: 'expected a body of type multipart/form-data' }],
    [
      'a form that breaks off',
      () => ({
        body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      }),
      400,
      { body: 'broke off' },
    ],
    [
      'a form without a boundary',
      () => ({ body: 'x', headers: { 'content-type': 'multipart/form-data; x=1' } }),
      400,
      { body: 'expected a boundary in the Content-Type' },
    ],
  ])('says what is wrong with %s', async (_title, options, status, fields) => {
    const contract = await Contract.of(await startPlatform({ uploadMaxBytes: 1000 }));
    const error = await contract.refused('uploadMedia', '', options(), status);
    expect(error.fields).toEqual(fields);
  });
});

it('uploadMedia is 503 with Retry-After while the disk cannot be written', async () => {
  const dir = newFolder();
  const contract = await Contract.of(await startPlatform({ dir }));
  const folder = join(dir, 'media', 'tmp');
  rmSync(folder, { recursive: true });
  const failed = await contract.call('uploadMedia', '', { body: form({ file: DIGITS }) });
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '5']);
  mkdirSync(folder);
  const { status } = await contract.call('uploadMedia', '', { body: form({ file: DIGITS }) });
  expect(status).toBe(201);
});

describe('the url of a media record', () => {
  it.each([
    ['digits.txt', 'attachment; filename=digits.txt'],
    [
      "naïve 100% (1)'.txt",
      `attachment; filename="na?ve 100% (1)'.txt"; ` +
        `filename*=UTF-8''na%C3%AFve%20100%25%20%281%29%27.txt`,
    ],
    [
      '写真📷.png',
      `attachment; filename="????.png"; filename*=UTF-8''%E5%86%99%E7%9C%9F%F0%9F%93%B7.png`,
    ],
  ])('gives the file back under its name: %s', async (name, disposition) => {
    const { media } = await uploaded(name, 'public');
    expect(media.original_name).toBe(name);
    const answer = await fetch(media.url);
    expect(answer.headers.get('content-disposition')).toBe(disposition);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(await answer.text()).toBe('0123456789');
  });

  it('cuts a long name at the limit of file systems', async () => {
    const { media } = await uploaded(`${'x'.repeat(254)}📷.png`, 'public');
    expect(media.original_name).toBe('x'.repeat(254));
    expect((await fetch(media.url)).status).toBe(200);
  });

  it.each(['private', 'public'])('gives a part of a %s file', async (permission) => {
    const { media } = await uploaded('digits.txt', permission);
    const part = async (range: string) => {
      const answer = await fetch(media.url, { headers: { range } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
    const [status, , body] = await part('bytes=10-');
    expect([status, (JSON.parse(String(body)) as ErrorBody).error.code]).toEqual([
      416,
      'range_not_satisfiable',
    ]);
    const head = await fetch(media.url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      '10',
      '',
    ]);
    expect(head.headers.get('accept-ranges')).toBe('bytes');
  });

  it('of a private file expires after an hour, and cannot be forged', async () => {
    const { media, pass } = await uploaded('digits.txt', 'private');
    const status = async (url: string) => (await fetch(url)).status;
    pass(3_599_000);
    expect(await status(media.url)).toBe(200);
    for (const url of [
      media.url.replace(/\?.*/, ''),
      media.url.replace(/expires=\d+/, 'expires=99999999999999'),
      media.url.replace(/signature=.*/, 'signature='),
      `${media.url}&signature=x`,
    ]) {
      expect([url, await status(url)]).toEqual([url, 404]);
    }
    pass(1000);
    expect(await status(media.url)).toBe(404);
  });

  it('takes no other method', async () => {
    const { platform, media } = await uploaded('digits.txt', 'public');
    const answer = await call<ErrorBody>(platform, 'POST', media.url);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
