import { randomUUID } from 'node:crypto';
import { io, type Socket } from 'socket.io-client';
import {
  CHAT_PATH,
  type ClientToServerEvents,
  type ServerToClientEvents,
} from '../../src/channels/chat/events.ts';
import { SHOP } from '../support/shop.ts';
import { percentile } from '../support/statistics.ts';

export interface ChatRun {
  readonly seconds: number;
  readonly p99Ms: number;
  /** Processor time that this process used during the run. */
  readonly cpuSeconds: number;
}

type Client = Socket<ServerToClientEvents, ClientToServerEvents>;

/** Chat visitors with one message in flight each. */
export function start() {
  let clients: Client[] = [];
  const connect = async (port: number, count: number): Promise<void> => {
    // In small groups: a burst of handshakes is not what this measures.
    while (clients.length < count) {
      const burst = Math.min(10, count - clients.length);
      clients.push(...(await Promise.all(Array.from({ length: burst }, () => open(port)))));
    }
  };
  const converseAll = async (messagesEach: number): Promise<ChatRun> => {
    const latencies: number[] = [];
    const started = performance.now();
    const before = process.cpuUsage();
    await Promise.all(clients.map((client) => converse(client, messagesEach, latencies)));
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(before);
    for (const client of clients) client.disconnect();
    clients = [];
    return { seconds, p99Ms: percentile(latencies, 0.99), cpuSeconds: (user + system) / 1e6 };
  };
  return Promise.resolve({
    /** @throws when a connection is refused */
    connect,
    /** Each connected client sends this many messages and disconnects. */
    converse: converseAll,
    run: async (port: number, count: number, messagesEach: number): Promise<ChatRun> => {
      await connect(port, count);
      return converseAll(messagesEach);
    },
  });
}

function open(port: number): Promise<Client> {
  const client: Client = io(`http://127.0.0.1:${port}`, {
    path: CHAT_PATH,
    auth: { key: SHOP.chatKey },
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
  });
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve(client));
    client.once('connect_error', reject);
  });
}

async function converse(client: Client, messages: number, latencies: number[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let left = messages;
    const say = (): void => {
      if (left === 0) {
        resolve();
        return;
      }
      left -= 1;
      const sentAt = performance.now();
      const text = `Where is my order ${left}? It should have come on Monday.`;
      client.emit('message', { id: randomUUID(), text }, (answer) => {
        latencies.push(performance.now() - sentAt);
        if (answer.ok) say();
        else reject(new Error(`a chat message was refused: ${answer.error}`));
      });
    };
    client.once('disconnect', (reason) => reject(new Error(`disconnected: ${reason}`)));
    say();
  });
  client.off('disconnect');
}
