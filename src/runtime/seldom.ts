/**
 * Tells what happens for the first time within a while, so that strangers cannot fill the log with
 * what they choose.
 */
export class Seldom {
  readonly #everyMs: number;
  readonly #max: number;
  /** When each was told, oldest first. */
  readonly #toldAt = new Map<string, number>();

  /** @param max how many are remembered; further ones are not told until there is room */
  constructor(everyMs: number, max: number) {
    this.#everyMs = everyMs;
    this.#max = max;
  }

  /** Whether to tell this now. */
  isDue(what: string, now: number): boolean {
    for (const [oldest, at] of this.#toldAt) {
      if (now - at < this.#everyMs) break;
      this.#toldAt.delete(oldest);
    }
    if (this.#toldAt.has(what) || this.#toldAt.size >= this.#max) return false;
    this.#toldAt.set(what, now);
    return true;
  }
}
