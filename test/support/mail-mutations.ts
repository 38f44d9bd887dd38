import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from './dice.ts';

/** What a mutation starts from; one character per byte (Latin-1), so that any byte can be cut. */
export interface MailSeed {
  readonly name: string;
  readonly text: string;
}

export interface MutatedMail {
  /** From which message, and what was done to it, in order. */
  readonly recipe: string;
  readonly bytes: Buffer;
}

const FOLDER = join(import.meta.dirname, '../fixtures/email');
const MAX_MUTATIONS = 4;
/** Mutations repeat; a message that would grow past this is cut. */
const MAX_BYTES = 400_000;

/** All messages of test/fixtures/email, in order. */
export function readMailSeeds(): readonly MailSeed[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.eml'))
    .sort()
    .map((file) => ({ name: file, text: readFileSync(join(FOLDER, file), 'latin1') }));
}

/** A message that nobody sends, the same for the same number and the same seeds. */
export function mutateMail(seeds: readonly MailSeed[], seed: number): MutatedMail {
  const dice = Dice.of(seed);
  const first = dice.pick(seeds);
  let text = first.text;
  const recipe = [first.name];
  const mutations = 1 + dice.below(MAX_MUTATIONS);
  for (let count = 0; count < mutations; count += 1) {
    const [name, mutate] = dice.pick(MUTATIONS);
    text = mutate(text, dice, seeds).slice(0, MAX_BYTES);
    recipe.push(name);
  }
  return { recipe: recipe.join(' > '), bytes: Buffer.from(text, 'latin1') };
}

type Mutate = (text: string, dice: Dice, seeds: readonly MailSeed[]) => string;

/** Real charsets, real ones that libraries get wrong, and none. */
const CHARSETS = [
  ...['utf-8', 'utf-16', 'utf-16be', 'utf-32', 'utf-7', 'us-ascii', 'iso-8859-1', 'iso-8859-8-i'],
  ...[
    'windows-1252',
    'windows-1251',
    'koi8-r',
    'iso-2022-jp',
    'iso-2022-kr',
    'shift_jis',
    'gb18030',
  ],
  ...['big5', 'euc-kr', 'hz-gb-2312', 'x-user-defined', 'cp437', 'macintosh', 'replacement'],
  ...['', '"', 'utf-8; charset=utf-16', 'constructor', '__proto__', 'x'.repeat(3000)],
];
const ENCODINGS = [
  ...['base64', 'quoted-printable', '7bit', '8bit', 'binary', 'x-uuencode', 'gzip', ''],
  ...['base64; x', 'BASE64', 'quoted-printable, base64', '__proto__'],
];
const TYPES = [
  ...['text/plain', 'text/html', 'text/plain; format=flowed; delsp=yes', 'text/calendar'],
  ...['multipart/mixed; boundary=b', 'multipart/alternative', 'multipart/related; boundary=""'],
  ...['multipart/report; report-type=delivery-status; boundary=b', 'multipart/signed; boundary=b'],
  ...['multipart/encrypted; boundary=b', 'message/rfc822', 'message/partial', 'application/pdf'],
  ...['message/delivery-status', 'application/ms-tnef', 'application/pkcs7-mime', 'image/png'],
  ...['message/external-body', 'text/enriched', 'TEXT', '/', '; ; ;', 'application/octet-stream'],
];
const NUMBERS = ['0', '-1', '9'.repeat(40), '4294967296', '9007199254740993', '1e309', '٣', '0x7f'];
const TOKENS = [
  ...['\0', '\r', '\n', '\r\n', '\r\n\r\n', '\u00ff\u00fe', '\u00ef\u00bb\u00bf', '\u00c0\u0080'],
  ...[
    '=?utf-8?B?',
    '=?utf-8?Q?=',
    '?=',
    '=\r\n',
    '=',
    '--',
    '--b--',
    '\r\n--b\r\n',
    '>'.repeat(300),
  ],
  ...['<div>', '</div></p>', '<!--', '<![CDATA[', '<style>', '<table><tr><td>', '<a href="', '&#'],
  ...['&#x110000;', '&#xD800;', '<blockquote>', '\r\n> ', '\r\n-- \r\n', '<?', '<svg/onload=x>'],
  ...['\r\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\r\n', '\r\nFrom: a\r\nTo: b\r\n'],
  ...['"', '(((', '<', '@', 'a:b;', ',', ';', "*0*=utf-8''%", '%00', '../', '\u00e2\u0080\u00ae'],
  ...['\u001b$B', '\u001b(B', '+AGE-', '\u00ed\u00a0\u0080', '\u00f3\u00a0\u0081\u00a1'],
];

