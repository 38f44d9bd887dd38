import { setTimeout as delay } from 'node:timers/promises';

/** Lets callers through one after the other, at least so many milliseconds apart. */
export class Pacer {
  readonly #spacingMs: number;
  #nextAt = 0;

  constructor(perSecond: number) {
    this.#spacingMs = 1000 / perSecond;
  }

  /** @throws the signal's AbortError */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#spacingMs;
    if (at > now) await delay(at - now, undefined, { signal });
  }
}
