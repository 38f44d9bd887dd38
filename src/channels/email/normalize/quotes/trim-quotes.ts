import { attributionStart, bareText, holdsAttributionAndQuote } from './attribution.ts';
import type { Line } from './lines.ts';
import { isForwardLine, isOriginalMessageLine, isRule, startsHeaderBlock } from './quote-lines.ts';
import { pointsIntoQuote } from './quote-pointers.ts';
import { withoutSignature } from './signature.ts';

export interface TrimmedLines {
  /** What stays. */
  readonly lines: readonly Line[];
  /** What was taken away: signature and quote, in their order. */
  readonly trimmed: readonly Line[];
}

/** Where the quoted message starts, and whether all after it belongs to it. */
interface QuoteStart {
  readonly index: number;
  readonly rest: boolean;
}

/**
 * Takes the quoted message and the signature away from a reply. Everything stays when new text
 * follows a quote (the answers stand between or below the quoted lines) or is said to stand in it,
 * when the message is a forward, and when nothing would be left. Linear in the lines; of each a
 * bounded part is read.
 */
export function trimQuotes(lines: readonly Line[]): TrimmedLines {
  const quote = findQuote(lines);
  if (quote !== undefined && (isForward(lines, quote) || isAnsweredInline(lines, quote))) {
    return { lines, trimmed: [] };
  }
  let end = quote?.index ?? lines.length;
  while (end > 0 && quote !== undefined && isEmptyOrRule(lines[end - 1])) end -= 1;
  const kept = withoutSignature(lines.slice(0, end));
  const saysSomething = kept.some(({ text }) => /[\p{L}\p{N}\p{S}]/u.test(text.slice(0, 1000)));
  if (!saysSomething || (quote !== undefined && pointsIntoQuote(kept))) {
    return { lines, trimmed: [] };
  }
  const staying = new Set(kept);
  return { lines: kept, trimmed: lines.filter((line) => !staying.has(line)) };
}

function findQuote(lines: readonly Line[]): QuoteStart | undefined {
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined || line.text === '') continue;
    if (
      line.mark === 'rest' ||
      isOriginalMessageLine(line) ||
      holdsAttributionAndQuote(line) ||
      startsHeaderBlock(lines, index)
    ) {
      return { index, rest: true };
    }
    const quoteFollows = isQuoted(nextText(lines, index + 1));
    const attribution = attributionStart(lines, index, quoteFollows);
    if (attribution !== undefined) {
      return { index: attribution, rest: !quoteFollows && line.mark === undefined };
    }
    if (isQuoted(line)) return { index, rest: false };
  }
  return undefined;
}

/** New text after the quote has begun: without it the answers would lose what they answer. */
function isAnsweredInline(lines: readonly Line[], quote: QuoteStart): boolean {
  if (quote.rest) return false;
  for (let index = quote.index; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) continue;
    if (line.mark === 'rest' || isOriginalMessageLine(line)) return false;
    if (line.mark === 'signature' || bareText(line) === '--') return false;
    if (isQuoted(line) || isEmptyOrRule(line) || isAttributionLine(lines, index, quote)) continue;
    return true;
  }
  return false;
}

function isAttributionLine(lines: readonly Line[], index: number, quote: QuoteStart): boolean {
  for (let end = index; end < index + 4 && end < lines.length; end += 1) {
    const quoteFollows = isQuoted(nextText(lines, end + 1));
    const start = attributionStart(lines, end, quoteFollows);
    if (start !== undefined && start <= index && start >= quote.index) return true;
  }
  return false;
}

/** Forwarded text is what the message is about. */
function isForward(lines: readonly Line[], quote: QuoteStart): boolean {
  return lines.slice(0, quote.index + 4).some(isForwardLine);
}

function isQuoted(line: Line | undefined): boolean {
  return line !== undefined && (line.mark === 'quote' || line.text.trimStart().startsWith('>'));
}

function nextText(lines: readonly Line[], from: number): Line | undefined {
  for (let index = from; index < from + 4; index += 1) {
    if (lines[index]?.text.trim() !== '') return lines[index];
  }
  return undefined;
}

function isEmptyOrRule(line: Line | undefined): boolean {
  return line === undefined || line.text.trim() === '' || isRule(line);
}
