import { open } from 'node:fs/promises';
import { FileTypeParser } from 'file-type';
import libmime from 'libmime';

const SNIFF_TIMEOUT_MS = 10_000;
/** file-type looks at no more of a text; browsers look at 1,445 bytes (MIME Sniffing §5.2). */
const HEAD_BYTES = 4100;
const UNKNOWN = 'application/octet-stream';

/** What phones send, where the library's table has an uncommon extension or none. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['audio/mp4', 'm4a'],
  ['text/x-vcard', 'vcf'],
  ['text/directory', 'vcf'],
  ['text/x-vcalendar', 'vcs'],
]);

/** Texts that bytes do not tell from each other. Nothing runs when one of these is opened. */
const INERT_TEXTS: ReadonlySet<string> = new Set([
  'text/plain',
  'text/csv',
  'text/markdown',
  'text/vcard',
  'text/x-vcard',
  'text/directory',
  'text/calendar',
  'text/x-vcalendar',
  'application/json',
]);
/** Kinds that sniffing finds and that a browser may run: XHTML and SVG are XML. */
const ACTIVE = /^(?:application\/xml|image\/svg\+xml|text\/html|application\/xhtml\+xml)$/;

export interface MediaType {
  readonly type: string;
  /** Without the dot. */
  readonly extension: string;
}

/**
 * What a downloaded medium is, by its bytes: the sender chooses what is declared of it, and it is
 * served with the type that it gets here. The declared type counts only among texts, which bytes
 * do not tell apart; everything else that is not recognized, and whatever begins like markup, is
 * `application/octet-stream`, which browsers neither show nor run.
 */
export async function readMediaType(path: string, declared: string): Promise<MediaType> {
  const head = await headOf(path);
  const isWide = /^(?:\xff\xfe|\xfe\xff)/.test(head);
  // file-type takes the mark of UTF-16 for the start of an MPEG frame.
  const sniffed = isWide ? undefined : await sniff(path);
  if (sniffed !== undefined && !ACTIVE.test(sniffed.mime)) {
    return { type: sniffed.mime, extension: EXTENSIONS.get(sniffed.mime) ?? sniffed.ext };
  }
  const isText = !head.includes('\0') && !/^(?:\xef\xbb\xbf)?\s*</.test(head);
  const type = sniffed === undefined && isText && INERT_TEXTS.has(declared) ? declared : UNKNOWN;
  return { type, extension: EXTENSIONS.get(type) ?? libmime.detectExtension(type) };
}

/** Its first bytes as Latin-1, which shows the ASCII that matters here. */
async function headOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Undefined also for a container that is cut off or made up. */
async function sniff(path: string) {
  try {
    const parser = new FileTypeParser({ signal: AbortSignal.timeout(SNIFF_TIMEOUT_MS) });
    return await parser.fromFile(path);
  } catch {
    return undefined;
  }
}
