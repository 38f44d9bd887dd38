import type { CutRule } from '../../../../domain/email-reading.ts';
import { attributionStart } from './attributions.ts';
import { isOriginalMessageLine, startsHeaderBlock } from './headings.ts';
import { bareText, isEmptyOrRule, isQuoted, isRule, type Line, nextText } from './lines.ts';
import { endWithoutDevice } from './device-lines.ts';
import { isAddedParagraph, isCompanyNumber, LIST_WORDS } from './markers/footers.ts';
import { isGreeting } from './signature-lines.ts';
import { withoutSignature } from './signatures.ts';

/** Where the quoted message starts, and whether everything after it belongs to it. */
export interface QuoteStart {
  readonly index: number;
  readonly rest: boolean;
  readonly rule: CutRule;
  /** Where the lines begin that are marked as quoted, below a title and its fields. */
  readonly marked?: number | undefined;
}

/**
 * Whether new text follows the start of the quote: without the quote, the answers would lose their
 * context. The rest of a quoted line that was wrapped on its way is no new text, nor is a signature or
 * what a mailing list, a virus scanner, a company or a telephone adds at the end. Below a greeting,
 * whatever follows is what the person has to say.
 */
export function isAnsweredInline(lines: readonly Line[], quote: QuoteStart): boolean {
  if (quote.rest) return false;
  const end = quote.index + endWithoutDevice(lines.slice(quote.index));
  let width: number | undefined;
  for (let index = quote.marked ?? quote.index; index < end; index += 1) {
    const line = lines[index];
    if (line === undefined) continue;
    if (isQuoted(line) || isEmptyOrRule(line)) continue;
    if (line.mark === 'signature' || bareText(line) === '--') {
      const below = new Set(lines.slice(index));
      const { lines: kept } = withoutSignature([...lines.slice(0, quote.index), ...below]);
      return kept.some((each) => below.has(each) && hasText(each));
    }
    if (startsRest(lines, index)) return false;
    if (isAttributionLine(lines, index, quote)) continue;
    if (isWrappedLink(lines, index)) continue;
    width ??= widthOfQuote(lines, quote.index);
    const wrapped = wrappedLines(lines, index, width);
    if (wrapped === 0) {
      const above = lines.slice(0, quote.index).filter(hasText);
      const saysNothing = above.length > 0 && above.every(isGreeting);
      return saysNothing || !isFooter(lines.slice(index, end), lines, index);
    }
    index += wrapped - 1;
  }
  return false;
}

/** An older message below the quote, which is not marked line by line. */
function startsRest(lines: readonly Line[], index: number): boolean {
  if (lines[index]?.mark === 'rest') return true;
  return isOriginalMessageLine(lines, index) || startsHeaderBlock(lines, index);
}

function isAttributionLine(lines: readonly Line[], index: number, quote: QuoteStart): boolean {
  for (let end = index; end < index + 6 && end < lines.length; end += 1) {
    if (lines[end]?.text.trim() === '') return false;
    const quoteFollows = isQuoted(nextText(lines, end + 1));
    const start = attributionStart(lines, end, quoteFollows);
    if (start !== undefined && start <= index && start >= quote.index) return true;
  }
  return false;
}

/** A link in brackets, or the rest of one, between two quoted lines: no person answers so. */
function isWrappedLink(lines: readonly Line[], index: number): boolean {
  const [above, below] = [lines[index - 1], lines[index + 1]];
  if (!isQuoted(above) || !isQuoted(below)) return false;
  const text = bareText(lines[index]);
  if (/^[<(]https?:\/\/\S{3,500}[>)][.,;]?[\s>]{0,3}$/.test(text)) return true;
  const open = /[<(]https?:\/\/[^\s<>()]{3,300}$/.test(bareText(above).slice(-310));
  return open && /^[^\s<>()]{1,500}[>)]$/.test(text);
}

