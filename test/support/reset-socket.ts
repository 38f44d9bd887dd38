import type { Socket } from 'node:net';

/**
 * Cuts a connection with RST. libuv refuses to reset what is shutting down, and Node would keep
 * the handle for good, also at the end of the process; such a connection is closed instead.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
