import type { Dice } from '../dice.ts';

/** Text of one character per byte in a transfer encoding. */
export interface EncodedBody {
  /** The value of Content-Transfer-Encoding; empty: the field is missing. */
  readonly declared: string;
  readonly text: string;
}

const WORDS = 'lamp shelf order late broken table green invoice photo size return money'.split(' ');
const ACCENTED = ['für', 'größer', 'café', 'naïve', 'счёт', '請求書', '👍'];
/** Lines that look like something else. */
const ODD_LINES = ['', '-- ', '--', '.', '..', 'From here on', '> quoted', '--not-a-boundary', '='];

/** Lines of text in UTF-8 that no other part has, as bytes. */
export function writeText(dice: Dice, ascii: boolean): string {
  const lines = Array.from({ length: 1 + dice.below(6) }, () => {
    if (dice.chance(15)) return dice.pick(ODD_LINES);
    const words = Array.from({ length: 1 + dice.below(12) }, () =>
      !ascii && dice.chance(20) ? dice.pick(ACCENTED) : dice.pick(WORDS),
    );
    return words.join(' ');
  });
  const text = [`w${dice.below(1e9)} ${dice.pick(WORDS)}`, ...lines].join('\r\n');
  return Buffer.from(text).toString('latin1');
}

export function writeHtml(dice: Dice): string {
  const paragraphs = writeText(dice, false)
    .split('\r\n')
    .map((line) => `<p class="x">${line}</p>`);
  return `<html><body>\r\n${paragraphs.join('\r\n')}\r\n</body></html>`;
}

/** Any bytes; a few are large enough to stay in the message's file. */
export function writeBytes(dice: Dice): string {
  const length = dice.chance(1) ? 150_000 + dice.below(150_000) : dice.below(dice.pick([4, 3000]));
  const block = Uint8Array.from({ length: Math.min(length, 997) }, () => dice.below(256));
  return length === 0 ? '' : Buffer.alloc(length, block).toString('latin1');
}

/** Writes bytes in an encoding that can carry them. `isText`: its line ends are line ends. */
export function encodeBody(dice: Dice, bytes: string, isText: boolean): EncodedBody {
  const choice = dice.below(isText ? 10 : 4);
  if (choice < 3) return toBase64(dice, bytes);
  if (choice < 6) return toQuotedPrintable(dice, bytes, isText);
  const declared = /^[\x00-\x7f]*$/.test(bytes)
    ? dice.pick(['', '7bit', '7BIT', '8bit', 'binary', '(none) 7bit'])
    : dice.pick(['8bit', 'binary', '8Bit (of UTF-8)', '']);
  return { declared, text: bytes };
}

function toBase64(dice: Dice, bytes: string): EncodedBody {
  const width = dice.pick([76, 76, 60, 72, 4, 1000, 100_000]);
  const declared = dice.pick(['base64', 'BASE64', ' base64 ', '(of a file) base64', 'base64;']);
  const encoded = Buffer.from(bytes, 'latin1').toString('base64');
  if (dice.chance(5)) return { declared, text: paddedLines(bytes) };
  const lines: string[] = encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  if (dice.chance(5)) lines.splice(dice.below(lines.length), 0, '', ' ');
  if (dice.chance(5)) lines.push('', '');
  return { declared, text: lines.join('\r\n') };
}

/** Every line with its own padding, as some programs write. */
function paddedLines(bytes: string): string {
  const lines = bytes.match(/[^]{1,40}/g) ?? [];
  return lines.map((line) => Buffer.from(line, 'latin1').toString('base64')).join('\r\n');
}

/** RFC 2045 §6.7; now and then with what it allows for: blanks at line ends, small letters. */
function toQuotedPrintable(dice: Dice, bytes: string, isText: boolean): EncodedBody {
  const hasPadding = dice.chance(10);
  const isLower = dice.chance(10);
  const escape = (character: string) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
    return `=${isLower ? hex : hex.toUpperCase()}`;
  };
  const lines = (isText ? bytes.split('\r\n') : [bytes]).map((line) => {
    const escaped = line
      .replaceAll(isText ? /[^\x20-\x3c\x3e-\x7e]/g : /[^\x21-\x3c\x3e-\x7e]/g, escape)
      .replace(/ $/, '=20');
    const pieces = escaped.match(/(?:=[0-9A-Fa-f]{2}|[^=]){1,24}/g) ?? [''];
    const soft = pieces.map((piece, at) => (at < pieces.length - 1 ? `${piece}=` : piece));
    return soft.map((piece) => (hasPadding ? `${piece} \t` : piece)).join('\r\n');
  });
  const declared = dice.pick(['quoted-printable', 'Quoted-Printable', 'quoted-printable (RFC)']);
  return { declared, text: lines.join('\r\n') };
}
