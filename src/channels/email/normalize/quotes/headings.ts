import { isDashedAttribution } from './attributions.ts';
import { bareText, isEmptyOrRule, type Line } from './lines.ts';
import {
  ABOVE_THIS_LINE,
  forwardTitles,
  fromLabels,
  originalTitles,
  otherLabels,
  subjectLabels,
} from './markers/titles.ts';
import { firstCharacters, folded, startsWithPhrase } from './words.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

const originals = firstCharacters(originalTitles);
const forwards = firstCharacters(forwardTitles);

const MAX_TITLE_LENGTH = 150;
/**
 * A header block has From and its other fields within this many lines, of which some may be empty
 * (Outlook's paragraphs) or hold the rest of a long list of recipients.
 */
const HEADER_BLOCK_LINES = 8;

/**
 * `-----Original Message-----` and its translations; Zoho's `---- On … X <x@y> wrote ---`; the line
 * of help desks above which a person has to answer.
 */
export function isOriginalMessageLine(lines: readonly Line[], index: number): boolean {
  const line = bareText(lines[index]);
  if (line.startsWith('>>> ')) return isDashedAttribution(lines, index);
  const text = line.replace(/^[>\s]{1,10}/, '');
  if (!isDashed(text)) return false;
  const title = dashedTitle(text);
  if (title === '' || isForwardTitle(text)) return false;
  if (originals.get(title.charAt(0))?.some((each) => isTitle(title, each)) === true) return true;
  if (ABOVE_THIS_LINE.some((words) => title.includes(words))) return true;
  return isDashedAttribution(lines, index);
}

/** A line with which a mail client introduces a forwarded message. */
export function isForwardLine(line: Line | undefined): boolean {
  const text = bareText(line).replace(/^[>\s]{1,10}/, '');
  if (text.length > MAX_TITLE_LENGTH) return false;
  if (isDashed(text)) return isForwardTitle(text);
  if (!/[:：]$/.test(text)) return false;
  const said = folded(text.replace(/\s?[:：]$/, ''));
  return forwardTitles.includes(said);
}

/**
 * The title of an original message with eight dashes, and below it the subject and then the date: the
 * forwards of earlier Thunderbirds. Replies of Samsung's telephones have the sender below the subject.
 */
export function startsForwardedFields(lines: readonly Line[], index: number): boolean {
  if (!/^-{8} ?[^\s-].{3,60}[^\s-] ?-{8}$/.test(bareText(lines[index]))) return false;
  if (!isOriginalMessageLine(lines, index)) return false;
  const [first, second] = [firstLabel(lines[index + 1]), firstLabel(lines[index + 2])];
  return subjectLabels.has(first) && otherLabels.has(second) && !fromLabels.has(second);
}

/** Whether the line could be a title in a language that is not known: words between dashes. */
export function isUnknownTitle(line: Line | undefined): boolean {
  const text = bareText(line);
  return text.length <= 80 && /^[-=_]{3,40} ?\p{L}.{2,60}\p{L} ?[-=_]{3,40}$/u.test(text);
}

/** `Original Message` without dashes, as BlackBerry writes it above the header block. */
export function isBareTitle(line: Line | undefined): boolean {
  const text = bareText(line);
  return text.length <= 60 && originalTitles.includes(folded(text.replace(/[:：]$/, '')));
}

/**
 * Whether a block of From, Sent, To and Subject lines starts here, as in Outlook; GMX puts Sent
 * first, and some clients write all of it on one line. It must have a subject or an address: "From:
 * Berlin, To: Paris" may be written by a person. The fields stand one below the other, without other
 * text but the rest of a long one; between paragraphs there are empty lines.
 */
export function startsHeaderBlock(lines: readonly Line[], index: number): boolean {
  if (startsNotesBlock(lines, index)) return true;
  const first = firstLabel(lines[index]);
  if (first === '' || !(fromLabels.has(first) || otherLabels.has(first))) return false;
  const sentFirst = !fromLabels.has(first);
  const above = lines[index - 1];
  if (sentFirst && !isEmptyOrRule(above) && !isDashed(bareText(above)) && !hasZone(lines[index])) {
    return false;
  }
  return isBlock(headerFields(lines, index, sentFirst));
}

/**
 * The table of Lotus Notes as text: the sender with an address, the date, and then each label on a
 * line of its own, with its value below.
 */
function startsNotesBlock(lines: readonly Line[], index: number): boolean {
  const date = bareText(lines[index + 1]);
  if (!/^\d{1,4}[-./]\d{1,2}[-./]\d{2,4},? \d{1,2}[:.]\d\d(?: ?[ap]m)?$/i.test(date)) return false;
  if (!endsInMarkedAddress(bareText(lines[index]))) return false;
  const below = lines.slice(index + 2, index + 2 + 2 * HEADER_BLOCK_LINES);
  const labels = below.map((line) => folded(bareText(line)));
  return labels.some((label) => subjectLabels.has(label)) && labels.some(isRecipientLabel);
}

