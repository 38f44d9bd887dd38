import type { EntrySearch } from './entry-index.ts';
import type { EntryRow } from './entry-row.ts';
import type { StoredSummary } from './entry.ts';
import { withoutEnd } from '../runtime/without-end.ts';

/**
 * Makes index terms from an entry's words, addresses, numbers and ids, and a query from what a person
 * types. Pure functions with linear time and bounded output. They are the same for both stores.
 *
 * - Words are folded: case, diacritics, width. Scripts without spaces are split into pairs of
 *   characters, so that any part of a run is found.
 * - An address is indexed whole, from each word of its local part on, and as `@domain`.
 * - A number is indexed by its digits, and by its digits reversed (`~`), so that the national
 *   format or the last digits find it.
 * - An id is indexed whole.
 * - Filters are terms with `=`, which no text can contain.
 */

/** The version of the terms. Raise it when they change: every store then indexes its entries again. */
export const TERMS_VERSION = 2;

const MAX_TERMS = 300;
const MAX_TERM_CHARS = 120;
const MAX_QUERY_CHARS = 200;
const MAX_QUERY_PIECES = 12;
/** Fewer digits are treated as a word. */
const MIN_NUMBER_DIGITS = 7;
const MAX_NUMBER_DIGITS = 15;
const MIN_QUERY_DIGITS = 3;

