import libmime from 'libmime';
import { parseStructuredHeader, type StructuredHeader } from './structured-header.ts';

/** What the header block of a message or a part says about its content. */
export interface PartHead {
  /** In lower case. */
  readonly contentType: string;
  /** It has a Content-Type. */
  readonly isTyped: boolean;
  /** Of the type. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Of a multipart, one character per byte; undefined if it is missing. */
  readonly boundary: string | undefined;
  /** The boundary was declared with white space at its end. */
  readonly isPadded: boolean;
  readonly encoding: Encoding;
  readonly disposition: string | undefined;
  readonly fileName: string | undefined;
  /** A name in another place than RFC 2183's, which does not make a text a file. */
  readonly otherName: string | undefined;
  /** Without angle brackets. */
  readonly contentId: string | undefined;
  /** Content-Type, Content-Transfer-Encoding or MIME-Version occurs twice; the first counts. */
  readonly isRepeated: boolean;
}

/** `identity`: 7bit, 8bit and binary (RFC 2045 §6.2), and unknown encodings. */
export type Encoding = 'base64' | 'quoted-printable' | 'identity';

/** The fields that a `PartHead` is made of. */
export const STRUCTURE: ReadonlySet<string> = new Set([
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-location',
  'mime-version',
]);
const ONCE = ['content-type', 'content-transfer-encoding', 'mime-version'];

/** Unfolded fields of `STRUCTURE`, in the order of the header block; one character per byte. */
export type StructureFields = readonly (readonly [name: string, value: string])[];

/** Caches the latest heads, since nearly all parts have one of a few. */
const KNOWN = new Map<string, PartHead>();
const MAX_KNOWN = 500;
const MAX_KNOWN_LENGTH = 300;

/**
 * Reads the head of a part. `inDigest`: it is directly in a multipart/digest, where a part without
 * a type is a message (RFC 2046 §5.1.5).
 */
export function readPartHead(fields: StructureFields, inDigest: boolean): PartHead {
  const key = keyOf(fields, inDigest);
  const known = KNOWN.get(key);
  if (known !== undefined) return known;
  const head = toPartHead(fields, inDigest);
  if (key.length <= MAX_KNOWN_LENGTH) {
    if (KNOWN.size === MAX_KNOWN) KNOWN.clear();
    KNOWN.set(key, head);
  }
  return head;
}

/** Neither names nor values of unfolded fields have line ends. */
function keyOf(fields: StructureFields, inDigest: boolean): string {
  let key = inDigest ? 'digest' : '';
  for (const [name, value] of fields) key += `\n${name}:${value}`;
  return key;
}

function toPartHead(fields: StructureFields, inDigest: boolean): PartHead {
  const first = (name: string) => fields.find(([each]) => each === name)?.[1];
  const typeField = first('content-type');
  const type = parseStructuredHeader(typeField ?? '');
  const disposition = parseStructuredHeader(first('content-disposition') ?? '');
  const encoding = readEncoding(first('content-transfer-encoding') ?? '');
  const isAttachment = firstToken(disposition) === 'attachment';
  const fileName =
    nonEmpty(disposition.parameters['filename']) ?? nonEmpty(type.parameters['name']);
  const declared = declaredType(type);
  const isMultipart = declared?.startsWith('multipart/') ?? false;
  // RFC 2046 §5.1.1: a boundary does not end in white space.
  const boundary = isMultipart ? declaredBoundary(type) : '';
  const byName = typeByName(fileName, isAttachment);
  const missing = inDigest && typeField === undefined ? 'message/rfc822' : byName;
  const known = declared === UNKNOWN_TYPE && fileName !== undefined ? byName : declared;
  return {
    // RFC 2045 §6.4: with an unknown encoding, nothing is known about the content.
    contentType: encoding === undefined && !isMultipart ? UNKNOWN_TYPE : (known ?? missing),
    isTyped: typeField !== undefined,
    parameters: type.parameters,
    boundary: nonEmpty(boundary.trimEnd()),
    isPadded: boundary !== boundary.trimEnd(),
    encoding: encoding ?? 'identity',
    disposition: nonEmpty(firstToken(disposition)),
    fileName,
    otherName: nonEmpty(type.parameters['filename']) ?? fileOf(first('content-location') ?? ''),
    contentId: contentIdOf(first('content-id')),
    isRepeated: ONCE.some((name) => fields.filter(([each]) => each === name).length > 1),
  };
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** Undefined for what RFC 2045 §5.2 calls syntactically invalid. */
function declaredType(type: StructuredHeader): string | undefined {
  const token = firstToken(type);
  if (/^multipart\/?$/.test(token)) return 'multipart/mixed';
  return /^(?:multipart\/.+|[^/]+\/[^/]+)$/.test(token) ? token : undefined;
}

/** Text unless it is a file (RFC 2045 §5.2). */
function typeByName(fileName: string | undefined, isAttachment: boolean): string {
  if (fileName !== undefined) {
    const found: unknown = libmime.detectMimeType(fileName);
    if (typeof found === 'string' && found !== UNKNOWN_TYPE) return found;
  }
  return isAttachment || fileName !== undefined ? UNKNOWN_TYPE : 'text/plain';
}

function firstToken({ value }: StructuredHeader): string {
  return (/^[^\s;,]{0,200}/.exec(value)?.[0] ?? '').toLowerCase();
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Encoded words are not decoded: `=` and `?` are allowed in a boundary. */
function declaredBoundary({ written, parameters }: StructuredHeader): string {
  const joined = Buffer.from(parameters['boundary'] ?? '').toString('latin1');
  return written.get('boundary') ?? joined;
}

/**
 * What mail programs write for 7bit and 8bit, such as a misspelling, the name of the charset, or the
 * type.
 */
const IDENTITY =
  /^(?:[78][\w-]{0,40}|binary|none|plain|text|ascii|us-ascii|utf-?(?:7|8|16)|(?:iso|windows|koi8|gb|euc|shift|cp|big5)[\w-]{0,40})?$/;

/** Undefined if it is unknown. Comments and further words are ignored. */
function readEncoding(value: string): Encoding | undefined {
  const { value: text } = parseStructuredHeader(value.replace(/^[;\s]+/, ''));
  const word = /[\w-]{1,40}/.exec(text)?.[0]?.toLowerCase() ?? '';
  if (/^base-?64$/.test(word)) return 'base64';
  if (word.includes('quoted')) return 'quoted-printable';
  return IDENTITY.test(word) ? 'identity' : undefined;
}

/** RFC 2557 §4: the last part of the address of a file of a web page. */
function fileOf(location: string): string | undefined {
  const path = parseStructuredHeader(location).value.split(/[?#]/, 1)[0] ?? '';
  const name = path.split(/[/\\]/).at(-1) ?? '';
  return /^[^:]+\.\w{1,10}$/.test(name) ? name : undefined;
}

function contentIdOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return value.trim().slice(0, 1000).replace(/^<|>$/g, '').trim();
}
