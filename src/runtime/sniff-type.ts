import { fileTypeFromBuffer } from 'file-type';

export interface SniffedType {
  readonly mime: string;
  /** Without the dot. */
  readonly extension: string;
}

/**
 * What a file is by its first bytes, whatever is declared of it. Undefined when they do not tell:
 * texts, kinds that are not known, and containers that are cut off or made up.
 */
export async function sniffType(start: Uint8Array): Promise<SniffedType | undefined> {
  // file-type takes the byte order mark of UTF-16 for the start of an MPEG frame.
  if (startsAsUtf16(start)) return undefined;
  try {
    const found = await fileTypeFromBuffer(start);
    return found && { mime: found.mime, extension: found.ext };
  } catch {
    return undefined;
  }
}

function startsAsUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
