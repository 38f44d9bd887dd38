import { io, type Socket } from 'socket.io-client';
import { CHAT_PATH } from '../../src/channels/chat/events.ts';
import { waitUntil } from '../support/wait-until.ts';

const AT_ONCE = 50;
const CLOSED_WITHIN_MS = 60_000;

/** Chat clients that connect and then stay silent. */
export function start() {
  let clients: Socket[] = [];
  return Promise.resolve({
    /** @param greeting whether the server sends a `session` event, which is awaited */
    open: async (port: number, count: number, key: string, greeting: boolean): Promise<void> => {
      for (let left = count; left > 0; left -= AT_ONCE) {
        const burst = Array.from({ length: Math.min(left, AT_ONCE) }, () =>
          connect(port, key, greeting),
        );
        clients.push(...(await Promise.all(burst)));
      }
    },
    connected: () => clients.filter(({ connected }) => connected).length,
    close: async (): Promise<void> => {
      for (const client of clients) client.disconnect();
      await waitUntil('the clients to be gone', CLOSED_WITHIN_MS, () =>
        clients.every(({ connected }) => !connected) ? true : undefined,
      );
      clients = [];
    },
  });
}

function connect(port: number, key: string, greeting: boolean): Promise<Socket> {
  const client = io(`http://127.0.0.1:${port}`, {
    ...{ path: CHAT_PATH, auth: { key }, transports: ['websocket'] },
    ...{ reconnection: false, forceNew: true },
  });
  return new Promise((resolve, reject) => {
    client.once(greeting ? 'session' : 'connect', () => resolve(client));
    client.once('connect_error', reject);
  });
}
