import type {
  CutRule,
  QuotesReading,
  StayRule,
  TrimDecision,
} from '../../../../domain/email-reading.ts';
import {
  attributionStart,
  holdsAttributionAndQuote,
  isDashedAttribution,
  startWithinLine,
} from './attributions.ts';
import {
  isBareTitle,
  isForwardLine,
  isHeaderLine,
  isOriginalMessageLine,
  isUnknownTitle,
  startsForwardedFields,
  startsHeaderBlock,
} from './headings.ts';
import { isAnsweredInline, type QuoteStart } from './inline-answers.ts';
import { bareText, isEmptyOrRule, isQuoted, type Line, nextText } from './lines.ts';
import { pointsIntoQuote } from './pointers.ts';
import { withoutSignature } from './signatures.ts';

export interface TrimmedLines {
  /** The lines that are kept. */
  readonly lines: readonly Line[];
  /** The removed lines: signature and quote, in their order. */
  readonly trimmed: readonly Line[];
  /** Why nothing was removed although there is a quote. */
  readonly why?: TrimDecision;
  /** What was removed, by which rule. */
  readonly cuts?: QuotesReading['cut'];
  /** What stays although it looks like something to remove. */
  readonly stayed?: QuotesReading['stayed'];
}

/**
 * Removes the quoted message and the signature from a reply. The first row that applies decides:
 *
 * | what the text has                                                                  | rule           | the quote |
 * | ---------------------------------------------------------------------------------- | -------------- | --------- |
 * | the marker of a forward, at the beginning of what is quoted                         | forward        | stays     |
 * | a client's container, or what follows its mark                                      | client_mark    | goes      |
 * | a title: "-----Original Message-----"                                               | title          | goes      |
 * | an attribution: "On …, X wrote:"                                                    | attribution    | goes      |
 * | a header block: From, Sent, To                                                      | header_block   | goes      |
 * | `>` at the end, more than 300 characters, no colon or question above it             | quote_marks    | goes      |
 * | `>` or a blockquote otherwise, also above one of these                              | own_quotation  | stays     |
 *
 * What would go stays nevertheless, and the signature with it, when new text follows or stands between
 * the quoted lines (`inline_answers`), when the text announces that there is more in the quote
 * (`points_into_quote`), and when nothing else would be left (`nothing_left`). `withoutSignature` has
 * the rows of signatures. Linear in the lines; reads a bounded part of each.
 */
export function trimQuotes(written: readonly Line[]): TrimmedLines {
  const all = withNamedQuotes(written);
  const untrimmed = (why?: TrimDecision) => ({ lines: written, trimmed: [], ...(why && { why }) });
  const found = findQuote(all);
  if (found === 'forward') return untrimmed('forward');
  const { lines, quote } = onLinesOfItsOwn(all, found.quote);
  if (quote !== undefined && isAnsweredInline(lines, quote)) return untrimmed('inline_answers');
  let end = quote?.index ?? lines.length;
  while (end > 0 && quote !== undefined && isSeparator(lines[end - 1])) end -= 1;
  const { lines: kept, cut, stayed } = withoutSignature(lines.slice(0, end));
  if (!saysSomething(kept)) {
    // Outlook for iOS puts what the person writes into the quote.
    const within =
      quote?.rule === 'client_mark' ? trimQuotes(all.map(withoutQuoteMark)) : undefined;
    if (within !== undefined && within.trimmed.length > 0) return within;
    return untrimmed(quote === undefined ? undefined : 'nothing_left');
  }
  if (quote !== undefined && (announces(kept, quote) || pointsIntoQuote(kept))) {
    return untrimmed('points_into_quote');
  }
  const staying = new Set(kept);
  return {
    lines: kept,
    trimmed: lines.filter((line) => !staying.has(line)),
    cuts: [
      ...cut.slice(0, MAX_TOLD).map(told),
      ...(quote === undefined
        ? []
        : [told({ rule: quote.rule, lines: lines.slice(end), at: lines[quote.index] })]),
    ],
    stayed: [
      ...(found.own === undefined
        ? []
        : [told({ rule: 'own_quotation', lines: quotation(all, found.own) })]),
      ...stayed.slice(0, MAX_TOLD).map(told),
    ],
  };
}

function withoutQuoteMark({ mark, ...line }: Line): Line {
  return mark === 'signature' ? { ...line, mark } : line;
}

/** A stranger can write ten thousand signatures. */
const MAX_TOLD = 20;

function told<Rule extends CutRule | StayRule>(part: {
  rule: Rule;
  lines: readonly Line[];
  at?: Line | undefined;
}) {
  const said = part.lines.filter(({ text }) => text.trim() !== '');
  return { rule: part.rule, lines: said.length, at: bareText(part.at ?? said[0]).slice(0, 200) };
}

