import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { collectPart } from './collect-part.ts';
import { MAX_BODY_BYTES, type Leaf } from './read-parts.ts';
import type { ScratchFolder } from './scratch.ts';

/** Enough to sniff a type, and to read the subject of an enclosed message. */
const START_BYTES = 16 * 1024;

/** What a leaf that was found inside of another one is, beside its content. */
export type LeafFields = Partial<
  Pick<Leaf, 'parameters' | 'disposition' | 'fileName' | 'contentId'>
> &
  Pick<Leaf, 'index' | 'contentType'>;

/**
 * A leaf whose content was inside of another one; like all of them it streams to a scratch file
 * when it is not small.
 * @throws what reading the content or writing the file fails with
 */
export async function makeLeaf(
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
