import type { CutRule, StayRule } from '../../../../domain/email-reading.ts';
import { endWithoutDevice, isDeviceLine } from './device-lines.ts';
import { bareText, isQuoted, isRule, type Line } from './lines.ts';
import { isAddedParagraph } from './markers/footers.ts';
import {
  isCardLine,
  isClosing,
  isContactLine,
  isGreeting,
  isItem,
  pointsToSignature,
  hasOwnNumber,
} from './signature-lines.ts';

/** A longer text is not a signature, whatever precedes it. */
const MAX_SIGNATURE_LINES = 20;
/** Those of companies with several offices have forty. */
const MAX_MARKED_LINES = 60;
/** Without the space of `-- `, a line of dashes may also separate two paragraphs of a letter. */
const MAX_UNSURE_LINES = 8;

/** Lines that were cut, or that stay although a client's mark or `--` says that they are a signature. */
export interface SignaturePart {
  readonly rule: CutRule | StayRule;
  readonly lines: readonly Line[];
}

export interface WithoutSignature {
  readonly lines: readonly Line[];
  /** In the order of the lines. */
  readonly cut: readonly (SignaturePart & { readonly rule: CutRule })[];
  readonly stayed: readonly (SignaturePart & { readonly rule: StayRule })[];
}

/**
 * The person's text without its signature. A client's mark (`gmail_signature`) and the line `-- `
 * (RFC 3676 §4.3) tell where a signature may be, not that it is one: people type where the cursor
 * stands. The first row that applies decides:
 *
 * | what stands there                                                   | rule                | it    |
 * | ------------------------------------------------------------------- | ------------------- | ----- |
 * | the line of a telephone or a program at the end, alone               | device              | goes  |
 * | below `--`: a postscript, a quotation, more than twenty lines        | letter              | stays |
 * | below `--` that occurs more than once, or above `label: value`       | separator           | stays |
 * | below `--` without its space: neither a full name nor a telephone    | separator           | stays |
 * | below `--` without its space: a full name, where no sentence ends    | separator           | stays |
 * | the text above announces it: "the number below", "Ship it to:"       | pointed_to          | stays |
 * | the text above is a greeting; or nothing, and the next row applies   | nothing_else        | stays |
 * | up to the last paragraph that is not all names, addresses and links  | written_by_person   | stays |
 * | what the client marked                                               | signature_mark      | goes  |
 * | what follows `-- `                                                   | signature_delimiter | goes  |
 */
export function withoutSignature(all: readonly Line[]): WithoutSignature {
  const suspects = suspectsIn(all);
  const suspected = new Set(suspects.flatMap(({ lines }) => lines));
  const above = all.filter((line) => !suspected.has(line) && hasText(line));
  const isPointedTo = suspects.length > 0 && pointsToSignature(above);
  const isGreeted = above.every(isGreeting);
  const cut: WithoutSignature['cut'][number][] = [];
  const stayed: WithoutSignature['stayed'][number][] = [];
  for (const suspect of suspects) {
    const { lines, rule } = suspect;
    const { why, upTo } = judge(suspect);
    if (upTo > 0) stayed.push({ rule: why, lines: lines.slice(0, upTo) });
    if (lines.slice(upTo).some(hasText)) cut.push({ rule, lines: lines.slice(upTo) });
  }
  const gone = new Set(cut.flatMap(({ lines }) => lines));
  const kept = all.filter((line) => !gone.has(line));
  const end = endWithoutDevice(kept);
  if (end < kept.length) cut.push({ rule: 'device', lines: kept.slice(end) });
  return { lines: kept.slice(0, end), cut, stayed };

  /** How many of its lines stay, and why. */
  function judge(suspect: Suspect): { readonly why: StayRule; readonly upTo: number } {
    const { lines, stays } = suspect;
    if (stays !== undefined) return { why: stays, upTo: lines.length };
    if (isPointedTo && lines.some(holdsDetails)) return { why: 'pointed_to', upTo: lines.length };
    const upTo = endOfWritten(suspect);
    if (isGreeted && (above.length > 0 || upTo > 0)) {
      return { why: 'nothing_else', upTo: lines.length };
    }
    return { why: 'written_by_person', upTo };
  }
}

/** Where a signature may be. */
interface Suspect {
  readonly rule: 'signature_mark' | 'signature_delimiter';
  readonly lines: readonly Line[];
  /** Why it is none, whatever is written there. */
  readonly stays?: StayRule | undefined;
}

const hasText = ({ text }: Line): boolean => text.trim() !== '';
const isDelimiter = (line: Line): boolean => line.text.length < 10 && bareText(line) === '--';

/**
 * Behind the last paragraph that has a line which is none of a signature, or that is a list, or begins
 * the signature with a number instead of a name. What a program or a company wrote does not count. A
 * sentence that was wrapped ends on a line that is none by itself.
 */
