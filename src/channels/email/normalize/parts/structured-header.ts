import { decodeText } from '../body/charset.ts';
import { decodeWords } from '../head/encoded-words.ts';

/** The value of a structured field such as Content-Type (RFC 2045 §5.1). */
export interface StructuredHeader {
  /** What precedes the first parameter. */
  readonly value: string;
  /** By lower-case name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The same as written, one character per byte, with the sections of RFC 2231. */
  readonly written: ReadonlyMap<string, string>;
}

/** A longer value is cut; a head is not longer. */
const MAX_LENGTH = 128 * 1024;
/** A longer comment after a value is part of the value, so that none is searched repeatedly. */
const MAX_INNER_COMMENT = 200;

/**
 * Parses an unfolded value of one character per byte. Tolerant and linear:
 * - Comments (RFC 5322 §3.2.2) are skipped where white space is allowed; a parenthesis within an
 *   unquoted file name belongs to the name, also after a space: `Invoice (1).pdf`.
 * - Of a parameter that occurs twice, the first counts.
 * - Sections and charsets (RFC 2231 §3, §4) are decoded, and so are encoded words, which RFC 2047
 *   §5 forbids here but mail programs write. An extended value takes precedence over a plain one
 *   (RFC 6266 §4.3).
 * - Raw 8-bit is UTF-8 if it is valid, otherwise windows-1252.
 */
export function parseStructuredHeader(text: string): StructuredHeader {
  const reader = new ParameterReader(text.slice(0, MAX_LENGTH));
  const { value } = reader.next();
  const written = new Map<string, string>();
  while (!reader.ended) {
    const { name, value: parameter } = reader.next();
    if (name !== '' && !written.has(name)) written.set(name, parameter);
  }
  return { value: decodeWritten(value), parameters: decodeParameters(written), written };
}

