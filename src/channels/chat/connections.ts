import { setLatest } from '../../runtime/keep-latest.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { VisitorRecord } from '../../spool/chat-store.ts';
import type { VisitorId } from '../../domain/ids.ts';
import { MAX_UNREAD_BYTES } from './engine.ts';
import type { HandshakeCode } from './events.ts';
import type { ChatLimits, Limited } from './limits.ts';
import {
  type Recognition,
  type TokenBearer,
  verifyIdentity,
  type VisitorTokens,
} from './recognition.ts';
import { type ChatShop, Origins } from './shop.ts';

/** Which clients may connect and stay connected: their handshake, their number and their conduct. */

/** By then, the first tab has its new token. */
const RETRY_SUPERSEDED_SECONDS = 1;
/** Until another socket of the network is closed. */
const RETRY_SOCKETS_SECONDS = 30;

/** The origin of a connection. */
export interface Peer {
  readonly origin: string | undefined;
  readonly network: string;
  /** How many connections of this network were open, including this one. */
  readonly ordinal: number;
}

/** A handshake that succeeded. */
export interface Admission {
  readonly shop: ChatShop;
  readonly visitorId: VisitorId;
  readonly record: VisitorRecord | undefined;
  /** The last line of this visitor that the client has. */
  readonly lastSeq: number;
  readonly network: string;
}

/** Sent as `connect_error`; socket.io includes `data`. */
export class HandshakeRefused extends Error {
  override name = 'HandshakeRefused';
  readonly data: { readonly code: HandshakeCode; readonly retryAfter?: number };
  constructor(code: HandshakeCode, limited?: Limited) {
    super(code);
    this.data = { code, ...limited };
  }
}

/** An unusable token or number counts as absent; mistakes in the other two are reported. */
const authSchema = z.object({
  key: z.string().max(256),
  token: z.string().optional().catch(undefined),
  identity: z.unknown().optional(),
  lastSeq: z.int().nonnegative().optional().catch(undefined),
});

export interface HandshakeParts {
  readonly shops: ReadonlyMap<string, ChatShop>;
  readonly tokens: VisitorTokens;
  readonly recognition: Recognition;
  readonly clock: Clock;
  readonly limits: (shop: ChatShop) => ChatLimits;
}

/** Decides which visitor a connecting client is. */
export class Handshake {
  readonly #parts: HandshakeParts;

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
  }

  /** @throws {HandshakeRefused} and the errors of the store */
  async admit(rawAuth: unknown, peer: Peer): Promise<Admission> {
    const { shops, recognition, limits } = this.#parts;
    const auth = authSchema.safeParse(rawAuth).data;
    const shop = auth && shops.get(auth.key);
    if (auth === undefined || shop === undefined) throw new HandshakeRefused('unknown_key');
    if (!Origins.admits(shop, peer.origin)) throw new HandshakeRefused('origin');
    if (peer.ordinal > shop.limits.socketsPerIp) {
      throw new HandshakeRefused('rate_limited', { retryAfter: RETRY_SOCKETS_SECONDS });
    }
    const limited = await limits(shop).handshake(peer.network);
    if (limited !== undefined) throw new HandshakeRefused('rate_limited', limited);

    const bearer = this.#bearerOf(shop, auth.token);
    const recognised =
      auth.identity === undefined || auth.identity === null
        ? await recognition.byToken(shop, bearer)
        : await this.#byIdentity(shop, auth.identity, bearer);
    if (recognised === 'superseded') {
      throw new HandshakeRefused('busy', { retryAfter: RETRY_SUPERSEDED_SECONDS });
    }
    const { visitorId, record } = recognised;
    const known = bearer?.visitorId === visitorId ? (auth.lastSeq ?? 0) : 0;
    // A number from another record, or from before a restored backup, is meaningless here.
    const lastSeq = known <= (record?.lastSeq ?? 0) ? known : 0;
    return { shop, visitorId, record, lastSeq, network: peer.network };
  }

  /** A token of another widget counts as absent. */
  #bearerOf(shop: ChatShop, token: string | undefined): TokenBearer | undefined {
    const bearer = token === undefined ? undefined : this.#parts.tokens.verify(token);
    return bearer?.widgetKey === shop.key ? bearer : undefined;
  }

  async #byIdentity(shop: ChatShop, jwt: unknown, bearer: TokenBearer | undefined) {
    const { recognition } = this.#parts;
    const verified =
      typeof jwt === 'string'
        ? await verifyIdentity(jwt, {
            secrets: shop.identitySecrets,
            audience: shop.key,
            now: this.#parts.clock(),
          })
        : undefined;
    const recognised =
      verified &&
      (verified.hasExpired
        ? await recognition.byExpired(shop, verified.identity, bearer)
        : await recognition.byIdentity(shop, verified.identity, bearer));
    if (recognised === undefined) throw new HandshakeRefused('bad_identity');
    return recognised;
  }
}

type Connection = Socket['conn'];

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
    setLatest(this.#waits, key, { times, until, attempts: 0 }, MAX_KEPT);
  }

  /** In seconds; undefined if there is no delay. */
  retryAfter(key: string, now: number): number | undefined {
    const wait = this.#waits.get(key);
    return wait === undefined || now >= wait.until
      ? undefined
      : Math.ceil((wait.until - now) / 1000);
  }

  /** Counts an attempt to connect. @returns whether there were too many within the current delay */
  hasTooManyAttempts(key: string, now: number): boolean {
    const wait = this.#waits.get(key);
    if (wait === undefined || now >= wait.until) return false;
    wait.attempts += 1;
    return wait.attempts > MAX_ATTEMPTS;
  }
}

/** Counts operations in progress, so that a stop can wait for them and refuse new ones. */
export class InFlight {
  #count = 0;
  #closed = false;
  #onEmpty: (() => void) | undefined;

  get closed(): boolean {
    return this.#closed;
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onEmpty?.();
  }

  /** Refuses new operations; resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }
}
