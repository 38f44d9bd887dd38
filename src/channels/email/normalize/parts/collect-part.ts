import { mkdir, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PartContent } from './part-content.ts';

/** Decoded parts arrive in small pieces, and one write per piece costs more than decoding it. */
const WRITE_BYTES = 256 * 1024;

export interface CollectedPart {
  readonly size: number;
  /** The first bytes; the whole content if `size` is not larger. */
  readonly start: Uint8Array;
  readonly content: PartContent;
}

/**
 * Collects the decoded content of one part. Content that exceeds the message's share of memory is
 * streamed to a file. `startBytes` is how much of its start is kept in memory (text to read, types
 * to sniff).
 */
export async function collectPart(
  content: Readable,
  startBytes: number,
  scratch: ScratchFolder,
): Promise<CollectedPart> {
  const small = await readSmall(content, scratch.memoryLeft);
  if (small.ended) {
    scratch.memoryLeft -= small.size;
    const [only, ...others] = small.chunks;
    const bytes =
      only === undefined || others.length > 0 ? Buffer.concat(small.chunks, small.size) : only;
    return { size: small.size, start: bytes, content: { kind: 'bytes', bytes } };
  }
  return spill(content, small.chunks, startBytes, scratch);
}

interface SmallRead {
  readonly chunks: readonly Buffer[];
  readonly size: number;
  /** False if there is more: the stream is paused after the last chunk. */
  readonly ended: boolean;
}

/** By events rather than by iteration, because most parts are small and this is the hot path. */
async function readSmall(content: Readable, maxBytes: number): Promise<SmallRead> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (ended: boolean) => {
      content.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      resolve({ chunks, size, ended });
    };
    const onEnd = () => settle(true);
    const onClose = () => reject(new Error('the part broke off'));
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      content.pause();
      settle(false);
    };
    content.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}

async function spill(
  content: Readable,
  first: readonly Buffer[],
  startBytes: number,
  scratch: ScratchFolder,
): Promise<CollectedPart> {
  const path = await scratch.newFile();
  const start = new Beginning(startBytes);
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  const take = (chunk: Buffer): void => {
    start.take(chunk);
    held.push(chunk);
    heldBytes += chunk.length;
  };
  const write = async (): Promise<void> => {
    const bytes = Buffer.concat(held, heldBytes);
    size += heldBytes;
    held = [];
    heldBytes = 0;
    await file.writeFile(bytes);
  };
  try {
    first.forEach(take);
    for await (const chunk of content as AsyncIterable<Buffer>) {
      take(chunk);
      if (heldBytes >= WRITE_BYTES) await write();
    }
    await write();
  } finally {
    await file.close();
  }
  return { size, start: start.bytes(), content: { kind: 'file', path } };
}

/** The first bytes of a stream. */
class Beginning {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(chunk: Buffer): void {
    if (this.#size >= this.#maxBytes) return;
    const part = chunk.subarray(0, this.#maxBytes - this.#size);
    this.#chunks.push(part);
    this.#size += part.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks, this.#size);
  }
}

/** Creates an empty folder for scratch files, removing what a crash has left there. */
export function sweepScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * How much all parts of one message may keep in memory: a file per part costs a dozen file
 * operations, and the number of concurrent messages is limited.
 */
const IN_MEMORY_BYTES = 1024 * 1024;

/** The folder of one message: created with its first file, removed by `removeScratch`. */
export class ScratchFolder {
  readonly path: string;
  /** Bytes that may still be kept in memory instead of a file here. */
  memoryLeft = IN_MEMORY_BYTES;
  #made: Promise<unknown> | undefined;
  #files = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** The path of a file that does not exist yet. */
  async newFile(): Promise<string> {
    this.#made ??= mkdir(this.path, { recursive: true, mode: 0o700 });
    await this.#made;
    this.#files += 1;
    return join(this.path, String(this.#files));
  }

  get used(): boolean {
    return this.#files > 0;
  }
}

export async function removeScratch(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
