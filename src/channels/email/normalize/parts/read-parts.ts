import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type CollectedPart, collectPart, type ScratchFolder } from './collect-part.ts';
import { LeafParser, type LeafStream, type MimeNode } from './leaf-parser.ts';
import { isSystemError } from '../../../../runtime/error-code.ts';

/** A longer body is not read into the content, and the part is attached. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Enough to sniff a type, and to read the subject of an enclosed message. */
const START_BYTES = 16 * 1024;

/** A part without subparts, in the order of the message. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly index: number;
  readonly contentType: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly disposition: string | undefined;
  readonly fileName: string | undefined;
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
}

/** Bytes that are all in memory are parsed in one step. */
type Source = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Reads a message's MIME structure (RFC 2045, 2046) as a stream. An unreadable structure is not an
 * error: it is cut off and marked as broken.
 * @throws the errors of reading the source or writing scratch files
 */
export async function readParts(source: Source, scratch: ScratchFolder): Promise<ReadParts> {
  const parser = new LeafParser();
  const leaves = new Map<unknown, Leaf>();
  const reading = collectLeaves(parser, scratch, leaves);
  const feeding = feed(source, parser).catch((error: unknown) => {
    parser.destroy();
    throw error;
  });
  const [fed, read] = await Promise.allSettled([feeding, reading]);
  if (fed.status === 'rejected') throw fed.reason;
  // The disk failed, not the message.
  if (read.status === 'rejected' && isSystemError(read.reason)) throw read.reason;
  const root = parser.tree === false ? undefined : toPart(parser.tree, leaves);
  parser.forget();
  return { root, leaves: [...leaves.values()], broken: read.status === 'rejected' };
}

/** Feeds the parser until the source ends or the parser gives up. */
async function feed(source: Source, parser: LeafParser): Promise<void> {
  if (source instanceof Uint8Array) {
    parser.endWith(source);
    return;
  }
  for await (const chunk of source) {
    if (parser.destroyed) return;
    if (!parser.write(chunk)) await drained(parser);
  }
  if (!parser.destroyed) parser.end();
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
      leaves.set(data.headers, await collectLeaf(data, leaves.size, scratch));
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

async function collectLeaf(data: LeafStream, index: number, scratch: ScratchFolder): Promise<Leaf> {
  const type = structured(data.headers.get('content-type'));
  const disposition = structured(data.headers.get('content-disposition'));
  // RFC 2045 §5.2: an unreadable type is plain text. mailparser returns `false` for one.
  const declared: unknown = data.contentType;
  const contentType =
    typeof declared === 'string' && declared !== '' ? declared.toLowerCase() : 'text/plain';
  const isText = contentType === 'text/plain' || contentType === 'text/html';
  const fileName = disposition.params['filename'] ?? type.params['name'] ?? data.filename;
  const startBytes = isText ? MAX_BODY_BYTES : START_BYTES;
  const collected = await collectPart(data.content, startBytes, scratch);
  return {
    kind: 'leaf',
    index,
    contentType,
    parameters: type.params,
    disposition: disposition.value === '' ? undefined : disposition.value.toLowerCase(),
    fileName,
    contentId: data.cid,
    content: collected,
    // Available once the stream has ended.
    sha256: data.checksum,
  };
}

function structured(value: unknown): { value: string; params: Record<string, string> } {
  const empty = { value: '', params: {} };
  if (typeof value !== 'object' || value === null || !('params' in value)) return empty;
  const { params } = value;
  const main = 'value' in value && typeof value.value === 'string' ? value.value : '';
  if (typeof params !== 'object' || params === null) return { ...empty, value: main };
  const strings = Object.entries(params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { value: main, params: Object.fromEntries(strings) };
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
