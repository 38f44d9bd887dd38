import { crc32 } from 'node:zlib';
import type { BlobStore } from './blobs.ts';
import type { RawForm } from './entry.ts';

/** The stored raw form differs from what was received: it was changed or damaged. */
export class RawDamaged extends Error {
  override name = 'RawDamaged';
}

/**
 * CRC-32 (ISO 3309), against disk and memory errors. It does not protect against changes: someone
 * who can change the file can change the checksum
 * (docs/decisions/0021-raw-checksum.md).
 */
export const checksumOf = (bytes: Uint8Array): number => crc32(bytes);

/** Adds the checksum to an inline raw form. A file's checksum is computed while it is written. */
export const withChecksum = (raw: RawForm): RawForm =>
  raw.kind === 'file' || raw.checksum !== undefined
    ? raw
    : { ...raw, checksum: checksumOf(raw.bytes) };

/**
 * Checks a raw form before it is delivered. Reads a file once, as a stream. Raw forms without a
 * checksum, from an earlier version, pass.
 * @throws {RawDamaged} its bytes differ from those that were acknowledged
 * @throws a system error: the file is missing or cannot be read now
 */
export async function assertIntact(raw: RawForm, blobs: Pick<BlobStore, 'read'>): Promise<void> {
  if (raw.checksum === undefined) return;
  const [found, size] =
    raw.kind === 'inline'
      ? [checksumOf(raw.bytes), raw.bytes.byteLength]
      : await readThrough(blobs.read(raw.blob));
  const wanted = raw.kind === 'inline' ? size : raw.size;
  if (found === raw.checksum && size === wanted) return;
  throw new RawDamaged('its raw bytes are damaged: they are not what was received');
}

async function readThrough(chunks: AsyncIterable<Uint8Array>): Promise<[number, number]> {
  let checksum = 0;
  let size = 0;
  for await (const chunk of chunks) {
    checksum = crc32(chunk, checksum);
    size += chunk.byteLength;
  }
  return [checksum, size];
}
