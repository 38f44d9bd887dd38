import type { Where } from './erasure.ts';

/** A line that can be part of a base64 body: 4 × n characters, the last line shorter. */
const BASE64_LINE = /^[A-Za-z0-9+/]{16,}={0,2}$/;
const ENCODED_WORD = /=\?[\w-]+(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi;

export interface ReadableText {
  readonly where: Where;
  readonly text: string;
}

/**
 * The texts of a raw message to search for a name: the header with its encoded words decoded (RFC
 * 2047), and the body unchanged, as quoted-printable, and with every run of base64 decoded. Bytes
 * above 127 are one character each. Compressed content, such as a document in a ZIP, is not
 * searched.
 */
export function* readableTexts(raw: Uint8Array): Generator<ReadableText> {
  const all = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const end = /\r?\n\r?\n/.exec(all);
  const header = all.slice(0, end?.index ?? all.length).replace(/\r?\n(?=[ \t])/g, '');
  yield { where: 'header', text: header };
  if (header.includes('=?')) yield { where: 'header', text: decodeWords(header) };
  if (end === null) return;
  const body = all.slice(end.index + end[0].length);
  for (const text of bodyTexts(body)) yield { where: 'body', text };
}

/**
 * The texts of a body to search for a name: unchanged, as quoted-printable, and with every run of
 * base64 decoded. For emails, and for raw forms that are JSON.
 */
export function* bodyTexts(body: string): Generator<string> {
  yield body;
  if (/=(?:[0-9A-F]{2}|\r?\n)/i.test(body)) yield decodeQuotedPrintable(body);
  for (const bytes of base64Runs(body)) {
    const text = bytes.toString('latin1');
    yield text;
    // UTF-16 of ASCII: a NUL beside each character.
    if (text.includes('\0')) yield text.replaceAll('\0', '');
  }
}

const ESCAPED = /\\(?:u([0-9a-f]{4})|(.))/gi;

/** JSON with escapes decoded, for searching: otherwise a word after `\n` begins with an `n`. */
export function textOfJson(json: string): string {
  return json.replace(ESCAPED, (_all, code: string | undefined, letter: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
    return letter !== undefined && /[bfnrt]/.test(letter) ? '\n' : (letter ?? '');
  });
}

function* base64Runs(body: string): Generator<Buffer> {
  let run: string[] = [];
  for (let at = 0; at < body.length;) {
    const lf = body.indexOf('\n', at);
    const next = lf === -1 ? body.length : lf + 1;
    const line = body.slice(at, lf === -1 ? body.length : lf).trimEnd();
    at = next;
    // The last line of a run may be as short as four characters.
    const isPart =
      BASE64_LINE.test(line) || (run.length > 0 && /^[A-Za-z0-9+/]{2,}={0,2}$/.test(line));
    if (isPart) run.push(line);
    if ((!isPart || at >= body.length) && run.length > 0) {
      yield Buffer.from(run.join(''), 'base64');
      run = [];
    }
  }
}

function decodeQuotedPrintable(text: string): string {
  return text
    .replace(/=[ \t]*\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Adjacent encoded words are one text (RFC 2047 §6.2): an address may be split between two. */
function decodeWords(header: string): string {
  return header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(ENCODED_WORD, (_all, encoding: string, text: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('latin1')
        : decodeQuotedPrintable(text.replaceAll('_', ' ')),
    );
}
