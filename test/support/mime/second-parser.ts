import PostalMime, { decodeWords } from 'postal-mime';

/** A part without subparts, as postal-mime reads it. */
export interface SecondLeaf {
  readonly bytes: Buffer;
  readonly name: string | undefined;
  readonly contentType: string;
  /** The first word of Content-Transfer-Encoding. */
  readonly encoding: string;
}

interface Structured {
  readonly parsed: { readonly value: string; readonly params: Readonly<Record<string, string>> };
}

/** A node of postal-mime's tree. Internal: its result joins texts and lists only attachments. */
interface Node {
  readonly childNodes: readonly Node[];
  readonly content: ArrayBuffer | null;
  readonly contentType: Structured & { readonly multipart: string | false };
  readonly contentDisposition: Structured;
  readonly contentTransferEncoding: { readonly encoding: string };
}

/** The leaves of a message in its order; undefined if it is beyond postal-mime's limits. */
export async function secondLeaves(message: Buffer): Promise<readonly SecondLeaf[] | undefined> {
  const parser = new PostalMime();
  try {
    await parser.parse(message);
  } catch {
    return undefined;
  }
  const root: unknown = Reflect.get(parser, 'root');
  // A test of the library's shape checks that it is one.
  return leavesOf(root as Node);
}

function leavesOf(node: Node): readonly SecondLeaf[] {
  if (node.contentType.multipart !== false) return node.childNodes.flatMap(leavesOf);
  const { contentType, contentDisposition, contentTransferEncoding, content } = node;
  const names = [contentDisposition.parsed.params['filename'], contentType.parsed.params['name']];
  const written = names.find((name) => name !== undefined && name !== '');
  const name = written === undefined ? undefined : decodeWords(written);
  const bytes = Buffer.from(content ?? new ArrayBuffer(0));
  const { encoding } = contentTransferEncoding;
  return [{ bytes, name, contentType: contentType.parsed.value, encoding }];
}
