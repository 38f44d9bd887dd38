import { createReadStream } from 'node:fs';
import { memoryUsage } from 'node:process';
import { decodedBytes, type EncodedContent, readEncoded } from './part-content.ts';
import type { CollectedPart, ScratchFolder } from './collect-part.ts';
import { type Leaf, MAX_BODY_BYTES, type ReadParts, readParts, withLeaves } from './read-parts.ts';
import { type ExtractedRun, Base64Extractor } from './base64-extractor.ts';

/** Each read goes through another thread. */
const READ_BYTES = 256 * 1024;
/** Read as text: the body, and calendars. */
const TEXT_TYPES = /^(?:text\/|application\/ics$)/;

interface FileSource {
  readonly path: string;
  /** Sees the bytes of the message as they are read, once. */
  readonly observe: (chunk: Uint8Array) => void;
  /** Of array buffers, in this thread. */
  readonly maxBufferBytes: number;
}

/**
 * Reads the MIME structure of a message in a file. Large attachments in base64 stay where they are:
 * `Base64Extractor` takes them out before the parser and they are put into their parts afterwards. When
 * one cannot be found again in exactly one part (a long run of base64 in a text, say), the message
 * is read once more as it is.
 * @throws what reading the file or writing scratch files fails with
 * @throws {MemoryExceeded} more is in this thread's memory than it may hold
 */
export async function readFileParts(
  source: FileSource,
  scratch: ScratchFolder,
): Promise<ReadParts> {
  const extractor = new Base64Extractor();
  async function* withoutRuns() {
    for await (const chunk of chunksOf(source)) {
      source.observe(chunk);
      yield* extractor.push(chunk);
    }
    yield* extractor.end();
  }
  const parts = await readParts(withoutRuns(), scratch);
  if (extractor.runs.length === 0) return parts;
  return (
    (await withRuns(parts, extractor.runs, source.path)) ??
    (await readParts(chunksOf(source), scratch))
  );
}

function chunksOf({ path, maxBufferBytes }: FileSource): AsyncIterable<Uint8Array> {
  const file: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: READ_BYTES });
  return guardMemory(file, maxBufferBytes);
}

/** The parts with the runs back in them; undefined unless each is found in a part of its own. */
async function withRuns(
  parts: ReadParts,
  runs: readonly ExtractedRun[],
  path: string,
): Promise<ReadParts | undefined> {
  if (parts.broken) return undefined;
  const whole = new Map<Leaf, Leaf>();
  for (const extracted of runs) {
    const found = parts.leaves
      .filter((leaf) => !whole.has(leaf))
      .map((leaf) => ({ leaf, after: afterMarker(leaf, extracted) }))
      .find(({ after }) => after !== undefined);
    if (found?.after === undefined) return undefined;
    whole.set(found.leaf, await withRun(found.leaf, extracted, found.after, path));
  }
  return withLeaves(parts, whole);
}

/** What follows the marker, when nothing but the start of the run is before it. */
function afterMarker(
  { content: { content } }: Leaf,
  { keptBytes, marker }: ExtractedRun,
): Buffer | undefined {
  if (content.kind !== 'bytes') return undefined;
  const { bytes } = content;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isHere = buffer.subarray(keptBytes, keptBytes + marker.length).equals(marker);
  return isHere ? buffer.subarray(keptBytes + marker.length) : undefined;
}

async function withRun(
  leaf: Leaf,
  { run, keptBytes, hash }: ExtractedRun,
  after: Buffer,
  path: string,
): Promise<Leaf> {
  // A copy: `after` is a view of all that the part had in memory.
  const encoded = { run: { ...run, path }, after: new Uint8Array(after) };
  return {
    ...leaf,
    content: await collected(leaf, encoded, keptBytes),
    sha256: hash.update(after).digest('hex'),
  };
}

async function collected(
  { content, contentType }: Leaf,
  encoded: EncodedContent,
  keptBytes: number,
): Promise<CollectedPart> {
  const size = decodedBytes(encoded);
  if (!TEXT_TYPES.test(contentType)) {
    const start = new Uint8Array(content.start.subarray(0, keptBytes));
    return { size, start, content: { kind: 'encoded', ...encoded } };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of readEncoded(encoded, MAX_BODY_BYTES)) chunks.push(chunk);
  const start = Buffer.concat(chunks);
  if (start.length === size) return { size, start, content: { kind: 'bytes', bytes: start } };
  return { size, start, content: { kind: 'encoded', ...encoded } };
}

/** How much may pass before memory is checked again: the check costs a system call. */
const CHECK_BYTES = 1024 * 1024;

/** A message, or several at once, need more memory than a worker may hold. */
export class MemoryExceeded extends Error {
  override name = 'MemoryExceeded';
}

/**
 * Passes chunks on while this thread's array buffers stay under `maxBytes`. A worker's
 * `resourceLimits` bound its JavaScript heap only, and buffers are outside of it.
 */
async function* guardMemory(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const chunk of source) {
    passed += chunk.length;
    if (passed >= CHECK_BYTES) {
      passed = 0;
      if (memoryUsage().arrayBuffers > maxBytes) throw new MemoryExceeded('too much in memory');
    }
    yield chunk;
  }
}