/** `AL> ` (The Bat!), `Ann> ` (supercite) or `| ` (nmh). A row of a table also ends in a bar. */
const NAMED = /^ ?(\p{Lu}[\p{L}.]{0,15}>|\|)(?!.*\|$)/u;

/** Marks lines that begin with a name or a bar as a quote if an attribution introduces them. */
function withNamedQuotes(lines: readonly Line[]): readonly Line[] {
  const marked = [...lines];
  for (let index = 1; index < lines.length; index += 1) {
    const prefix = NAMED.exec(lines[index]?.text.slice(0, 600) ?? '')?.[1];
    if (prefix === undefined) continue;
    const above = lines[index - 1]?.text === '' ? index - 2 : index - 1;
    if (attributionStart(lines, above, true) === undefined) continue;
    for (; index < lines.length; index += 1) {
      const line = lines[index];
      if (line === undefined) break;
      if (line.text !== '' && !line.text.trimStart().startsWith(prefix)) break;
      marked[index] = { ...line, mark: 'quote' };
    }
  }
  return marked;
}

/** The quoted lines from here on. */
function quotation(lines: readonly Line[], { index }: QuoteStart): readonly Line[] {
  const end = lines.findIndex((line, at) => at > index && !isQuoted(line) && line.text !== '');
  return lines.slice(index, end === -1 ? undefined : end);
}

interface Found {
  readonly quote: QuoteStart | undefined;
  /** A quotation of the person's own, which stays. */
  readonly own?: QuoteStart | undefined;
}

/** Breaks a line that holds the person's own words and the beginning of the attribution. */
function onLinesOfItsOwn(
  lines: readonly Line[],
  quote: QuoteStart | undefined,
): { readonly lines: readonly Line[]; readonly quote: QuoteStart | undefined } {
  const line = quote === undefined ? undefined : lines[quote.index];
  if (quote === undefined || line === undefined) return { lines, quote };
  if (quote.rule !== 'attribution' || isQuoted(line)) return { lines, quote };
  const at = startWithinLine(line);
  if (at === 0) return { lines, quote };
  const { index } = quote;
  const own = { ...line, text: line.text.slice(0, at).replace(/[\s-]{1,20}$/, '') };
  const rest = { ...line, text: line.text.slice(at) };
  return {
    lines: [...lines.slice(0, index), own, rest, ...lines.slice(index + 1)],
    quote: { ...quote, index: index + 1 },
  };
}

/** The quoted message, or that all of this is a forward, of which nothing is trimmed. */
function findQuote(lines: readonly Line[]): Found | 'forward' {
  /** A quotation that its own first lines introduce, or nothing: the client's may follow. */
  let found: QuoteStart | undefined;
  /** Below the first words of a quotation; what is quoted there introduces nothing. */
  let isInside = false;
  for (const [index, line] of lines.entries()) {
    const isPrefixed = hasPrefix(line);
    if (isInside && isPrefixed && line.mark === undefined) continue;
    isInside = isPrefixed && !isWordless(line);
    if (line.text === '' || (isPrefixed && !isInside && line.mark === undefined)) continue;
    const quote = (isInside ? introducedWithin(lines, index) : undefined) ?? quoteAt(lines, index);
    if (quote === undefined && isForwardLine(line)) return 'forward';
    if (quote === undefined) continue;
    if (isForward(lines, quote)) return 'forward';
    const isBare = quote.rule === 'quote_marks';
    const mayBeOwn = !quote.rest && line.mark === undefined && hasPrefix(lines[quote.index]);
    if (!isBare && !mayBeOwn) return { quote, own: found };
    if (found === undefined || (found.rule === 'quote_marks' && !isBare)) found = quote;
  }
  if (found?.rule !== 'quote_marks' || isAnsweredInline(lines, found)) return { quote: found };
  return isLeftByClient(lines, found) ? { quote: found } : { quote: undefined, own: found };
}

/** Nothing, a rule, or an empty line of a quotation. */
const isSeparator = (line: Line | undefined) => isEmptyOrRule(line) || isWordless(line);
const isWordless = (line: Line | undefined): boolean => !/[^>\s]/.test(line?.text ?? '');
const hasPrefix = (line: Line | undefined): boolean =>
  line?.text.trimStart().startsWith('>') === true;

/** A quote whose first lines introduce it: a wrapped attribution, or a header block below a title. */
function introducedWithin(lines: readonly Line[], index: number): QuoteStart | undefined {
  for (let end = index; end < index + 4 && lines[end]?.text.trim() !== ''; end += 1) {
    const quote = quoteAt(lines, end);
    if (quote?.rule === 'attribution' && quote.index === index) return quote;
    if (quote?.rule === 'header_block' && end === index + 1) return { ...quote, index };
  }
  return undefined;
}

/** What people quote is seldom longer. */
const MAX_OWN_LENGTH = 300;

