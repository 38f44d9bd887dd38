import type { IncomingMessage } from 'node:http';
import { MAX_UNREAD_BYTES } from './engine.ts';
import type { Peer } from './handshake.ts';

/** Transport connections by network, for their whole lifetime. */
export class Connections {
  readonly #byNetwork = new Map<string, number>();
  // Weak, so that the entry of a closed connection is collected with it.
  readonly #peers = new WeakMap<object, Peer>();
  readonly #failures = new WeakMap<object, number>();
  readonly #conducts = new WeakMap<object, Conduct>();
  readonly #taken = new WeakSet<object>();

  open(connection: object, request: IncomingMessage, network: string): void {
    const ordinal = this.countOf(network) + 1;
    this.#byNetwork.set(network, ordinal);
    this.#conducts.set(connection, new Conduct());
    this.#peers.set(connection, { origin: request.headers.origin, network, ordinal });
  }

  close(connection: object): void {
    const peer = this.#peers.get(connection);
    if (peer === undefined || !this.#peers.delete(connection)) return;
    const left = this.countOf(peer.network) - 1;
    if (left > 0) this.#byNetwork.set(peer.network, left);
    else this.#byNetwork.delete(peer.network);
  }

  countOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  /** The conduct of an open connection. */
  conductOf(connection: object): Conduct | undefined {
    return this.#conducts.get(connection);
  }

  peerOf(connection: object): Peer | undefined {
    return this.#peers.get(connection);
  }

  /**
   * Reserves a connection for one socket. Several sockets in one connection would exceed the limit
   * of sockets.
   * @returns whether it was free
   */
  take(connection: object): boolean {
    if (this.#taken.has(connection)) return false;
    this.#taken.add(connection);
    return true;
  }

  /** The connection's socket was refused or closed. */
  free(connection: object): void {
    this.#taken.delete(connection);
  }

  /** The number of failed handshakes on this connection, including this one. */
  failed(connection: object): number {
    const failures = (this.#failures.get(connection) ?? 0) + 1;
    this.#failures.set(connection, failures);
    return failures;
  }
}

const WINDOW_MS = 10_000;
/** A connection with this many refusals within the window is cut off. */
const MAX_REFUSALS = 50;
const UNREAD_MS = 10_000;

/** The behaviour of one connection. Each method returns whether to cut it off. */
export class Conduct {
  #windowEndsAt = 0;
  #refusals = 0;
  #packets = 0;
  #unreadSince: number | undefined;

  /** Counts a refused event. */
  refused(now: number): boolean {
    this.#begin(now);
    this.#refusals += 1;
    return this.#refusals > MAX_REFUSALS;
  }

  /** @param most the number of packets of any kind that a connection may send in ten seconds */
  sent(now: number, most: number): boolean {
    this.#begin(now);
    this.#packets += 1;
    return this.#packets > most;
  }

  /** @param bytes unread by the client; call this at least about once per second */
  leftUnread(bytes: number, now: number): boolean {
    if (bytes <= MAX_UNREAD_BYTES) {
      this.#unreadSince = undefined;
      return false;
    }
    this.#unreadSince ??= now;
    return now - this.#unreadSince >= UNREAD_MS;
  }

  #begin(now: number): void {
    if (now < this.#windowEndsAt) return;
    this.#windowEndsAt = now + WINDOW_MS;
    this.#refusals = 0;
    this.#packets = 0;
  }
}

/** The first delay; each further one is twice as long, up to the maximum. */
const FIRST_WAIT_MS = 5_000;
const MOST_WAIT_MS = 5 * 60_000;
/** After this long without another violation, the next delay is the first one again. */
const RESET_AFTER_MS = 10 * 60_000;
/** The number of attempts within one delay that are answered with its remaining time. */
const MAX_ATTEMPTS = 20;
const MAX_KEPT = 10_000;

interface Wait {
  readonly times: number;
  readonly until: number;
  attempts: number;
}

/** The addresses and visitors that were cut off, and until when they are refused. */
export class ReconnectDelays {
  readonly #waits = new Map<string, Wait>();

  /** Further connections that are cut off within a delay count as the same violation. */
  cutOff(key: string, now: number): void {
    const before = this.#waits.get(key);
    if (before !== undefined && now < before.until) return;
    const isForgotten = before === undefined || now - before.until > RESET_AFTER_MS;
    const times = isForgotten ? 1 : before.times + 1;
    const until = now + Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(times - 1, 10));
    this.#waits.delete(key);
    this.#waits.set(key, { times, until, attempts: 0 });
    const [oldest] = this.#waits.keys();
    if (this.#waits.size > MAX_KEPT && oldest !== undefined) this.#waits.delete(oldest);
  }

  /** In seconds; undefined if there is no delay. */
  retryAfter(key: string, now: number): number | undefined {
    const wait = this.#waits.get(key);
    return wait === undefined || now >= wait.until
      ? undefined
      : Math.ceil((wait.until - now) / 1000);
  }

  /** Counts an attempt to connect. @returns whether there were too many within one wait */
  hasTooManyAttempts(key: string, now: number): boolean {
    const wait = this.#waits.get(key);
    if (wait === undefined || now >= wait.until) return false;
    wait.attempts += 1;
    return wait.attempts > MAX_ATTEMPTS;
  }
}
