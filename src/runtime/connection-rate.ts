import { ipNetwork } from './ip-network.ts';

/** As many clients are told apart in one window; further ones are not counted. */
const MAX_CLIENTS = 65_536;

export interface RateOptions {
  readonly connections: number;
  readonly perMs: number;
}

/**
 * How often each client has connected since the window began. One window for all: it costs one map
 * that is emptied, and no timer. At its border a client may have twice the rate for a moment.
 */
export class ConnectionRate {
  readonly #options: RateOptions;
  readonly #counts = new Map<string, number>();
  #windowFrom = 0;

  constructor(options: RateOptions) {
    this.#options = options;
  }

  /** Counts a connection, also one that is refused. False when it is one too many. */
  take(address: string, now: number): boolean {
    const { connections, perMs } = this.#options;
    if (now - this.#windowFrom >= perMs) {
      this.#counts.clear();
      this.#windowFrom = now;
    }
    const key = ipNetwork(address);
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > 1 || this.#counts.size < MAX_CLIENTS) this.#counts.set(key, count);
    return count <= connections;
  }
}
