import { open } from 'node:fs/promises';
import { readEncodedAt } from './base64-run.ts';
import type { PartContent } from './collect-part.ts';

const WINDOW_BYTES = 64 * 1024;

/** Bytes that are read here and there, without all of them being in memory. */
export interface ByteSource {
  readonly size: number;
  /** Fewer bytes than asked for at the end. At most a window of 64 KiB at a time. */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface Range {
  readonly offset: number;
  readonly length: number;
}

/**
 * Lends the content of a part to `use`; a file is open for that long.
 * @throws what opening or reading the file fails with, and what `use` throws
 */
export async function withByteSource<Result>(
  { content, size }: { readonly content: PartContent; readonly size: number },
  use: (source: ByteSource) => Promise<Result>,
): Promise<Result> {
  if (content.kind === 'bytes') return use(memorySource(content.bytes));
  const file = await open(content.kind === 'file' ? content.path : content.run.path);
  const readAt = async (offset: number): Promise<Buffer> => {
    if (content.kind === 'encoded') return readEncodedAt(content, file, offset, WINDOW_BYTES);
    const bytes = Buffer.allocUnsafe(WINDOW_BYTES);
    const { bytesRead } = await file.read(bytes, 0, WINDOW_BYTES, offset);
    return bytes.subarray(0, bytesRead);
  };
  let windowStart = 0;
  let window: Buffer = Buffer.alloc(0);
  try {
    return await use({
      size,
      async read(offset, length) {
        const wanted = Math.min(length, WINDOW_BYTES);
        if (offset < windowStart || offset + wanted > windowStart + window.length) {
          window = await readAt(offset);
          windowStart = offset;
        }
        return window.subarray(offset - windowStart, offset - windowStart + wanted);
      },
    });
  } finally {
    await file.close();
  }
}

/** Bytes that are in memory already, under the same bound for one read. */
export function memorySource(bytes: Uint8Array): ByteSource {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: view.length,
    read: (offset, length) =>
      Promise.resolve(view.subarray(offset, offset + Math.min(length, WINDOW_BYTES))),
  };
}

/** The bytes of a range, a window at a time; it ends early when the source does. */
export async function* readRange(source: ByteSource, range: Range): AsyncGenerator<Buffer> {
  const end = Math.min(range.offset + range.length, source.size);
  let at = range.offset;
  while (at < end) {
    const bytes = await source.read(at, Math.min(end - at, WINDOW_BYTES));
    if (bytes.length === 0) return;
    at += bytes.length;
    yield bytes;
  }
}

/** The first `maxBytes` of a range. */
export async function readStart(
  source: ByteSource,
  { offset, length }: Range,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const range = { offset, length: Math.min(length, maxBytes) };
  for await (const chunk of readRange(source, range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
