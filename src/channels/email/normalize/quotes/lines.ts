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
  /**
   * The next line belongs to the same paragraph (`<br>`); otherwise Markdown would join the two.
   */
  readonly hardBreak?: boolean;
}

/**
 * A list of phrases in lower case, read from a text in which `|` ends each of them: a phrase may
 * end in a space, so the spaces before `|` count. The text's line breaks and indentation do not.
 */
export function phrases(list: string): readonly string[] {
  return list.replace(/\n\s*/g, '').split('|').slice(0, -1);
}

/** The lines of a plain text, without trailing white space. */
export function textLines(text: string): readonly Line[] {
  return text.split('\n').map((line) => ({ text: line.trimEnd() }));
}

/** The lines as one text, without leading, trailing and repeated empty lines. */
export function joinLines(lines: readonly Line[], format: 'TEXT' | 'MARKDOWN'): string {
  const out: string[] = [];
  let empty = 0;
  lines.forEach(({ text, hardBreak }, index) => {
    empty = text === '' ? empty + 1 : 0;
    if (empty > 2 || (text === '' && out.length === 0)) return;
    const breaks = format === 'MARKDOWN' && hardBreak === true && lines[index + 1]?.text !== '';
    out.push(breaks && index + 1 < lines.length ? `${text}  ` : text);
  });
  // Yahoo puts a space before the first line.
  return out
    .join('\n')
    .replace(/^ (?=\S)/, '')
    .trimEnd();
}
