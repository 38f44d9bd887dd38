import { buffer } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { asBlobName } from '../../src/domain/ids.ts';
import { assertIntact, RawUnreadable, type BlobStore } from '../../src/spool/blobs.ts';
import { INLINE_MAX_BYTES } from '../../src/spool/blob-writer.ts';
import type { RawForm } from '../../src/spool/entry.ts';

interface BlobsUnderTest {
  readonly blobs: BlobStore;
  /** How many blobs there are, unfinished ones included. */
  count(): Promise<number>;
  remove(): Promise<void>;
}

const KIB = 1024;
const MISSING = asBlobName('00000000-0000-4000-8000-000000000000');
/** Bytes that differ at each place. */
const patternOf = (size: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7 + (at >> 8)) % 256));

/** What every backend must do; `blobs.ts` says it in words. */
export function describeBlobs(backend: string, open: () => Promise<BlobsUnderTest>): void {
  describe(`blobs on ${backend}`, () => {
    let under: BlobsUnderTest;
    let blobs: BlobStore;
    beforeEach(async () => {
      under = await open();
      ({ blobs } = under);
    });
    afterEach(() => under.remove());

    async function written(bytes: Buffer, inlineMaxBytes?: number): Promise<RawForm> {
      const writer = blobs.writer(inlineMaxBytes === undefined ? {} : { inlineMaxBytes });
      const parts = Array.from({ length: Math.ceil(bytes.length / 10_000) }, (_, n) =>
        bytes.subarray(n * 10_000, (n + 1) * 10_000),
      );
      await pipeline(Readable.from(parts), writer);
      expect(writer.size).toBe(bytes.length);
      return writer.commit();
    }
    async function blobOf(bytes: Buffer) {
      const raw = await written(bytes, 0);
      if (raw.kind !== 'file') throw new Error('it is kept in its row');
      return raw;
    }

    test('what fits beside its row is no blob', async () => {
      const bytes = patternOf(INLINE_MAX_BYTES);
      expect(await written(bytes)).toMatchObject({ kind: 'inline', bytes: new Uint8Array(bytes) });
      expect(await written(patternOf(INLINE_MAX_BYTES + 1))).toMatchObject({ kind: 'file' });
      expect(await under.count()).toBe(1);
    });

    test.each([1, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, 900 * KIB])(
      '%i bytes are read as they were written',
      async (size) => {
        const bytes = patternOf(size);
        const raw = await blobOf(bytes);
        expect(raw.size).toBe(size);
        expect((await buffer(blobs.read(raw.blob))).equals(bytes)).toBe(true);
        await assertIntact(raw, blobs);
        expect(await blobs.exists(raw.blob)).toBe(true);
      },
    );

    test.each([1, 1000, 256 * KIB, 300 * KIB, 900 * KIB])(
      'the first %i bytes are read alone',
      async (most) => {
        const bytes = patternOf(600 * KIB);
        const { blob } = await blobOf(bytes);
        expect((await buffer(blobs.read(blob, most))).equals(bytes.subarray(0, most))).toBe(true);
      },
    );

    test('a copy can be read by its path until it is disposed of', async () => {
      const bytes = patternOf(600 * KIB);
      const { blob } = await blobOf(bytes);
      const [one, other] = [await blobs.scratch(blob), await blobs.scratch(blob)];
      expect((await readFile(one.path)).equals(bytes)).toBe(true);
      await one.dispose();
      await one.dispose();
      expect((await readFile(other.path)).equals(bytes)).toBe(true);
      await other.dispose();
      expect((await buffer(blobs.read(blob))).equals(bytes)).toBe(true);
    });

    test('one that was removed is missing, and removing it again changes nothing', async () => {
      const raw = await blobOf(patternOf(300 * KIB));
      await blobs.remove(raw.blob);
      await blobs.remove(raw.blob);
      expect(await blobs.exists(raw.blob)).toBe(false);
      for (const blob of [raw.blob, MISSING]) {
        await expect(buffer(blobs.read(blob))).rejects.toMatchObject({ code: 'ENOENT' });
      }
      await expect(assertIntact(raw, blobs)).rejects.toBeInstanceOf(RawUnreadable);
      expect(await under.count()).toBe(0);
    });

    test('an aborted writer leaves nothing', async () => {
      const writer = blobs.writer({ inlineMaxBytes: 0 });
      await new Promise((resolve) => writer.write(patternOf(300 * KIB), resolve));
      await writer.abort();
      await writer.abort();
      await expect(writer.commit()).rejects.toMatchObject({ name: 'SpoolUnavailable' });
      expect(await under.count()).toBe(0);
    });

    test('many are written at once', async () => {
      const sizes = Array.from({ length: 12 }, (_, n) => (n + 1) * 50 * KIB);
      const raws = await Promise.all(sizes.map((size) => blobOf(patternOf(size))));
      await Promise.all(raws.map((raw) => assertIntact(raw, blobs)));
      expect(await under.count()).toBe(12);
    });
  });
}
