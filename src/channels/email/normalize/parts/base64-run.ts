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
  const most = Math.max(1, Math.floor(READ_BYTES / decodedLineBytes(run)));
  const linesAtOnce = Math.min(most, run.lines);
  let left = maxBytes;
  const buffer = Buffer.allocUnsafeSlow(linesAtOnce * periodOf(run));
  const file = await open(run.path);
  try {
    for (let line = 0; line < run.lines && left > 0; line += linesAtOnce) {
      const count = Math.min(linesAtOnce, run.lines - line);
      const decoded = await readLines(file, run, line, buffer.subarray(0, count * periodOf(run)));
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
  const buffer = Buffer.allocUnsafe((end - first) * periodOf(run));
  const decoded = first < end ? await readLines(file, run, first, buffer) : Buffer.alloc(0);
  const tail = offset + length > runBytes ? asBuffer(after) : Buffer.alloc(0);
  const from = first * lineBytes;
  return Buffer.concat([decoded, tail]).subarray(offset - from, offset - from + length);
}

const periodOf = ({ lineLength, lineEnd }: Base64Run): number => lineLength + lineEnd;

/** Decodes as many lines as fit into `buffer`, which is the caller's again afterwards. */
async function readLines(
  file: FileHandle,
  run: Base64Run,
  line: number,
  buffer: Buffer,
): Promise<Buffer> {
  const position = run.offset + line * periodOf(run);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
  if (bytesRead < buffer.length) throw new Error('the raw message is shorter than it was');
  return Buffer.from(buffer.toString('latin1'), 'base64');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
