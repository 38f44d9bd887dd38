import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ConnectionLimitOptions,
  ConnectionLimits,
  DataPace,
  type DataPaceOptions,
} from './connection-limits.ts';
import { clientAddress, ipNetwork, type Networks } from './ip-addresses.ts';

/** Why a connection was refused or cut off. */
export type CutOff =
  | 'too_many_connections'
  | 'displaced'
  | 'slow_headers'
  | 'slow_body'
  | 'unread_answer';

/** Times in milliseconds. */
export interface HttpBounds extends ConnectionLimitOptions {
  /**
   * From the first byte of a request to the end of its headers; also the limit for a client's first
   * byte.
   */
  readonly headersMs: number;
  /** The time between two requests. */
  readonly keepAliveMs: number;
  /** The minimum rate of a body. */
  readonly bodyPace: DataPaceOptions;
  /** The time for the rest of a body whose response has already been sent. */
  readonly drainMs: number;
  /** A client that reads nothing of its response for this long is cut off. */
  readonly unreadMs: number;
  /** A connection without progress for this long is closed when another client needs one. */
  readonly displaceAfterMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** When the last request ended; undefined during a request. */
  idleSince: number | undefined;
  exchange?: Exchange;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pace: DataPace;
  /** The connection's byte count when the body began. */
  readonly bytesBefore: number;
  /** The response to an earlier request is still being sent (pipelining, RFC 9112 §9.3.2). */
  readonly isBehindAnother: boolean;
  answeredAt?: number;
  /** Bytes that the client has received, and since when that number has not changed. */
  taken: number;
  takenAt: number;
}

/**
 * Admits connections and ends those that make no progress. It observes the connection rather than
 * the routes, so a body that no route reads is limited too.
 *
 * Each state has its own time limit: before a request (`headersMs`, `keepAliveMs`); while a body
 * arrives (`bodyPace`); while the rest of a body arrives after the response (`drainMs`); while a
 * response is sent (`unreadMs`, only while the client does not read, since event streams and long
 * polls may be idle). A connection that was upgraded to a WebSocket leaves this class; its new
 * owner limits it.
 */
export class HttpConnections {
  readonly #bounds: HttpBounds;
  readonly #trusted: Networks;
  readonly #limits: ConnectionLimits;
  readonly #live = new Map<Socket, Connection>();
  readonly #cutOff: (socket: Socket, why: CutOff, mayAnswer: boolean) => void;

  /**
   * @param trusted reverse proxies
   * @param cutOff ends a connection; `mayAnswer` if no part of a response has been sent
   */
  constructor(
    bounds: HttpBounds,
    trusted: Networks,
    cutOff: (socket: Socket, why: CutOff, mayAnswer: boolean) => void,
  ) {
    this.#bounds = bounds;
    this.#trusted = trusted;
    this.#limits = new ConnectionLimits(bounds, trusted);
    this.#cutOff = cutOff;
  }

  get open(): number {
    return this.#limits.open;
  }