function endOfWritten({ rule, lines }: Suspect): number {
  let end = 0;
  const first = lines.findIndex((line) => !isBetween(line));
  const isCard = (line: Line): boolean =>
    isCardLine(line, rule === 'signature_delimiter') || isDeviceLine(line);
  for (let from = 0; from < lines.length; from += 1) {
    let to = from;
    while (to < lines.length && !isBetween(lines[to])) to += 1;
    const paragraph = lines.slice(from, to);
    const isWritten = !paragraph.every(isCard) && !isAddedParagraph(inOneLine(paragraph));
    const isData = from === first && hasOwnNumber(paragraph[0]) && !isDeviceLine(paragraph[0]);
    if (isWritten || isData || paragraph.some(isPostscript) || isList(paragraph)) end = to;
    from = to;
  }
  return end;
}

const isList = (paragraph: readonly Line[]): boolean => paragraph.filter(isItem).length > 1;

/** What a text can announce: a number, an address. */
const holdsDetails = ({ text }: Line): boolean => /\p{Nd}|@/u.test(text.slice(0, 400));

const isPostscript = (line: Line): boolean => /^p\.? ?(?:p\.? ?)?s\.?[\s:.]/i.test(bareText(line));

/** Between two paragraphs. */
const isBetween = (line: Line | undefined): boolean =>
  line === undefined || !hasText(line) || isRule(line) || isDelimiter(line);

const inOneLine = (lines: readonly Line[]): string =>
  lines.slice(0, MAX_SIGNATURE_LINES).map(bareText).join(' ').slice(0, 3000);

function suspectsIn(lines: readonly Line[]): readonly Suspect[] {
  const marked: Line[][] = [];
  lines.forEach((line, index) => {
    if (line.mark !== 'signature') return;
    if (lines[index - 1]?.mark === 'signature') marked.at(-1)?.push(line);
    else marked.push([line]);
  });
  const delimited = lines.filter(({ mark }) => mark !== 'signature');
  return [
    ...marked.map((own): Suspect => {
      const isLong = own.length > MAX_MARKED_LINES;
      return { rule: 'signature_mark', lines: own, ...(isLong && { stays: 'letter' }) };
    }),
    ...belowDashes(delimited),
  ];
}

/** What stands below `--`. A mailing list's footer may have one of its own, below the signature's. */
function belowDashes(lines: readonly Line[]): readonly Suspect[] {
  const last = lines.findLastIndex(isDelimiter);
  if (last === -1) return [];
  const suspect = (from: number, own: readonly Line[]): Suspect => {
    return {
      rule: 'signature_delimiter',
      lines: own.slice(from),
      stays: whyNoDelimiter(own, from),
    };
  };
  const footer = lines.slice(last + 1, last + MAX_SIGNATURE_LINES).filter(hasText);
  if (footer.length === 0 || !isAddedParagraph(inOneLine(footer))) return [suspect(last, lines)];
  const above = lines.slice(0, last);
  const first = above.findLastIndex(isDelimiter);
  return [
    ...(first === -1 ? [] : [suspect(first, above)]),
    { rule: 'signature_delimiter', lines: lines.slice(last) },
  ];
}

/** Why what follows the line of dashes is no signature; undefined if it may be one. */
function whyNoDelimiter(lines: readonly Line[], at: number): StayRule | undefined {
  if (lines.length - at - 1 > MAX_SIGNATURE_LINES) return 'letter';
  const below = lines.slice(at + 1).filter(hasText);
  // A postscript is a part of the letter, and so is what the person quotes.
  if (below.some((line) => isQuoted(line) || isPostscript(line))) return 'letter';
  const first = bareText(below[0]);
  const isRepeated = lines.findIndex(isDelimiter) < at;
  if (isRepeated || /^[\p{L}\p{N}][\p{L}\p{N} ]{0,30}:\s\S/u.test(first)) return 'separator';
  if (lines[at]?.delimiter === true) return undefined;
  if (below.length > MAX_UNSURE_LINES) return 'separator';
  if (isName(first) && below.some(isContactLine)) return undefined;
  return isFullName(first) && isEnd(lines.slice(0, at)) ? undefined : 'separator';
}

/** Whether the text is at its end: "Lamp", "Green Cable" is a list. */
function isEnd(lines: readonly Line[]): boolean {
  const last = bareText(lines.findLast(hasText));
  return last === '' || /[^\p{L}\p{N}\s]$/u.test(last) || isClosing(last);
}

/** The first line of a signature. */
function isName(text: string): boolean {
  return text.split(' ').length <= 5 && !/^\p{Ll}/u.test(text);
}

/** "Ann Customer", and not "Question two". */
function isFullName(text: string): boolean {
  const words = text.split(' ');
  return (
    words.length > 1 &&
    words.length < 5 &&
    words.every((word) => /^\p{Lu}[\p{L}\p{M}.'’-]*$/u.test(word))
  );
}
