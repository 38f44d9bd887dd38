/** How much a counter that only rises has risen of late. */
export class RollingCount {
  readonly #windowMs: number;
  #startedAt: number;
  #looked = false;
  #samples: { readonly at: number; readonly value: number }[] = [];

  /** `startedAt`: when the counter was zero. */
  constructor(windowMs: number, startedAt: number) {
    this.#windowMs = windowMs;
    this.#startedAt = startedAt;
    this.#samples = [{ at: startedAt, value: 0 }];
  }

  /** The rise within the window that ends now. */
  add(at: number, value: number): number {
    if (!this.#looked && this.isWhole(at)) {
      // It rose before anybody looked: nobody knows when.
      this.#startedAt = at;
      this.#samples = [];
    }
    this.#looked = true;
    this.#samples.push({ at, value });
    const begin = at - this.#windowMs;
    // The last sample before the window is its starting point.
    const first = this.#samples.findLastIndex((sample) => sample.at <= begin);
    if (first > 0) this.#samples = this.#samples.slice(first);
    return value - (this.#samples[0]?.value ?? 0);
  }

  /** The whole window was looked at. */
  isWhole(at: number): boolean {
    return at - this.#startedAt >= this.#windowMs;
  }
}
