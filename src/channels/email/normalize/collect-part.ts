import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ScratchFolder } from './scratch.ts';

/** Up to this size a part stays in memory; a larger one goes to a file as it streams in. */
export const IN_MEMORY_BYTES = 64 * 1024;

export type PartContent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string };

export interface CollectedPart {
  readonly size: number;
  /** The first bytes: all of them when `size` is not larger. */
  readonly start: Uint8Array;
  readonly content: PartContent;
}

/**
 * Takes in the decoded content of one part, which is never whole in memory when it is large.
 * `startBytes` is how much of its beginning is kept at hand (text to read, types to sniff).
 */
export async function collectPart(
  content: Readable,
  startBytes: number,
  scratch: ScratchFolder,
): Promise<CollectedPart> {
  const small = await readSmall(content);
  if (small.ended) {
    const bytes = Buffer.concat(small.chunks, small.size);
    return { size: small.size, start: bytes, content: { kind: 'bytes', bytes } };
  }
  return spill(content, small.chunks, startBytes, scratch);
}

interface SmallRead {
  readonly chunks: readonly Buffer[];
  readonly size: number;
  /** False when there is more: the stream is paused after the last chunk. */
  readonly ended: boolean;
}

/** By events rather than by iteration: most parts are small, and this is the hot path. */
async function readSmall(content: Readable): Promise<SmallRead> {
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
      if (size <= IN_MEMORY_BYTES) return;
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
  const start: Buffer[] = [];
  let kept = 0;
  let size = 0;
  const write = async (file: FileHandle, chunk: Buffer) => {
    size += chunk.length;
    if (kept < startBytes) {
      const part = chunk.subarray(0, startBytes - kept);
      start.push(part);
      kept += part.length;
    }
    await file.writeFile(chunk);
  };
  const file = await open(path, 'wx', 0o600);
  try {
    for (const chunk of first) await write(file, chunk);
    for await (const chunk of content as AsyncIterable<Buffer>) await write(file, chunk);
  } finally {
    await file.close();
  }
  return { size, start: Buffer.concat(start, kept), content: { kind: 'file', path } };
}
