import { attributionStarts, attributionVerbs, dayNames } from './markers/attributions.ts';
import { bareText, isQuoted, type Line } from './lines.ts';
import {
  endsWithPhrase,
  findPhrase,
  firstCharacters,
  firstWords,
  folded,
  startsWithPhrase,
} from './words.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

const MAX_LENGTH = 600;
/** Clients wrap an attribution at 72 to 78 characters, and some put an address on its own line. */
const MAX_LINES = 6;
/** The longest attributions have a date, a time zone, a name and an address. */
const MAX_WORDS = 30;
/** Years, times of day and days in figures, in the digits of any script. */
const DATE =
  /(?<!\p{Nd})(?:(?:19|20|25)\d\d|[١٢]\p{Nd}{3}|[۱]\p{Nd}{3})(?!\p{Nd})|\p{Nd}{1,2}[:.h]\p{Nd}{2}|\p{Nd}{1,2}[-./]\s?\p{Nd}{1,2}[-./]/u;
/** An address as clients write it after a name: `<x@y>`, `(x@y)`, `[mailto:x@y]`, `< x@y >`. */
const BRACKETED = /[<([]\s{0,2}[^\s<>()[\]@]+@[^\s<>()[\]@]/;
/** Yahoo's app puts the quoted text on the same line, after the attribution. */
const WITH_TEXT_BEHIND = /<[^<>\s@]+@[^<>\s@]+>[^<>:：\n]{0,40}[:：] {2,}\S/;
/** Gmail's former attribution, which may have no address, and alot's: "Quoting Ann Lee (2026-01-05 10:00)". */
const WITHOUT_COLON =
  /^\p{Nd}{4}-\p{Nd}\p{Nd}-\p{Nd}\p{Nd} \p{Nd}{1,2}:\p{Nd}\p{Nd} GMT[+-]\p{Nd}\p{Nd}:\p{Nd}\p{Nd} \S|^Quoting \p{Lu}[^()]{0,80} \([^()]{0,20}\p{Nd}:\p{Nd}\p{Nd}[^()]{0,20}\)$/u;
/** Names do not begin in lower case, apart from these words in them and beside them. */
const SMALL_WORDS: ReadonlySet<string> = new Set(
  `at on from via of in by the and am pm um uhr à a.m p.m de da do dos von van der den del kl klo o
  à alle ore om às las les le la el di du zu bei per pro für kello cet cest est edt gmt utc kl.`.split(
    /\s+/,
  ),
);

/**
 * Words that a person needs between the date and an address, and no program writes there: "On 5.1.2026
 * I wrote to Acme (support@acme.example):".
 */
const OF_A_SENTENCE: ReadonlySet<string> = new Set(
  `i we you he she they my our your his her their who which that this to
  ich wir ihr er mein meine meinem meinen unser ihre ihren ihrem dass an
  j'ai nous vous il elle mon ma mes notre votre qui que à au aux
  yo nosotros usted mi su nuestro que quien para eu nós você meu seu
  io noi lei mio mia suo che chi al alla per
  ik wij we u mijn onze uw die dat aan jag vi ni min vår er till som jeg min vår til
  minä me te minun ja my pan mój moja do że já můj že komu
  я мы вы ми ви мой моя мій ваш что що к до для`.split(/\s+/),
);

/** A text that may be an attribution, read once. */
interface Candidate {
  /** Without Markdown marks and the dashes around it. */
  readonly text: string;
  readonly folded: string;
  readonly hasAddress: boolean;
  readonly hasDate: boolean;
  readonly startsLikeOne: boolean;
  readonly hasColon: boolean;
}

/**
 * The line at which the attribution begins that ends at line `index` ("On Monday … X wrote:"), or
 * undefined. It may lack a date, an address or a fixed first word, but not all of them. Without a
 * quote below, it needs an address, because a person may write "On Monday at 10:00 Ann wrote:".
 * Reads a bounded amount of text for any input.
 */
export function attributionStart(
  lines: readonly Line[],
  index: number,
  quoteFollows: boolean,
): number | undefined {
  if (!mayEndAttribution(lines[index], quoteFollows)) return undefined;
  let text = '';
  let nearest: number | undefined;
  for (let start = index; start > index - MAX_LINES && start >= 0; start -= 1) {
    const line = bareText(lines[start]).replace(/^[>\s]{1,20}/, '');
    if (line === '' || text.length + line.length > MAX_LENGTH) break;
    if (isQuoted(lines[index]) && !isQuoted(lines[start])) break;
    if (nearest !== undefined && !continuesUpwards(line, text)) break;
    text = text === '' ? line : `${line} ${text}`;
    if (!quoteFollows && !mayStandAlone(text)) continue;
    const candidate = readCandidate(text);
    const found = quoteFollows ? introducesQuote(candidate) : standsAlone(candidate);
    if (found && beginsHere(candidate)) return start;
    if (found) nearest = start;
  }
  return nearest;
}

/**
 * Where an attribution begins within its first line, behind the person's own words, as Yahoo writes
 * it: "Thank you On Mon, Jan 5, 2026 at 10:00, X wrote:". 0 if the line is all of it.
 */
export function startWithinLine(line: Line | undefined): number {
  const text = line?.text.slice(0, MAX_LENGTH) ?? '';
  if (startsLikeOne(readCandidate(bareText(line)).folded)) return 0;
  const starts = [...text.matchAll(/(?<=[\s.!?-])(?:On|Am|Le|El|Il|Em|Op|Den|W dniu|Dne)\s/g)];
  const last = starts.findLast(({ index }) => DATE.test(text.slice(index, index + 40)));
  return last?.index ?? 0;
}

/** Whether the line is an attribution followed by the quoted text. */
export function holdsAttributionAndQuote(line: Line): boolean {
  if (!line.text.includes('@')) return false;
  const text = bareText(line);
  return WITH_TEXT_BEHIND.test(text) && DATE.test(text) && startsLikeOne(folded(text));
}

/**
 * Zoho's `---- On … X <x@y> wrote ----`, which has no colon and may be wrapped, `---- X wrote ----`
 * of Nine and Android's mail app, and `>>> X <x@y> 1/5/2026 10:00 AM >>>` of GroupWise.
 */
export function isDashedAttribution(lines: readonly Line[], index: number): boolean {
  const first = bareText(lines[index]);
  if (first.startsWith('>>> ')) return first.endsWith(' >>>') && DATE.test(first);
  if (!/^-{3,12} ?[^\s-]/.test(first)) return false;
  let text = first;
  for (let next = index + 1; !/[^\s-] ?-{3,12}$/.test(text); next += 1) {
    const line = bareText(lines[next]);
    if (line === '' || next > index + 3 || text.length > MAX_LENGTH) return false;
    text = `${text} ${line}`;
  }
  const candidate = readCandidate(text);
  const { hasDate, folded: said } = candidate;
  const verb = attributionVerbs.some((each) => endsWithPhrase(said, each));
  if (!verb) return candidate.hasAddress && hasDate;
  return candidate.hasAddress || hasDate || isNameAndVerb(candidate);
}

/**
 * A cheap look at the last characters: most lines end without a colon. Zoho and some others leave it
 * out.
 */
function mayEndAttribution(line: Line | undefined, quoteFollows: boolean): boolean {
  const text = line?.text.trimEnd() ?? '';
  if (/[:：][\s*_>)-]{0,4}$/.test(text.slice(-6))) return true;
  const hasAt = text.length <= MAX_LENGTH && text.includes('@');
  if (quoteFollows && hasAt && text.endsWith('>')) return true;
  if (quoteFollows && WITHOUT_COLON.test(bareText(line))) return true;
  if (!(quoteFollows || hasAt) || !/[\p{L})]$/u.test(text.slice(-2))) return false;
  const said = folded(text.slice(-60));
  return attributionVerbs.some((verb) => endsWithPhrase(said, verb));
}

