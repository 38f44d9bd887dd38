import { type Line, phrases } from './lines.ts';

const MAX_LENGTH = 600;
/** Clients wrap an attribution at 72 to 78 characters, so it has up to four lines. */
const MAX_LINES = 4;

/** The beginnings of attributions, in the languages in which they begin with a fixed word. */
const STARTS = phrases(`on |am |le |el |il |op |em |no dia |w dniu |dnia |den |på |dne |el día |
  il giorno |vào |în |a(z) |στις |в |في |
  בתאריך |
  在 |`);
/** With a margin, since the lower case can be shorter. */
const LONGEST_START = 2 * Math.max(...STARTS.map(({ length }) => length));
/** The ends of attributions, before the colon. */
const ENDING_VERBS = phrases(`wrote|writes|schrieb|schrieb folgendes|a écrit|escribió|ha scritto|
  schreef|het volgende geschreven|escreveu|napisał|napisał(a)|napisała|pisze|skrev|følgende|
  kirjoitti|napsal|napsal(a)|napsala|şunu yazdı|yazdı|пишет|написал|написала|написал(а)|написал/а|
  пише|написав|написала/в|написав(-ла)|έγραψε|כתב|
  כתבה|
  כתב/ה|
  写道|寫道|さんは書きました|さんが書きました|のメール|작성|쓴 글|写|scris|írta|`);
/** Verbs that precede the name. */
const INNER_VERBS = phrases(`schrieb|schreef|írta|skrev|odesílatel|a écrit|wrote|kirjoitti|yazdı|
  написав|כתב|
  كتب|
  كتب/كتبت|
  بواسطة|`).map((verb) => ` ${verb} `);
/** Years and times of day, in the digits of any script. */
const DATE = /(?<!\p{Nd})(?:(?:19|20)\d\d|[١٢]\p{Nd}{3})(?!\p{Nd})|\p{Nd}{1,2}[:.h]\p{Nd}{2}/u;
/** Yahoo's app puts the quoted text on the same line, after the attribution. */
const WITH_TEXT_BEHIND = /<[^<>\s]{1,250}@[^<>\s]{1,250}>[^<>:\n]{0,40}[:：] {2,}\S/;

/**
 * The line at which the attribution begins that ends at line `index` ("On Monday … X wrote:"), or
 * undefined. Without a quote below, only an attribution with an address is assumed to be a
 * client's, because a person may write "On Monday at 10:00 Ann wrote:". Reads a bounded amount of
 * text for any input.
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
    if (nearest === start + 1 && !text.includes('@') && /<[^<>\s]+@[^<>\s]+>/.test(line))
      return start;
    text = text === '' ? line : `${line} ${text}`;
    if (!(quoteFollows || text.includes('@')) || !isAttribution(text)) continue;
    if (startsLikeOne(line)) return start;
    nearest ??= start;
  }
  return nearest;
}

/** Whether the line is an attribution followed by the quoted text. */
export function holdsAttributionAndQuote(line: Line): boolean {
  const text = bareText(line);
  return startsLikeOne(text) && DATE.test(text) && WITH_TEXT_BEHIND.test(text);
}

function startsLikeOne(line: string): boolean {
  const first = line.slice(0, LONGEST_START).toLowerCase();
  return STARTS.some((word) => first.startsWith(word));
}

/** The start of a line without Markdown marks, for comparison. */
export function bareText(line: Line | undefined): string {
  return (line?.text ?? '')
    .slice(0, MAX_LENGTH)
    .replace(/[\\*\u200e\u200f]/g, '')
    .trim();
}

function isAttribution(text: string): boolean {
  if (!DATE.test(text)) return false;
  const said = text.slice(0, -1).trimEnd().toLowerCase();
  return (
    ENDING_VERBS.some((verb) => said.endsWith(verb)) ||
    INNER_VERBS.some((verb) => said.includes(verb)) ||
    (said.endsWith('>') && said.includes('@')) ||
    (said.endsWith('>)') && said.includes('@'))
  );
}