/** The characters of pieces and words. Folded text is mostly ASCII, which matches much faster. */
interface Alphabet {
  readonly betweenPieces: RegExp;
  /** Characters before a term that do not belong to it, and one of those behind it. */
  readonly before: RegExp;
  readonly behind: RegExp;
  readonly words: RegExp;
  /** Characters that the index's tokenizer does not accept or that have a special meaning. */
  readonly noTerm: RegExp;
}
const ASCII: Alphabet = {
  betweenPieces: /[\x00-\x20\x7f<>,;"()[\]{}|\\]+/,
  before: /^[^a-z0-9@]+/,
  behind: /[^a-z0-9]/,
  words: /[a-z0-9]+/g,
  noTerm: /[\x00-\x20\x7f"'=~]+/g,
};
const UNICODE: Alphabet = {
  betweenPieces: /[\s\p{Cc}\p{Cs}<>,;"()[\]{}|\\]+/u,
  before: /^[^\p{L}\p{N}@]+/u,
  behind: /[^\p{L}\p{N}]/u,
  words: /[\p{L}\p{N}\p{M}]+/gu,
  noTerm: /[\s\p{Cc}\p{Cs}"'=~]+/gu,
};
const alphabetOf = (folded: string): Alphabet => (/^[\x00-\x7f]*$/.test(folded) ? ASCII : UNICODE);

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const NUMBER_IN_TEXT = /(?<![\p{L}\p{N}])\+?[\d(][\d\s().\-/\u00a0]{5,24}\d(?![\p{L}\p{N}])/gu;
/** Quick check: only such a text can contain a number. */
const MANY_DIGITS = /(?:\d\D{0,22}){7}/;
const NUMBER_PIECE = /^[+(]*\d[\d().\-/]*$/;
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** Lower case, without diacritics, in compatibility form. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (/^[\x20-\x7e]*$/.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]/g, '')
    .normalize('NFC')
    .replace(/[ßøłđðþæœı]/g, (letter) => LETTERS[letter] ?? letter);
}

export interface Searchable {
  /** Names, addresses, numbers, subject. */
  readonly texts: readonly string[];
  readonly ids: readonly string[];
}

/** The columns of an entry that are searched, and its summary. */
export type SearchedRow = Pick<
  EntryRow,
  'id' | 'shop' | 'channel' | 'remote_id' | 'platform_message_id' | 'conversation_id'
> &
  StoredSummary;

/** The distinct terms of an entry, those for filters included; none contains a space. */
export function entryTermsOf({ shop, channel, ...row }: SearchedRow): readonly string[] {
  const terms = termsOf({
    texts: [row.from, row.to, row.subject, row.more],
    ids: [row.id, row.remote_id, row.platform_message_id ?? '', row.conversation_id ?? ''],
  });
  return [filterTerm('s', shop), filterTerm('c', channel), ...terms];
}

/** The distinct terms of texts and ids. */
export function termsOf({ texts, ids }: Searchable): readonly string[] {
  const terms = new Set<string>();
  const add = (term: string): void => {
    if (term !== '' && terms.size < MAX_TERMS) terms.add(term);
  };
  for (const id of ids) add(wholeTerm(fold(id)));
  const seen = new Set<string>();
  for (const text of texts) {
    const folded = fold(text);
    for (const piece of folded.split(alphabetOf(folded).betweenPieces)) {
      // Skips repeated pieces: envelope addresses mostly repeat those of the header.
      if (!seen.has(piece)) addPiece(piece, add);
      seen.add(piece);
    }
    if (!MANY_DIGITS.test(folded)) continue;
    for (const [number] of folded.matchAll(NUMBER_IN_TEXT)) addNumber(number, add);
  }
  return [...terms];
}

/** Most pieces: one word, which is its own only term. */
const ONE_WORD = /^[a-z0-9]+$/;

function addPiece(piece: string, add: (term: string) => void): void {
  if (ONE_WORD.test(piece)) {
    add(piece.slice(0, MAX_TERM_CHARS));
    return;
  }
  const words = wordsOf(piece, 'index');
  for (const word of words) add(word);
  const whole = wholeTerm(piece);
  if (whole === words[0]) return;
  const at = whole.lastIndexOf('@');
  if (at !== -1) {
    const local = whole.slice(0, at);
    for (const { index } of local.matchAll(alphabetOf(local).words)) add(whole.slice(index));
    add(whole.slice(at));
  } else if (/[^\p{L}\p{N}]/u.test(whole) && /\d/.test(whole)) {
    add(whole);
  }
}

function addNumber(text: string, add: (term: string) => void): void {
  const digits = text.replace(/\D/g, '');
  if (digits.length < MIN_NUMBER_DIGITS || digits.length > MAX_NUMBER_DIGITS) return;
  add(digits);
  add(`~${reversed(digits)}`);
}

/** A piece, most addresses and ids included, that is a term as it is. */
const PLAIN_TERM = /^[a-z0-9@](?:[!#-&(-<>-}]*[a-z0-9])?$/;

/** A whole piece as one term, with characters that the tokenizer does not accept replaced. */
function wholeTerm(piece: string): string {
  if (PLAIN_TERM.test(piece)) return piece.slice(0, MAX_TERM_CHARS);
  const { before, behind, noTerm } = alphabetOf(piece);
  return withoutEnd(piece.replace(before, ''), behind)
    .replace(noTerm, '_')
    .slice(0, MAX_TERM_CHARS);
}

function wordsOf(piece: string, use: 'index' | 'query'): string[] {
  const alphabet = alphabetOf(piece);
  const words = piece.match(alphabet.words) ?? [];
  const parts = alphabet === ASCII ? words : words.flatMap((word) => unjoined(word, use));
  return parts.map((part) => part.slice(0, MAX_TERM_CHARS));
}

/** Splits a word: runs of scripts without spaces become pairs of characters. */
function unjoined(word: string, use: 'index' | 'query'): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const run of word.matchAll(UNSPACED)) {
    if (run.index > at) parts.push(word.slice(at, run.index));
    parts.push(...pairsOf(Array.from(run[0]), use));
    at = run.index + run[0].length;
  }
  if (at < word.length) parts.push(word.slice(at));
  return parts;
}

/** `abc` becomes `ab`, `bc` and, in the index, `c`, so that the last character alone finds it. */
function* pairsOf(characters: readonly string[], use: 'index' | 'query'): Generator<string> {
  for (let at = 0; at + 1 < characters.length; at += 1) {
    yield characters.slice(at, at + 2).join('');
  }
  if (use === 'index' || characters.length === 1) yield characters.at(-1) ?? '';
}

function reversed(digits: string): string {
  let text = '';
  for (let at = digits.length - 1; at >= 0; at -= 1) text += digits.charAt(at);
  return text;
}

/** A condition on the terms of an entry. */
export type TermQuery =
  | { readonly begins: string }
  | { readonly is: string }
  | { readonly all: readonly TermQuery[] }
  | { readonly any: readonly TermQuery[] };

/** The filters of a search that the terms of entries answer; undefined: all entries; null: none. */
export function searchedTerms({
  text = '',
  shopId,
  channel,
}: SearchedTerms): TermQuery | undefined | null {
  const typed = queryOf(text.trim());
  if (typed === undefined && text.trim() !== '') return null;
  return allOf([
    typed,
    shopId && { is: filterTerm('s', shopId) },
    channel && { is: filterTerm('c', channel) },
  ]);
}

type SearchedTerms = Pick<EntrySearch, 'text' | 'shopId' | 'channel'>;

/**
 * What was typed as a query: every piece must occur as a prefix of a word, an address, an id or a
 * number. Undefined when it contains nothing to search for.
 */
export function queryOf(text: string): TermQuery | undefined {
  const pieces = fold(text.slice(0, MAX_QUERY_CHARS))
    .split(UNICODE.betweenPieces)
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece))
    .slice(0, MAX_QUERY_PIECES);
  const clauses: (TermQuery | undefined)[] = [];
  for (let at = 0; at < pieces.length;) {
    // "+1 (555) 000-1111" is one number, although it may be several pieces.
    let end = at;
    while (end < pieces.length && NUMBER_PIECE.test(pieces[end] ?? '')) end += 1;
    if (end > at) clauses.push(numberClause(pieces.slice(at, end)));
    else clauses.push(pieceClause(pieces[at] ?? ''));
    at = Math.max(end, at + 1);
  }
  return allOf(clauses);
}

/** A UUID, or at least three of its groups. */
const UUID_BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){2}(?:-|$)/;

function pieceClause(piece: string): TermQuery | undefined {
  const whole = wholeTerm(piece);
  const at = whole.indexOf('@');
  // A complete address matches only itself, not any text with its words.
  if (at !== -1 && at < whole.length - 1) return begins(whole);
  // The same goes for a UUID. Its words are short, so each begins the terms of many entries: of a million, half a second.
  if (UUID_BEGINNING.test(whole)) return begins(whole);
  const words = allOf(wordsOf(piece, 'query').map(begins));
  return /[^\p{L}\p{N}\p{M}]/u.test(whole) ? either(begins(whole), words) : words;
}

function numberClause(pieces: readonly string[]): TermQuery | undefined {
  const apart = allOf(pieces.map(pieceClause));
  const digits = pieces.join('').replace(/\D/g, '');
  if (digits.length < MIN_QUERY_DIGITS) return apart;
  // Without the trunk zero or international prefix, which are not part of the number.
  const significant = digits.replace(/^0+/, '');
  const fromEnd =
    significant.length >= MIN_QUERY_DIGITS ? begins(`~${reversed(significant)}`) : undefined;
  return either(either(begins(digits), fromEnd), apart);
}

const begins = (term: string): TermQuery | undefined =>
  term === '' ? undefined : { begins: term };

/** All of the conditions that there are; undefined: there is none. */
function allOf(clauses: readonly (TermQuery | undefined)[]): TermQuery | undefined {
  const all = clauses.filter((clause) => clause !== undefined);
  return all.length > 1 ? { all } : all[0];
}

const either = (one: TermQuery | undefined, other: TermQuery | undefined): TermQuery | undefined =>
  one === undefined || other === undefined ? (one ?? other) : { any: [one, other] };

/** A filter as a term: `=`, a letter for the filter (shop or channel), and its value. */
const filterTerm = (filter: 's' | 'c', value: string): string => `=${filter}${value}`;
