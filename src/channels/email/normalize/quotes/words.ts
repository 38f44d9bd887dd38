/** What has to be replaced; most texts have nothing of it. */
const UNUSUAL = /[^!-~ ]|`| {2}/;

/**
 * A text in the form in which phrases are compared: lower case, plain apostrophes and spaces, no
 * marks of writing direction, and Turkish İ as i.
 */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (!UNUSUAL.test(lower)) return lower.trim();
  return lower
    .replace(/[\u0307\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replace(/[\u2018\u2019\u02bc\u00b4`]/g, "'")
    .replace(/[\s\u00a0]+/g, ' ')
    .trim();
}

/** The folded phrases of all languages of a table, in which `|` separates them. */
export function phraseList(table: Readonly<Record<string, string>>): readonly string[] {
  const phrases = Object.values(table).flatMap((list) => list.split('|').map(folded));
  return [...new Set(phrases)].filter((phrase) => phrase !== '');
}

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u;

/** Whether the phrase stands in the folded text as whole words, from `at` on. */
export function isWholeAt(text: string, phrase: string, at: number): boolean {
  return endsWord(text, at, phrase.charAt(0)) && endsWord(text, at + phrase.length, phrase.at(-1));
}

/** Whether a word that has this character at its edge can begin or end at this place of the text. */
function endsWord(text: string, at: number, edge: string | undefined): boolean {
  if (edge === undefined || !WORD_CHARACTER.test(edge) || UNSPACED.test(edge)) return true;
  const left = text.charAt(at - 1);
  const right = text.charAt(at);
  return !WORD_CHARACTER.test(left) || !WORD_CHARACTER.test(right);
}

/** Where the phrase stands in the folded text as whole words; -1 if it does not. */
export function findPhrase(text: string, phrase: string): number {
  const at = text.indexOf(phrase);
  if (at === -1 || isWholeAt(text, phrase, at)) return at;
  const next = text.indexOf(phrase, at + 1);
  return next !== -1 && isWholeAt(text, phrase, next) ? next : -1;
}

/** Whether the folded text begins with the phrase as whole words. */
export function startsWithPhrase(text: string, phrase: string): boolean {
  return text.startsWith(phrase) && isWholeAt(text, phrase, 0);
}

/** Whether the folded text ends with the phrase as whole words. */
export function endsWithPhrase(text: string, phrase: string): boolean {
  return text.endsWith(phrase) && isWholeAt(text, phrase, text.length - phrase.length);
}

type Groups = ReadonlyMap<string, readonly string[]>;

/** The phrases by their first word, to look only for those whose first word is in a text. */
export function firstWords(phrases: readonly string[]): Groups {
  return groups(phrases, (phrase) => phrase.split(' ', 1)[0] ?? '');
}

/** The phrases by their first character, to compare a text only with those that begin like it. */
export function firstCharacters(phrases: readonly string[]): Groups {
  return groups(phrases, (phrase) => phrase.charAt(0));
}

function groups(phrases: readonly string[], keyOf: (phrase: string) => string): Groups {
  const found = new Map<string, string[]>();
  for (const phrase of phrases) {
    const group = found.get(keyOf(phrase)) ?? [];
    group.push(phrase);
    found.set(keyOf(phrase), group);
  }
  return found;
}
