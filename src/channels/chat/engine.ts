import type { Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Server, Socket } from 'socket.io';
import { CHAT_PATH } from './events.ts';

/**
 * All use of members of engine.io and `ws` that they do not declare. Their versions are pinned, and
 * the tests of memory, replay steps and stopping fail if these members change.
 */

type EngineSocket = Socket['conn'];

/** The members of a connection that are needed but undeclared or private. */
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
  /** Bytes that neither the kernel nor the client has accepted (WebSockets §4.4). */
  readonly bufferedAmount: number;
  readonly _socket?: Duplex | null;
  terminate?(): void;
}

const inside = (connection: EngineSocket): Connection => connection as unknown as Connection;

/**
 * Attaches socket.io to `/chat/` only. By default, engine.io handles every path with this prefix,
 * including `/chat/uploads`.
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

/** A replay, or a response to `history`, continues when this much has been read. */
export const STEP_BYTES = 256 * 1024;
/** The maximum that is buffered for a client that does not read. */
export const MAX_UNREAD_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = { first: 10, most: 500 };

/** Bytes sent to a client that have not left this process. */
export function unreadBytes(connection: EngineSocket): number {
  const { writeBuffer, transport } = inside(connection);
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) {
    if (typeof data === 'string') bytes += Buffer.byteLength(data);
  }
  return bytes;
}

/**
 * Resolves when the client has received everything or is gone. It polls, because engine.io's
 * `drain` only means that the packets were passed on.
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
 * Ends a connection immediately and discards its buffer. An orderly close would keep reading and
 * buffering for as long as the client wants (30 s for a WebSocket).
 */
export function cutOff(connection: EngineSocket): void {
  const { socket } = inside(connection).transport;
  connection.close(true);
  socket?.terminate?.();
}

/** `readyState` of a WebSocket, as in the WebSockets standard. */
const CLOSED = 3;
const LOOK_EVERY_MS = 20;

/**
 * Closes all connections of an engine in order, and after `graceMs` those whose clients have not
 * responded. Otherwise a single unreachable phone would delay a stop by the 30 s that `ws` waits
 * for the closing frame.
 */
export async function closeConnections(engine: Server['engine'], graceMs: number): Promise<void> {
  const connections = connectionsOf(engine);
  const sockets = connections.flatMap((each) => inside(each).transport.socket ?? []);
  for (const connection of connections) connection.close(isBetweenPolls(connection));
  const deadline = performance.now() + graceMs;
  while (sockets.some(isOpen) && performance.now() < deadline) await delay(LOOK_EVERY_MS);
  for (const socket of sockets.filter(isOpen)) socket.terminate?.();
  engine.close();
}

/**
 * Closes the connections that are open now, at equal intervals until `overMs` have passed: clients that are
 * disconnected together reconnect together.
 */
export async function closeOneByOne(engine: Server['engine'], overMs: number): Promise<void> {
  const connections = connectionsOf(engine);
  const startedAt = performance.now();
  let closed = 0;
  for (let share = 0; share < 1;) {
    await delay(LOOK_EVERY_MS);
    share = (performance.now() - startedAt) / overMs;
    const due = Math.min(connections.length, Math.ceil(connections.length * share));
    for (; closed < due; closed += 1) {
      const connection = connections[closed];
      connection?.close(isBetweenPolls(connection));
    }
  }
}

function connectionsOf(engine: Server['engine']): readonly EngineSocket[] {
  // A test covers a client that never responds.
  return Object.values(
    (engine as unknown as { readonly clients: Readonly<Record<string, EngineSocket>> }).clients,
  );
}

/** engine.io would keep such a connection for 30 s, in case the client polls again. */
function isBetweenPolls(connection: EngineSocket): boolean {
  const { transport } = inside(connection);
  return transport.name === 'polling' && !transport.writable;
}

const isOpen = ({ readyState }: { readonly readyState: number }): boolean => readyState !== CLOSED;

/**
 * Writes several packets to one connection in one system call: the acknowledgement and the sender's
 * own line together cost as much as one of them (without it, the whole path takes a third longer,
 * as measured). engine.io would wait for the first packet to be written before it sends the second.
 *
 * engine.io sends its buffer when its transport is writable; here the transport is held while
 * `write` runs, which must be synchronous. A test fails if the library's internals change.
 * Connections of another type (long polling) are not affected.
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
