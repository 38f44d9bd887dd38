const TITLE_MAX = 120;
const EXCERPT_MAX = 200;

/** What a ticket is called: the subject, else the first line of the text. One line, never empty. */
export function titleOf(subject: string, text: string): string {
  const line = oneLine(subject, TITLE_MAX) || oneLine(/\S.*/.exec(text)?.[0] ?? '', TITLE_MAX);
  return shortened(line, TITLE_MAX) || '(no text)';
}

/** The beginning of a text, for lists: its lines as one. */
export function excerptOf(text: string): string {
  return shortened(oneLine(text, EXCERPT_MAX), EXCERPT_MAX);
}

/** Of a long text, its beginning: what will be cut off need not be looked at. */
const oneLine = (text: string, max: number) =>
  text
    .slice(0, max * 20)
    .replace(/\s+/g, ' ')
    .trim();

/** Cut between two words if there is a place for it, else between two characters. */
function shortened(line: string, max: number): string {
  if (line.length <= max) return line;
  const space = line.lastIndexOf(' ', max - 1);
  const end = space > max / 2 ? space : wholeCharacters(line, max - 1);
  return `${line.slice(0, end)}…`;
}

/** Up to `max` UTF-16 units, without half of a surrogate pair at the end. */
const wholeCharacters = (line: string, max: number) =>
  /[\uD800-\uDBFF]/.test(line.charAt(max - 1)) ? max - 1 : max;
