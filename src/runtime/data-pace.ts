export interface DataPaceOptions {
  /** RFC 5321 §4.5.3.2.5 gives a client minutes; a slow one must not have hours. */
  readonly minBytesPerSecond: number;
  /** Over how long the rate is measured. */
  readonly windowMs: number;
  /** For the whole message, however fast it comes. */
  readonly totalMs: number;
}

/** Tells a client that is slow from one that has to wait for us. */
export class DataPace {
  readonly #options: DataPaceOptions;
  readonly #startedAt: number;
  #windowFrom: number;
  #windowBytes = 0;

  constructor(options: DataPaceOptions, now: number) {
    this.#options = options;
    this.#startedAt = now;
    this.#windowFrom = now;
  }

  /** Milliseconds since the start of a message that has come too slowly so far; else 0. */
  stalledMs(now: number, bytes: number): number {
    const elapsed = now - this.#startedAt;
    return bytes < (this.#options.minBytesPerSecond * elapsed) / 1000 ? elapsed : 0;
  }

  /** `waitsForUs`: the client is held back because what it sent has not been written yet. */
  isTooSlow(now: number, bytes: number, waitsForUs: boolean): boolean {
    const { minBytesPerSecond, windowMs, totalMs } = this.#options;
    if (now - this.#startedAt > totalMs) return true;
    const elapsed = now - this.#windowFrom;
    if (elapsed < windowMs) return false;
    const received = bytes - this.#windowBytes;
    this.#windowFrom = now;
    this.#windowBytes = bytes;
    return !waitsForUs && received < (minBytesPerSecond * elapsed) / 1000;
  }
}
