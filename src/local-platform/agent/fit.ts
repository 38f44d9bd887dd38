import { isStopWord, type Language, stemOf } from './language.ts';
import type { Section } from './sections.ts';

/** How well a section fits a question; each from 0 to 1. */
export interface Fit {
  readonly section: Section;
  /** The share of the question's words, by weight, that speak for this section rather than another. */
  readonly told: number;
  /** The share of one of the section's phrases, by weight, that the question has. */
  readonly said: number;
  /** The fitness from which a section is sure. */
  readonly least: number;
}

/** What a stop word begins with; no stem contains it. */
const STOP_WORD = '=';
/** A word of little meaning still distinguishes "how long" from "how much". */
const STOP_WORD_WEIGHT = 0.2;
const LEAST_WEIGHT = 0.3;
/** Two words in a row, such as "money back", which say more than each alone; of the weight of a word. */
const PAIR_WEIGHT = 0.2;
/** A word that no section has speaks against all of them. */
const UNKNOWN_WEIGHT = 0.6;
const SIMILAR = 0.7;
const SENTENCES_MAX = 50;
const SENTENCE_END = /[.!?\n]+/;
/** A question that is one of the phrases tells this much, though its words may be everywhere: "where is my order?". */
const SAME = 0.5;
/** A phrase of one word says less than one of four. */
const SHORT_PHRASE = 0.3;
/** Without stop words. */
const QUESTION_MAX_WORDS = 100;
/** A word of a section with few phrases is no proof: it counts as if there were this many more. */
const MORE_PHRASES = 25;
/** Makes a word that is rare everywhere speak less for the only section that has it. */
const RARE = 0.02;

interface Phrase {
  readonly section: number;
  readonly words: ReadonlySet<string>;
  readonly weight: number;
}

/** How much a word speaks for each section, by the section's number: shares of at most 1 in all. */
type Votes = Map<number, number>;

/**
 * Compares a question with sections of one language. The heading, each phrase of a comment and each
 * sentence of the text is a way in which customers ask. A section fits when the question says one of
 * its phrases, and when the question's words are used by its phrases more than by those of others.
 */
export class FitIndex {
  readonly #language: Language | undefined;
  readonly #sections: readonly Section[];
  readonly #least: number;
  readonly #votes = new Map<string, Votes>();
  /** The phrases that have a word or a pair of words. */
  readonly #having = new Map<string, Phrase[]>();
  /** The stems by their first letter and length, to find similar ones. */
  readonly #alike = new Map<string, string[]>();

