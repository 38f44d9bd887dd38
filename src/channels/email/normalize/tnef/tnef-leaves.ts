import { readRange, readStart, type ByteSource } from '../parts/byte-source.ts';
import { decodeText } from '../body/charset.ts';
import { unpackRtf } from './compressed-rtf.ts';
import { makeLeaf } from '../parts/made-leaf.ts';
import { MAX_BODY_BYTES, type Leaf, type Part } from '../parts/read-parts.ts';
import type { ScratchFolder } from '../parts/scratch.ts';
import type { TnefFile, TnefMessage, TnefText } from './tnef-reader.ts';

export interface TnefLeavesOptions {
  readonly scratch: ScratchFolder;
  /** The message around it says nothing: the body in here is what was written. */
  readonly withBody: boolean;
  nextIndex(): number;
}

/** What is in a winmail.dat, as the parts that a sender without TNEF would have sent. */
export async function tnefParts(
  source: ByteSource,
  message: TnefMessage,
  options: TnefLeavesOptions,
): Promise<readonly Part[]> {
  const body = options.withBody ? await bodyParts(source, message, undefined, options) : [];
  return [...body, ...(await fileLeaves(source, message.files, options))];
}

async function fileLeaves(
  source: ByteSource,
  files: readonly TnefFile[],
  options: TnefLeavesOptions,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const file of files) {
    if (file.message !== undefined) {
      const name = file.message.subject ?? file.name ?? 'message';
      parts.push(...(await bodyParts(source, file.message, name, options)));
      parts.push(...(await fileLeaves(source, file.message.files, options)));
    } else if (file.data !== undefined) {
      const fields = {
        index: options.nextIndex(),
        contentType: file.mime?.toLowerCase() ?? 'application/octet-stream',
        disposition: 'attachment',
        fileName: file.name,
        contentId: file.contentId?.replace(/^<|>$/g, ''),
      };
      parts.push(await makeLeaf(fields, readRange(source, file.data), options.scratch));
    }
  }
  return parts;
}

/** The body as alternatives or, with a name, the body of an enclosed message as one file. */
async function bodyParts(
  source: ByteSource,
  { text, html, rtf }: TnefMessage,
  name: string | undefined,
  options: TnefLeavesOptions,
): Promise<readonly Part[]> {
  const leaf = async (contentType: string, content: TnefText): Promise<Leaf> => {
    const bytes = await bodyBytes(source, content);
    const extension = contentType === 'text/html' ? 'html' : 'txt';
    const fields = {
      index: options.nextIndex(),
      contentType,
      parameters: { charset: bytes.charset },
      ...(name !== undefined && {
        disposition: 'attachment',
        fileName: `${name.replace(/[/\\]/g, '-')}.${extension}`,
      }),
    };
    return makeLeaf(fields, bytes.content, options.scratch);
  };
  if (html !== undefined && name !== undefined) return [await leaf('text/html', html)];
  const children = [
    ...(text !== undefined && text.range.length > 0 ? [await leaf('text/plain', text)] : []),
    ...(html !== undefined ? [await leaf('text/html', html)] : []),
  ];
  if (children.length > 0) {
    return [{ kind: 'multipart', contentType: 'multipart/alternative', children }];
  }
  if (rtf === undefined) return [];
  const unpacked = unpackRtf(await readStart(source, rtf, MAX_BODY_BYTES), MAX_BODY_BYTES);
  if (unpacked === undefined || unpacked.length === 0) return [];
  const fields = {
    index: options.nextIndex(),
    contentType: 'application/rtf',
    disposition: 'attachment',
    fileName: `${(name ?? 'message').replace(/[/\\]/g, '-')}.rtf`,
  };
  return [await makeLeaf(fields, [unpacked], options.scratch)];
}

/** Bodies become UTF-8, without the NUL at their end; a very long one stays as it is stored. */
async function bodyBytes(source: ByteSource, { range, charset }: TnefText) {
  if (range.length > MAX_BODY_BYTES) {
    return { content: readRange(source, range), charset: charset ?? '' };
  }
  const bytes = await readStart(source, range, MAX_BODY_BYTES);
  const { text } = decodeText(bytes, charset, { html: charset === undefined });
  return { content: [Buffer.from(withoutNulAtEnd(text))], charset: 'utf-8' };
}

/** A loop: `/\0+$/` is quadratic over NULs that something follows. */
function withoutNulAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1;
  return text.slice(0, end);
}
