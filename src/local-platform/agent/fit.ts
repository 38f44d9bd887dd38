import { isStopWord, type Language, stemOf } from './language.ts';
import type { Section } from './sections.ts';

/** How well a section answers a question; each from 0 to 1. */
export interface Fit {
  readonly section: Section;
  /** The share of the question's words, by weight, that the section has. */
  readonly covered: number;
  /** The share of one of the section's phrases, by weight, that the question has. */
  readonly said: number;
}

/** What a stop word begins with; no stem contains it. */
const STOP_WORD = '=';
/** A word of little meaning still distinguishes "how long" from "how much". */
const STOP_WORD_WEIGHT = 0.2;
const LEAST_WEIGHT = 0.3;
/** The weight of a word that is only in the text, or only similar. */
const IN_TEXT = 0.8;
const SIMILAR = 0.7;
const SENTENCES_MAX = 50;
const SENTENCE_END = /[.!?\n]+/;
/** A phrase of one word says less than one of four. */
const SHORT_PHRASE = 0.3;
/** Without stop words. */
const QUESTION_MAX_WORDS = 100;

interface Phrase {
  readonly stems: ReadonlySet<string>;
  readonly weight: number;
}

interface Indexed {
  readonly section: Section;
  /** The heading, the phrases of its comment, and the sentences of its text. */
  readonly phrases: readonly Phrase[];
  /** Of heading and comment. */
  readonly asked: ReadonlySet<string>;
  readonly text: ReadonlySet<string>;
}

/**
 * Compares a question with sections of one language. Each heading, and each phrase of a comment, is a
 * way in which customers ask. Rare words have more weight, and words that no section has the most: they
 * are what the question is about.
 */
export class FitIndex {
  readonly #language: Language | undefined;
  readonly #count: number;
  /** The sections that have a stem, so that a question reads few of them. */
  readonly #having = new Map<string, Indexed[]>();
  /** The stems by their first letter and length, to find similar ones. */
  readonly #alike = new Map<string, string[]>();

  constructor(language: Language | undefined, sections: readonly Section[]) {
    this.#language = language;
    this.#count = sections.length;
    const stems = (text: string) => new Set(this.#stems(text));
    const read = sections.map((section) => {
      const questions = [section.heading, ...section.phrases].map(stems);
      const sentences = section.text.split(SENTENCE_END).slice(0, SENTENCES_MAX).map(stems);
      const phrases: Phrase[] = [];
      const indexed: Indexed = {
        ...{ section, phrases },
        asked: new Set(questions.flatMap((phrase) => [...phrase])),
        text: stems(`${section.title} ${section.text}`),
      };
      for (const stem of new Set([...indexed.asked, ...indexed.text]))
        add(this.#having, stem, indexed);
      return { phrases, sets: [...questions, ...sentences] };
    });
    for (const stem of this.#having.keys()) add(this.#alike, likeness(stem), stem);
    // Weights depend on all sections.
    for (const { phrases, sets } of read) {
      for (const set of sets) phrases.push({ stems: set, weight: this.#weight(set) });
    }
  }

  /** The sections that share a word with the question, best first. */
  fits(question: string): Fit[] {
    const asked = new Map<string, number>();
    let telling = 0;
    for (const stem of this.#stems(question)) {
      telling += stem.startsWith(STOP_WORD) ? 0 : 1;
      if (telling > QUESTION_MAX_WORDS) break;
      const known = this.#known(stem);
      const like = known === stem ? 1 : known === undefined ? 0 : SIMILAR;
      asked.set(known ?? stem, Math.max(like, asked.get(known ?? stem) ?? 0));
    }
    const total = this.#weight(asked.keys());
    return this.#candidates([...asked.keys()])
      .map((one) => ({
        section: one.section,
        covered: this.#covered(one, asked) / total,
        said: this.#said(one, asked),
      }))
      .sort((one, other) => fitness(other) - fitness(one));
  }

  /** A question of stop words alone, such as "how long?", is compared by these. */
  #candidates(stems: readonly string[]): Indexed[] {
    const words = stems.filter((stem) => !stem.startsWith(STOP_WORD));
    const telling = words.length > 0 ? words : stems;
    return [...new Set(telling.flatMap((stem) => this.#having.get(stem) ?? []))];
  }

  #covered({ asked: own, text }: Indexed, asked: ReadonlyMap<string, number>): number {
    let sum = 0;
    for (const [stem, like] of asked) {
      const has = own.has(stem) ? 1 : text.has(stem) ? IN_TEXT : 0;
      sum += this.#weightOf(stem) * like * has;
    }
    return sum;
  }

  #said({ phrases }: Indexed, asked: ReadonlyMap<string, number>): number {
    let most = 0;
    for (const { stems, weight } of phrases) {
      let shared = 0;
      for (const [stem, like] of asked) if (stems.has(stem)) shared += this.#weightOf(stem) * like;
      most = Math.max(most, shared / (weight + SHORT_PHRASE));
    }
    return most;
  }

  #weight(stems: Iterable<string>): number {
    let sum = 0;
    for (const stem of stems) sum += this.#weightOf(stem);
    return sum;
  }

  #weightOf(stem: string): number {
    if (stem.startsWith(STOP_WORD)) return STOP_WORD_WEIGHT;
    const frequency = this.#having.get(stem)?.length ?? 0;
    if (frequency === 0) return 1;
    return Math.max(
      LEAST_WEIGHT,
      Math.log(1 + this.#count / frequency) / Math.log(1 + this.#count),
    );
  }

  /** The stem, or a similar one of the sections; undefined: there is none. */
  #known(stem: string): string | undefined {
    if (this.#having.has(stem)) return stem;
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

function add<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const likeness = (stem: string, length = stem.length): string => `${stem.charAt(0)}${length}`;

/**
 * A wrong answer is worse than none: it costs the customer's trust, and a person's time after all. The
 * limits were chosen for no wrong answer to the hundred questions of questions.test.ts.
 */
const LEAST_SAID = 0.55;
/** A question whose words the section all has may say less of one phrase. */
const ALMOST_COVERED = 0.9;
const LEAST_SAID_OF_COVERED = 0.4;
const LEAST_FITNESS = 0.38;
const LEAST_LEAD = 1.1;

/** Whether a section surely answers the question, rather than only sharing words with it. */
export const isSure = (fit: Fit, second: Fit | undefined): boolean =>
  fit.said >= (fit.covered >= ALMOST_COVERED ? LEAST_SAID_OF_COVERED : LEAST_SAID) &&
  fitness(fit) >= LEAST_FITNESS &&
  fitness(fit) >= LEAST_LEAD * fitness(second);

/** For the order of sections. */
export const fitness = (fit: Fit | undefined): number =>
  fit === undefined ? 0 : fit.covered * fit.said;

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