/** Programs wrap lines at 65 to 80 characters, and a quote mark comes on top of it. */
const MIN_WRAP_WIDTH = 56;
const MAX_WRAP_WIDTH = 84;
const MAX_WRAPPED_LINES = 12;
const MAX_REGION = 2000;
const SENTENCE_END = /[.!?:;…。！？]["'”’)\]]{0,2}$/;

/**
 * The length of the longest line of a quote in plain text; 0 when longer lines show that nothing
 * wrapped them (one may be the attribution, which is added later), or when no sentence ends, so that
 * nothing tells an answer from the rest of a line.
 */
function widthOfQuote(lines: readonly Line[], from: number): number {
  const region = lines.slice(from, from + MAX_REGION);
  const lengths = region.filter(isQuoted).map(({ text }) => text.length);
  if (lengths.filter((length) => length > MAX_WRAP_WIDTH).length > 1) return 0;
  if (!endsSentences(region)) return 0;
  return Math.max(0, ...lengths.filter((length) => length <= MAX_WRAP_WIDTH));
}

/** A single line without `>` may be an answer that ends in a full stop in a quote that has none. */
function endsSentences(region: readonly Line[]): boolean {
  const ends = region.filter(({ text }) => SENTENCE_END.test(text));
  return ends.some(isQuoted) || ends.length > 1;
}

/**
 * How many lines from `index` on are the rest of the quoted line above, which a program on the way
 * wrapped without repeating the `>`. The line above is as full as any of the quote, so that the next
 * word did not fit; it ends within a sentence that goes on here; and the quote goes on below.
 */
function wrappedLines(lines: readonly Line[], index: number, width: number): number {
  const above = lines[index - 1];
  if (width < MIN_WRAP_WIDTH) return 0;
  if (above === undefined || !above.text.trimStart().startsWith('>')) return 0;
  let last = index;
  let before = above.text;
  for (; last < index + MAX_WRAPPED_LINES; last += 1) {
    const text = lines[last]?.text ?? '';
    const [word = ''] = text.trimStart().split(' ', 1);
    const isFull = before.length + 1 + word.length > width;
    if (text.trim() === '' || isQuoted(lines[last]) || !isFull) break;
    if (text.length > MAX_WRAP_WIDTH || SENTENCE_END.test(before)) break;
    before = text;
  }
  const count = last - index;
  const next = lines[last];
  const endsThere = next === undefined || next.text.trim() === '' || isQuoted(next);
  if (count === 0 || !endsThere) return 0;
  return goesOn(lines, index, last) ? count : 0;
}

/** Whether the sentence of the line above goes on in these lines, or through them. */
function goesOn(lines: readonly Line[], first: number, end: number): boolean {
  if (/^\p{Ll}/u.test(lines[first]?.text.trimStart() ?? '')) return true;
  const next = lines[end]?.text.replace(/^[>\s]{1,20}/, '') ?? '';
  return !SENTENCE_END.test(lines[end - 1]?.text ?? '') && /^\p{Ll}/u.test(next);
}

const MAX_FOOTER_LINES = 60;
const MAX_PARAGRAPHS = 12;
/** The rule of Mailman has 47 underscores, of which some programs on the way leave two. */
const LIST_RULE = /^(?:__|[_=-]{20,80})$/;

/** Whether the rest of the message is only what was added to it on its way. */
function isFooter(rest: readonly Line[], lines: readonly Line[], index: number): boolean {
  const said = rest.filter(({ text }) => text.trim() !== '');
  if (said.length > MAX_FOOTER_LINES || said.some(isQuoted)) return false;
  const ruled = LIST_RULE.test(bareText(lines.slice(0, index).findLast(hasText)));
  if (ruled && said.length <= 8 && said.some(isListLine) && said.some(hasLink)) return true;
  const paragraphs = paragraphsOf(rest);
  if (paragraphs.length > MAX_PARAGRAPHS || paragraphs.every(isNumber)) return false;
  return paragraphs.every((text) => ADDED_TITLE.test(text) || isAddedParagraph(text));
}

/** A number alone may be what was asked for. */
const isNumber = (text: string): boolean => ADDED_TITLE.test(text) || isCompanyNumber(text);

/** It says nothing without the text below it. */
const ADDED_TITLE =
  /^(?:disclaimer|confidentiality notice|haftungsausschluss|avis de confidentialité|aviso legal)[:.]?$/i;

const hasText = ({ text }: Line) => text.trim() !== '';

const isListLine = (line: Line) => LIST_WORDS.test(bareText(line));
const hasLink = (line: Line) => /https?:\/\/|\S@\S/.test(bareText(line));

/** The texts between empty lines and rules, each on one line. */
function paragraphsOf(lines: readonly Line[]): readonly string[] {
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.text.trim() === '' || isRule(line)) paragraphs.push([]);
    else paragraphs.at(-1)?.push(bareText(line));
  }
  return paragraphs.map((each) => each.join(' ').slice(0, 3000)).filter((text) => text !== '');
}
