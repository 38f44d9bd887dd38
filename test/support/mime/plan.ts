import type { Dice } from '../dice.ts';

/** What is written differently from the standards, at one place of the message each. */
const FAULTS = [
  ...['wrong boundary', 'no boundary parameter', 'single quotes', 'quote not closed'],
  ...['other case', 'delimiters never used', 'inner not closed', 'not closed', 'early end'],
  ...['no empty line', 'text without head', 'no empty line before the first part'],
  ...['second type', 'second encoding', 'second version', 'unknown encoding', 'junk in the head'],
  ...['parameter not indented', 'no line end at the end', 'text outside only'],
  'lines end in CR',
] as const;

/** Decides what is odd about a message, and remembers it. */
export class Plan {
  readonly #dice: Dice;
  readonly #faults: string[];
  readonly #done: string[] = [];

  /** Three in ten messages have faults, of these every sixth has two. */
  constructor(dice: Dice, isFaultless = false) {
    this.#dice = dice;
    const count = isFaultless || !dice.chance(30) ? 0 : dice.chance(16) ? 2 : 1;
    this.#faults = Array.from({ length: count }, () => dice.pick(FAULTS));
  }

  /** Whether this fault happens here, where it can. */
  takes(fault: (typeof FAULTS)[number]): boolean {
    const at = this.#faults.indexOf(fault);
    if (at === -1 || !this.#dice.chance(60)) return false;
    this.#faults.splice(at, 1);
    this.#done.push(`! ${fault}`);
    return true;
  }

  /** Whether something that is allowed, but not usual, happens here. */
  isOdd(what: string, percent: number): boolean {
    const happens = this.#dice.chance(percent);
    if (happens && !this.#done.includes(what)) this.#done.push(what);
    return happens;
  }

  recipe(): string {
    return this.#done.join(', ');
  }
}
