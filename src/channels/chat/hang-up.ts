import { setTimeout as delay } from 'node:timers/promises';
import type { Server, Socket } from 'socket.io';

/** The parts of engine.io that are needed, and declared nowhere or protected. */
interface Engine {
  readonly clients: Readonly<Record<string, Socket['conn']>>;
}
interface Transport {
  readonly socket?: { readonly readyState: number; terminate?(): void };
}

/** Of a WebSocket: `readyState` of the WebSockets standard. */
const CLOSED = 3;
const LOOK_EVERY_MS = 20;

/**
 * Closes every connection of an engine in order, and after `graceMs` those whose clients have not
 * answered: one phone that is out of reach would hold up a stop for the 30 s that `ws` waits for
 * its closing frame.
 */
export async function hangUp(engine: Server['engine'], graceMs: number): Promise<void> {
  // The versions are pinned, and a test stops with a client that says nothing.
  const connections = Object.values((engine as unknown as Engine).clients);
  const sockets = connections.flatMap((each) => (each.transport as Transport).socket ?? []);
  for (const connection of connections) connection.close(isBetweenPolls(connection));
  const deadline = performance.now() + graceMs;
  while (sockets.some(isOpen) && performance.now() < deadline) await delay(LOOK_EVERY_MS);
  for (const socket of sockets.filter(isOpen)) socket.terminate?.();
  engine.close();
}

/** engine.io would keep such a connection for 30 s, in case that its client asks once more. */
const isBetweenPolls = ({ transport }: Socket['conn']): boolean =>
  transport.name === 'polling' && !transport.writable;

const isOpen = ({ readyState }: { readonly readyState: number }): boolean => readyState !== CLOSED;