/** Reads the value and the parameters, which semicolons separate. */
class ParameterReader {
  readonly #text: string;
  #at = 0;
  #first = true;
  /** A parenthesis is never closed, so it opens no comment. */
  #unclosed = false;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** `name` is empty for what precedes the first parameter. */
  next(): { readonly name: string; readonly value: string } {
    const hasName = !this.#first;
    this.#first = false;
    let name: string | undefined;
    let pieces: string[] = [];
    /** White space outside of quotes, which counts only between other characters. */
    let blank = '';
    let isClosed = false;
    const add = (piece: string): void => {
      // A value is a token or a quoted string, not both.
      if (!isClosed) pieces.push(pieces.length === 0 ? piece : blank + piece);
      blank = '';
    };
    for (; this.#at < this.#text.length; this.#at += 1) {
      const character = this.#text.charAt(this.#at);
      if (character === ';') break;
      if (' \t\r\n'.includes(character)) {
        // Line breaks may be left of folding.
        blank += character;
      } else if (character === '(' && this.#opensComment(name, pieces.length > 0, blank !== '')) {
        this.#at = this.#endOfComment() ?? this.#at;
        blank += ' ';
      } else if (character === '=' && hasName && name === undefined) {
        name = pieces.join('').toLowerCase();
        pieces = [];
        blank = '';
      } else if (character === '"') {
        add(this.#quoted());
        isClosed = name !== undefined;
      } else {
        add(this.#token());
      }
    }
    this.#at += 1;
    const value = pieces.join('');
    if (!hasName) return { name: '', value };
    return name === undefined ? { name: value.toLowerCase(), value: '' } : { name, value };
  }

  /** The character here and the following ones without a meaning; moves to the last one. */
  #token(): string {
    const start = this.#at;
    TOKEN.lastIndex = start + 1;
    this.#at = TOKEN.test(this.#text) ? TOKEN.lastIndex - 1 : start;
    return this.#text.slice(start, this.#at + 1);
  }

  #opensComment(name: string | undefined, hasValue: boolean, isAfterBlank: boolean): boolean {
    if (this.#unclosed) return false;
    const isInside = name !== undefined && hasValue;
    if (isInside && !isAfterBlank) return false;
    const end = this.#endOfComment(isInside ? MAX_INNER_COMMENT : MAX_LENGTH);
    if (!isInside) this.#unclosed = end === undefined;
    if (end === undefined) return false;
    return !isInside || /^[ \t]{0,20}(?:[;(]|$)/.test(this.#text.slice(end + 1, end + 22));
  }

  /** The position of the parenthesis that closes the comment that opens here. */
  #endOfComment(maxLength = MAX_LENGTH): number | undefined {
    const limit = Math.min(this.#text.length, this.#at + maxLength);
    let depth = 0;
    for (let at = this.#at; at < limit; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '(') depth += 1;
      else if (character === ')') depth -= 1;
      if (depth === 0) return at;
    }
    return undefined;
  }

  /** The content of the quoted string that opens here; moves to its closing quote. */
  #quoted(): string {
    const pieces: string[] = [];
    let start = this.#at + 1;
    for (this.#at = start; this.#at < this.#text.length; this.#at += 1) {
      const character = this.#text[this.#at];
      if (character === '"') break;
      if (character === '\\') {
        pieces.push(this.#text.slice(start, this.#at));
        this.#at += 1;
        start = this.#at;
      }
    }
    pieces.push(this.#text.slice(start, this.#at));
    return pieces.join('');
  }
}

/** Characters that have no meaning outside of quotes. */
const TOKEN = /[^;( \t\r\n="]+/y;

/** `name*`, `name*0`, `name*0*`. */
const SECTION = /^([^*]{1,100})\*(?:(\d{1,100})(\*)?)?$/;
const CHARSET = /^([\w.:-]{0,100})'[^']{0,100}'/;

interface Section {
  readonly number: number;
  readonly isEncoded: boolean;
  readonly text: string;
}

function decodeParameters(written: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const decoded = new Map<string, string>();
  const extended = new Map<string, Section[]>();
  for (const [name, text] of written) {
    const section = name.includes('*') ? SECTION.exec(name) : null;
    if (section?.[1] === undefined) {
      decoded.set(name, decodeWritten(text));
      continue;
    }
    const [, base, number = '0', star] = section;
    const isEncoded = star === '*' || section[2] === undefined;
    const sections = extended.get(base) ?? [];
    sections.push({ number: Number(number), isEncoded, text });
    extended.set(base, sections);
  }
  for (const [name, sections] of extended) {
    const value = joinSections(sections.sort((one, other) => one.number - other.number));
    if (value !== '') decoded.set(name, value);
  }
  return Object.fromEntries(decoded);
}

/** RFC 2231 §4.1: only the sections whose name ends in `*` are percent-encoded. */
function joinSections(sections: readonly Section[]): string {
  const [first] = sections;
  if (!sections.some(({ isEncoded }) => isEncoded)) {
    return decodeWritten(sections.map(({ text }) => text).join(''));
  }
  const charset = first?.isEncoded === true ? CHARSET.exec(first.text) : null;
  let joined = '';
  /** A character may be divided between two sections. */
  let encoded = '';
  sections.forEach(({ isEncoded, text }, index) => {
    if (isEncoded) {
      encoded += index === 0 ? text.slice(charset?.[0].length ?? 0) : text;
      return;
    }
    joined += decodePercent(encoded, charset?.[1]) + decodeBytes(text);
    encoded = '';
  });
  return joined + decodePercent(encoded, charset?.[1]);
}

function decodePercent(encoded: string, charset: string | undefined): string {
  const bytes = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decodeBytes(bytes, charset);
}

function decodeWritten(text: string): string {
  return decodeWords(decodeBytes(text));
}

/** Text of one character per byte. */
function decodeBytes(text: string, charset?: string): string {
  // In ISO-2022-JP, ASCII has another meaning.
  if (charset === undefined && !/[\x80-\xff]/.test(text)) return text;
  return decodeText(Buffer.from(text, 'latin1'), charset);
}
