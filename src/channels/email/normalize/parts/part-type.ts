import { fileTypeFromBuffer } from 'file-type';
import type { Leaf } from './read-parts.ts';

export interface PartType {
  readonly mime: string;
  /** Without the dot. */
  readonly extension?: string;
}

/** Containers that more than one kind of document uses: the declared type may say more. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'application/zip',
  'application/x-cfb',
  'application/xml',
]);
/** Kinds that sniffing knows: what declares one of them and does not look like it is not it. */
const RECOGNIZABLE =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip|x-7z-compressed|x-rar))/;
const TOKEN = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}$/;
const UNKNOWN = 'application/octet-stream';

/** The type of an attachment by its first bytes; what it is declared to be only where they are silent. */
export async function sniffType({ contentType, content }: Leaf): Promise<PartType> {
  const declared =
    TOKEN.test(contentType) && !contentType.startsWith('multipart/') ? contentType : UNKNOWN;
  if (declared === 'message/rfc822' || declared === 'text/calendar') return { mime: declared };
  const sniffed = await sniff(content.start);
  if (sniffed === undefined) return { mime: RECOGNIZABLE.test(declared) ? UNKNOWN : declared };
  if (CONTAINERS.has(sniffed.mime) && !RECOGNIZABLE.test(declared) && declared !== UNKNOWN) {
    return { mime: declared };
  }
  return { mime: sniffed.mime, extension: sniffed.ext };
}

async function sniff(start: Uint8Array) {
  try {
    return await fileTypeFromBuffer(start);
  } catch {
    // A container that is cut off or made up; nothing to learn from it.
    return undefined;
  }
}
