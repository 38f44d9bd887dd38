import { isAscii, isUtf8 } from 'node:buffer';
import libmime from 'libmime';
import { asBuffer } from '../parts/part-content.ts';

/** HTML §13.2.3.2 searches this far for `<meta charset>`. */
const META_BYTES = 1024;
const META_CHARSET = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9][\w.:-]{0,40})/i;
/** Uninformative labels: much mail declares ASCII but contains 8-bit text. */
const UNDECLARED = new Set(
  `ascii us-ascii unknown-8bit x-unknown default 7bit 8bit binary none`.split(/\s+/),
);

/** RFC 2152. Deprecated, but old mail systems still send it. */
const UTF_7 = /^(?:(?:cs)?unicode-?1-?1-?|x-unicode-2-0-)?utf-?7$/;
const ISO_2022_JP = /\x1b(?:\$[@B]|\([JI]|\$\(D)/;
/** Names of ISO-2022-JP and Shift_JIS that the Encoding Standard does not list. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...`iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-3 iso-2022-jp-2004 iso-2022-jp-ms iso2022jp
  iso2022-jp cp50220 cp50221 cp50222 jis`
    .split(/\s+/)
    .map((name): [string, string] => [name, 'iso-2022-jp']),
  ...'cp932 x-ms-cp932 windows-932'.split(' ').map((name): [string, string] => [name, 'shift_jis']),
]);
/** Charsets of one language, which are taken for each other. */
const RELATED: ReadonlyMap<string, readonly string[]> = new Map([
  ['iso-2022-jp', ['euc-jp', 'shift_jis']],
  ['shift_jis', ['euc-jp']],
  ['euc-jp', ['shift_jis']],
  ['big5', ['gb18030']],
  ['gb2312', ['big5']],
  ['gbk', ['big5']],
]);

/**
 * Decodes the text of a part or header with the first charset that decodes without errors: the
 * declared one, then (for HTML) the one of `<meta charset>`, then UTF-8, then those that the
 * declared one is taken for. Otherwise UTF-8 with broken characters, or windows-1252. The escape
 * sequences of ISO-2022-JP override other labels, because no other text contains them.
 * `truncated`: the bytes were cut, so an incomplete character at the end is not an error.
 */
export function decodeText(
  bytes: Uint8Array,
  declared: string | undefined,
  options: { readonly html?: boolean; readonly truncated?: boolean } = {},
): string {
  const truncated = options.truncated ?? false;
  if (declared === 'utf-8' || declared === 'UTF-8') {
    // Nearly all text. An escape may begin ISO-2022-JP.
    const text = decodeUtf8(bytes, truncated);
    if (text?.includes('\x1b') === false) return text;
  }
  for (const charset of candidates(bytes, declared, options.html ?? false)) {
    const text = decodeStrictly(bytes, charset, truncated);
    if (text !== undefined) return text;
  }
  return decodeMixed(bytes);
}

function candidates(bytes: Uint8Array, declared: string | undefined, html: boolean): string[] {
  const label = (declared ?? '')
    .trim()
    .toLowerCase()
    .replace(/^["']|["']$/g, '');
  const marked = markedCharset(bytes);
  if (marked !== undefined) return [marked, 'utf-8'];
  const named = ALIASES.get(label) ?? label;
  const found = named === '' || UNDECLARED.has(named) ? [] : [named];
  const view = asBuffer(bytes.subarray(0, 64 * 1024));
  if (html) {
    const meta = META_CHARSET.exec(view.toString('latin1', 0, META_BYTES))?.[1]?.toLowerCase();
    // A meta element that was found by reading ASCII cannot correctly declare UTF-16 (HTML
    // §13.2.3.2). UTF-7 in it is only used to bypass filters (§13.2.3.3).
    if (meta !== undefined && !meta.startsWith('utf-16') && !UTF_7.test(meta)) found.push(meta);
  }
  const isStateful = named.startsWith('iso-2022');
  if (!isStateful && view.includes(0x1b) && ISO_2022_JP.test(view.toString('latin1'))) {
    found.unshift('iso-2022-jp');
  }
  return [...found, 'utf-8', ...(RELATED.get(named) ?? [])];
}

/** The charset of one language or region that a part states; undefined if it states none. */
export function statedCharset(
  bytes: Uint8Array,
  declared: string | undefined,
  html: boolean,
): string | undefined {
  return candidates(bytes, declared, html).find((charset) => !charset.startsWith('utf'));
}

/** A byte order mark overrides any label (Encoding §4.2). */
function markedCharset(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 === 1) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** Undefined if the bytes are not valid in this charset, or the charset is unknown. */
function decodeStrictly(
  bytes: Uint8Array,
  charset: string,
  truncated: boolean,
): string | undefined {
  if (charset === 'utf-8' || charset === 'utf8') return decodeUtf8(bytes, truncated);
  if (UTF_7.test(charset)) return isAscii(asBuffer(bytes)) ? decodeRare(bytes, 'utf-7') : undefined;
  const decoder = knownDecoder(charset);
  if (decoder === undefined) return decodeRare(bytes, charset);
  try {
    const text =
      decoder.encoding === 'windows-1252'
        ? decodeWindows1252(bytes)
        : decoder.decode(bytes, { stream: truncated });
    if (!decoder.encoding.startsWith('utf-16') && HAS_C1.test(text)) return undefined;
    return decoder.encoding === 'shift_jis' && isUtf8Misread(bytes, text) ? undefined : text;
  } catch {
    // Japanese and Chinese mail uses vendor extensions that the standard's tables do not include.
    // Bytes that ISO-2022-JP cannot have are of another charset.
    if (decoder.encoding === 'iso-2022-jp' && !isAscii(asBuffer(bytes))) return undefined;
    return decodeRare(bytes, charset);
  }
}

/** Much faster than a TextDecoder for each short text. */
function decodeUtf8(bytes: Uint8Array, truncated: boolean): string | undefined {
  const whole = truncated ? bytes.subarray(0, lastCharacterEnd(bytes)) : bytes;
  if (!isUtf8(whole)) return undefined;
  return asBuffer(whole).toString('utf8');
}

/** The start of an incomplete character in the last three bytes, otherwise the end. */
function lastCharacterEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return bytes.length - back;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

/** UTF-8 is often also valid Shift_JIS, as half-width katakana that real text does not contain. */
function isUtf8Misread(bytes: Uint8Array, text: string): boolean {
  return /[\uff61-\uff9f]/.test(text) && isUtf8(bytes);
}

/** Text does not contain these; a wrong charset shows bytes as them. */
const HAS_C1 = /[\x80-\x9f]/;

/** The code points of the bytes 80 to 9f, five of which are undefined. */
const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/**
 * Node's TextDecoder decodes windows-1252 as Latin-1, which turns its euro and quotes into
 * controls.
 */
function decodeWindows1252(bytes: Uint8Array): string {
  return asBuffer(bytes)
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80] ?? byte);
}

/** A character of UTF-8, or a byte that is none. */
const NOT_ASCII =
  /([\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})|[\x80-\xff]/g;

/** Windows-1252, with UTF-8 where that is at least half of what is not ASCII. */
function decodeMixed(bytes: Uint8Array): string {
  let balance = 0;
  const mixed = asBuffer(bytes)
    .toString('latin1')
    .replace(NOT_ASCII, (written, isCharacter?: string) => {
      const raw = Buffer.from(written, 'latin1');
      const isUtf8Here = isCharacter !== undefined && isUtf8(raw);
      balance += isUtf8Here ? written.length : -written.length;
      return isUtf8Here ? raw.toString('utf8') : decodeWindows1252(raw);
    });
  return balance >= 0 ? mixed : decodeWindows1252(bytes);
}

function knownDecoder(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

/**
 * Charsets and extensions that WHATWG does not define: cp850, UTF-7, JIS with vendor characters.
 */
function decodeRare(bytes: Uint8Array, charset: string): string | undefined {
  if (!/^[a-z0-9][\w.:-]{0,40}$/.test(charset)) return undefined;
  const base64 = asBuffer(bytes).toString('base64');
  try {
    const text = libmime.decodeWord(charset, 'B', base64);
    return text.includes('\ufffd') ? undefined : text;
  } catch {
    return undefined;
  }
}
