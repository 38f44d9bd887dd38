import type { Duplex } from 'node:stream';
import type { Socket } from 'socket.io';

/** The parts of a WebSocket connection that are needed, and declared nowhere. */
interface Connection {
  readonly transport: { readonly name: string; writable: boolean; readonly socket?: WebSocket };
  flush(): void;
}
interface WebSocket {
  readonly _socket?: Duplex | null;
}

/**
 * Runs what writes several packets to one connection so that they leave in one system call: the
 * acknowledgement and the sender's own line cost as much as one of them (measured: a third of the
 * whole path without it). engine.io would wait for the first to be written before the second.
 *
 * engine.io sends what it has buffered as soon as its transport is writable; here it is held for
 * the time of `write`, which must be synchronous. A test fails when the library changes its shape;
 * a connection of another shape (long polling) is left alone.
 */
export function joined(conn: Socket['conn'], write: () => void): void {
  // Declared private by engine.io; the versions are pinned.
  const connection = conn as unknown as Connection;
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
