import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import type { MediaRecord } from '../../src/platform-api/resources.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  type ErrorBody,
  newFolder,
  SHOP,
  startPlatform,
} from './harness.ts';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function upload(
  platform: LocalPlatform,
  bytes: Buffer,
  options: { type?: string; name?: string; permission?: string } = {},
) {
  const form = new FormData();
  if (options.permission !== undefined) form.append('permission', options.permission);
  form.append(
    'file',
    new Blob([new Uint8Array(bytes)], { type: options.type ?? 'image/png' }),
    options.name ?? 'photo.png',
  );
  return call<MediaRecord>(platform, 'POST', '/media/', { body: form });
}

const files = (dir: string) => readdirSync(join(dir, 'media')).filter((name) => name !== 'tmp');

describe('upload media (API §4.8)', () => {
  it.each<[string, string | Blob]>([
    ['file', new Blob(['two'])],
    ['field', 'two'],
  ])('refuses a second part named `file`, as a %s, and keeps nothing', async (_what, second) => {
    const dir = newFolder();
    const platform = await startPlatform({ dir });
    const form = new FormData();
    form.append('file', new Blob(['one']), 'one.txt');
    form.append('file', second);
    const { status, body } = await call<ErrorBody>(platform, 'POST', '/media/', { body: form });
    expect(status).toBe(400);
    expect(body.error.fields).toEqual({ file: 'expected one file' });
    expect(files(dir)).toEqual([]);
  });

  it('stores the bytes, and serves them by a signed link for an hour', async () => {
    let now = Date.now();
    const platform = await startPlatform({ clock: () => now });
    const { status, body } = await upload(platform, PNG, {
      permission: 'private',
      name: "naïve (1)'.png",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type: 'image/png',
      permission: 'private',
      original_name: "naïve (1)'.png",
    });

    const download = await fetch(body.url);
    expect(Buffer.from(await download.arrayBuffer()).equals(PNG)).toBe(true);
    expect(Object.fromEntries(download.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `inline; filename="na?ve (1)'.png"; filename*=UTF-8''na%C3%AFve%20%281%29%27.png`,
    });
    expect((await fetch(`${body.url}x`)).status).toBe(404);
    expect((await fetch(body.url.split('?')[0] ?? '')).status).toBe(404);
    const later = body.url.replace(/expires=\d+/, `expires=${now + 86_400_000}`);
    expect((await fetch(later)).status).toBe(404);
    now += 3_600_001;
    expect((await fetch(body.url)).status).toBe(404);
  });

  it('is public by default, with a link that does not expire', async () => {
    let now = Date.now();
    const platform = await startPlatform({ clock: () => now });
    const { body } = await upload(platform, PNG);
    expect(body.permission).toBe('public');
    now += 10 * 86_400_000;
    expect((await fetch(body.url)).status).toBe(200);
  });

  it('trusts the content, not the declared type, and serves active content as a download', async () => {
    const platform = await startPlatform();
    const png = await upload(platform, PNG, { type: 'text/html', name: 'x.html' });
    expect(png.body.type).toBe('image/png');
    const html = await upload(platform, Buffer.from('<script>alert(1)</script>'), {
      type: 'text/html',
    });
    const download = await fetch(html.body.url);
    expect(download.headers.get('content-disposition')).toMatch(/^attachment/);
    await download.text();
  });

  it('attaches to a message, in order', async () => {
    const platform = await startPlatform();
    const a = await upload(platform, PNG, { name: 'a.png' });
    const b = await upload(platform, Buffer.alloc(0), { name: 'b.bin', type: 'application/pdf' });
    const message = await create(
      platform,
      anEmail({ message: { attachments: [b.body.id, a.body.id] } }),
    );
    const attached = platform.inspect.attachments(message.body.id);
    expect(attached.map(({ name, size, type }) => [name, size, type])).toEqual([
      ['b.bin', 0, 'application/pdf'],
      ['a.png', PNG.length, 'image/png'],
    ]);
    expect((await readFile(attached[1]?.path ?? '')).equals(PNG)).toBe(true);
  });

  it('takes 50 MB from our own client', async () => {
    const platform = await startPlatform();
    const client = new PlatformClient({
      baseUrl: platform.url,
      apiKey: SHOP.apiKey,
      shopId: SHOP.shopId,
      requestTimeoutMs: 5000,
      mediaTimeoutMs: 20_000,
    });
    const bytes = randomBytes(50 * 1024 * 1024);
    const media = await client.uploadMedia({
      name: 'big.bin',
      type: 'application/octet-stream',
      size: bytes.length,
      stream: () => Readable.from([bytes], { objectMode: false }),
    });
    const { body } = await create(platform, anEmail({ message: { attachments: [media.id] } }));
    const [attachment] = platform.inspect.attachments(body.id);
    expect((await readFile(attachment?.path ?? '')).equals(bytes)).toBe(true);
    client.close();
  });

  it.each<
    [string, (platform: LocalPlatform) => Promise<{ status: number; body: unknown }>, number]
  >([
    ['an unknown permission', (p) => upload(p, PNG, { permission: 'secret' }), 400],
    ['a file that is declared too large', (p) => upload(p, Buffer.alloc(200_000)), 413],
    ['a file that turns out too large', (p) => upload(p, Buffer.alloc(50_001)), 413],
    [
      'a form that breaks off',
      (p) =>
        call(p, 'POST', '/media/', {
          body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        }),
      400,
    ],
  ])('refuses %s and keeps nothing', async (_title, attempt, status) => {
    const dir = newFolder();
    const platform = await startPlatform({ dir, uploadMaxBytes: 50_000 });
    const answer = await attempt(platform);
    expect(answer.status).toBe(status);
    expect((answer.body as ErrorBody).error.message).not.toBe('');
    expect(files(dir)).toEqual([]);
    expect((await upload(platform, PNG)).status).toBe(201);
  });

  it('answers when the disk fails, and takes the next upload once it works again', async () => {
    const dir = newFolder();
    const platform = await startPlatform({ dir });
    const temporary = join(dir, 'media', 'tmp');
    rmSync(temporary, { recursive: true });
    const big = Buffer.alloc(5_000_000);
    expect((await upload(platform, big)).status).toBe(503);
    mkdirSync(temporary);
    expect((await upload(platform, big)).status).toBe(201);
  });

  it('a client that disconnects leaves no file', async () => {
    const dir = newFolder();
    const platform = await startPlatform({ dir });
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /v2026-04/media/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n' +
        `Authorization: Bearer ${SHOP.apiKey}\r\nX-Shop-Id: ${SHOP.shopId}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n' +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    );
    const temporary = () => readdirSync(join(dir, 'media', 'tmp'));
    await waitFor('the upload to begin', () => temporary().length === 1);
    socket.resetAndDestroy();
    await waitFor('the upload to be dropped', () => temporary().length === 0);
    expect(files(dir)).toEqual([]);
    expect((await upload(platform, PNG)).status).toBe(201);
  });
});
