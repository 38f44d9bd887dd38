import { createHash, randomFillSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { MediaSourceError } from '../../src/platform-api/errors.ts';
import { waitFor } from '../support/wait-for.ts';
import { BadServer } from './bad-server.ts';

const MEDIA = { id: '5b0f9b0e-0000-4000-8000-000000000003', type: 'image/png', url: 'http://x/m' };

interface Upload {
  fields: Record<string, string>;
  name?: string;
  type?: string;
  bytes: number;
  sha256: string;
  contentLength?: string | undefined;
}

let server: BadServer;
let client: PlatformClient;
let uploads: Upload[];
let broken: number;

beforeEach(async () => {
  server = new BadServer();
  uploads = [];
  broken = 0;
  server.raw = (request, response) => {
    const upload: Upload = {
      fields: {},
      bytes: 0,
      sha256: '',
      contentLength: request.headers['content-length'],
    };
    const hash = createHash('sha256');
    const form = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
    });
    form.on('field', (name, value) => (upload.fields[name] = value));
    form.on('file', (_field, file, name, _encoding, type) => {
      upload.name = name;
      upload.type = type;
      file.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        upload.bytes += chunk.length;
      });
    });
    pipeline(request, form).then(
      () => {
        upload.sha256 = hash.digest('hex');
        uploads.push(upload);
        response.writeHead(201).end(JSON.stringify(MEDIA));
      },
      () => (broken += 1),
    );
  };
  client = new PlatformClient({
    baseUrl: await server.start(),
    apiKey: 'k',
    shopId: '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11',
    requestTimeoutMs: 1000,
    mediaTimeoutMs: 20_000,
  });
});

afterEach(async () => {
  client.close();
  await server.stop();
});

/** `size` bytes in chunks of 64 KiB, made as they are read. */
function noise(size: number, hash = createHash('sha256')): () => Readable {
  return () =>
    Readable.from(
      (function* () {
        for (let left = size; left > 0;) {
          const chunk = randomFillSync(Buffer.allocUnsafe(Math.min(left, 65_536)));
          hash.update(chunk);
          left -= chunk.length;
          yield chunk;
        }
      })(),
      { objectMode: false },
    );
}

describe('uploadMedia', () => {
  it('streams 50 MB unchanged without holding them in memory', async () => {
    const size = 50 * 1024 * 1024;
    const hash = createHash('sha256');
    const before = process.memoryUsage.rss();
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
    const media = await client
      .uploadMedia({
        name: 'naïve "photo".png',
        type: 'image/png',
        size,
        stream: noise(size, hash),
      })
      .finally(() => clearInterval(watch));
    expect(media).toMatchObject(MEDIA);
    expect(uploads).toMatchObject([
      {
        bytes: size,
        sha256: hash.digest('hex'),
        fields: { permission: 'private' },
        type: 'image/png',
      },
    ]);
    expect(uploads[0]?.name).toBe('naïve %22photo%22.png');
    expect(Number(uploads[0]?.contentLength)).toBeGreaterThan(size);
    expect((peak - before) / 1024 / 1024).toBeLessThan(60);
  });

  it('uploads an empty file', async () => {
    await client.uploadMedia({ name: 'empty.txt', type: 'text/plain', size: 0, stream: noise(0) });
    expect(uploads).toMatchObject([{ bytes: 0, name: 'empty.txt' }]);
    expect(uploads[0]?.contentLength).toBeDefined();
  });

  it.each<[string, () => Readable]>([
    [
      'fails while it is read',
      () =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(100_000);
            await Promise.resolve();
            throw new Error('EIO');
          })(),
          { objectMode: false },
        ),
    ],
    ['ends early', noise(100_000)],
    ['is longer than it says', noise(2_000_000)],
    [
      'is closed under our hands',
      () => {
        const source = noise(1_000_000)();
        source.once('data', () => source.destroy());
        return source;
      },
    ],
    [
      'cannot be opened',
      () => {
        const source = new Readable({ read: () => undefined });
        process.nextTick(() => source.destroy(new Error('ENOENT')));
        return source;
      },
    ],
  ])('rejects, and ends the request, when the file %s', async (_title, stream) => {
    const upload = client.uploadMedia({ name: 'a', type: 'image/png', size: 1_000_000, stream });
    await expect(upload).rejects.toBeInstanceOf(MediaSourceError);
    // The request is gone without an upload; the connection is of no further use.
    expect(uploads).toHaveLength(0);
    await client.uploadMedia({ name: 'b', type: 'image/png', size: 10, stream: noise(10) });
    expect(uploads).toMatchObject([{ name: 'b', bytes: 10 }]);
  });

  it('an early refusal closes the file and the request', async () => {
    const sources: Readable[] = [];
    server.raw = (request, response) => {
      request.once('readable', () => response.writeHead(413).end('{"error":{"code":"too_large"}}'));
    };
    const size = 50 * 1024 * 1024;
    const upload = client.uploadMedia({
      name: 'a',
      type: 'image/png',
      size,
      stream: () => {
        const source = noise(size)();
        sources.push(source);
        return source;
      },
    });
    await expect(upload).rejects.toMatchObject({ code: 'http', status: 413, retryable: false });
    await waitFor('the file to be closed', () => sources.every((source) => source.destroyed));
  });

  it("the caller's abort closes the file", async () => {
    const controller = new AbortController();
    let source: Readable | undefined;
    const upload = client.uploadMedia(
      {
        name: 'a',
        type: 'image/png',
        size: 1_000_000,
        stream: () => (source = new Readable({ read: () => controller.abort() })),
      },
      controller.signal,
    );
    await expect(upload).rejects.toMatchObject({ code: 'aborted' });
    await waitFor('the file to be closed', () => source?.destroyed === true);
  });
});
