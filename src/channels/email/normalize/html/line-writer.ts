import type { InlineImage } from '../parts/attached-files.ts';
import { marked, resolveMarks, withoutMarks } from './emphasis.ts';
import type { Line, Mark } from '../quotes/lines.ts';

type Marked = Pick<Line, 'mark' | 'element'>;

/** Quotes in quotes in lists: deeper levels only add length. */
const MAX_PREFIXES = 10;

/** Text to be wrapped, whose end has not come yet. */
interface Span {
  /** Its first piece on the current line. */
  from: number;
  readonly wrap: (text: string) => string;
  /** Only its first line with text is wrapped, rather than each. */
  readonly once: boolean;
  done: boolean;
}

interface Prefix {
  readonly first: string;
  readonly next: string;
  used: boolean;
}

/** Builds lines from inline text and block boundaries, with a browser's layout rules. */
export class LineWriter {
  readonly #markdown: boolean;
  readonly #lines: (Marked & { text: string; hardBreak?: boolean })[] = [];
  /** The inline pieces of the current line. */
  #pieces: string[] = [];
  #endsInSpace = true;
  readonly #prefixes: Prefix[] = [];
  readonly #marks: Marked[] = [];
  readonly #inside = new Set<string>();
  /** From the outermost to the innermost. */
  readonly #spans: Span[] = [];
  #rest: Marked | undefined;
  #preformatted = false;
  #blankWanted = false;
  /** The current line contains a no-break space, which clients use for empty lines. */
  #holdsSpace = false;
  /** The last line takes no hard break after it: it is a heading, or there is none. */
  #closed = true;

  constructor(format: 'TEXT' | 'MARKDOWN') {
    this.#markdown = format === 'MARKDOWN';
  }

  finish(): readonly Line[] {
    this.lineBreak();
    return this.#lines;
  }

  text(text: string): void {
    if (!this.#preformatted) {
      this.#holdsSpace ||= text.includes('\u00a0');
      this.#inline(text.replace(/[\s\u00a0]+/g, ' '));
      return;
    }
    text.split('\n').forEach((line, index) => {
      if (index > 0) this.hardBreak();
      this.#inline(line);
    });
  }

  image({ name, shownAs }: InlineImage): void {
    if (shownAs === undefined || !this.#markdown) {
      this.text(`[image: ${name}]`);
      return;
    }
    this.#pieces.push(`![${escapeMarkdown(name).replace(/[[\]]/g, '\\$&')}](${shownAs})`);
    this.#endsInSpace = false;
  }

  /** Separates the cells of a row. */
  separator(separator: string): void {
    const last = this.#pieces.findLast((piece) => piece.trim() !== '');
    if (last === undefined) return;
    // After a label with a colon, no separator is needed.
    const shown = /[:：]\s*$/.test(withoutMarks(last.slice(-40))) ? ' ' : separator;
    this.#pieces.push(this.#endsInSpace ? shown.trimStart() : shown);
    this.#endsInSpace = true;
  }

