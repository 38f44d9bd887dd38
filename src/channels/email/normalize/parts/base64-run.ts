import { open, type FileHandle } from 'node:fs/promises';

/** Decoded, and so at a time: enough that the trips to the disk do not count. */
const READ_BYTES = 256 * 1024;

/** Lines of base64 in a file, all of one length, which is a multiple of four without padding. */
export interface Base64Run {
  readonly path: string;
  /** Of the first line, in the file. */
  readonly offset: number;
  readonly lines: number;
  /** Characters of a line, and bytes that end it. */
  readonly lineLength: number;
  readonly lineEnd: 1 | 2;
}

/** The decoded content of a part that stays in the file where it came, but for its end. */
export interface EncodedContent {
  readonly run: Base64Run;
  readonly after: Uint8Array;
}

export function decodedLineBytes({ lineLength }: Pick<Base64Run, 'lineLength'>): number {
  return (lineLength / 4) * 3;
}

export function decodedBytes({ run, after }: EncodedContent): number {
  return run.lines * decodedLineBytes(run) + after.byteLength;
}

/**
 * The decoded content from its start, at most `maxBytes`.
 * @throws what reading the file fails with
 */
export async function* readEncoded(
  { run, after }: EncodedContent,
  maxBytes = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer> {
  const linesAtOnce = Math.max(1, Math.floor(READ_BYTES / decodedLineBytes(run)));
  let left = maxBytes;
  const file = await open(run.path);
  try {
    for (let line = 0; line < run.lines && left > 0; line += linesAtOnce) {
      const decoded = await readLines(file, run, line, Math.min(linesAtOnce, run.lines - line));
      yield decoded.subarray(0, left);
      left -= decoded.length;
    }
  } finally {
    await file.close();
  }
  if (left > 0 && after.byteLength > 0) yield asBuffer(after).subarray(0, left);
}

/**
 * Decoded bytes from `offset`: `length` of them, fewer at the end.
 * @throws what reading the file fails with
 */
export async function readEncodedAt(
  { run, after }: EncodedContent,
  file: FileHandle,
  offset: number,
  length: number,
): Promise<Buffer> {
  const lineBytes = decodedLineBytes(run);
  const runBytes = run.lines * lineBytes;
  const first = Math.min(Math.floor(offset / lineBytes), run.lines);
  const end = Math.min(Math.ceil((offset + length) / lineBytes), run.lines);
  const decoded = first < end ? await readLines(file, run, first, end - first) : Buffer.alloc(0);
  const tail = offset + length > runBytes ? asBuffer(after) : Buffer.alloc(0);
  const from = first * lineBytes;
  return Buffer.concat([decoded, tail]).subarray(offset - from, offset - from + length);
}

async function readLines(
  file: FileHandle,
  run: Base64Run,
  line: number,
  count: number,
): Promise<Buffer> {
  const period = run.lineLength + run.lineEnd;
  const bytes = Buffer.allocUnsafe(count * period);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, run.offset + line * period);
  if (bytesRead < bytes.length) throw new Error('the raw message is shorter than it was');
  return Buffer.from(bytes.toString('latin1', 0, bytesRead), 'base64');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
