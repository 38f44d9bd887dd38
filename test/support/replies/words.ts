import { seededRandom } from '../random-faults.ts';

const SYLLABLES =
  'bra dri fle gno hux jal kro lum myv nax orp plu quen rus sko tav ulb vex wub xil yom zan'.split(
    ' ',
  );

/** Made-up words that no mail program writes, all different, the same for the same seed. */
export class WordMaker {
  readonly #random: () => number;
  readonly #used = new Set<string>();

  constructor(seed: number) {
    this.#random = seededRandom(Math.imul(seed, 0x9e3779b1));
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  word(): string {
    for (;;) {
      const word = [0, 1, 2].map(() => this.pick(SYLLABLES)).join('');
      if (this.#used.has(word)) continue;
      this.#used.add(word);
      return word;
    }
  }

  /** A word in upper case at its start, as in a name. */
  name(): string {
    const word = this.word();
    return word.charAt(0).toUpperCase() + word.slice(1);
  }

  /** Most people begin it in upper case and end it. */
  sentence(words: number): string {
    const first = this.chance(0.15) ? this.word() : this.name();
    const all = [first, ...Array.from({ length: words - 1 }, () => this.word())];
    return `${all.join(' ')}${this.pick(['.', '.', '.', '!', '?', ''])}`;
  }
}

/** The made-up words in a text, in lower case. */
export function madeUpWords(text: string): readonly string[] {
  const pattern = new RegExp(`(?<![a-z])(?:${SYLLABLES.join('|')}){3}(?![a-z])`, 'gi');
  return (text.match(pattern) ?? []).map((word) => word.toLowerCase());
}
