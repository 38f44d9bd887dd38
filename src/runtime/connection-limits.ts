import { ipNetwork, type Networks } from './ip-addresses.ts';

export interface ConnectionLimitOptions {
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  /** None when absent. */
  readonly connectionRate?: RateOptions;
}

/**
 * `refused`: the client has, or trusted ones have, as many as they may. `full`: the client may,
 * as far as it is concerned, but no connection is left.
 */
export type Admission = 'admitted' | 'refused' | 'full';

/** What one client may have of the connections that are left. */
const SHARE = 0.1;
/**
 * The part of all connections that trusted clients leave to others. Of a quarter a tenth is still
 * more than the 20 that one client may have by default.
 */
const RESERVE = 0.25;

interface Held {
  readonly open: number;
  /** Of those, as many were admitted as a trusted client's: who is trusted can change meanwhile. */
  readonly trusted: number;
}
const NONE: Held = { open: 0, trusted: 0 };

/**
 * Counts open connections, in all and per client, and how often a client comes. Trusted clients
 * (mail relays, reverse proxies), through which many others come, have no limits of their own, but
 * for a quarter of all connections that they leave to others.
 *
 * While less than half of all connections are taken a client may have `maxConnectionsPerIp`. After
 * that it may not have more than a tenth of what is left, or one: a few clients cannot take
 * everything, and the last connections are for addresses that have none.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  readonly #trusted: Networks;
  readonly #rate: ConnectionRate | undefined;
  readonly #perClient = new Map<string, Held>();
  #open = 0;
  #openTrusted = 0;

  constructor(options: ConnectionLimitOptions, trusted: Networks) {
    this.#options = options;
    this.#trusted = trusted;
    const { connectionRate } = options;
    this.#rate = connectionRate && new ConnectionRate(connectionRate);
  }

  get open(): number {
    return this.#open;
  }

  /** What is admitted counts until it is released. `now` in milliseconds, never going back. */
  admit(address: string, now: number): Admission {
    if (this.#trusted.has(address)) {
      const { maxConnections } = this.#options;
      const reserve = Math.floor(maxConnections * RESERVE);
      if (reserve > 0 && this.#openTrusted >= maxConnections - reserve) return 'refused';
    } else {
      if (this.#rate?.take(address, now) === false) return 'refused';
      if (this.#held(address).open >= this.#share()) return 'refused';
    }
    return this.admitWhenRoom(address);
  }

  /** For a client whose own limits have been looked at. */
  admitWhenRoom(address: string): Admission {
    if (this.#open >= this.#options.maxConnections) return 'full';
    this.#count(address, this.#trusted.has(address) ? 1 : 0, 1);
    return 'admitted';
  }

  release(address: string): void {
    this.#count(address, this.#held(address).trusted > 0 ? -1 : 0, -1);
  }

  #count(address: string, trusted: number, open: number): void {
    const held = this.#held(address);
    const next = { open: held.open + open, trusted: held.trusted + trusted };
    this.#open += open;
    this.#openTrusted += trusted;
    const key = ipNetwork(address);
    if (next.open > 0) this.#perClient.set(key, next);
    else this.#perClient.delete(key);
  }

  #held(address: string): Held {
    return this.#perClient.get(ipNetwork(address)) ?? NONE;
  }

  #share(): number {
    const { maxConnections, maxConnectionsPerIp } = this.#options;
    const left = maxConnections - this.#open;
    if (left > maxConnections / 2) return maxConnectionsPerIp;
    return Math.min(maxConnectionsPerIp, Math.max(1, Math.ceil(left * SHARE)));
  }
}

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
class ConnectionRate {
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