/** `Ann Lee <ann@x.example>`, with brackets or quotes of any kind. */
function endsInMarkedAddress(text: string): boolean {
  const last = text.slice(text.lastIndexOf(' ') + 1);
  const mark = last.search(/[<"(]/);
  return mark !== -1 && text.length > last.length && /[^@]@./.test(last.slice(mark + 1));
}

const isRecipientLabel = (label: string) => otherLabels.has(label) && !subjectLabels.has(label);

/** Whether a text of several fields without line breaks begins with the sender. */
export function holdsHeaderFields(text: string): boolean {
  const [first = '', ...others] = labelsIn(text.slice(0, 500).trimStart(), false);
  return fromLabels.has(first) && others.length > 0;
}

interface HeaderField {
  readonly label: string;
  readonly hasAddress: boolean;
  readonly hasTime: boolean;
  readonly hasZone: boolean;
}

/** A date as only a program writes it (RFC 5322 §3.3): `Mon, 5 Jan 2026 10:00:00 +0100`. */
const hasZone = (line: Line | undefined): boolean =>
  /\d\d:\d\d:\d\d [+-]\d{4}$/.test(bareText(line));

/** The fields from this line on, as long as they are below each other and each is there once. */
function headerFields(
  lines: readonly Line[],
  index: number,
  sentFirst: boolean,
): readonly HeaderField[] {
  const fields: HeaderField[] = [];
  let rests = 0;
  for (let at = index; at < index + 2 * HEADER_BLOCK_LINES && at < lines.length; at += 1) {
    const text = bareText(lines[at]);
    const hasFrom = fields.some(({ label }) => fromLabels.has(label));
    if (text === '' && sentFirst && !hasFrom) break;
    if (text === '') continue;
    const labels = labelsIn(text, fields.length > at - index);
    rests = labels.length === 0 ? rests + 1 : 0;
    const isRest = fields.length > 1 || (fields.length === 1 && isAddressRest(lines, at));
    if (rests > 2 || (rests > 0 && !isRest)) break;
    for (const label of labels) {
      if (fields.some((field) => field.label === label)) return fields;
      if (hasFrom && fromLabels.has(label) && !otherLabels.has(label)) return fields;
      fields.push({
        label,
        hasAddress: text.includes('@'),
        hasTime: /\d[:.]\d\d/.test(text),
        hasZone: hasZone(lines[at]),
      });
    }
    if (fields.length >= HEADER_BLOCK_LINES) break;
  }
  return fields;
}

/** The address of a sender, wrapped after the name or within the brackets. */
function isAddressRest(lines: readonly Line[], at: number): boolean {
  if (bareText(lines[at]).includes('@')) return true;
  const above = bareText(lines[at - 1]);
  const last = (brackets: string) =>
    Math.max(...brackets.split('').map((one) => above.lastIndexOf(one)));
  return last('[<(') > last('])>');
}

function isBlock(fields: readonly HeaderField[]): boolean {
  const from = fields.find(({ label }) => fromLabels.has(label));
  const others = fields.filter((field) => field !== from && otherLabels.has(field.label));
  // Hotmail's Date and To, of a sender who has left out the rest.
  if (from === undefined) {
    return fields[0]?.hasZone === true && fields[1]?.hasAddress === true;
  }
  if (from.hasAddress) return others.length >= 2 || others.some(({ hasTime }) => hasTime);
  return others.length >= 2 && fields.some(({ label }) => subjectLabels.has(label));
}

/** Whether the line begins with a label of a header block. */
export function isHeaderLine(line: Line | undefined): boolean {
  const label = firstLabel(line);
  return label !== '' && (fromLabels.has(label) || otherLabels.has(label));
}

function isDashed(text: string): boolean {
  return /^(?:[-_=\u2010-\u2015\u2500~*#]{2}|[\u2014\u2015])/.test(text);
}

function isForwardTitle(text: string): boolean {
  const title = dashedTitle(text);
  const titles = forwards.get(title.charAt(0)) ?? [];
  if (titles.some((each) => startsWithPhrase(title, each))) return true;
  // IONOS and other users of Open-Xchange; their replies have an attribution.
  return /^-{10} (?:Original Message|Ursprüngliche Nachricht) -{10}$/.test(text);
}

/** The words are the title, or the title and its dashes come before the first field on its line. */
function isTitle(words: string, title: string): boolean {
  if (!words.startsWith(title)) return false;
  return words.length === title.length || /^ ?[-_=]{2}/.test(words.slice(title.length));
}

/** The words between the dashes. */
function dashedTitle(text: string): string {
  // QQ Mail writes the entity into its plain text.
  const words = text.slice(0, MAX_TITLE_LENGTH).replaceAll('&nbsp;', ' ');
  const inner = words.replace(/^[-_=~*#\u2010-\u2015\u2500\s]+/, '');
  return folded(withoutEnd(inner, /[-_=~*#\u2010-\u2015\u2500\s:：]/));
}

/** The text before the first colon: "From" of "**From:** Ann"; empty if it is no short word. */
function firstLabel(line: Line | undefined): string {
  const start = line?.text.slice(0, 60) ?? '';
  if (!start.includes(':') && !start.includes('：')) return '';
  return labelBefore(bareText(line).replace(/^[>|\s]{1,20}/, ''));
}

function labelBefore(text: string): string {
  const colon = text.slice(0, 34).search(/[:：]/);
  return colon === -1 ? '' : folded(text.slice(0, colon)).replace(/^[|\s]+/, '');
}

/**
 * The known labels of a line: at its start, and further ones within it. The line may be the rest of
 * one with several fields.
 */
function labelsIn(text: string, isRest: boolean): readonly string[] {
  const first = labelBefore(text.replace(/^[>|\s]{1,20}/, ''));
  const known = fromLabels.has(first) || otherLabels.has(first);
  if (!known && !isRest) return [];
  const found = known ? [first] : [];
  const later = /\s(\p{L}[\p{L}\p{M}]{1,20})\s?[:：]\s/gu;
  for (const match of text.slice(known ? first.length : 0).matchAll(later)) {
    const label = folded(match[1] ?? '');
    const isFrom = fromLabels.has(label) && !found.some((each) => fromLabels.has(each));
    if (otherLabels.has(label) || isFrom) found.push(label);
    if (found.length >= HEADER_BLOCK_LINES) break;
  }
  return found;
}
