import { type ByteSource, readRange, readStart } from '../parts/part-content.ts';
import { decodeText } from '../body/charset.ts';
import { type Leaf, createLeaf, MAX_BODY_BYTES, type Part } from '../parts/read-parts.ts';
import type { ScratchFolder } from '../parts/collect-part.ts';
import type { TnefFile, TnefMessage, TnefText } from './tnef-reader.ts';

interface TnefLeavesOptions {
  readonly scratch: ScratchFolder;
  /** The outer message has no text, so the body in here is the message. */
  readonly withBody: boolean;
  nextIndex(): number;
}

/** The contents of a winmail.dat, as the parts that a sender without TNEF would have sent. */
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
      parts.push(await createLeaf(fields, readRange(source, file.data), options.scratch));
    }
  }
  return parts;
}

/** The body as alternatives, or with a name: the body of an enclosed message as one file. */
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
    return createLeaf(fields, bytes.content, options.scratch);
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
  return [await createLeaf(fields, [unpacked], options.scratch)];
}

/** Bodies are converted to UTF-8 without the final NUL; a very long one is kept as it is stored. */
async function bodyBytes(source: ByteSource, { range, charset }: TnefText) {
  if (range.length > MAX_BODY_BYTES) {
    return { content: readRange(source, range), charset: charset ?? '' };
  }
  const bytes = await readStart(source, range, MAX_BODY_BYTES);
  const text = decodeText(bytes, charset, { html: charset === undefined });
  return { content: [Buffer.from(withoutNulAtEnd(text))], charset: 'utf-8' };
}

/** A loop, because `/\0+$/` is quadratic for NULs that are followed by other characters. */
function withoutNulAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1;
  return text.slice(0, end);
}

const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const HEADER_BYTES = 16;
const DICTIONARY_BYTES = 4096;
/** The initial dictionary (MS-OXRTFCP §2.1.2.1). */
const INITIAL =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';

/**
 * Decompresses compressed RTF (MS-OXRTFCP §2.2), at most `maxBytes`; a reference of two bytes
 * expands to up to 17. It ends at unreadable data. Undefined if it is not compressed RTF.
 */
export function unpackRtf(bytes: Buffer, maxBytes: number): Buffer | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const rawSize = Math.min(bytes.readUInt32LE(4), maxBytes);
  const kind = bytes.readUInt32LE(8);
  if (kind === UNCOMPRESSED) return bytes.subarray(HEADER_BYTES, HEADER_BYTES + rawSize);
  return kind === COMPRESSED ? unpack(bytes, rawSize) : undefined;
}

function unpack(bytes: Buffer, maxBytes: number): Buffer {
  const dictionary = Buffer.alloc(DICTIONARY_BYTES);
  const output: number[] = [];
  let write = dictionary.write(INITIAL, 'latin1');
  const put = (byte: number) => {
    dictionary[write] = byte;
    write = (write + 1) % DICTIONARY_BYTES;
    output.push(byte);
  };
  let at = HEADER_BYTES;
  while (at < bytes.length && output.length < maxBytes) {
    const control = bytes.readUInt8(at);
    at += 1;
    for (let bit = 0; bit < 8 && output.length < maxBytes; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        if (at >= bytes.length) return Buffer.from(output);
        put(bytes.readUInt8(at));
        at += 1;
        continue;
      }
      if (at + 2 > bytes.length) return Buffer.from(output);
      const reference = bytes.readUInt16BE(at);
      at += 2;
      const offset = reference >> 4;
      // A reference to the current position is the end.
      if (offset === write) return Buffer.from(output);
      for (let step = 0; step < (reference & 0xf) + 2; step += 1) {
        put(dictionary.readUInt8((offset + step) % DICTIONARY_BYTES));
      }
    }
  }
  return Buffer.from(output.slice(0, maxBytes));
}
