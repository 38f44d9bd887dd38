import { createReadStream } from 'node:fs';
import { type HeaderBlock, HeaderCollector } from '../header-block.ts';
import type { RawSource } from '../stored.ts';

const READ_BYTES = 64 * 1024;
const LF = 0x0a;
const CR = 0x0d;

interface HeadOfMessage {
  readonly head: HeaderBlock;
  /** The raw header block. */
  readonly bytes: Uint8Array;
}

/** Reads only the header block, of at most `MAX_HEADER_BYTES`. */
export async function readHead(raw: RawSource): Promise<HeadOfMessage> {
  const collector = new HeaderCollector();
  const taken: Uint8Array[] = [];
  for await (const chunk of chunksOf(raw)) {
    taken.push(chunk.subarray(0, collector.push(chunk)));
    if (collector.complete) break;
  }
  return { head: collector.finish(), bytes: Buffer.concat(taken) };
}

/** The bytes after the header block, in chunks, with all line ends as CRLF (RFC 6376 §5.3). */
export async function* readBody(raw: RawSource, headBytes: number): AsyncGenerator<Buffer> {
  let passed = 0;
  let afterCr = false;
  for await (const chunk of chunksOf(raw)) {
    const body = chunk.subarray(Math.min(chunk.length, Math.max(0, headBytes - passed)));
    passed += chunk.length;
    if (body.length === 0) continue;
    yield withCrlf(body, afterCr);
    afterCr = body[body.length - 1] === CR;
  }
}

async function* chunksOf(raw: RawSource): AsyncGenerator<Buffer> {
  if (raw.kind === 'file') {
    const file: AsyncIterable<Buffer> = createReadStream(raw.path, { highWaterMark: READ_BYTES });
    yield* file;
    return;
  }
  const bytes = Buffer.from(raw.bytes.buffer, raw.bytes.byteOffset, raw.bytes.byteLength);
  for (let at = 0; at < bytes.length; at += READ_BYTES) {
    // Lets a timer run that may end the work.
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    yield bytes.subarray(at, at + READ_BYTES);
  }
}

function withCrlf(chunk: Buffer, afterCr: boolean): Buffer {
  let bare = 0;
  for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, lf + 1)) {
    if (!(lf === 0 ? afterCr : chunk[lf - 1] === CR)) bare += 1;
  }
  if (bare === 0) return chunk;
  const out = Buffer.allocUnsafe(chunk.length + bare);
  let to = 0;
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0;
    if (byte === LF && !(at === 0 ? afterCr : chunk[at - 1] === CR)) {
      out[to] = CR;
      to += 1;
    }
    out[to] = byte;
    to += 1;
  }
  return out;
}

/** Lines of mail have at most some kilobytes, except HTML or data on a single line. */
const MAX_LINE_BYTES = 1024 * 1024;
/** 75 MB of Base64. */
const MAX_LINES = 1_000_000;

/** A body that no mail system writes; its signatures are not checked. */
export class AbnormalBody extends Error {
  override name = 'AbnormalBody';
}

/**
 * Passes on the chunks of a body within the limits of real mail. The library keeps an incomplete
 * line and re-reads it with every chunk, and is slow for lines that end in a space. A forger must
 * not benefit from making the check exceed its deadline.
 * @throws {AbnormalBody}
 */
export async function* boundBody(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let lines = 0;
  let open = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, start)) {
      lines += 1;
      open = 0;
      start = lf + 1;
    }
    open += chunk.length - start;
    if (open > MAX_LINE_BYTES || lines > MAX_LINES) throw new AbnormalBody('not like mail');
    yield chunk;
  }
}
