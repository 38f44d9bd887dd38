import { setTimeout as delay } from 'node:timers/promises';

/** Repeats a step whenever the time has come that the step itself or `wakeBy` has named. */
export class Rounds {
  readonly #step: () => Promise<number | undefined>;
  readonly #now: () => number;
  #sleep = new AbortController();
  #nextAt = Infinity;
  #running: Promise<void> | undefined;
  #isStopped = false;

  /**
   * @param step must not throw; resolves with the time of the next one, undefined when there is
   * nothing to wait for
   */
  constructor(step: () => Promise<number | undefined>, now: () => number) {
    this.#step = step;
    this.#now = now;
  }

  /** There is something to do at this time: costs nothing when that was known. */
  wakeBy(at: number): void {
    if (this.#isStopped || at >= this.#nextAt) return;
    this.#nextAt = at;
    this.#sleep.abort();
    this.#running ??= this.#run();
  }

  /** Waits for the step that is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleep.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const waitMs = this.#nextAt - this.#now();
      if (this.#isStopped || waitMs === Infinity) {
        // At once, so that whoever wakes from here on begins anew.
        this.#running = undefined;
        return;
      }
      if (waitMs > 0) {
        this.#sleep = new AbortController();
        await delay(waitMs, undefined, { signal: this.#sleep.signal }).catch(() => undefined);
      } else {
        this.#nextAt = Infinity;
        const at = await this.#step();
        // Somebody may have named an earlier time meanwhile.
        this.#nextAt = Math.min(this.#nextAt, at ?? Infinity);
      }
    }
  }
}
