/** Bounds grow by a tenth: a quantile is told to within 10 %, from a millisecond to months. */
const GROWTH = Math.log(1.1);
const BUCKETS = 256;

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly count: number;
}

/** Durations, counted and not kept: adding one is a logarithm and an addition. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    const bucket = ms < 1 ? 0 : Math.ceil(Math.log(ms) / GROWTH);
    const at = Math.min(bucket, BUCKETS - 1);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#count += 1;
  }

  addAll(other: Latencies): void {
    for (let at = 0; at < BUCKETS; at += 1) {
      this.#counts[at] = (this.#counts[at] ?? 0) + (other.#counts[at] ?? 0);
    }
    this.#count += other.#count;
  }

  /** Undefined while there are none. In milliseconds. */
  quantiles(): Quantiles | undefined {
    if (this.#count === 0) return undefined;
    return { p50: this.#at(0.5), p95: this.#at(0.95), p99: this.#at(0.99), count: this.#count };
  }

  /** The upper bound of the bucket in which that share of all is reached. */
  #at(share: number): number {
    const rank = Math.ceil(share * this.#count);
    let passed = 0;
    for (let at = 0; at < BUCKETS; at += 1) {
      passed += this.#counts[at] ?? 0;
      if (passed >= rank) return Math.round(Math.exp(at * GROWTH));
    }
    return Math.round(Math.exp((BUCKETS - 1) * GROWTH));
  }
}