/**
 * Whether a line above what is an attribution already belongs to it too: the address of a wrapped
 * one, or its beginning with the date.
 */
function continuesUpwards(line: string, below: string): boolean {
  // The end of a sentence; "aug." and "p.m." are none.
  if (/[!?]$|(?:\p{L}{6}|[^\p{L}.])\.$/u.test(line)) return false;
  const above = readCandidate(line);
  if (above.hasAddress && BRACKETED.test(line) && !hasAddress(below)) return true;
  if (/[<([]$/.test(line)) return hasAddress(below);
  // The name of a wrapped address.
  if (below.startsWith('<') && wordsOfSentence(above) <= 3) return true;
  if (!above.startsLikeOne || !above.hasDate || wordsOfSentence(above) > 5) return false;
  return startsWithWord(above.folded) || !DATE.test(below);
}

/** No line above can belong to it; in Chinese, the name stands before the fixed first word. */
function beginsHere({ folded: said, hasDate, hasAddress: address }: Candidate): boolean {
  if (!hasDate || ATTACHED.test(said) || !startsWithWord(said)) return false;
  return address || verbsIn(said).length > 0;
}

function readCandidate(text: string): Candidate {
  const said = text.replace(/^[-\s"*]{1,12}(?=\S)/, '').replace(/[-\s:：*_]{1,20}$/, '');
  const lower = folded(said);
  return {
    text: said,
    folded: lower,
    hasAddress: hasAddress(said),
    hasDate: DATE.test(said),
    startsLikeOne: startsLikeOne(lower),
    hasColon: /[:：]/.test(text.slice(-6)),
  };
}

function startsLikeOne(text: string): boolean {
  const first = text.slice(0, 40);
  if (/^\p{Nd}{1,4}(?:[-./年년]|\p{Nd}|\s\p{L}|:\p{Nd})/u.test(first)) return true;
  const day = first.split(/[\s.,،、(]/, 1)[0] ?? '';
  return dayNames.has(day) || startsWithWord(text);
}

const startsByCharacter = firstCharacters(attributionStarts);

function startsWithWord(text: string): boolean {
  const first = text.slice(0, 40);
  const starts = startsByCharacter.get(first.charAt(0)) ?? [];
  return starts.some((start) => startsWithPhrase(first, start));
}

/** With the quote below it, a date or an address and a verb suffice. */
function introducesQuote(candidate: Candidate): boolean {
  const { text, hasDate, startsLikeOne: starts } = candidate;
  const words = text.split(' ').length;
  const mayHave = candidate.hasAddress && hasDate ? 5 : 3;
  if (words > MAX_WORDS || (!starts && wordsOfSentence(candidate) > mayHave)) return false;
  const verb = verbsIn(candidate.folded).length > 0;
  if (!candidate.hasColon && !verb) {
    return (starts && hasDate && endsInAddress(text)) || WITHOUT_COLON.test(text);
  }
  if (candidate.hasAddress) return (verb || hasDate || endsInAddress(text)) && namesSender(text);
  if (!hasDate) return verb && isNameAndVerb(candidate);
  if (verb) return starts || !OF_A_THING.test(text);
  const isShort = starts && words <= 14 && wordsOfSentence(candidate) <= 3;
  return isShort || isNameAndDate(text);
}

/** A person writes "The console said (10:00):". */
const OF_A_THING =
  /^(?:the|this|that|my|our|your|its|it|der|die|das|mein|meine|euer|eure|ihr|ihre)\s/iu;

/**
 * A name of two to four words, a date and a time of day: "Ann Lee (5 Jan 2026 10:00):", "[2026-01-05 10:00]
 * Ann Lee:". With less than that it may be a heading of the person's: "Delivery Slot (05.01.2026):".
 */
function isNameAndDate(text: string): boolean {
  if (!TIME_OF_DAY.test(text) || !CALENDAR_DATE.test(text)) return false;
  const words = text
    .replace(/[,:：()[\]*@<>]/g, ' ')
    // A month: "5 de enero de 2026".
    .replace(/(?<=\p{Nd}[.,]?) {1,3}(?:d[eo] )?\p{L}{1,12}\.?(?: d[eo])? {1,3}(?=\p{Nd})/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !/\p{Nd}/u.test(word) && !isOfDate(word));
  return (
    words.length >= 2 &&
    words.length <= 4 &&
    !THINGS.test(words.join(' ')) &&
    words.every((word) => /^\p{Lu}[\p{L}\p{M}.'’-]*\p{Ll}\.?$|^\p{Lu}\.$/u.test(word))
  );
}

const TIME_OF_DAY = /(?<!\p{Nd}|\p{Nd}[./-])\p{Nd}{1,2}[:.h]\p{Nd}{2}(?!\p{Nd}|[./-]\p{Nd})/u;
const CALENDAR_DATE = /(?:19|20)\p{Nd}\p{Nd}|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]\p{Nd}/u;

/** What people put a date on, and quote below it. */
const THINGS =
  /\b(?:logs?|notes?|status|reports?|errors?|orders?|invoices?|messages?|page|screen|tickets?|tracking|details|info|summary|history|receipt|form|bestellung|rechnung|fehler|protokoll|meldung|commande|facture|erreur|pedido|factura|ordine|fattura)\b/i;

/** A day, a zone, or a word beside them. */
function isOfDate(word: string): boolean {
  const said = folded(word).replace(/\.$/, '');
  return dayNames.has(said) || SMALL_WORDS.has(said);
}

/** A cheap look, because this is asked of every line that ends in a colon. */
function mayStandAlone(text: string): boolean {
  if (!text.includes('@')) return false;
  return BRACKETED.test(text) || startsLikeOne(folded(text.slice(0, 40)));
}

/** Without a marked quote below it, it must have the shape that only clients write. */
function standsAlone(candidate: Candidate): boolean {
  const { text, hasDate, startsLikeOne: starts } = candidate;
  if (!candidate.hasAddress || !namesSender(text)) return false;
  if (!candidate.hasColon && !(starts && hasDate)) return false;
  if (!BRACKETED.test(text)) {
    const before = text.slice(0, text.indexOf('@')).split(' ').length;
    if (!starts || !hasDate || before > 8 || !endsAfterAddress(candidate)) return false;
    return wordsOfSentence(candidate) <= 2;
  }
  const ends = endsInAddress(text);
  if (ends ? !(hasDate && starts) : verbsIn(candidate.folded).length === 0) return false;
  const lowerCase = wordsOfSentence(candidate);
  return lowerCase <= 1 || (lowerCase <= 4 && (starts || hasDate));
}

const verbsByFirstWord = firstWords(attributionVerbs);
/** Scripts in which a verb need not be a word of its own between spaces. */
const ATTACHED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const attachedVerbs = attributionVerbs.filter((verb) => ATTACHED.test(verb));

function verbsIn(said: string): readonly string[] {
  const words = new Set(said.split(/[\s,.:;"'<>[\]]+/));
  const spaced = [...words].flatMap((word) => verbsByFirstWord.get(word) ?? []);
  const attached = ATTACHED.test(said) ? attachedVerbs : [];
  return [...spaced, ...attached].filter((verb) => findPhrase(said, verb) !== -1);
}

/**
 * "Ann Customer wrote", where no word that begins in lower case is more than a part of a name. Only a
 * forum or a help desk says "ann via Acme wrote".
 */
function isNameAndVerb(candidate: Candidate): boolean {
  const { text, folded: said } = candidate;
  const verbs = verbsIn(said);
  if (text.split(' ').length > 8 || verbs.some((verb) => said === verb)) return false;
  // Japanese names a message within a sentence with the same words: "次のメッセージが出ます".
  if (ATTACHED.test(said) && !verbs.some((verb) => said.endsWith(verb))) return false;
  return wordsOfSentence(candidate) <= (/^\S+ via \p{Lu}/u.test(text) ? 1 : 0);
}

/** Whether between the date and the address stands a name, and no part of a sentence. */
function namesSender(text: string): boolean {
  const before = text.slice(0, text.indexOf('@'));
  const words = before.slice(before.search(/\p{Nd}[^\p{Nd}]*$/u) + 1).split(/[\s,]+/);
  return !words.slice(0, -1).some((word) => {
    if (word === 'I') return true;
    return /^\p{Ll}/u.test(word) && OF_A_SENTENCE.has(folded(word));
  });
}

/** How many words a person's sentence would have beside a name, a date and the verb. */
function wordsOfSentence({ text, folded: said }: Candidate): number {
  const verbs = verbsIn(said).join(' ');
  return text.split(/[\s,]+/).filter((word) => {
    const lower = folded(withoutEnd(word.replace(/^["'(<[]+/, ''), /[.:"')>\]]/));
    if (lower === 'you' || lower === 'i' || lower === 'we') return true;
    if (!/^["'(]?\p{Ll}/u.test(word) || word.includes('@') || SMALL_WORDS.has(lower)) return false;
    return !verbs.includes(lower) && !dayNames.has(lower);
  }).length;
}

/** Something on both sides of an @. */
function hasAddress(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && /[^\s<>()[\]@]@[^\s<>()[\]@]/.test(text.slice(at - 1, at + 2));
}

function endsInAddress(text: string): boolean {
  return /@[^\s<>()[\]@]{1,255}[\s>)\]]{0,4}$/.test(text.slice(-270));
}

/** The address is the last word, or only the verb stands after it. */
function endsAfterAddress({ text, folded: said }: Candidate): boolean {
  if (endsInAddress(text)) return true;
  const behind = said.slice(said.indexOf('@'));
  const rest = behind.slice(behind.search(/\s|$/)).trim();
  return attributionVerbs.some((verb) => rest === verb || rest === `has ${verb}`);
}
