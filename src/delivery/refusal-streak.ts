const LANES_IN_A_ROW = 5;

/**
 * Sees when a refusal is not about one entry: the same answer to five lanes in a row means that
 * something is configured wrongly, and the five are not to blame. From then on, until a delivery,
 * that answer says nothing about any entry.
 */
export class RefusalStreak<Id> {
  #answer = '';
  #refused = new Map<string, Id>();
  #saidToAll: string | undefined;

  /** Counts a refusal. Returns those refused for the same reason when they are too many. */
  add(lane: string, id: Id, answer: string): readonly Id[] | undefined {
    if (this.isSaidToAll(answer)) return [id];
    if (answer !== this.#answer) this.#refused.clear();
    this.#answer = answer;
    this.#refused.set(lane, id);
    if (this.#refused.size < LANES_IN_A_ROW) return undefined;
    const all = [...this.#refused.values()];
    this.#refused.clear();
    this.#saidToAll = answer;
    return all;
  }

  isSaidToAll(answer: string): boolean {
    return answer === this.#saidToAll;
  }

  /** Something was delivered. */
  reset(): void {
    this.#refused.clear();
    this.#saidToAll = undefined;
  }
}
