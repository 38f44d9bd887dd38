/** Within a line, these characters stand for delimiters; `cleanText` removes them from all text. */
const MARKS = {
  '**': ['\x01', '\x02'],
  '*': ['\x03', '\x04'],
  '~~': ['\x05', '\x06'],
} as const;
const ANY_MARK = /[\x01-\x06]/g;
/** The end of emphasis directly before a start of the same kind. */
const REOPENED = /\x02\x01|\x04\x03|\x06\x05/g;

/** What CommonMark takes for a letter; parsers differ about an emoji, so it counts as both. */
const AFTER_LETTER = /(?:[^\s\p{P}\p{S}\x01-\x06]|[\u{10000}-\u{10ffff}])[\x01-\x04]*$/u;
const AFTER_PUNCTUATION = /[\p{P}\p{S}\x05\x06][\x01-\x04]*$/u;
const BEFORE_LETTER = /^[\x01-\x04]*(?:[^\s\p{P}\p{S}\x01-\x06]|[\u{10000}-\u{10ffff}])/u;
const BEFORE_PUNCTUATION = /^[\x01-\x04]*[\p{P}\p{S}\x05\x06]/u;
/** Emphasis that starts where other emphasis ends would join its delimiter to the other's. */
const AFTER_END = /[\x02\x04][\x01\x03]*$/;
/** No more marks than these are between two characters. */
const MAX_AROUND = 12;

/** Text within delimiters that `resolveMarks` writes. */
export function marked(delimiter: keyof typeof MARKS, text: string): string {
  const [start, end] = MARKS[delimiter];
  return `${start}${text}${end}`;
}

export function withoutMarks(text: string): string {
  return text.replace(ANY_MARK, '');
}

/**
 * A line of Markdown with its delimiters. Between a letter and punctuation, a delimiter would be
 * literal text (CommonMark §6.2), so such emphasis is left out, and so is emphasis within other
 * emphasis, whose delimiters can pair with the outer ones. Words that are struck out must not
 * read as said: they get a space before or after them instead.
 */
export function resolveMarks(line: string): string {
  if (line.search(ANY_MARK) === -1) return line;
  let joined = line;
  while (joined.search(REOPENED) !== -1) joined = joined.replace(REOPENED, '');
  return withEmphasis(joined)
    .replace(/\x06(?=\x05)/g, '\x06 ')
    .replace(/(?<=[^\s\p{P}\p{S}]|[\u{10000}-\u{10ffff}])\x05(?=[\p{P}\p{S}])/gu, ' \x05')
    .replace(/(?<=[\p{P}\p{S}])\x06(?=[^\s\p{P}\p{S}]|[\u{10000}-\u{10ffff}])/gu, '\x06 ')
    .replace(/(?<!\\)~(?=[\x05\x06~])|(?<=[\x05\x06])~/g, '\\~')
    .replace(/[\x05\x06]/g, '~~');
}

function withEmphasis(line: string): string {
  const pieces = line.split(/([\x01-\x04])/);
  /** Of the marks whose end has not come yet: the index of the piece. */
  const starts: { readonly index: number; readonly isLeftOut: boolean }[] = [];
  let at = 0;
  const written = [...pieces];
  for (const [index, piece] of pieces.entries()) {
    // Text and marks alternate.
    if (index % 2 === 1) {
      const before = line.slice(Math.max(at - MAX_AROUND, 0), at);
      const after = line.slice(at + 1, at + MAX_AROUND);
      if (piece === '\x01' || piece === '\x03') {
        const isGlued = AFTER_LETTER.test(before) && BEFORE_PUNCTUATION.test(after);
        starts.push({ index, isLeftOut: isGlued || starts.length > 0 || AFTER_END.test(before) });
      } else {
        const start = starts.pop();
        const isGlued = AFTER_PUNCTUATION.test(before) && BEFORE_LETTER.test(after);
        const isLeftOut = isGlued || start?.isLeftOut === true;
        const delimiter = isLeftOut ? '' : piece === '\x02' ? '**' : '*';
        written[index] = delimiter;
        if (start !== undefined) written[start.index] = delimiter;
      }
    }
    at += piece.length;
  }
  return written.join('');
}
