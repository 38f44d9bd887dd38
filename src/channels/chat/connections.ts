import type { IncomingMessage } from 'node:http';
import { MAX_UNREAD_BYTES } from './engine.ts';
import type { Peer } from './handshake.ts';
import type { ChatSocket } from './session.ts';

type Connection = ChatSocket['conn'];

/** An open transport connection. */
interface OpenConnection {
  readonly peer: Peer;
  readonly conduct: Conduct;
  /** Whether it has a socket; several in one connection would exceed the limit of sockets. */
  isTaken: boolean;
  failedHandshakes: number;
  /** The key under which its visitor is delayed; undefined until the handshake. */
  visitor: string | undefined;
}

/** The open transport connections, also counted by network. */
export class Connections {
  readonly #byNetwork = new Map<string, number>();
  readonly #open = new Map<Connection, OpenConnection>();

  open(connection: Connection, request: IncomingMessage, network: string): void {
    const ordinal = this.countOf(network) + 1;
    this.#byNetwork.set(network, ordinal);
    this.#open.set(connection, {
      peer: { origin: request.headers.origin, network, ordinal },
      conduct: new Conduct(),
      ...{ isTaken: false, failedHandshakes: 0, visitor: undefined },
    });
  }

  close(connection: Connection): void {
    const network = this.#open.get(connection)?.peer.network;
    if (network === undefined) return;
    this.#open.delete(connection);
    const left = this.countOf(network) - 1;
    if (left > 0) this.#byNetwork.set(network, left);
    else this.#byNetwork.delete(network);
  }

  countOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  get(connection: Connection): OpenConnection | undefined {
    return this.#open.get(connection);
  }

  all(): Iterable<[Connection, OpenConnection]> {
    return this.#open;
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
