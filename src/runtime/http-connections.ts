import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ConnectionLimitOptions,
  ConnectionLimits,
  DataPace,
  type DataPaceOptions,
} from './connection-limits.ts';
import { ipNetwork, type Networks } from './ip-addresses.ts';

/** Why a connection was refused or cut off. */
export type CutOff =
  | 'too_many_connections'
  | 'displaced'
  | 'slow_headers'
  | 'slow_body'
  | 'unread_answer';

/** Times in milliseconds. */
export interface HttpBounds extends ConnectionLimitOptions {
  /** From the first byte of a request to the end of its headers; also for a client's first byte. */
  readonly headersMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** A body may take long as long as it moves. */
  readonly bodyPace: DataPaceOptions;
  /** For the rest of a body whose answer has gone out already. */
  readonly drainMs: number;
  /** A client that reads nothing of its answer for so long is cut off. */
  readonly unreadMs: number;
  /** A connection without progress for so long is closed when another client needs one. */
  readonly displaceAfterMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Since when there is no request; undefined while there is one. */
  quietSince: number | undefined;
  exchange?: Exchange;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pace: DataPace;
  /** Of the connection, when the body began. */
  readonly bytesBefore: number;
  /** The answer to a request before this one is still on its way (pipelining, RFC 9112 §9.3.2). */
  readonly isBehindAnother: boolean;
  answeredAt?: number;
  /** Bytes of the connection that the client's side has taken, and since when no more. */
  taken: number;
  takenAt: number;
}

/**
 * Admits connections and ends those that make no progress. It watches the connection, not the
 * routes: a body that no route reads is bounded too.
 *
 * Each state has a time limit of its own: no request yet, or none after the last (`headersMs`,
 * `keepAliveMs`); a body on its way (`bodyPace`); a body whose answer has gone out (`drainMs`); an
 * answer on its way (`unreadMs`, only while the client does not read: event streams and long polls
 * may be silent). What was upgraded to a WebSocket leaves this class: whoever
 * took it over bounds it.
 */
export class HttpConnections {
  readonly #bounds: HttpBounds;
  readonly #trusted: Networks;
  readonly #limits: ConnectionLimits;
  readonly #live = new Map<Socket, Connection>();
  readonly #cutOff: (socket: Socket, why: CutOff, mayAnswer: boolean) => void;

  /**
   * @param trusted reverse proxies
   * @param cutOff ends a connection; `mayAnswer` when nothing of an answer has gone out
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

  /** False when the client may not have this connection. It counts until it closes. */
  admit(socket: Socket, now: number): boolean {
    const address = socket.remoteAddress ?? '';
    if (!this.#makesRoom(address, now)) return false;
    this.#live.set(socket, { socket, address, quietSince: now });
    socket.once('close', () => this.forget(socket));
    return true;
  }

  /** It has closed, or does not speak HTTP any more. False when it was forgotten before. */
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
    connection.quietSince = undefined;
    connection.exchange = {
      ...{ request, response },
      pace: new DataPace(this.#bounds.bodyPace, now),
      bytesBefore: request.socket.bytesRead,
      isBehindAnother: before !== undefined && !isDone(before.response),
      taken: 0,
      takenAt: now,
    };
  }

  /** Nothing of an answer to the current request has gone out. */
  mayAnswer(socket: Socket): boolean {
    const exchange = this.#live.get(socket)?.exchange;
    if (exchange === undefined || isOver(exchange)) return true;
    return !exchange.isBehindAnother && !exchange.response.headersSent;
  }

  /** Ends the connections that make no progress. */
  look(now: number): void {
    for (const connection of this.#live.values()) {
      const why = this.#whyCutOff(connection, now);
      if (why !== undefined) this.#end(connection, why);
    }
  }

  /** A connection without progress makes room for a new one; for a client at its own limit, one of its own. */
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
      connection.quietSince ??= now;
      // Node looks after headers that trickle; line breaks between requests are none.
      const allowed = headersMs + (exchange === undefined ? 0 : keepAliveMs);
      return now - connection.quietSince > allowed ? 'slow_headers' : undefined;
    }
    if (!exchange.request.complete) {
      if (isDone(exchange.response)) {
        exchange.answeredAt ??= now;
        return now - exchange.answeredAt > drainMs ? 'slow_body' : undefined;
      }
      const bytes = socket.bytesRead - exchange.bytesBefore;
      return exchange.pace.isTooSlow(now, bytes, waitsForUs(exchange)) ? 'slow_body' : undefined;
    }
    const { queued, taken } = outputOf(socket);
    if (queued === 0 || taken !== exchange.taken) {
      exchange.taken = taken;
      exchange.takenAt = now;
    }
    return now - exchange.takenAt > unreadMs ? 'unread_answer' : undefined;
  }
}

/** For how long a connection has been of no use to its client. */
function stalledMs({ socket, exchange, quietSince }: Connection, now: number): number {
  if (quietSince !== undefined) return now - quietSince;
  if (exchange === undefined || isOver(exchange)) return 0;
  if (exchange.request.complete) return outputOf(socket).queued > 0 ? now - exchange.takenAt : 0;
  if (isDone(exchange.response)) return now - (exchange.answeredAt ?? now);
  if (waitsForUs(exchange)) return 0;
  return exchange.pace.stalledMs(now, socket.bytesRead - exchange.bytesBefore);
}

const isDone = (response: ServerResponse): boolean =>
  response.writableFinished || response.destroyed;
const isOver = ({ request, response }: Exchange): boolean => request.complete && isDone(response);
/** Bytes of its body wait to be read by us. */
const waitsForUs = ({ request }: Exchange): boolean => request.readableLength > 0;

/** The part of a socket's handle that is declared nowhere: what the kernel has not taken yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

function outputOf(socket: Socket): { queued: number; taken: number } {
  // `socket.writableLength` moves by whole chunks: a large one would seem to stand still.
  const handle = Reflect.get(socket, '_handle') as Handle | null | undefined;
  const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {};
  return { queued: writeQueueSize, taken: bytesWritten - writeQueueSize };
}
