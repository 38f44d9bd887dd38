import { type FileHandle, open } from 'node:fs/promises';

/** Decoded bytes per read, large enough for cheap reads. */
const READ_BYTES = 256 * 1024;

/**
 * Lines of base64 in a file, all of the same length, which is a multiple of four without padding.
 */
export interface Base64Run {
  readonly path: string;
  /** The position of the first line in the file. */
  readonly offset: number;
  readonly lines: number;
  /** The characters per line, and the bytes that end it. */
  readonly lineLength: number;
  readonly lineEnd: 1 | 2;
}

/** The decoded content of a part that remains in the raw message's file, except for its end. */
export interface EncodedContent {
  readonly run: Base64Run;
  readonly after: Uint8Array;
}

/** The location of a part's decoded content. */
export type PartContent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string }
  /** Still in the raw message. */
  | ({ readonly kind: 'encoded' } & EncodedContent);

export function decodedLineBytes({ lineLength }: Pick<Base64Run, 'lineLength'>): number {
  return (lineLength / 4) * 3;
}

export function decodedBytes({ run, after }: EncodedContent): number {
  return run.lines * decodedLineBytes(run) + after.byteLength;
}

/**
 * The decoded content from its start, at most `maxBytes`.
 * @throws the errors of reading the file
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
 * `length` decoded bytes from `offset`, fewer at the end.
 * @throws the errors of reading the file
 */
async function readEncodedAt(
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

/** Decodes as many lines as fit into `buffer`, which the caller may reuse afterwards. */
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

/** The same bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const WINDOW_BYTES = 64 * 1024;

/** Random access to bytes that need not be in memory. */
export interface ByteSource {
  readonly size: number;
  /** Returns fewer bytes than requested at the end, and at most a window of 64 KiB. */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface Range {
  readonly offset: number;
  readonly length: number;
}

/**
 * Passes the content of a part to `use`; a file is open for its duration.
 * @throws the errors of opening or reading the file, and of `use`
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

/** Bytes in memory, with the same limit per read. */
export function memorySource(bytes: Uint8Array): ByteSource {
  const view = asBuffer(bytes);
  return {
    size: view.length,
    read: (offset, length) =>
      Promise.resolve(view.subarray(offset, offset + Math.min(length, WINDOW_BYTES))),
  };
}

/** The bytes of a range, one window at a time; ends early if the source does. */
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

/** A structure whose lengths extend beyond its end or its container. */
export class BrokenStructure extends Error {
  override name = 'BrokenStructure';
}

/**
 * A position in a source that only moves forward and never past the end, so that no length in a
 * message can cause reads elsewhere, repeatedly or endlessly.
 */
export class ByteCursor {
  readonly source: ByteSource;
  readonly end: number;
  #at: number;

  /** @throws {BrokenStructure} the range is not within the source */
  constructor(source: ByteSource, { offset, length }: Range) {
    if (offset + length > source.size) throw new BrokenStructure('past the end');
    this.source = source;
    this.#at = offset;
    this.end = offset + length;
  }

  get left(): number {
    return this.end - this.#at;
  }

  /** Skips the next bytes and returns their range. @throws {BrokenStructure} */
  take(length: number): Range {
    if (length > this.left) throw new BrokenStructure('longer than what holds it');
    const range = { offset: this.#at, length };
    this.#at += length;
    return range;
  }

  /** @throws {BrokenStructure} */
  async u8(): Promise<number> {
    return (await this.#read(1)).readUInt8();
  }

  /** Little endian. @throws {BrokenStructure} */
  async u16(): Promise<number> {
    return (await this.#read(2)).readUInt16LE();
  }

  /** Little endian. @throws {BrokenStructure} */
  async u32(): Promise<number> {
    return (await this.#read(4)).readUInt32LE();
  }

  async #read(length: number): Promise<Buffer> {
    const { offset } = this.take(length);
    const bytes = await this.source.read(offset, length);
    if (bytes.length < length) throw new BrokenStructure('past the end');
    return bytes;
  }
}
