import { bareText, isRule, type Line } from './lines.ts';
import {
  deviceLines,
  devices,
  deviceWords,
  EXCUSE,
  fillers,
  owners,
  placesOfWork,
  wholeLines,
} from './markers/devices.ts';
import { folded } from './words.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

/** Clients and people write more than one such line: "Sent from my iPhone", "Get Outlook …". */
const MAX_DEVICE_PARAGRAPHS = 3;
const MAX_DEVICE_LINES = 5;
const MAX_DEVICE_LINE_LENGTH = 160;

/**
 * Where the text ends when the paragraphs are left out that consist of what a telephone or a program
 * appended. Each must stand alone, after an empty line or a dash, at the end.
 */
export function endWithoutDevice(lines: readonly Line[]): number {
  let end = lines.length;
  for (let count = 0; count < MAX_DEVICE_PARAGRAPHS; count += 1) {
    const first = deviceParagraphStart(lines, end);
    if (first === undefined) break;
    const dash = lines[first - 1];
    end = dash !== undefined && isDash(dash) ? first - 1 : first;
  }
  return end;
}

/** A device line may have the address of its program on a line of its own. */
function deviceParagraphStart(lines: readonly Line[], end: number): number | undefined {
  let first = end - 1;
  while (first >= 0 && lines[first]?.text.trim() === '') first -= 1;
  const last = first;
  while (first >= 0 && last - first < MAX_DEVICE_LINES) {
    const line = lines[first];
    if (line === undefined || line.text.trim() === '' || isDash(line)) break;
    if (!isDeviceLine(line) && !(first === last && isAddressOnly(line))) return undefined;
    first -= 1;
  }
  const found = first < last && isDeviceLine(lines[first + 1]);
  const before = lines[first];
  const alone = before === undefined || before.text.trim() === '' || isDash(before);
  return found && alone ? first + 1 : undefined;
}

function isDash(line: Line): boolean {
  return isRule(line) || /^(?:--|[\u2013\u2014])$/.test(bareText(line));
}

function isAddressOnly(line: Line): boolean {
  return /^[<([]?https?:\/\/[^\s<>]{3,300}[>)\]]?$/.test(line.text.trim().slice(0, 310));
}

/**
 * Whether the line says nothing but on which device or with which program the message was written:
 * "Sent from my iPhone". A sentence that begins so has other words as well and is the person's.
 */
export function isDeviceLine(line: Line | undefined): boolean {
  const written = withoutLinks(bareText(line).slice(0, 3 * MAX_DEVICE_LINE_LENGTH));
  const text = folded(written);
  // "发自手机" is the shortest.
  if (text.length < 4 || text.length > MAX_DEVICE_LINE_LENGTH) return false;
  const said = text
    .replace(/^[\s([<{_~"'|\u2013\u2014-]{1,10}/, '')
    .replace(/[\s)\]>}_~"'|.!\u3002\u2013\u2014-]{1,10}$/, '');
  if (wholeLines.has(said)) return true;
  const short = said.replace(EXCUSE, '').replace(/[.\s]{1,3}$/, '');
  const known = [...(byStart.get(short.charAt(0)) ?? []), ...(byEnd.get(short.slice(-1)) ?? [])];
  return known.some(({ before, after }) => {
    if (!short.startsWith(before) || !short.endsWith(after)) return false;
    if (before.length + after.length >= short.length) return false;
    const device = wordsOf(short.slice(before.length, short.length - after.length));
    return isDevice(device, after === '') || isUnknownModel(device, written);
  });
}

/** What a line can be only if it begins or ends with this character. */
function byEdge(edge: (line: (typeof deviceLines)[number]) => string | undefined) {
  const found = new Map<string, (typeof deviceLines)[number][]>();
  for (const line of deviceLines) {
    const character = edge(line);
    if (character === undefined) continue;
    found.set(character, [...(found.get(character) ?? []), line]);
  }
  return found;
}

/** Most lines are none of these, which a look at one character tells. */
const byStart = byEdge(({ before }) => before.at(0));
const byEnd = byEdge(({ before, after }) => (before === '' ? after.at(-1) : undefined));

/** The line without addresses: of Markdown links only the words stay. */
export function withoutLinks(text: string): string {
  if (!/[[\]]|:\/\/|www\.|\((?:tel|mailto):/.test(text)) return text;
  return text
    .replace(/\]\([^\s()]{1,300}\)/g, ']')
    .replace(/[<([]\s?(?:https?:\/\/|mailto:|tel:)[^\s<>()[\]]{1,300}\s?[>)\]]/gi, ' ')
    .replace(/[:|]?\s?\(?(?:https?:\/\/|www\.)\S*/gi, ' ')
    .replace(/[[\]]/g, ' ');
}

function wordsOf(device: string): readonly string[] {
  return (
    device
      .replace(/[®™©,:;/()"|!]/g, ' ')
      // Languages without spaces write "从我的iPhone发送".
      .replace(/([a-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])/g, '$1 ')
      .replace(/([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[a-z0-9])/g, '$1 ')
      .replace(/\bem client\b/, 'emclient')
      .split(/\s+/)
      .map((word) => withoutEnd(word.replace(/^[.'-]+/, ''), /[.'!-]/))
      .filter((word) => word !== '')
  );
}

/** Only words for devices, and the small words beside them. */
function isDevice(words: readonly string[], mayBeSentence: boolean): boolean {
  if (words.length === 0 || words.length > 14) return false;
  let found = false;
  for (const word of words) {
    if (isDeviceWord(word)) found = true;
    else if (!fillers.has(word) && !isModel(word) && !isOwner(word, mayBeSentence)) return false;
  }
  return found;
}

/**
 * A model that no table has: "my Xelphone GX6". It has two to four words, each capitalized or with a
 * number. German capitalizes every noun, so one of its words must name a device or have a number.
 */
function isUnknownModel([whose = '', ...words]: readonly string[], written: string): boolean {
  if (!owners.has(whose) || words.length < 2 || words.length > 4) return false;
  if (words.some((word) => placesOfWork.has(word))) return false;
  const capitals = new Set((written.match(/(?<!\S)\p{Lu}\S*/gu) ?? []).map(folded));
  const isNamed = (word: string) => isDeviceWord(word) || isModel(word) || capitals.has(word);
  const isSure =
    !whose.startsWith('mein') || words.some((word) => isDeviceWord(word) || isModel(word));
  return isSure && words.every(isNamed);
}

const SAMSUNG_MODEL = /^sm-[a-z]\d{3}/;

function isDeviceWord(word: string): boolean {
  if (deviceWords.has(word) || SAMSUNG_MODEL.test(word)) return true;
  return devices.some((name) => {
    if (!word.startsWith(name)) return false;
    const ending = word.slice(name.length);
    // An ending of the language, or another device: "Android-Mobiltelefon".
    return /^['\p{L}\p{M}-]{0,8}$/u.test(ending) || deviceWords.has(ending.replace(/^['-]/, ''));
  });
}

/** `p20`, `sm-g950f`, `14.2`. */
function isModel(word: string): boolean {
  if (word.length > 12 || !/\p{Nd}/u.test(word)) return false;
  if (/^\p{Nd}{1,4}(?:\.\p{Nd}{1,3})?$/u.test(word)) return true;
  return /\p{L}/u.test(word) && /^[\p{L}\p{Nd}.+-]+$/u.test(word);
}

/** "Ann's iPhone". */
function isOwner(word: string, mayBeSentence: boolean): boolean {
  return mayBeSentence && /^\p{L}{2,20}'s$/u.test(word);
}
