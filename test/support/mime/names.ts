import type { Dice } from '../dice.ts';

/** The parameters of a header field that give a file its name, and the name that they give. */
export interface WrittenName {
  readonly text: string;
  /** Each `NAME=VALUE`, where `NAME` begins with the parameter's name; one character per byte. */
  readonly parameters: (parameter: string) => readonly string[];
}

const STEMS = ['invoice', 'Rechnung für März', 'счёт-фактура', '請求書', 'photo 1', 'a.b', 'x'];
const MORE = ["Ann's list", 'Größe 28', 'naïve café', '👍 ok', 'دليل', 'Ωμέγα'];
const EXTENSIONS = ['pdf', 'png', 'txt', 'csv', 'docx', 'tar.gz', 'xyz'];
/** Names in other charsets than UTF-8, which Node does not encode. */
const IN_CHARSETS = [
  ['iso-8859-1', 'Größe.pdf', '4772f6df652e706466'],
  ['windows-1252', '12 €.pdf', '313220802e706466'],
  ['koi8-r', 'счет.pdf', 'd3dec5d42e706466'],
  ['windows-1251', 'счет.pdf', 'f1f7e5f22e706466'],
  ['shift_jis', '請求書.pdf', '90bf8b818f912e706466'],
  ['iso-2022-jp', '請求書.pdf', '1b2442404135613d711b28422e706466'],
  ['gb18030', '发票.pdf', 'b7a2c6b12e706466'],
  ['euc-kr', '영수증.pdf', 'bfb5bcf6c1f52e706466'],
] as const;

const binary = (text: string): string => Buffer.from(text).toString('latin1');
const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
const isToken = (text: string): boolean => /^[\w.+-]+$/.test(text);

export function writeName(dice: Dice): WrittenName {
  if (dice.chance(25)) return inCharset(dice);
  if (dice.chance(3)) {
    // A program that forgets the quotes.
    const text = `photo (${dice.below(100)}).png`;
    return { text, parameters: (parameter) => [`${parameter}=${text}`] };
  }
  const text = `${dice.pick(dice.chance(60) ? STEMS : MORE)}${dice.below(100)}.${dice.pick(EXTENSIONS)}`;
  const write = dice.pick(WRITERS);
  return { text, parameters: (parameter) => write(parameter, text, dice) };
}

type WriteName = (parameter: string, text: string, dice: Dice) => readonly string[];

const WRITERS: readonly WriteName[] = [
  // Raw UTF-8 (RFC 6532), in quotes or as a token.
  (parameter, text) => [`${parameter}=${isToken(text) ? text : quote(binary(text))}`],
  (parameter, text) => [`${parameter}=${quote(binary(text))}`],
  (parameter, text) => [`${parameter} = ${quote(binary(text))} (a name)`],
  (parameter, text, dice) => [`${parameter}="${encodedWords(text, dice)}"`],
  (parameter, text) => [`${parameter}*=utf-8''${percent(Buffer.from(text))}`],
  // RFC 6266: the plain form is for old programs.
  (parameter, text) => [
    `${parameter}="fallback.bin"`,
    `${parameter}*=UTF-8'en'${percent(Buffer.from(text))}`,
  ],
  (parameter, text, dice) => sections(parameter, text, dice),
  (parameter, text, dice) => [...sections(parameter, text, dice)].reverse(),
];

function inCharset(dice: Dice): WrittenName {
  const [charset, text, hex] = dice.pick(IN_CHARSETS);
  const bytes = Buffer.from(hex, 'hex');
  if (dice.chance(50)) {
    return { text, parameters: (parameter) => [`${parameter}*=${charset}''${percent(bytes)}`] };
  }
  const word = dice.chance(50)
    ? `=?${charset}?B?${bytes.toString('base64')}?=`
    : `=?${charset.toUpperCase()}?q?${hex.toUpperCase().replaceAll(/../g, '=$&')}?=`;
  return { text, parameters: (parameter) => [`${parameter}="${word}"`] };
}

/** RFC 2047, several words if the text is long; a character is never divided (§5). */
function encodedWords(text: string, dice: Dice): string {
  const asBase64 = dice.chance(50);
  const characters = Array.from(text);
  const words: string[] = [];
  for (let at = 0; at < characters.length; at += 10) {
    const bytes = Buffer.from(characters.slice(at, at + 10).join(''));
    const encoded = asBase64
      ? bytes.toString('base64')
      : bytes.toString('hex').toUpperCase().replaceAll(/../g, '=$&');
    words.push(`=?utf-8?${asBase64 ? 'B' : 'Q'}?${encoded}?=`);
  }
  return words.join('\r\n ');
}

function percent(bytes: Buffer): string {
  return [...bytes]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[\w.-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
}

/** RFC 2231 §3: sections, cut anywhere, also within a character; §4.1: some are not encoded. */
function sections(parameter: string, text: string, dice: Dice): readonly string[] {
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  const size = 3 + dice.below(12);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    const number = pieces.length;
    if (isAscii && dice.chance(50) && number > 0) {
      pieces.push(`${parameter}*${number}=${quote(piece.toString())}`);
    } else {
      const charset = number === 0 ? "utf-8''" : '';
      pieces.push(`${parameter}*${number}*=${charset}${percent(piece)}`);
    }
  }
  return pieces;
}
