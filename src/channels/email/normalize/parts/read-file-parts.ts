import { createReadStream } from 'node:fs';
import { memoryUsage } from 'node:process';
import { asBuffer, decodedBytes, type EncodedContent, readEncoded } from './part-content.ts';
import type { CollectedPart, ScratchFolder } from './collect-part.ts';
import {
  type Leaf,
  MAX_BODY_BYTES,
  type ReadParts,
  readParts,
  replaceLeaves,
} from './read-parts.ts';
import { type ExtractedRun, Base64Extractor } from './base64-extractor.ts';

/** Each read uses a thread of the pool. */
const READ_BYTES = 256 * 1024;
/** Read as text: the body, and calendars. */
const TEXT_TYPES = /^(?:text\/|application\/ics$)/;

interface FileSource {
  readonly path: string;
  /** Called with the bytes of the message as they are read, once. */
  readonly observe: (chunk: Uint8Array) => void;
  /** The limit for array buffers in this thread. */
  readonly maxBufferBytes: number;
}

/**
 * Reads the MIME structure of a message in a file. Large base64 attachments remain in the file:
 * `Base64Extractor` removes them before the parser, and they are put back into their parts
 * afterwards. If one cannot be found again in exactly one part (such as a long run of base64 within
 * a text), the message is read again without extraction.
 * @throws the errors of reading the file or writing scratch files
 * @throws {MemoryExceeded} this thread's memory limit is exceeded
 */
export async function readFileParts(
  source: FileSource,
  scratch: ScratchFolder,
): Promise<ReadParts> {
  let extractor: Base64Extractor | undefined;
  let runs: readonly ExtractedRun[] = [];
  async function* withoutRuns() {
    const isFirst = extractor === undefined;
    const current = new Base64Extractor();
    extractor = current;
    for await (const chunk of chunksOf(source)) {
      if (isFirst) source.observe(chunk);
      yield* current.push(chunk);
    }
    yield* current.end();
    ({ runs } = current);
  }
  const parts = await readParts(withoutRuns, scratch);
  if (runs.length === 0) return parts;
  return (
    (await withRuns(parts, runs, source.path)) ?? (await readParts(() => chunksOf(source), scratch))
  );
}

function chunksOf({ path, maxBufferBytes }: FileSource): AsyncIterable<Uint8Array> {
  const file: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: READ_BYTES });
  return guardMemory(file, maxBufferBytes);
}

/** The parts with the runs put back; undefined unless each run is found in a separate part. */
async function withRuns(
  parts: ReadParts,
  runs: readonly ExtractedRun[],
  path: string,
): Promise<ReadParts | undefined> {
  if (parts.broken) return undefined;
  const whole = new Map<Leaf, readonly Leaf[]>();
  for (const extracted of runs) {
    const found = parts.leaves
      .filter((leaf) => !whole.has(leaf))
      .map((leaf) => ({ leaf, after: afterMarker(leaf, extracted) }))
      .find(({ after }) => after !== undefined);
    if (found?.after === undefined) return undefined;
    whole.set(found.leaf, [await withRun(found.leaf, extracted, found.after, path)]);
  }
  return { ...parts, ...replaceLeaves(parts, whole) };
}

/** The content after the marker, if only the start of the run precedes it. */
function afterMarker(
  { content: { content } }: Leaf,
  { keptBytes, marker }: ExtractedRun,
): Buffer | undefined {
  if (content.kind !== 'bytes') return undefined;
  const buffer = asBuffer(content.bytes);
  const isHere = buffer.subarray(keptBytes, keptBytes + marker.length).equals(marker);
  return isHere ? buffer.subarray(keptBytes + marker.length) : undefined;
}

async function withRun(
  leaf: Leaf,
  { run, keptBytes, hash }: ExtractedRun,
  after: Buffer,
  path: string,
): Promise<Leaf> {
  // Copied, because `after` is a view of everything that the part had in memory.
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

/** Memory is checked each time this much has been read, because the check costs a system call. */
const CHECK_BYTES = 1024 * 1024;

/** A message, or several at once, need more memory than a worker may use. */
export class MemoryExceeded extends Error {
  override name = 'MemoryExceeded';
}

/**
 * Passes chunks on while this thread's array buffers are below `maxBytes`. A worker's
 * `resourceLimits` apply to its JavaScript heap only, which does not include buffers.
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
