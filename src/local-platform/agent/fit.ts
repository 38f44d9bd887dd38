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
const QUESTION_MAX_WORDS = 60;

interface Indexed {
  readonly section: Section;
  /** The heading, the phrases of its comment, and the sentences of its text. */
  readonly phrases: readonly ReadonlySet<string>[];
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
  readonly #sections: readonly Indexed[];
  /** In how many sections each stem is. */
  readonly #frequency = new Map<string, number>();

  constructor(language: Language | undefined, sections: readonly Section[]) {
    this.#language = language;
    const stems = (text: string) => new Set(this.#stems(text));
    this.#sections = sections.map((section) => {
      const questions = [section.heading, ...section.phrases].map(stems);
      const sentences = section.text.split(SENTENCE_END).slice(0, SENTENCES_MAX).map(stems);
      return {
        section,
        phrases: [...questions, ...sentences],
        asked: new Set(questions.flatMap((phrase) => [...phrase])),
        text: stems(`${section.title} ${section.text}`),
      };
    });
    for (const { asked, text } of this.#sections) {
      for (const stem of new Set([...asked, ...text])) {
        this.#frequency.set(stem, (this.#frequency.get(stem) ?? 0) + 1);
      }
    }
  }

  /** The sections that have something to do with the question, best first. */
  fits(question: string): Fit[] {
    const asked = new Map<string, number>();
    for (const stem of this.#stems(question).slice(0, QUESTION_MAX_WORDS)) {
      const known = this.#known(stem);
      asked.set(known ?? stem, known === stem ? 1 : known === undefined ? 0 : SIMILAR);
    }
    const total = this.#weight(asked.keys());
    if (total === 0) return [];
    return this.#sections
      .map((one) => ({
        section: one.section,
        covered: this.#covered(one, asked) / total,
        said: this.#said(one, asked),
      }))
      .filter(({ covered }) => covered > 0)
      .sort((one, other) => fitness(other) - fitness(one));
  }

  #covered({ asked: own, text }: Indexed, asked: ReadonlyMap<string, number>): number {
    let sum = 0;
    for (const [stem, likeness] of asked) {
      const has = own.has(stem) ? 1 : text.has(stem) ? IN_TEXT : 0;
      sum += this.#weightOf(stem) * likeness * has;
    }
    return sum;
  }

  #said({ phrases }: Indexed, asked: ReadonlyMap<string, number>): number {
    let most = 0;
    for (const phrase of phrases) {
      let shared = 0;
      for (const stem of phrase) shared += this.#weightOf(stem) * (asked.get(stem) ?? 0);
      most = Math.max(most, shared / (this.#weight(phrase) + SHORT_PHRASE));
    }
    return most;
  }

  #weight(stems: Iterable<string>): number {
    let sum = 0;
    for (const stem of stems) sum += this.#weightOf(stem);
    return sum;
  }

  #weightOf(stem: string): number {
    if (stem.startsWith('=')) return STOP_WORD_WEIGHT;
    const count = this.#sections.length;
    const frequency = this.#frequency.get(stem) ?? 0;
    if (frequency === 0) return 1;
    return Math.max(LEAST_WEIGHT, Math.log(1 + count / frequency) / Math.log(1 + count));
  }

  /** The stem, or the most similar one of the sections; undefined: none is similar. */
  #known(stem: string): string | undefined {
    if (this.#frequency.has(stem)) return stem;
    if (stem.length < 5 || /^[=\d]/.test(stem)) return undefined;
    for (const known of this.#frequency.keys()) if (isSimilar(stem, known)) return known;
    return undefined;
  }

  /** Stop words are marked with `=`. */
  #stems(text: string): string[] {
    return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) =>
      isStopWord(word, this.#language) ? `=${word.toLowerCase()}` : stemOf(word, this.#language),
    );
  }
}

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
