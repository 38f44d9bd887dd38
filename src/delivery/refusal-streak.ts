const LANES_IN_A_ROW = 5;

/**
 * Sees when a refusal is not about one entry: the same answer to five lanes in a row means that
 * something is configured wrongly, and the five are not to blame.
 */
export class RefusalStreak<Id> {
  #answer = '';
  #refused = new Map<string, Id>();

  /** Counts a refusal. Returns those refused for the same reason when they are too many. */
  add(lane: string, id: Id, answer: string): readonly Id[] | undefined {
    if (answer !== this.#answer) this.reset();
    this.#answer = answer;
    this.#refused.set(lane, id);
    if (this.#refused.size < LANES_IN_A_ROW) return undefined;
    const all = [...this.#refused.values()];
    this.reset();
    return all;
  }

  reset(): void {
    this.#refused = new Map();
  }
}