  /**
   * Returns false if the client may not have this connection. An admitted one counts until it
   * closes.
   */
  admit(socket: Socket, now: number): boolean {
    const address = clientAddress(socket.remoteAddress ?? '');
    if (!this.#makesRoom(address, now)) return false;
    this.#live.set(socket, { socket, address, idleSince: now });
    socket.once('close', () => this.forget(socket));
    return true;
  }

  /** The connection was closed or upgraded. Returns false if it was already forgotten. */
  forget(socket: Socket): boolean {
    const connection = this.#live.get(socket);
    if (connection === undefined) return false;
    this.#live.delete(socket);
    this.#limits.release(connection.address);
    return true;
  }

  requestBegan(request: IncomingMessage, response: ServerResponse, now: number): void {
    const connection = this.#live.get(request.socket);
    if (connection === undefined) return;
    const before = connection.exchange;
    connection.idleSince = undefined;
    connection.exchange = {
      ...{ request, response },
      pace: new DataPace(this.#bounds.bodyPace, now),
      bytesBefore: request.socket.bytesRead,
      isBehindAnother: before !== undefined && !isDone(before.response),
      taken: 0,
      takenAt: now,
    };
  }

  /** Whether no part of the response to the current request has been sent. */
  mayAnswer(socket: Socket): boolean {
    const exchange = this.#live.get(socket)?.exchange;
    if (exchange === undefined || isOver(exchange)) return true;
    return !exchange.isBehindAnother && !exchange.response.headersSent;
  }

  /** Ends the connections that make no progress. */
  endStalled(now: number): void {
    for (const connection of this.#live.values()) {
      const why = this.#whyCutOff(connection, now);
      if (why !== undefined) this.#end(connection, why);
    }
  }

  /**
   * Closes a connection without progress to make room for a new one; for a client at its own limit,
   * one of its own.
   */
  #makesRoom(address: string, now: number): boolean {
    let admission = this.#limits.admit(address, now);
    if (admission === 'admitted') return true;
    const network = admission === 'refused' ? ipNetwork(address) : undefined;
    const stalest = this.#stalest(now, network);
    if (stalest !== undefined) {
      this.#end(stalest, 'displaced');
      admission = this.#limits.admitWhenRoom(address);
    }
    return admission === 'admitted';
  }

  #stalest(now: number, network: string | undefined): Connection | undefined {
    let stalest: Connection | undefined;
    let longest = this.#bounds.displaceAfterMs;
    for (const connection of this.#live.values()) {
      const { address } = connection;
      if (network !== undefined && ipNetwork(address) !== network) continue;
      if (this.#trusted.has(address)) continue;
      const stalled = stalledMs(connection, now);
      if (stalled < longest) continue;
      stalest = connection;
      longest = stalled;
    }
    return stalest;
  }

  #end(connection: Connection, why: CutOff): void {
    const mayAnswer = this.mayAnswer(connection.socket);
    this.forget(connection.socket);
    this.#cutOff(connection.socket, why, mayAnswer);
  }

  #whyCutOff(connection: Connection, now: number): CutOff | undefined {
    const { headersMs, keepAliveMs, drainMs, unreadMs } = this.#bounds;
    const { exchange, socket } = connection;
    if (exchange === undefined || isOver(exchange)) {
      connection.idleSince ??= now;
      // Node itself limits headers that arrive slowly, but not line breaks between requests.
      const allowed = headersMs + (exchange === undefined ? 0 : keepAliveMs);
      return now - connection.idleSince > allowed ? 'slow_headers' : undefined;
    }
    if (!exchange.request.complete) {
      if (isDone(exchange.response)) {
        exchange.answeredAt ??= now;
        return now - exchange.answeredAt > drainMs ? 'slow_body' : undefined;
      }
      const bytes = socket.bytesRead - exchange.bytesBefore;
      return exchange.pace.isTooSlow(now, bytes, isReadingPaused(exchange))
        ? 'slow_body'
        : undefined;
    }
    const { queued, taken } = outputOf(socket);
    if (queued === 0 || taken !== exchange.taken) {
      exchange.taken = taken;
      exchange.takenAt = now;
    }
    return now - exchange.takenAt > unreadMs ? 'unread_answer' : undefined;
  }
}

/** How long a connection has made no progress. */
function stalledMs({ socket, exchange, idleSince }: Connection, now: number): number {
  if (idleSince !== undefined) return now - idleSince;
  if (exchange === undefined || isOver(exchange)) return 0;
  if (exchange.request.complete) return outputOf(socket).queued > 0 ? now - exchange.takenAt : 0;
  if (isDone(exchange.response)) return now - (exchange.answeredAt ?? now);
  if (isReadingPaused(exchange)) return 0;
  return exchange.pace.stalledMs(now, socket.bytesRead - exchange.bytesBefore);
}

const isDone = (response: ServerResponse): boolean =>
  response.writableFinished || response.destroyed;
const isOver = ({ request, response }: Exchange): boolean => request.complete && isDone(response);
/** Whether received bytes of the body have not been read by us yet. */
const isReadingPaused = ({ request }: Exchange): boolean => request.readableLength > 0;

/** The undeclared part of a socket's handle: what the kernel has not accepted yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

function outputOf(socket: Socket): { queued: number; taken: number } {
  // `socket.writableLength` changes by whole chunks, so a large one would seem to make no progress.
  const handle = Reflect.get(socket, '_handle') as Handle | null | undefined;
  const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {};
  return { queued: writeQueueSize, taken: bytesWritten - writeQueueSize };
}
