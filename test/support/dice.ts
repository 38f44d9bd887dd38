import { seededRandom } from './random-faults.ts';

/** Decisions that are the same for the same seed. */
export class Dice {
  readonly #random: () => number;

  static of(seed: number): Dice {
    return new Dice(seededRandom(Math.imul(seed, 0x9e3779b1)));
  }

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A whole number from 0 to `end` - 1; 0 when there is none. */
  below(end: number): number {
    return Math.floor(this.#random() * Math.max(1, end));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** True in `percent` of a hundred. */
  chance(percent: number): boolean {
    return this.#random() * 100 < percent;
  }
}