  /** Ends the current line, if there is one. */
  lineBreak(): void {
    if (this.#spans.length > 0) this.#endLineOfSpans();
    const line = this.#pieces.join('').trimEnd();
    const text = this.#markdown ? escapeLineStart(resolveMarks(line)) : line;
    this.#pieces = [];
    this.#endsInSpace = true;
    if (text.trim() !== '') this.#push(text);
    else if (this.#holdsSpace) this.#blankWanted = true;
    this.#holdsSpace = false;
  }

  /** `<br>`: the second of two creates an empty line. */
  hardBreak(): void {
    if (this.#pieces.join('').trim() === '') this.#blankWanted = true;
    this.lineBreak();
  }

  block(write: () => void): void {
    this.lineBreak();
    write();
    this.lineBreak();
  }

  paragraph(write: () => void): void {
    this.lineBreak();
    this.#blankWanted = true;
    write();
    this.lineBreak();
    this.#blankWanted = true;
  }

  rule(): void {
    this.paragraph(() => this.#push('---'));
  }

  heading(level: number, write: () => void): void {
    if (this.#markdown) this.prefixed(`${'#'.repeat(level)} `, '', write);
    else write();
    this.lineBreak();
    this.#closed = true;
  }

  /** Puts `first` before the first line that is written, and `next` before the others. */
  prefixed(first: string, next: string, write: () => void): void {
    if (this.#prefixes.length >= MAX_PREFIXES) {
      write();
      return;
    }
    this.lineBreak();
    this.#prefixes.push({ first, next, used: false });
    write();
    this.lineBreak();
    this.#prefixes.pop();
  }

  preformatted(write: () => void): void {
    const outer = this.#preformatted;
    this.#preformatted = true;
    write();
    this.#preformatted = outer;
  }

  /** @param mark undefined if the element is a blockquote, which has the mark of what is around it */
  mark(mark: Mark | undefined, element: object, write: () => void): void {
    if (mark === 'rest') {
      this.#rest ??= { mark, element };
      write();
      return;
    }
    this.#marks.push({ element, ...this.#marks.at(-1), ...(mark && { mark }) });
    write();
    this.#marks.pop();
  }

  /** Puts emphasis around the written text, if it stays on one line. */
  wrapped(delimiter: '**' | '*', write: () => void): void {
    if (!this.#markdown) {
      write();
      return;
    }
    const isOuter = this.#once(delimiter, () => {
      const from = this.#pieces.length;
      const lines = this.#lines.length;
      write();
      if (this.#lines.length > lines) return;
      this.#rewrite(from, (text) => marked(delimiter, text));
    });
    if (!isOuter) write();
  }

  /** Strikes the written text out, on each of its lines: what was deleted must not read as said. */
  struck(write: () => void): void {
    const wrap = (text: string) => (this.#markdown ? marked('~~', text) : `~~${text}~~`);
    const struck = () => this.#span({ wrap, once: false }, write);
    if (!this.#once('~~', struck)) write();
  }

  /**
   * Puts a link around the written text, or around the first line of it. A link within it ends it
   * (HTML §13.2.6.4.7).
   */
  link(href: string, write: () => void): void {
    for (const span of this.#spans.filter(({ once }) => once)) {
      this.#endLineOfSpan(span);
      span.done = true;
    }
    // An exclamation mark before a link would make an image of it.
    const last = this.#pieces.at(-1);
    if (this.#markdown && last?.endsWith('!') === true) {
      this.#pieces[this.#pieces.length - 1] = `${last.slice(0, -1)}\\!`;
    }
    const wrap = (text: string) => linkMarkdown(text, href, this.#markdown);
    this.#span({ wrap, once: true }, write);
  }

  /**
   * Writes a superscript or subscript: `10^2`, `H_2O`. Ordinals, marks and footnotes of another
   * line have no such meaning, and a price's raised cents become decimals.
   */
  script(sign: '^' | '_', write: () => void): void {
    const isOuter = this.#once('script', () => {
      const from = this.#pieces.length;
      const lines = this.#lines.length;
      write();
      if (this.#lines.length > lines) return;
      const before = this.#pieces.slice(Math.max(from - 3, 0), from).join('');
      const base = withoutMarks(before.slice(-20));
      this.#rewrite(from, (text) => scriptText(base, sign, text));
    });
    if (!isOuter) write();
  }

  #span(how: Pick<Span, 'wrap' | 'once'>, write: () => void): void {
    const span = { ...how, from: this.#pieces.length, done: false };
    this.#spans.push(span);
    write();
    this.#endLineOfSpan(span);
    this.#spans.pop();
  }

  /** False, and nothing is written, within a call for the same kind: nesting it has no meaning. */
  #once(kind: string, write: () => void): boolean {
    if (this.#inside.has(kind)) return false;
    this.#inside.add(kind);
    write();
    this.#inside.delete(kind);
    return true;
  }

  #endLineOfSpans(): void {
    for (const span of this.#spans.toReversed()) this.#endLineOfSpan(span);
    for (const span of this.#spans) span.from = 0;
  }

  #endLineOfSpan(span: Span): void {
    if (!span.done && this.#rewrite(span.from, span.wrap)) span.done = span.once;
  }

  /** Replaces the text from this piece on, without the space around it; false if there is none. */
  #rewrite(from: number, write: (text: string) => string): boolean {
    const inner = this.#pieces.slice(from).join('');
    const text = inner.trim();
    if (text === '') return false;
    const start = inner.indexOf(text);
    this.#pieces.length = from;
    this.#pieces.push(inner.slice(0, start), write(text), inner.slice(start + text.length));
    return true;
  }

  #inline(text: string): void {
    const trimmed = this.#endsInSpace && !this.#preformatted ? text.trimStart() : text;
    if (trimmed === '') return;
    this.#pieces.push(this.#markdown ? escapeMarkdown(trimmed) : trimmed);
    this.#endsInSpace = trimmed.endsWith(' ');
  }

  #push(text: string): void {
    const last = this.#lines[this.#lines.length - 1];
    const marked = this.#rest ?? this.#marks.at(-1);
    const opens = this.#prefixes.some(({ used, first }) => !used && first.trim() !== '');
    if (this.#blankWanted && last !== undefined) {
      const used = this.#prefixes.filter((prefix) => prefix.used);
      const blank = used.map(({ next }) => next).join('');
      this.#lines.push({ text: blank.trimEnd(), ...marked });
    } else if (last !== undefined && !opens && !this.#closed) {
      last.hardBreak = true;
    }
    this.#blankWanted = false;
    this.#closed = false;
    let prefix = '';
    for (const level of this.#prefixes) {
      prefix += level.used ? level.next : level.first;
      level.used = true;
    }
    this.#lines.push({ text: `${prefix}${text}`, ...marked });
  }
}

/**
 * Escapes only what Markdown would interpret within a line: an AI reads this text, and an order
 * number like `A_12_B` must stay unchanged.
 */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/\\(?=[!-/:-@[-`{-~])/g, '\\\\')
      .replace(/[*`]/g, '\\$&')
      // Underscores between spaces, as in a form, are a rule if they are alone, else plain text.
      .replace(/(?<!\S)_{3,}(?!\S)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (found) =>
        found.length > 1 ? found : '\\_',
      )
      .replace(/~(?=~)/g, '\\~')
      .replace(/\](?=[(:[])/g, '\\]')
      .replace(/<(?=[a-z/!?])/gi, '\\<')
      .replace(/&(?=#?[a-z0-9]{1,32};)/gi, '\\&')
  );
}

/**
 * Escapes what Markdown would interpret as a heading, quote, list or rule at the start of a line.
 */
export function escapeLineStart(text: string): string {
  return text
    .replace(/^(#{1,6})(?=\s|$)/, '\\$1')
    .replace(/^>/, '\\>')
    .replace(/^([-+])(?=\s|$)/, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** A link, or only its text if both are the same. */
function linkMarkdown(text: string, href: string, markdown: boolean): string {
  const target = href.replace(/^(?:mailto|tel):/i, '');
  const plain = withoutMarks(text)
    .replace(/\\(.)/g, '$1')
    .replace(/^<([^<>]*)>$/, '$1');
  const same = [href, target, href.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '')];
  if (same.includes(plain) || same.includes(plain.replace(/\/$/, ''))) return text;
  if (!markdown) return `${text} (${target})`;
  const picture = /^\[(image(?:: [^[\]]{1,250})?)\]$/.exec(text)?.[1];
  const words = picture ?? (text.includes('![') ? text : withoutBrackets(text));
  const url = href
    .replace(/[\s()<>[\]\\]/g, encodeURIComponent)
    .replace(/[()]/g, (bracket) => (bracket === '(' ? '%28' : '%29'));
  return `[${words}](${url})`;
}

/** Text whose brackets and last backslash cannot end the link's text. */
function withoutBrackets(text: string): string {
  return text.replace(/(?<!\\)[[\]]/g, '\\$&').replace(/(?<!\\)\\$/, '\\\\');
}

/** Ordinals in English, French, Spanish, Italian and Portuguese, and marks. */
const RAISED_WORD = /^(?:st|nd|rd|th|er|re|e|ème|ère|o|a|os|as|tm|sm|mc|md|[®™©℠ªº*†‡])$/i;

/** A longer text is not part of a formula. */
const MAX_SCRIPT_LENGTH = 40;

function scriptText(base: string, sign: '^' | '_', text: string): string {
  if (text.length > MAX_SCRIPT_LENGTH) return text;
  if (
    !/[\p{L}\p{N})\]]$/u.test(base) ||
    (sign === '^' && RAISED_WORD.test(text.replaceAll('\\', '')))
  )
    return text;
  if (/[$€£¥]\s?\d{1,9}$/.test(base) && /^\d\d$/.test(text)) return `.${text}`;
  return /^[+-]?[\p{L}\p{N}]+$/u.test(text) ? `${sign}${text}` : `${sign}(${text})`;
}
