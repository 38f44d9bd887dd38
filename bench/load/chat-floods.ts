import { setImmediate as nextTurn } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import { CHAT_PATH } from '../../src/channels/chat/events.ts';

/** The events that sockets send: an unknown one, an invalid one, and one over its rate. */
const EVENTS: readonly (readonly [event: string, payload: unknown])[] = [
  ['shutdown', { now: true }],
  ['message', {}],
  ['history', { limit: 100 }],
];
const AT_ONCE = 50;

/** Sockets that send refused events at full speed and reconnect whenever they are closed. */
export function start({ port, key, sockets }: { port: number; key: string; sockets: number }) {
  const counts = { events: 0, connected: 0, refused: 0 };
  let isOver = false;
  const attackers = Array.from({ length: sockets }, (_, nth) => {
    const socket = io(`http://127.0.0.1:${port}`, {
      ...{ path: CHAT_PATH, auth: { key }, transports: ['websocket'], forceNew: true },
      ...{ reconnection: false },
    });
    const again = (): void => void setImmediate(() => isOver || socket.connect());
    socket.on('connect', () => {
      counts.connected += 1;
      void shout(socket, nth, counts);
    });
    socket.on('connect_error', () => {
      counts.refused += 1;
      again();
    });
    socket.on('disconnect', again);
    return socket;
  });
  return Promise.resolve({
    counts: () => ({ ...counts }),
    close: () => {
      isOver = true;
      for (const socket of attackers) socket.disconnect();
    },
  });
}

async function shout(socket: Socket, nth: number, counts: { events: number }): Promise<void> {
  const [event, payload] = EVENTS[nth % EVENTS.length] ?? ['x', {}];
  while (socket.connected) {
    for (let count = 0; count < AT_ONCE; count += 1) socket.emit(event, payload);
    counts.events += AT_ONCE;
    await nextTurn();
  }
}
