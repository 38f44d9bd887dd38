import { clientKey, type Networks } from './client-address.ts';

export interface ConnectionLimitOptions {
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
}

/** Counts open connections, in all and per client; trusted relays have no limit of their own. */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  readonly #trusted: Networks;
  readonly #perClient = new Map<string, number>();
  #open = 0;

  constructor(options: ConnectionLimitOptions, trusted: Networks) {
    this.#options = options;
    this.#trusted = trusted;
  }

  get open(): number {
    return this.#open;
  }

  /** False when the connection is one too many; else it counts until it is released. */
  admit(address: string): boolean {
    const key = clientKey(address);
    const own = this.#perClient.get(key) ?? 0;
    if (this.#open >= this.#options.maxConnections) return false;
    if (own >= this.#options.maxConnectionsPerIp && !this.#trusted.has(address)) return false;
    this.#open += 1;
    this.#perClient.set(key, own + 1);
    return true;
  }

  release(address: string): void {
    const key = clientKey(address);
    const own = this.#perClient.get(key) ?? 0;
    this.#open -= 1;
    if (own > 1) this.#perClient.set(key, own - 1);
    else this.#perClient.delete(key);
  }
}
