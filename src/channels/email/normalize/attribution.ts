import type { Line } from './lines.ts';

const MAX_LENGTH = 600;
/** Clients wrap an attribution at 72 to 78 characters: it is up to four lines long. */
const MAX_LINES = 4;

/** How an attribution starts, in the languages where it starts with a word of its own. */
const STARTS = [
  'on ',
  'am ',
  'le ',
  'el ',
  'il ',
  'op ',
  'em ',
  'no dia ',
  'w dniu ',
  'dnia ',
  'den ',
  'på ',
  'dne ',
  'el día ',
  'il giorno ',
  'vào ',
  'în ',
];
/** How one ends, before the colon. */
const ENDING_VERBS = [
  'wrote',
  'writes',
  'schrieb',
  'schrieb folgendes',
  'a écrit',
  'escribió',
  'ha scritto',
  'schreef',
  'het volgende geschreven',
  'escreveu',
  'napisał',
  'napisał(a)',
  'napisała',
  'pisze',
  'skrev',
  'følgende',
  'kirjoitti',
  'napsal',
  'napsal(a)',
  'napsala',
  'şunu yazdı',
  'yazdı',
  'пишет',
  'написал',
  'написала',
  'написал(а)',
  '写道',
  '寫道',
  'さんは書きました',
  'さんが書きました',
  'のメール',
  '작성',
  'scris',
  'írta',
];
/** Verbs that stand before the name. */
const INNER_VERBS = [' schrieb ', ' schreef ', ' skrev ', ' odesílatel ', ' a écrit ', ' wrote '];

/**
 * The line with which the attribution that ends on line `index` starts ("On Monday … X wrote:"),
 * or undefined. Looks at a bounded stretch of text whatever the input.
 */
export function attributionStart(
  lines: readonly Line[],
  index: number,
  quoteFollows: boolean,
): number | undefined {
  if (!/[:：]$/.test(bareText(lines[index]))) return undefined;
  let text = '';
  let nearest: number | undefined;
  for (let start = index; start > index - MAX_LINES && start >= 0; start -= 1) {
    const line = bareText(lines[start]);
    if (line === '' || text.length + line.length > MAX_LENGTH) break;
    text = text === '' ? line : `${line} ${text}`;
    if (!isAttribution(text)) continue;
    const first = line.toLowerCase();
    if (STARTS.some((word) => first.startsWith(word))) return start;
    if (quoteFollows || text.includes('@')) nearest ??= start;
  }
  return nearest;
}

/** The start of a line without Markdown's marks, for comparing. */
export function bareText(line: Line | undefined): string {
  return (line?.text ?? '').slice(0, MAX_LENGTH).replace(/[\\*]/g, '').trim();
}

function isAttribution(text: string): boolean {
  if (!/\b(?:19|20)\d\d\b|(?:19|20)\d\d年|\d{1,2}[:.h]\d\d/.test(text)) return false;
  const said = text.slice(0, -1).trimEnd().toLowerCase();
  return (
    ENDING_VERBS.some((verb) => said.endsWith(verb)) ||
    INNER_VERBS.some((verb) => said.includes(verb)) ||
    (said.endsWith('>') && said.includes('@')) ||
    (said.endsWith('>)') && said.includes('@'))
  );
}
