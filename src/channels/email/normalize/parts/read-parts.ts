import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type CollectedPart, collectPart, type ScratchFolder } from './collect-part.ts';
import { endsLinesInCr } from '../../header-block.ts';
import { LeafParser, type LeafStream, type MimeNode } from './leaf-parser.ts';
import { isSystemError } from '../../../../runtime/error-code.ts';
import type { PartHead } from './part-head.ts';
import type { Corrections, Recovery, StructureReader } from './structure-reader.ts';

/** A longer body is not read into the content, and the part is attached. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Enough to sniff a type, and to read the subject of an enclosed message. */
export const START_BYTES = 16 * 1024;

/** A part without subparts, in the order of the message. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly index: number;
  readonly contentType: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly disposition: string | undefined;
  readonly fileName: string | undefined;
  readonly otherName?: string | undefined;
  /** Without angle brackets. */
  readonly contentId: string | undefined;
  readonly content: CollectedPart;
  /** Of the decoded content, in hex. */
  readonly sha256: string;
}

interface Multipart {
  readonly kind: 'multipart';
  readonly contentType: string;
  readonly children: readonly Part[];
}

export type Part = Leaf | Multipart;

export interface PartTree {
  readonly root: Part | undefined;
  readonly leaves: readonly Leaf[];
}

export interface ReadParts extends PartTree {
  /** The structure is broken: the parts before are available, the rest only in the raw message. */
  readonly broken: boolean;
  /** The faults in spite of which it was read, in the order in which they were found. */
  readonly recoveries: readonly Recovery[];
}

/**
 * Bytes that are all in memory are parsed in one step. Others are opened for each reading, the
 * first of which is nearly always the only one.
 */
type Source = Uint8Array | (() => AsyncIterable<Uint8Array>);

/** Each reading can find multiparts in one whose boundary the reading before corrected. */
const MAX_READINGS = 5;

/**
 * Reads a message's MIME structure (RFC 2045, 2046) as a stream. An unreadable structure is not an
 * error: it is cut off and marked as broken. A multipart in which no delimiter of its own occurs is
 * read again with the boundary that its lines use, otherwise as text. Text outside of all parts
 * counts only if no part has any.
 * @throws the errors of reading the source or writing scratch files
 */
export async function readParts(source: Source, scratch: ScratchFolder): Promise<ReadParts> {
  const { memoryLeft } = scratch;
  let corrections: Corrections = new Map();
  for (let reading = 1; ; reading += 1) {
    const { parts, structure } = await readOnce(source, scratch, corrections);
    const more = structure.corrections();
    if (parts.broken || more.size === 0) return withOutsideText(parts, structure, scratch);
    if (reading === MAX_READINGS) {
      return withOutsideText({ ...parts, broken: true }, structure, scratch);
    }
    corrections = new Map([...corrections, ...more]);
    scratch.memoryLeft = memoryLeft;
  }
}

interface Reading {
  readonly parts: ReadParts;
  readonly structure: StructureReader;
}

async function readOnce(
  source: Source,
  scratch: ScratchFolder,
  corrections: Corrections,
): Promise<Reading> {
  const parser = new LeafParser(corrections);
  const leaves = new Map<unknown, Leaf>();
  const reading = collectLeaves(parser, scratch, leaves);
  const feeding = feed(source instanceof Uint8Array ? source : source(), parser).catch(
    (error: unknown) => {
      parser.destroy();
      throw error;
    },
  );
  const [fed, read] = await Promise.allSettled([feeding, reading]);
  if (fed.status === 'rejected') throw fed.reason;
  // The disk failed, not the message.
  if (read.status === 'rejected' && isSystemError(read.reason)) throw read.reason;
  const { tree, structure } = parser;
  const root = tree === false ? undefined : toPart(tree, leaves);
  parser.forget();
  const parts = {
    root,
    leaves: [...leaves.values()],
    broken: read.status === 'rejected',
    recoveries: [...structure.recoveries],
  };
  return { parts, structure };
}

/** Adds the text outside of parts as a part of its own, where it would be lost otherwise. */
async function withOutsideText(
  parts: ReadParts,
  { outside, unsure }: StructureReader,
  scratch: ScratchFolder,
): Promise<ReadParts> {
  const isOnly = !parts.leaves.some(hasText);
  const found = [unsure, ...(isOnly ? [outside] : [])].filter((each) => each.text().length > 0);
  if (found.length === 0) return parts;
  const fields = { index: parts.leaves.length, contentType: 'text/plain' };
  const content = found.flatMap((each) => [each.text(), Buffer.from('\r\n\r\n')]).slice(0, -1);
  const leaf = await createLeaf(fields, content, scratch);
  const children = parts.root === undefined ? [leaf] : [leaf, parts.root];
  return {
    root: { kind: 'multipart', contentType: 'multipart/mixed', children },
    leaves: [leaf, ...parts.leaves],
    broken: parts.broken || found.some(({ isCut }) => isCut),
    recoveries: [...parts.recoveries, 'text_outside_parts'],
  };
}

function hasText({ contentType, content }: Leaf): boolean {
  if (contentType !== 'text/plain' && contentType !== 'text/html') return false;
  return content.start.some((byte) => byte > 0x20);
}

/** Feeds the parser until the source ends or the parser gives up. */
async function feed(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  parser: LeafParser,
): Promise<void> {
  if (source instanceof Uint8Array) {
    parser.endWith(withLineFeeds(source, parser));
    return;
  }
  let isFirst = true;
  for await (const chunk of source) {
    if (parser.destroyed) return;
    if (!parser.write(withLineFeeds(chunk, parser, isFirst))) await drained(parser);
    isFirst = false;
  }
  if (!parser.destroyed) parser.end();
}

