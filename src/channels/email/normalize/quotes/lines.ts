/**
 * The origin of a line of a body, as marked by the sender's mail client in the HTML. Plain text has
 * no marks.
 */
export type Mark =
  /** Within an element that contains the quoted message. */
  | 'quote'
  /** After an element from which on everything is the quoted message (Outlook). */
  | 'rest'
  | 'signature';

/** One line of a body during its conversion to content. */
export interface Line {
  readonly text: string;
  readonly mark?: Mark;
  /** The outermost marked element or blockquote around the line, as which HTML can be cut. */
  readonly element?: object;
  /**
   * The next line belongs to the same paragraph (`<br>`); otherwise Markdown would join the two.
   */
  readonly hardBreak?: boolean;
  /** The line is `-- `, which separates a signature (RFC 3676 §4.3). */
  readonly delimiter?: boolean;
}

/**
 * A list of phrases in lower case, read from a text in which `|` ends each of them: a phrase may
 * end in a space, so the spaces before `|` count. The text's line breaks and indentation do not.
 */
export function phrases(list: string): readonly string[] {
  return list.replace(/\n\s*/g, '').split('|').slice(0, -1);
}

/** More empty lines in a row say nothing, and a stranger can send a hundred thousand. */
const EMPTY_IN_A_ROW = 20;

/** The lines of a plain text, without trailing white space. */
export function textLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let empty = 0;
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd();
    empty = trimmed === '' ? empty + 1 : 0;
    if (empty > EMPTY_IN_A_ROW) continue;
    lines.push(line === '-- ' ? { text: '--', delimiter: true } : { text: trimmed });
  }
  return lines;
}

/** The lines as one text, without leading, trailing and repeated empty lines. */
export function joinLines(lines: readonly Line[], format: 'TEXT' | 'MARKDOWN'): string {
  const out: string[] = [];
  let empty = 0;
  lines.forEach(({ text, hardBreak }, index) => {
    empty = text === '' ? empty + 1 : 0;
    if (empty > 2 || (text === '' && out.length === 0)) return;
    const breaks = format === 'MARKDOWN' && hardBreak === true && lines[index + 1]?.text !== '';
    const underlines = format === 'MARKDOWN' && isUnderline(text, out.at(-1));
    const written = underlines ? text.replace(/[-=]/, '\\$&') : text;
    out.push(breaks && index + 1 < lines.length ? `${written}  ` : written);
  });
  // Yahoo puts a space before the first line.
  return out
    .join('\n')
    .replace(/^ (?=\S)/, '')
    .trimEnd();
}

/** Whether a line would make a heading of the text before it (CommonMark §4.3). */
function isUnderline(text: string, before = ''): boolean {
  return /^[\s>]{0,20}(?:-+|=+)$/.test(text) && /[^\s>]/.test(before);
}

/** A longer line is read only up to here. */
const MAX_LENGTH = 600;

/** What most lines have nothing of. */
const UNUSUAL = /[\\*\u200e\u200f\u00a0\u202f]/;

/** The start of a line without Markdown marks, for comparison; with plain spaces. */
export function bareText(line: Line | undefined): string {
  const text = (line?.text ?? '').slice(0, MAX_LENGTH);
  if (!UNUSUAL.test(text)) return text.trim();
  return text
    .replace(/[\\*\u200e\u200f]/g, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .trim();
}

/** A separator line; it belongs to the quote that follows. `--` begins a signature instead. */
export function isRule(line: Line): boolean {
  const text = bareText(line);
  return text.length >= 2 && /^(?:__|[-_=\u2013\u2014\u2500]{3,600})$/.test(text);
}

export function isEmptyOrRule(line: Line | undefined): boolean {
  return line === undefined || line.text.trim() === '' || isRule(line);
}

/** Whether the line is within a quote: marked by the client, or with `>` before it. */
export function isQuoted(line: Line | undefined): boolean {
  return line !== undefined && (line.mark === 'quote' || line.text.trimStart().startsWith('>'));
}

/** The next line that is not empty, at most four lines on. */
export function nextText(lines: readonly Line[], from: number): Line | undefined {
  for (let index = from; index < from + 4; index += 1) {
    if (lines[index]?.text.trim() !== '') return lines[index];
  }
  return undefined;
}
