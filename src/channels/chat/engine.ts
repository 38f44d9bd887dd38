import type { Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Server, Socket } from 'socket.io';
import { CHAT_PATH } from './events.ts';

/**
 * All that is done with engine.io and `ws` beyond what they declare. Their versions are pinned, and
 * tests of the memory, of the steps of a replay and of stopping fail when these members change.
 */

type EngineSocket = Socket['conn'];

/** The parts of a connection that are needed, and declared nowhere or private. */
interface Connection {
  readonly writeBuffer: readonly { readonly data?: unknown }[];
  readonly transport: {
    readonly name: string;
    writable: boolean;
    readonly socket?: WebSocket | null;
  };
  flush(): void;
}
interface WebSocket {
  readonly readyState: number;
  /** What neither the kernel nor the client has taken (WebSockets §4.4). */
  readonly bufferedAmount: number;
  readonly _socket?: Duplex | null;
  terminate?(): void;
}

const inside = (connection: EngineSocket): Connection => connection as unknown as Connection;

/**
 * Attaches socket.io so that it takes `/chat/` alone. By itself engine.io takes every path that
 * begins so, and would answer `/chat/uploads` in the application's place.
 */
export function attachBeside(io: Pick<Server, 'attach'>, httpServer: HttpServer): void {
  const others = httpServer.listeners('request');
  io.attach(httpServer);
  const engine = httpServer.listeners('request');
  httpServer.removeAllListeners('request');
  httpServer.on('request', (request, response) => {
    const path = request.url?.split('?', 1)[0];
    for (const listener of path === `${CHAT_PATH}/` ? engine : others) {
      listener.call(httpServer, request, response);
    }
  });
}

/** A replay, or an answer to `history`, goes on once so much has been read. */
export const STEP_BYTES = 256 * 1024;
/** More than that is kept for nobody who does not read. */
export const MAX_UNREAD_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = { first: 10, most: 500 };

/** Bytes that were sent to a client and have not left this process. */
export function unreadBytes(connection: EngineSocket): number {
  const { writeBuffer, transport } = inside(connection);
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) {
    if (typeof data === 'string') bytes += Buffer.byteLength(data);
  }
  return bytes;
}

/**
 * Resolves when the client has taken all that was sent, or has gone. It looks again and again:
 * engine.io's `drain` says that the packets were handed on, not that anybody has taken them.
 */
export async function drained(connection: EngineSocket): Promise<void> {
  let waitMs = 0;
  while (connection.readyState === 'open' && !isDrained(connection)) {
    if (waitMs === 0) await nextTurn();
    else await delay(waitMs, undefined, { ref: false });
    waitMs = waitMs === 0 ? LOOK_AGAIN_MS.first : Math.min(2 * waitMs, LOOK_AGAIN_MS.most);
  }
}

function isDrained(connection: EngineSocket): boolean {
  return inside(connection).transport.writable && unreadBytes(connection) === 0;
}

/**
 * Ends a connection at once, with what it was sent: closing it in order would read on, and keep
 * that, for as long as the client likes (30 s for a WebSocket).
 */
export function cutOff(connection: EngineSocket): void {
  const { socket } = inside(connection).transport;
  connection.close(true);
  socket?.terminate?.();
}

/** Of a WebSocket: `readyState` of the WebSockets standard. */
const CLOSED = 3;
const LOOK_EVERY_MS = 20;

/**
 * Closes every connection of an engine in order, and after `graceMs` those whose clients have not
 * answered: one phone that is out of reach would hold up a stop for the 30 s that `ws` waits for
 * its closing frame.
 */
export async function closeConnections(engine: Server['engine'], graceMs: number): Promise<void> {
  // A test stops with a client that says nothing.
  const connections = Object.values(
    (engine as unknown as { readonly clients: Readonly<Record<string, EngineSocket>> }).clients,
  );
  const sockets = connections.flatMap((each) => inside(each).transport.socket ?? []);
  for (const connection of connections) connection.close(isBetweenPolls(connection));
  const deadline = performance.now() + graceMs;
  while (sockets.some(isOpen) && performance.now() < deadline) await delay(LOOK_EVERY_MS);
  for (const socket of sockets.filter(isOpen)) socket.terminate?.();
  engine.close();
}

/** engine.io would keep such a connection for 30 s, in case its client asks once more. */
function isBetweenPolls(connection: EngineSocket): boolean {
  const { transport } = inside(connection);
  return transport.name === 'polling' && !transport.writable;
}

const isOpen = ({ readyState }: { readonly readyState: number }): boolean => readyState !== CLOSED;

/**
 * Runs what writes several packets to one connection so that they leave in one system call: the
 * acknowledgement and the sender's own line cost as much as one of them (measured: a third of the
 * whole path without it). engine.io would wait for the first to be written before the second.
 *
 * engine.io sends what it has buffered as soon as its transport is writable; here it is held for
 * the time of `write`, which must be synchronous. A test fails when the library changes its shape;
 * a connection of another shape (long polling) is left alone.
 */
export function writeTogether(conn: EngineSocket, write: () => void): void {
  const connection = inside(conn);
  const { transport } = connection;
  const tcp = transport.socket?._socket;
  if (transport.name !== 'websocket' || !transport.writable || !tcp) {
    write();
    return;
  }
  transport.writable = false;
  try {
    write();
  } finally {
    transport.writable = true;
    tcp.cork();
    connection.flush();
    tcp.uncork();
  }
}
