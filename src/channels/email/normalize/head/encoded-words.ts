import { decodeText } from '../body/charset.ts';

/**
 * Only this much of a value is decoded, because encoded words are up to nine times as long as their
 * text.
 */
const MAX_ENCODED_LENGTH = 16 * 1024;
/**
 * RFC 2047 §2, with the language of RFC 2231 §5. Real ones contain spaces and question marks, and
 * characters beyond ASCII.
 */
const WORD_START = /^=\?([\w.:+-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?/i;
const MAX_WORD_START = '=?'.length + 40 + '*'.length + 20 + '?q?'.length;
const MAX_WORD_LENGTH = 2000;

const BEYOND_ASCII = /[^\x00-\x7f]/;
const HEX = /^=\s{0,5}([0-9a-f]{2})/i;
const EQUALS = 0x3d;
const UNDERSCORE = 0x5f;
const TAB = 0x09;
const SPACE = 0x20;

interface Word {
  readonly charset: string;
  readonly encoding: 'b' | 'q';
  readonly text: string;
}

/** The encoded words of a value, with where each is. Looks for the end of words once, so it is linear. */
function* wordsIn(
  value: string,
): Generator<Word & { readonly start: number; readonly end: number }> {
  let end = 0;
  for (let start = value.indexOf('=?'); start !== -1; start = value.indexOf('=?', start)) {
    const found = WORD_START.exec(value.slice(start, start + MAX_WORD_START));
    const from = start + (found?.[0].length ?? '=?'.length);
    start = from;
    if (found === null) continue;
    if (end < from) end = value.indexOf('?=', from);
    if (end === -1) return;
    const text = value.slice(from, Math.min(end, from + MAX_WORD_LENGTH + 1));
    if (text.length > MAX_WORD_LENGTH || /[\r\n]/.test(text)) continue;
    const [{ length }, charset = '', encoding] = found;
    start = end + '?='.length;
    yield {
      charset: charset.toLowerCase(),
      encoding: encoding?.toLowerCase() === 'b' ? 'b' : 'q',
      text,
      start: from - length,
      end: start,
    };
  }
}

/**
 * Decodes the encoded words in a header value; what is none stays unchanged. Adjacent words of one
 * charset are decoded together, because some systems split characters between them. The charset is
 * chosen as in bodies (`decodeText`). Reads a bounded part of the value; linear.
 */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value;
  const raw = value.slice(0, MAX_ENCODED_LENGTH);
  let decoded = '';
  let end = 0;
  let run: Word[] = [];
  const flush = () => {
    if (run.length > 0) decoded += decodeRun(run);
    run = [];
  };
  for (const word of wordsIn(raw)) {
    const between = raw.slice(end, word.start);
    const adjacent = end > 0 && /^\s*$/.test(between);
    if (!adjacent || run[0]?.charset !== word.charset) flush();
    if (!adjacent) decoded += between;
    run.push(word);
    end = word.end;
  }
  flush();
  return decoded + raw.slice(end);
}

/** Adjacent words of one charset. */
function decodeRun(words: readonly Word[]): string {
  const [{ charset } = { charset: '' }] = words;
  let text = '';
  let bytes: Buffer[] = [];
  const flush = () => {
    if (bytes.length > 0) text += decodeText(Buffer.concat(bytes), charset);
    bytes = [];
  };
  for (const word of joined(words)) {
    // Characters that the header's own charset has decoded already are kept.
    if (!BEYOND_ASCII.test(word.text)) {
      bytes.push(bytesOf(word));
      continue;
    }
    for (const piece of word.text.split(/([^\x00-\x7f]+)/)) {
      if (BEYOND_ASCII.test(piece)) {
        flush();
        text += piece;
      } else if (piece !== '') bytes.push(bytesOf({ ...word, text: piece }));
    }
  }
  flush();
  return text;
}

/** Joins base64 that was split within a group of four characters. */
function joined(words: readonly Word[]): readonly Word[] {
  const out: Word[] = [];
  for (const word of words) {
    const last = out.at(-1);
    const isSplit =
      last?.encoding === 'b' &&
      word.encoding === 'b' &&
      /^[A-Za-z0-9+/\s]*$/.test(last.text) &&
      last.text.replace(/\s+/g, '').length % 4 !== 0;
    if (isSplit) out[out.length - 1] = { ...word, text: last.text + word.text };
    else out.push(word);
  }
  return out;
}

/** Some systems confuse the two encodings. */
function bytesOf({ encoding, text }: Word): Buffer {
  if (encoding === 'b') {
    return /=[^=\s]|[^\w+/=\s-]/.test(text) ? quotedBytes(text) : Buffer.from(text, 'base64');
  }
  // Padding shows base64: in the Q encoding, a hexadecimal number follows each `=`.
  const isBase64 = text.endsWith('=') && text.length % 4 === 0 && /^[\w+/]+={1,2}$/.test(text);
  return isBase64 ? Buffer.from(text, 'base64') : quotedBytes(text);
}

/** RFC 2047 §4.2, of ASCII. White space after a `=` is from folding within the word. */
function quotedBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const hex = code === EQUALS ? HEX.exec(text.slice(at, at + 8)) : null;
    if (hex?.[1] !== undefined) {
      bytes[length] = parseInt(hex[1], 16);
      at += hex[0].length - 1;
    } else {
      bytes[length] = code === UNDERSCORE || code === TAB ? SPACE : code;
    }
    length += 1;
  }
  return bytes.subarray(0, length);
}

/**
 * Raw bytes within the encoded words of a header field, in the form of the Q encoding: they are in
 * the word's charset, not in the one of the text around it.
 * @param field its bytes as Latin-1
 */
export function withQuotedBytes(field: string): string {
  if (!field.includes('=?')) return field;
  const pieces: string[] = [];
  let from = 0;
  for (const { encoding, start, end } of wordsIn(field)) {
    if (encoding === 'b') continue;
    const word = field.slice(start, end);
    pieces.push(field.slice(from, start), word.replace(/[\x80-\xff]/g, inQ));
    from = end;
  }
  return pieces.join('') + field.slice(from);
}

/** RFC 2047 §4.2. */
const inQ = (byte: string): string => `=${byte.charCodeAt(0).toString(16).toUpperCase()}`;

/** RFC 2231 §4: `utf-8'en'na%C3%AFve`, which some systems write into an ordinary parameter. */
const EXTENDED = /^([\w.:-]{1,40})'[\w-]{0,20}'(.{1,4096})$/s;

const MAX_PARAMETER_LENGTH = 4096;

/** A parameter of a header field, such as a file name. Reads a bounded part of it. */
export function decodeParameter(value: string): string {
  const raw = value.slice(0, MAX_PARAMETER_LENGTH);
  const [, charset, text = ''] = EXTENDED.exec(raw) ?? [];
  if (charset === undefined || !/%[0-9a-f]{2}/i.test(text) || BEYOND_ASCII.test(text)) {
    return decodeWords(raw);
  }
  const latin1 = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return decodeText(Buffer.from(latin1, 'latin1'), charset.toLowerCase());
}
