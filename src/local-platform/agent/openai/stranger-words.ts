import type { AgentContext } from '../agent.ts';
import type { Knowledge } from '../knowledge.ts';
import { HISTORY_EACH_MAX_CHARS, TEXT_MAX_CHARS } from './prompt.ts';

/** As many characters, about four words, are a quotation rather than a coincidence. */
const QUOTED_CHARS = 20;
/** The same in scripts that write a word with few characters and without spaces. */
const QUOTED_SIGNS = 8;
const SIGNS = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+$/u;

/**
 * Whether a model's answer to somebody whom nothing confirms may be sent: each address, number and
 * link in it is in the shop's texts, and it repeats no passage of the emails. Whoever forges a sender
 * would otherwise write to that person in the shop's name.
 */
export function hasOnlyOwnWords(
  answer: string,
  { text, subject = '', history, shopName }: AgentContext,
  knowledge: Knowledge,
): boolean {
  const own = ownWordsOf(knowledge);
  const named = new Set(reachable(shopName));
  if (!reachable(answer).every((word) => own.reachable.has(word) || named.has(word))) return false;
  const said = lettersOf(answer);
  const saidPassages = passagesOf(said);
  const theirs = history
    .filter(({ role }) => role === 'customer')
    .map((each) => each.text.slice(0, HISTORY_EACH_MAX_CHARS));
  const isOwn = (passage: string) => own.letters.includes(passage);
  return [subject, text.slice(0, TEXT_MAX_CHARS), ...theirs].every((each) => {
    const letters = lettersOf(each);
    // One word, such as the name of a product, is no quotation.
    const isShort = letters.length < QUOTED_CHARS && letters.includes(' ');
    if (isShort && said.includes(letters) && !isOwn(letters)) return false;
    const passages = new Set(passagesOf(letters));
    return saidPassages.every((passage) => !passages.has(passage) || isOwn(passage));
  });
}

interface OwnWords {
  readonly reachable: ReadonlySet<string>;
  readonly letters: string;
}

/** The shop's texts may be megabytes, and stay the same for many answers. */
const ownWords = new WeakMap<Knowledge, OwnWords>();

function ownWordsOf(knowledge: Knowledge): OwnWords {
  const known = ownWords.get(knowledge);
  if (known !== undefined) return known;
  const texts = knowledge.sections.flatMap(({ title, heading, text }) => [title, heading, text]);
  const own = {
    reachable: new Set(texts.flatMap(reachable)),
    letters: texts.map(lettersOf).join('\n'),
  };
  ownWords.set(knowledge, own);
  return own;
}

/** `1.` at the beginning of a line of Markdown is no number. */
const LIST_MARK = /^ {0,9}\d{1,2}[.)] /gm;
/** A number with what is written between its digits, as in `+1 (555) 000-2222`. */
const NUMBER = /\p{N}(?:[\p{N} \t\u00a0.,:/()+-]*\p{N})?/gu;
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}@.:/_%?=&#+~-]*[\p{L}\p{N}/])?/gu;
const LINK = /@|:\/\/|[\p{L}\p{N}]\.\p{L}{2}/u;

/** The numbers, as digits only, and the words that are an address or a link. */
function reachable(text: string): string[] {
  const read = text.normalize('NFKC').toLowerCase().replace(LIST_MARK, '');
  const numbers = (read.match(NUMBER) ?? []).map((each) => each.replace(/[^\p{N}]/gu, ''));
  return [...numbers, ...(read.match(WORD) ?? []).filter((word) => LINK.test(word))];
}

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

/** Everything in a text that would be a quotation. */
const passagesOf = (letters: string): string[] => [
  ...runsOf(letters, QUOTED_CHARS),
  ...runsOf(letters, QUOTED_SIGNS).filter((run) => SIGNS.test(run)),
];

const runsOf = (letters: string, chars: number): string[] =>
  Array.from({ length: Math.max(0, letters.length - chars + 1) }, (_, at) =>
    letters.slice(at, at + chars),
  );
