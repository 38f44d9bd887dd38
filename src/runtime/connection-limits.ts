import { ipNetwork, type Networks } from './ip-addresses.ts';

export interface ConnectionLimitOptions {
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  /** Unlimited if absent. */
  readonly connectionRate?: RateOptions;
}

/**
 * `refused`: the client, or the group of trusted clients, is at its limit. `full`: the client is
 * below its own limit, but no connection is left.
 */
export type Admission = 'admitted' | 'refused' | 'full';

/** The share of the remaining connections that one client may have. */
const CLIENT_SHARE = 0.1;
/**
 * The share of all connections that trusted clients leave to others. A tenth of a quarter is still
 * more than the 20 that one client may have by default.
 */
const RESERVED_SHARE = 0.25;

interface Held {
  readonly open: number;
  /**
   * How many of them were admitted as trusted; the set of trusted clients can change while they are
   * open.
   */
  readonly trusted: number;
}
const NONE: Held = { open: 0, trusted: 0 };

/**
 * Counts open connections, in total and per client, and the rate at which a client connects.
 * Trusted clients (mail relays, reverse proxies) carry the connections of many others, so they have
 * no limit of their own, except that a quarter of all connections is reserved for others.
 *
 * While fewer than half of all connections are open, a client may have `maxConnectionsPerIp`. After
 * that it may have at most a tenth of what is left, or one connection. A few clients cannot take
 * everything, and the last connections go to addresses that have none.
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

  /**
   * An admitted connection counts until it is released. `now` is in milliseconds and must be
   * monotonic.
   */
  admit(address: string, now: number): Admission {
    if (this.#trusted.has(address)) {
      const { maxConnections } = this.#options;
      const reserve = Math.floor(maxConnections * RESERVED_SHARE);
      if (reserve > 0 && this.#openTrusted >= maxConnections - reserve) return 'refused';
    } else {
      if (this.#rate?.take(address, now) === false) return 'refused';
      if (this.#held(address).open >= this.#share()) return 'refused';
    }
    return this.admitWhenRoom(address);
  }

  /** For a client whose own limits have already been checked. */
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
    return Math.min(maxConnectionsPerIp, Math.max(1, Math.ceil(left * CLIENT_SHARE)));
  }
}

/** The number of clients tracked per window; further clients are not rate-limited. */
const MAX_CLIENTS = 65_536;

export interface RateOptions {
  readonly connections: number;
  readonly perMs: number;
}

/**
 * Counts the connections of each client in the current window. All clients share one window, which
 * needs a single map and no timer. Around its end, a client can briefly reach twice the rate.
 */
class ConnectionRate {
  readonly #options: RateOptions;
  readonly #counts = new Map<string, number>();
  #windowFrom = 0;

  constructor(options: RateOptions) {
    this.#options = options;
  }

  /** Counts a connection, even a refused one. False if it exceeds the rate. */
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
  /**
   * RFC 5321 §4.5.3.2.5 gives a client minutes; the minimum rate keeps a slow one from taking
   * hours.
   */
  readonly minBytesPerSecond: number;
  /** The period over which the rate is measured. */
  readonly windowMs: number;
  /** The limit for the whole message, at any rate. */
  readonly totalMs: number;
}

/** Distinguishes a slow client from one that has to wait for us. */
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

  /** Milliseconds since the start of a message that has been too slow so far; otherwise 0. */
  stalledMs(now: number, bytes: number): number {
    const elapsed = now - this.#startedAt;
    return bytes < (this.#options.minBytesPerSecond * elapsed) / 1000 ? elapsed : 0;
  }

  /** `isReadingPaused`: reading is paused because the received data has not been written yet. */
  isTooSlow(now: number, bytes: number, isReadingPaused: boolean): boolean {
    const { minBytesPerSecond, windowMs, totalMs } = this.#options;
    if (now - this.#startedAt > totalMs) return true;
    const elapsed = now - this.#windowFrom;
    if (elapsed < windowMs) return false;
    const received = bytes - this.#windowBytes;
    this.#windowFrom = now;
    this.#windowBytes = bytes;
    return !isReadingPaused && received < (minBytesPerSecond * elapsed) / 1000;
  }
}