  constructor(language: Language | undefined, sections: readonly Section[]) {
    this.#language = language;
    this.#sections = sections;
    this.#least = sections.some((section) => section.isForPeople)
      ? LEAST_FITNESS
      : LEAST_FITNESS_ALONE;
    const read = sections.map(({ heading, phrases, text }) =>
      [heading, ...phrases, ...text.split(SENTENCE_END).slice(0, SENTENCES_MAX)]
        .map((phrase) => new Set(withPairs(this.#stems(phrase))))
        .filter(({ size }) => size > 0),
    );
    for (const [section, phrases] of read.entries()) this.#count(section, phrases);
    for (const votes of this.#votes.values()) share(votes);
    for (const word of this.#votes.keys()) {
      if (!isPair(word)) add(this.#alike, likeness(word), word);
    }
    // Weights depend on all sections.
    for (const [section, phrases] of read.entries()) {
      for (const words of phrases) {
        const phrase = { section, words, weight: this.#weight(words) };
        for (const word of words) add(this.#having, word, phrase);
      }
    }
  }

  /** The sections that share a word with the question, best first. */
  fits(question: string): Fit[] {
    const asked = this.#asked(question);
    const words = [...asked.keys()];
    // A question of stop words alone, such as "how long?", is compared by these.
    const telling = words.filter((word) => !word.includes(STOP_WORD));
    const candidates = new Set(
      (telling.length > 0 ? telling : words).flatMap((word) => [
        ...(this.#votes.get(word)?.keys() ?? []),
      ]),
    );
    const told = this.#told(asked);
    const said = this.#said(asked);
    return [...candidates]
      .flatMap((number) => {
        const section = this.#sections[number];
        if (section === undefined) return [];
        const { phrase = 0, same = 0 } = said.get(number) ?? {};
        return [
          {
            section,
            told: Math.max(told.get(number) ?? 0, SAME * same ** 2),
            said: phrase,
            least: this.#least,
          },
        ];
      })
      .sort((one, other) => fitness(other) - fitness(one));
  }

  /** The question's words and pairs, and how much each is like one of the sections: 1, less, or 0. */
  #asked(question: string): ReadonlyMap<string, number> {
    const asked = new Map<string, number>();
    const read: string[] = [];
    let telling = 0;
    for (const stem of this.#stems(question)) {
      telling += stem.startsWith(STOP_WORD) ? 0 : 1;
      if (telling > QUESTION_MAX_WORDS) break;
      const known = this.#known(stem);
      const like = known === stem ? 1 : known === undefined ? 0 : SIMILAR;
      read.push(known ?? stem);
      asked.set(known ?? stem, Math.max(like, asked.get(known ?? stem) ?? 0));
    }
    for (const pair of withPairs(read).slice(read.length)) {
      if (this.#votes.has(pair)) asked.set(pair, 1);
    }
    return asked;
  }

  #told(asked: ReadonlyMap<string, number>): Votes {
    const total = this.#weight(asked.keys());
    const sums: Votes = new Map();
    for (const [word, like] of asked) {
      const weight = (this.#weightOf(word) * like) / total;
      for (const [section, vote] of this.#votes.get(word) ?? []) {
        sums.set(section, (sums.get(section) ?? 0) + weight * vote);
      }
    }
    return sums;
  }

  /** By section, the largest share of a phrase that the question has, and of what either has. */
  #said(asked: ReadonlyMap<string, number>): ReadonlyMap<number, { phrase: number; same: number }> {
    const total = this.#weight(asked.keys());
    const shared = new Map<Phrase, number>();
    for (const [word, like] of asked) {
      const weight = this.#weightOf(word) * like;
      for (const phrase of this.#having.get(word) ?? []) {
        shared.set(phrase, (shared.get(phrase) ?? 0) + weight);
      }
    }
    const most = new Map<number, { phrase: number; same: number }>();
    for (const [{ section, weight }, sum] of shared) {
      const { phrase = 0, same = 0 } = most.get(section) ?? {};
      most.set(section, {
        phrase: Math.max(phrase, sum / (weight + SHORT_PHRASE)),
        same: Math.max(same, sum / (weight + total - sum)),
      });
    }
    return most;
  }

  /** How often the section's phrases have each word. */
  #count(section: number, phrases: readonly ReadonlySet<string>[]): void {
    const one = 1 / (phrases.length + MORE_PHRASES);
    for (const word of phrases.flatMap((phrase) => [...phrase])) {
      const votes = this.#votes.get(word) ?? new Map<number, number>();
      this.#votes.set(word, votes.set(section, (votes.get(section) ?? 0) + one));
    }
  }

  #weight(words: Iterable<string>): number {
    let sum = 0;
    for (const word of words) sum += this.#weightOf(word);
    return sum;
  }

  /** Words that few sections have say the most. */
  #weightOf(word: string): number {
    if (word.startsWith(STOP_WORD) && !isPair(word)) return STOP_WORD_WEIGHT;
    const frequency = this.#votes.get(word)?.size ?? 0;
    if (frequency === 0) return UNKNOWN_WEIGHT;
    const count = this.#sections.length;
    const weight = Math.log(1 + count / frequency) / Math.log(1 + count);
    return Math.max(LEAST_WEIGHT, weight) * (isPair(word) ? PAIR_WEIGHT : 1);
  }

  /** The stem, or a similar one of the sections; undefined: there is none. */
  #known(stem: string): string | undefined {
    if (this.#votes.has(stem)) return stem;
    if (stem.length < 5 || /^[=\d]/.test(stem)) return undefined;
    for (const length of [stem.length, stem.length - 1, stem.length + 1]) {
      const similar = this.#alike
        .get(likeness(stem, length))
        ?.find((known) => isSimilar(stem, known));
      if (similar !== undefined) return similar;
    }
    return undefined;
  }

  /** Stop words are marked. */
  #stems(text: string): string[] {
    return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) =>
      isStopWord(word, this.#language)
        ? `${STOP_WORD}${word.toLowerCase()}`
        : stemOf(word, this.#language),
    );
  }
}

/** The words, and then each two in a row. */
const withPairs = (words: readonly string[]): string[] => [
  ...words,
  ...words.slice(1).map((word, index) => `${words[index] ?? ''} ${word}`),
];

const isPair = (word: string): boolean => word.includes(' ');

/** Turns counts into shares. */
function share(votes: Votes): void {
  let sum = RARE;
  for (const count of votes.values()) sum += count;
  for (const [section, count] of votes) votes.set(section, count / sum);
}

function add<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const likeness = (stem: string, length = stem.length): string => `${stem.charAt(0)}${length}`;

/**
 * A wrong answer is worse than none: it costs the customer's trust, and a person's time after all. The
 * limits were chosen for almost no wrong answer to the questions of questions.test.ts.
 */
const LEAST_FITNESS = 0.1;
/** Without sections for people, nothing else speaks against an answer. */
const LEAST_FITNESS_ALONE = 0.24;
const LEAST_LEAD = 1.2;
/** Over all sections for people together: what is almost as much about theirs is for a person. */
const LEAST_LEAD_OF_PEOPLE = 1.4;
/** The words of the question must not speak for another section, whatever phrase it says. */
const LEAST_TOLD_OF_OTHERS = 0.9;

/** The section that surely answers a question, rather than only sharing words with it. */
export function sureFit(fits: readonly Fit[]): Fit | undefined {
  const [best, second] = fits;
  if (best === undefined || best.section.isForPeople) return undefined;
  const least = Math.max(
    best.least,
    LEAST_LEAD * fitness(second),
    LEAST_LEAD_OF_PEOPLE * fitnessForPeople(fits),
  );
  const mostTold = Math.max(...fits.map(({ told }) => told));
  return fitness(best) >= least && best.told >= LEAST_TOLD_OF_OTHERS * mostTold ? best : undefined;
}

/** Whether a question is rather for people than for any section that answers. */
export const isForPeople = ([best]: readonly Fit[]): boolean =>
  best !== undefined && best.section.isForPeople && fitness(best) >= best.least;

/** How well all sections for people together fit. */
export const fitnessForPeople = (fits: readonly Fit[]): number =>
  fits.filter(({ section }) => section.isForPeople).reduce((sum, fit) => sum + fitness(fit), 0);

/** For the order of sections. A long message has words of much else, so that they count a little less. */
export const fitness = (fit: Fit | undefined): number =>
  fit === undefined ? 0 : fit.told ** 0.8 * fit.said;

/** One letter more, less, other or exchanged. */
export function isSimilar(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1 || !other.startsWith(one.charAt(0))) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(one.length, other.length) - start &&
    one.at(-1 - end) === other.at(-1 - end)
  ) {
    end += 1;
  }
  const [a, b] = [one.length - start - end, other.length - start - end];
  return (
    Math.max(a, b) <= 1 ||
    (a === 2 && b === 2 && one[start] === other[start + 1] && one[start + 1] === other[start])
  );
}