const MUTATIONS: readonly (readonly [string, Mutate])[] = [
  ['flip bytes', flipBytes],
  ['truncate', (text, dice) => text.slice(0, dice.below(text.length))],
  ['behead', (text, dice) => text.slice(dice.below(text.length))],
  ['splice', (text, dice, seeds) => splice(text, dice.pick(seeds).text, dice)],
  ['nest', (text, dice, seeds) => splice(text, `${dice.pick(seeds).text}\r\n`, dice, true)],
  ['repeat a block', repeatBlock],
  ['drop a block', (text, dice) => replaceBlock(text, dice, 2000, () => '')],
  ['swap lines', swapLines],
  ['duplicate headers', duplicateHeaders],
  [
    'drop a header',
    (text, dice) => editHead(text, (lines) => lines.toSpliced(dice.below(lines.length), 1)),
  ],
  ['change boundaries', changeBoundaries],
  ['huge numbers', (text, dice) => replaceSome(text, /\d+/g, dice, () => dice.pick(NUMBERS))],
  [
    'swap charsets',
    (text, dice) =>
      replaceSome(text, /(?<=charset="?|=\?)[\w-]+/gi, dice, () => dice.pick(CHARSETS)),
  ],
  [
    'swap encodings',
    (text, dice) =>
      replaceSome(text, /(?<=transfer-encoding:[ \t]*)\S+/gi, dice, () => dice.pick(ENCODINGS)),
  ],
  [
    'swap types',
    (text, dice) =>
      replaceSome(text, /(?<=content-type:[ \t]*)[^\r\n;]+/gi, dice, () => dice.pick(TYPES)),
  ],
  ['insert tokens', insertTokens],
  [
    'bare line ends',
    (text, dice) => text.replaceAll('\r\n', dice.pick(['\n', '\r', '\r\r\n', '\n\r'])),
  ],
  [
    'one long line',
    (text, dice) => replaceBlock(text, dice, 20_000, (block) => block.replaceAll(/[\r\n]/g, '')),
  ],
];

function flipBytes(text: string, dice: Dice): string {
  const bytes = Buffer.from(text, 'latin1');
  const flips = 1 + dice.below(40);
  for (let count = 0; count < flips && bytes.length > 0; count += 1) {
    bytes[dice.below(bytes.length)] = dice.below(256);
  }
  return bytes.toString('latin1');
}

/** The beginning of one and the end of the other, or the whole other inside of the one. */
function splice(one: string, other: string, dice: Dice, whole = false): string {
  const at = dice.below(one.length);
  return one.slice(0, at) + (whole ? other + one.slice(at) : other.slice(dice.below(other.length)));
}

function replaceBlock(
  text: string,
  dice: Dice,
  maxLength: number,
  change: (block: string) => string,
): string {
  const from = dice.below(text.length);
  const to = from + 1 + dice.below(maxLength);
  return text.slice(0, from) + change(text.slice(from, to)) + text.slice(to);
}

function repeatBlock(text: string, dice: Dice): string {
  const times = 2 + dice.below(dice.pick([4, 40, 4000]));
  const lengths = dice.pick([3, 80, 1500]);
  return replaceBlock(text, dice, lengths, (block) =>
    block.repeat(Math.min(times, Math.ceil(MAX_BYTES / block.length))),
  );
}

function swapLines(text: string, dice: Dice): string {
  const lines = text.split('\r\n');
  const one = dice.below(lines.length);
  const other = dice.below(lines.length);
  return lines
    .with(one, lines[other] ?? '')
    .with(other, lines[one] ?? '')
    .join('\r\n');
}

function editHead(text: string, edit: (lines: readonly string[]) => readonly string[]): string {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return text;
  return edit(text.slice(0, end).split(/\r\n(?![ \t])/)).join('\r\n') + text.slice(end);
}

function duplicateHeaders(text: string, dice: Dice): string {
  const times = 1 + dice.below(dice.pick([2, 20, 300]));
  return editHead(text, (lines) => {
    const again = Array.from({ length: times }, () => dice.pick(lines));
    return lines.toSpliced(dice.below(lines.length), 0, ...again);
  });
}

function changeBoundaries(text: string, dice: Dice): string {
  const [, quoted] = /boundary="?([^"\r\n;]+)/i.exec(text) ?? [];
  if (quoted === undefined) return text;
  const found = new RegExp(quoted.replaceAll(/[^\w]/g, '\\$&'), 'g');
  const others = ['', '-', 'b', `${quoted}--`, quoted.slice(0, -1), `${quoted} `, 'x'.repeat(300)];
  return replaceSome(text, found, dice, () => dice.pick([...others, quoted.toUpperCase()]));
}

/** Of all that match, about half. */
function replaceSome(text: string, pattern: RegExp, dice: Dice, other: () => string): string {
  return text.replaceAll(pattern, (match) => (dice.below(2) === 0 ? match : other()));
}

function insertTokens(text: string, dice: Dice): string {
  const count = 1 + dice.below(8);
  let changed = text;
  for (let done = 0; done < count; done += 1) {
    const at = dice.below(changed.length);
    changed =
      changed.slice(0, at) + dice.pick(TOKENS).repeat(1 + dice.below(3)) + changed.slice(at);
  }
  return changed;
}
