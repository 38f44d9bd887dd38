/** C0 and C1 controls, except tab and line feed. */

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Bidirectional embeddings, overrides and isolates. The marks LRM and RLM are allowed in text. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
/**
 * Invisible characters: they can hide text from a person but not from a program. All format
 * characters except LRM, RLM and the Prepended_Concatenation_Marks, which are visible.
 */
const INVISIBLE =
  /(?![\u200e\u200f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cf}\p{Default_Ignorable_Code_Point}\ufffc]/gu;
/** Blanks of Braille, which look like a gap; in a Braille text, a gap of four is rare but seen. */
const BRAILLE_GAP = /\u2800{4,}/g;
/** The width of a Braille page. */
const BRAILLE_LINE = 40;

/** An unpaired surrogate, which no encoder accepts. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** Most text matches none of these characters and is returned unchanged. */
const SUSPICIOUS =
  /(?![\u200e\u200f])[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Surrogate}\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u2800\ufffc]/u;

/** Scripts that do not use joiners; between their letters, a joiner only disguises a word. */
const UNJOINED =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LETTER = /[\p{L}\p{M}]/u;
const HAN = /\p{Script=Han}/u;
const PICTURE = /\p{Extended_Pictographic}/u;
const AFTER_PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;
const FLAG_LENGTH = 16;
const FLAG_START = /\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6}$/u;
const FLAG_END = /^[\u{e0030}-\u{e007a}]{0,6}\u{e007f}/u;

/**
 * Text as a person sees it: without control characters, bidirectional overrides, and characters of
 * format such as tags and stray zero-width characters. Joiners are kept where a script uses them (Persian, Indic scripts,
 * emoji families), tags in flags, and variation selectors after a character. Line ends become `\n`.
 */
export function cleanText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return withoutInvisible(
    text
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      .replace(CONTROLS, '')
      .replace(BIDI, ''),
  )
    .replace(BRAILLE_GAP, withoutGap)
    .replace(HALF_CHARACTER, '\ufffd');
}

/** The same on one line, with white space collapsed, cut at `maxLength` UTF-16 units. */
export function cleanLine(text: string, maxLength: number): string {
  // Cut generously before cleaning too, which bounds the work for any input.
  const head = text.slice(0, maxLength * 8);
  const line = cleanText(head.replace(/[\t\n\r\v\f]/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  return cutText(line, maxLength).trimEnd();
}

/** The first `maxLength` UTF-16 units, without a surrogate that is cut off from its pair. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const code = text.charCodeAt(maxLength - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? maxLength - 1 : maxLength);
}

function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, (character: string, offset: number) => {
    const before = codePointBefore(text, offset);
    const after = characterAt(text, offset + character.length);
    return belongs(character, before, after) || inFlag(text, character, offset) ? character : '';
  });
}

function withoutGap(gap: string, at: number, text: string): string {
  const near = text.slice(Math.max(at - BRAILLE_LINE, 0), at + gap.length + BRAILLE_LINE);
  return /[\u2801-\u28ff]/.test(near) ? gap : ' ';
}

function belongs(character: string, before: string, after: string): boolean {
  switch (character) {
    case '\u200c':
      return joins(before) && joins(after);
    case '\u200d':
      return (AFTER_PICTURE.test(before) && PICTURE.test(after)) || joins(before);
    default:
  }
  if (character >= '\ufe00' && character <= '\ufe0f') {
    return before !== '' && !/[\s\ufe00-\ufe0f]/.test(before);
  }
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xe0100 && code <= 0xe01ef) return HAN.test(before);
  if (code >= 0x180b && code <= 0x180f && code !== 0x180e)
    return /\p{Script=Mongolian}/u.test(before);
  return false;
}

function joins(character: string): boolean {
  return LETTER.test(character) && !UNJOINED.test(character);
}

/**
 * UTS #51 ED-14a: the flag of a region is a black flag, tags and a cancel tag, with nothing
 * between.
 */
function inFlag(text: string, character: string, offset: number): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0xe0020 || code > 0xe007f) return false;
  // At most six tags of two units each, so the work per character is bounded.
  const before = text.slice(Math.max(offset - FLAG_LENGTH, 0), offset);
  return FLAG_START.test(before) && FLAG_END.test(text.slice(offset, offset + FLAG_LENGTH));
}

function characterAt(text: string, offset: number): string {
  const code = text.codePointAt(offset);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function codePointBefore(text: string, offset: number): string {
  const low = text.charCodeAt(offset - 1);
  const start = low >= 0xdc00 && low <= 0xdfff ? offset - 2 : offset - 1;
  return start < 0 ? '' : characterAt(text, start);
}