/** The splitter ends lines at LF only. */
function withLineFeeds(chunk: Uint8Array, { structure }: LeafParser, isFirst = true): Uint8Array {
  if (isFirst && endsLinesInCr(chunk)) {
    structure.recoveries.add('bare_cr');
    structure.isUnsure = true;
  }
  if (!structure.recoveries.has('bare_cr')) return chunk;
  const isBareCr = (byte: number, at: number) => byte === 0x0d && chunk[at + 1] !== 0x0a;
  return chunk.map((byte, at) => (isBareCr(byte, at) ? 0x0a : byte));
}

async function drained(parser: LeafParser): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      parser.off('drain', done);
      parser.off('close', done);
      resolve();
    };
    parser.once('drain', done);
    parser.once('close', done);
  });
}

/** @throws the errors of the parser */
async function collectLeaves(
  parser: LeafParser,
  scratch: ScratchFolder,
  leaves: Map<unknown, Leaf>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let current: LeafStream | undefined;
    /** The current part: the parser's end does not wait for the last part. */
    let collecting: Promise<void> = Promise.resolve();
    const onClose = () => reject(new Error('the message broke off'));
    const onError = (error: Error) => {
      parser.destroy(error);
      current?.content.destroy(error);
      reject(error);
    };
    const onLeaf = async (data: LeafStream): Promise<void> => {
      const head = parser.headOf(data.headers);
      leaves.set(data.headers, await collectLeaf(data, head, leaves.size, scratch));
      data.release();
    };
    // mailparser reports some errors by the event only, and may report more after the first.
    parser.on('error', onError);
    parser.on('close', onClose);
    parser.on('end', () => {
      parser.off('close', onClose);
      resolve(collecting);
    });
    // The parser pauses before the next part until this one is released.
    parser.on('data', (data: LeafStream | { readonly type: 'text' }) => {
      if (data.type !== 'attachment') return;
      current = data;
      // An error event without a listener would end the thread.
      data.content.on('error', () => undefined);
      collecting = onLeaf(data);
      collecting.catch((error: unknown) => {
        onError(error instanceof Error ? error : new Error('a part failed'));
      });
    });
  });
}

async function collectLeaf(
  data: LeafStream,
  head: PartHead,
  index: number,
  scratch: ScratchFolder,
): Promise<Leaf> {
  const { contentType, parameters, disposition, fileName, otherName, contentId } = head;
  const isText = contentType === 'text/plain' || contentType === 'text/html';
  const startBytes = isText ? MAX_BODY_BYTES : START_BYTES;
  const content = await collectPart(data.content, startBytes, scratch);
  // The checksum is available once the stream has ended.
  const sha256 = data.checksum;
  const fields = { contentType, parameters, disposition, fileName, otherName, contentId };
  return { kind: 'leaf', index, ...fields, content, sha256 };
}

/** As deep as the parser's own limit for nodes. */
function toPart(node: MimeNode, leaves: ReadonlyMap<unknown, Leaf>): Part | undefined {
  const leaf = leaves.get(node.headers);
  if (leaf !== undefined) return leaf;
  const contentType = node.contentType === false ? '' : node.contentType;
  if (!contentType.startsWith('multipart/')) return undefined;
  const children = node.children.map((child) => toPart(child, leaves));
  return {
    kind: 'multipart',
    contentType,
    children: children.filter((child) => child !== undefined),
  };
}

/** The same message with some leaves replaced. */
export function replaceLeaves(
  { root, leaves }: PartTree,
  replaced: ReadonlyMap<Leaf, readonly Part[]>,
): PartTree {
  return {
    root: root && withReplaced(root, replaced),
    leaves: leaves.flatMap((leaf) => replaced.get(leaf)?.flatMap(leavesOf) ?? [leaf]),
  };
}

function withReplaced(part: Part, replaced: ReadonlyMap<Leaf, readonly Part[]>): Part {
  if (part.kind === 'multipart') {
    return { ...part, children: part.children.map((child) => withReplaced(child, replaced)) };
  }
  const found = replaced.get(part) ?? [part];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  return { kind: 'multipart', contentType: 'multipart/mixed', children: found };
}

export function leavesOf(part: Part): readonly Leaf[] {
  return part.kind === 'leaf' ? [part] : part.children.flatMap(leavesOf);
}

/** The properties of a leaf that was found inside another one, except for its content. */
type LeafFields = Partial<Pick<Leaf, 'parameters' | 'disposition' | 'fileName' | 'contentId'>> &
  Pick<Leaf, 'index' | 'contentType'>;

/**
 * Creates a leaf whose content was inside another one. Like all leaves, it is streamed to a scratch
 * file unless it is small.
 * @throws the errors of reading the content or writing the file
 */
export async function createLeaf(
  fields: LeafFields,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  scratch: ScratchFolder,
): Promise<Leaf> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const isText = fields.contentType.startsWith('text/');
  const stream = Readable.from(hashed());
  const collected = await collectPart(stream, isText ? MAX_BODY_BYTES : START_BYTES, scratch);
  return {
    kind: 'leaf',
    parameters: {},
    disposition: undefined,
    fileName: undefined,
    contentId: undefined,
    ...fields,
    content: collected,
    sha256: hash.digest('hex'),
  };
}
