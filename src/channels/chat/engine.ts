import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Socket } from 'socket.io';

type EngineSocket = Socket['conn'];

/** The parts of engine.io and `ws` that are needed, and declared nowhere or private. */
interface Connection {
  readonly writeBuffer: readonly { readonly data?: unknown }[];
  readonly transport: {
    readonly writable: boolean;
    /** Of a WebSocket: what neither the kernel nor the client has taken (WebSockets §4.4). */
    readonly socket?: { readonly bufferedAmount: number; terminate?(): void } | null;
  };
}

/** A replay, or an answer to `history`, goes on once so much has been read. */
export const STEP_BYTES = 256 * 1024;
/** More than that is kept for nobody who does not read. */
export const MAX_UNREAD_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = { first: 10, most: 500 };

// The versions are pinned, and tests of the memory and of the steps fail without these members.
const inside = (connection: EngineSocket): Connection => connection as unknown as Connection;

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