/**
 * Whether a quotation at the end, which nothing introduces, is the answered message nevertheless: it
 * is long, and the line above does not point to it.
 */
function isLeftByClient(lines: readonly Line[], { index }: QuoteStart): boolean {
  const above = withoutSignature(lines.slice(0, index)).lines.findLast(
    ({ text }) => text.trim() !== '',
  );
  // Greek asks with a semicolon.
  if (/[:：?？؟;\u037e][\s*_~\\]{0,9}$/.test(above?.text.slice(-10) ?? '')) return false;
  const quoted = lines.slice(index).filter(isQuoted);
  return quoted.map(({ text }) => text.replace(/^[>\s]+/, '')).join('').length > MAX_OWN_LENGTH;
}

/** The quote that starts at this line, or at one above that belongs to it. */
function quoteAt(lines: readonly Line[], index: number): QuoteStart | undefined {
  const line = lines[index];
  if (line === undefined) return undefined;
  if (line.mark === 'rest') return { index, rest: true, rule: 'client_mark' };
  if (isOriginalMessageLine(lines, index)) {
    const marked = markedBelow(lines, index);
    const isUnmarked = !isQuoted(line) || isDashedAttribution(lines, index);
    return { index, rest: marked === undefined && isUnmarked, rule: 'title', marked };
  }
  if (holdsAttributionAndQuote(line)) return { index, rest: true, rule: 'attribution' };
  if (startsHeaderBlock(lines, index)) {
    const rest = !isQuoted(line);
    return { index: withTitle(lines, index), rest, rule: 'header_block' };
  }
  const quoteFollows = isQuoted(nextText(lines, index + 1));
  const attribution = attributionStart(lines, index, quoteFollows);
  if (attribution !== undefined) {
    const rest = !quoteFollows && line.mark === undefined;
    return { index: attribution, rest, rule: 'attribution' };
  }
  if (!isQuoted(line) || !isMoreThanOneLine(lines, index)) return undefined;
  return { index, rest: false, rule: line.mark === 'quote' ? 'client_mark' : 'quote_marks' };
}

const MAX_FIELDS = 12;

/** The first quoted line if nothing but the fields of a title stands above it: eM Client, Zoho, Seznam. */
function markedBelow(lines: readonly Line[], title: number): number | undefined {
  let isBelowFields = false;
  for (let index = title + 1; index <= title + MAX_FIELDS && index < lines.length; index += 1) {
    const line = lines[index];
    if (isQuoted(line)) return index;
    if (isEmptyOrRule(line)) isBelowFields = true;
    else if (isBelowFields && !isHeaderLine(line)) return undefined;
  }
  return undefined;
}

/** A single line may be the person's own: "> 100 EUR", ">:(". */
function isMoreThanOneLine(lines: readonly Line[], index: number): boolean {
  const line = lines[index];
  if (line?.mark === 'quote' || /^\s*>[>\s]*[\p{L}\p{M}"'*]/u.test(line?.text ?? '')) return true;
  return isQuoted(lines[index + 1]) || isQuoted(nextText(lines, index + 1));
}

/** A title without dashes stands directly above its header block. */
function withTitle(lines: readonly Line[], index: number): number {
  let above = index - 1;
  while (above > index - 3 && lines[above]?.text.trim() === '') above -= 1;
  return isBareTitle(lines[above]) ? above : index;
}

/** How far below the start of a quote the marker of a forward may stand. */
const FORWARD_LINES = 4;

/**
 * The forwarded text is the subject of the message. A marker behind the quote marks counts only
 * where the quote begins with it: below an attribution, the message that is answered is a forward.
 */
function isForward(lines: readonly Line[], quote: QuoteStart): boolean {
  const head = lines.slice(quote.index, quote.index + FORWARD_LINES);
  const first = head[0];
  if (hasPrefix(first)) return head.some(isForwardLine);
  if (isUnknownTitle(lines[quote.index - 1]) && quote.rest) return true;
  if (startsForwardedFields(lines, quote.index)) return true;
  return head.some((line) => !hasPrefix(line) && isForwardLine(line));
}

/** Whether more is left than the lines that introduce a quote. */
function saysSomething(lines: readonly Line[]): boolean {
  return lines.some((line, index) => {
    if (!/[\p{L}\p{N}\p{S}]/u.test(line.text.slice(0, 1000))) return false;
    if (isHeaderLine(line) && line.text.includes('@')) return false;
    if (isUnknownTitle(line) || isBareTitle(line)) return false;
    if (isOriginalMessageLine(lines, index)) return false;
    return attributionStart(lines, index, true) === undefined;
  });
}

/**
 * A person's "You wrote me this:", or the marker of a forward in words that no table has: a program
 * writes no words directly above the header of a quote.
 */
function announces(kept: readonly Line[], { rule }: QuoteStart): boolean {
  return rule === 'header_block' && /[:：]$/.test(bareText(kept.at(-1)));
}
