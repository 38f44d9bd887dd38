import { stat } from 'node:fs/promises';
import { decodeHtml, readHtml, readPlain } from '../normalize/body/body-content.ts';
import type { HtmlElement } from '../normalize/html/html-tree.ts';
import { decodedContentId } from '../normalize/parts/attached-files.ts';
import { sortParts } from '../normalize/parts/body-parts.ts';
import { readEncoded } from '../normalize/parts/part-content.ts';
import { openParts } from '../normalize/parts/open-parts.ts';
import { readFileParts } from '../normalize/parts/read-file-parts.ts';
import { type Leaf, type ReadParts, readParts } from '../normalize/parts/read-parts.ts';
import { ScratchFolder } from '../normalize/parts/collect-part.ts';
import type { RawSource } from '../stored.ts';
import { viewDocument } from './view-html.ts';

const MAX_TEXT = 256 * 1024;
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
const MAX_IMAGES_BYTES = 8 * 1024 * 1024;
/** The limit for all HTML parts together; a single part is read up to a quarter of it. */
const MAX_HTML = 2 * 1024 * 1024;
/** The size that images may add to the document, counting each occurrence. */
const MAX_SHOWN_IMAGES = 12 * 1024 * 1024;
/** By the first bytes, whatever the declared type. SVG is a document rather than a picture. */
const PICTURES: readonly { readonly type: string; readonly starts: RegExp }[] = [
  { type: 'png', starts: /^\x89PNG\r\n/ },
  { type: 'jpeg', starts: /^\xff\xd8\xff/ },
  { type: 'gif', starts: /^GIF8[79]a/ },
  { type: 'webp', starts: /^RIFF[^]{4}WEBP/ },
];

export interface ViewJob {
  readonly raw: RawSource;
  /** A separate folder for this job, which does not exist yet. */
  readonly scratch: string;
  readonly maxBufferBytes: number;
  /** Whether the document is requested. */
  readonly html: boolean;
}

/** A message as a person would read it. */
export interface MessageView {
  /** The plain text, if there is any. */
  readonly text?: string;
  readonly hasHtml: boolean;
  /** A separate document that loads nothing, if it was requested and there is HTML. */
  readonly html?: string;
}

/**
 * Reads a message for display to operators. Hostile mail can make it expensive, so it runs in a
 * worker with a deadline.
 * @throws the errors of reading the raw form or writing scratch files
 * @throws {MemoryExceeded} this thread's memory limit is exceeded
 */
export async function viewMessage(job: ViewJob): Promise<MessageView> {
  const scratch = new ScratchFolder(job.scratch);
  const opened = await openParts(await read(job, scratch), scratch);
  const { alternatives } = sortParts(opened.root, opened.leaves);
  const plain = alternatives.flatMap((each) => each.plain).filter(isPlain);
  const html = alternatives
    .flatMap((each) => [...each.html, ...each.plain])
    .filter(({ contentType }) => contentType === 'text/html');
  const text = plain
    .map((leaf) => readPlain(leaf).text)
    .join('\n')
    .slice(0, MAX_TEXT);
  return {
    ...(text.trim() !== '' && { text }),
    hasHtml: html.length > 0,
    ...(job.html && html.length > 0 && { html: await documentOf(html, opened.leaves) }),
  };
}

const isPlain = ({ contentType }: Leaf): boolean => contentType === 'text/plain';

async function read({ raw, maxBufferBytes }: ViewJob, scratch: ScratchFolder): Promise<ReadParts> {
  if (raw.kind === 'bytes') return readParts(raw.bytes, scratch);
  // Without this check, a missing file would be reported as a truncated message.
  await stat(raw.path);
  return readFileParts({ path: raw.path, observe: () => undefined, maxBufferBytes }, scratch);
}

async function documentOf(html: readonly Leaf[], leaves: readonly Leaf[]): Promise<string> {
  const images = await picturesOf(leaves);
  const root = { name: '', attributes: {}, children: childrenOf(html) };
  let left = MAX_SHOWN_IMAGES;
  return viewDocument(root, (contentId) => {
    const url = images.get(contentId) ?? images.get(decodedContentId(contentId));
    if (url === undefined || url.length > left) return undefined;
    left -= url.length;
    return url;
  });
}

function childrenOf(html: readonly Leaf[]): HtmlElement['children'] {
  const children: HtmlElement['children'][number][] = [];
  let left = MAX_HTML;
  for (const leaf of html) {
    const read = decodeHtml(leaf);
    left -= read.text.length;
    if (left < 0) break;
    for (const child of readHtml(read).tree.children) children.push(child);
  }
  return children;
}

async function picturesOf(leaves: readonly Leaf[]): Promise<ReadonlyMap<string, string>> {
  const pictures = new Map<string, string>();
  let left = MAX_IMAGES_BYTES;
  for (const { contentId, content } of leaves) {
    if (contentId === undefined || content.size > Math.min(left, MAX_IMAGE_BYTES)) continue;
    const start = Buffer.from(content.start.subarray(0, 16)).toString('latin1');
    const type = PICTURES.find(({ starts }) => starts.test(start))?.type;
    const bytes = type === undefined ? undefined : await bytesOf(content);
    if (bytes === undefined) continue;
    left -= bytes.length;
    pictures.set(contentId, `data:image/${String(type)};base64,${bytes.toString('base64')}`);
  }
  return pictures;
}

/** Undefined if it is in a file, and therefore larger than what is shown. */
async function bytesOf({ size, start, content }: Leaf['content']): Promise<Buffer | undefined> {
  if (content.kind === 'bytes') return Buffer.from(content.bytes);
  if (start.byteLength === size) return Buffer.from(start);
  if (content.kind === 'file') return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of readEncoded(content, MAX_IMAGE_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
