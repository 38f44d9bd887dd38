/** A random stream that a seed determines. */
export interface Random {
  /** At least 0 and less than 1. */
  fraction(): number;
  /** A whole number of at least 0 and less than `below`. */
  integer(below: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One element of a list, each equally likely. @throws RangeError when the list is empty */
  pick<T>(list: readonly T[]): T;
  /** A UUID of version 4. */
  uuid(): string;
  /**
   * Another stream, determined by this stream's seed and the label. It uses no draw of this stream
   * and does not depend on the draws made so far: the same label always gives the same stream.
   */
  fork(label: string): Random;
}

/** @param seed any whole number; equal seeds give equal streams */
export function createRandom(seed: number): Random {
  return new Sfc32(mixed(seed >>> 0), mixed(Math.floor(seed / 2 ** 32) ^ 0x9e3779b9));
}

/** Chris Doty-Humphrey's sfc32 (PractRand): 128 bits of state, three additions for a draw. */
class Sfc32 implements Random {
  readonly #keyA: number;
  readonly #keyB: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(keyA: number, keyB: number) {
    this.#keyA = keyA;
    this.#keyB = keyB;
    this.#a = keyA | 0;
    this.#b = keyB | 0;
    this.#c = mixed(keyA ^ mixed(keyB)) | 0;
    // Similar keys give similar first draws; after twelve rounds all bits depend on each other.
    for (let round = 0; round < 12; round++) this.#next();
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  fraction(): number {
    return ((this.#next() >>> 5) * 2 ** 26 + (this.#next() >>> 6)) / 2 ** 53;
  }

  integer(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  between(low: number, high: number): number {
    return low + this.integer(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('nothing to pick from: the list is empty');
    // The index is within the list, whose members may themselves be undefined.
    return list[this.integer(list.length)] as T;
  }

  uuid(): string {
    const a = hex(this.#next());
    const b = hex((this.#next() & 0xffff0fff) | 0x00004000);
    const c = hex((this.#next() & 0x3fffffff) | 0x80000000);
    const d = hex(this.#next());
    return `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`;
  }

  fork(label: string): Random {
    let a = this.#keyA ^ 0x243f6a88;
    let b = this.#keyB ^ 0x85a308d3;
    for (let index = 0; index < label.length; index++) {
      const unit = label.charCodeAt(index);
      a = Math.imul(a ^ unit, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b ^ unit, 0x5f356495);
      b ^= b >>> 13;
    }
    return new Sfc32(mixed(a ^ (b >>> 7)), mixed(b ^ label.length));
  }
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** The finalizer of MurmurHash3: a bijection of 32 bits in which all bits affect each other. */
function mixed(word: number): number {
  let mix = word >>> 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
