import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { memoryAfterGc } from '../chat/memory-after-gc.ts';
import {
  CHAT_PATH,
  type ClientToServerEvents,
  type ServerToClientEvents,
} from '../../src/channels/chat/events.ts';
import { writeTogether } from '../../src/channels/chat/engine.ts';

export interface BareChatOptions {
  /** Each message is also sent back to its sender as a line, as in the chat protocol. */
  readonly sendsLines: boolean;
}

/** Plain socket.io, which acknowledges each message and stores nothing. */
export async function start({ sendsLines }: BareChatOptions) {
  const server = createServer();
  const io = new Server<ClientToServerEvents, ServerToClientEvents>(server, {
    path: CHAT_PATH,
    serveClient: false,
  });
  let seq = 0;
  io.on('connection', (socket) => {
    socket.on('message', ({ id, text }, acknowledge) => {
      seq += 1;
      if (!sendsLines) {
        acknowledge?.({ ok: true, seq });
        return;
      }
      writeTogether(socket.conn, () => {
        acknowledge?.({ ok: true, seq });
        const common = { from: 'visitor', format: 'TEXT', attachments: [] } as const;
        socket.emit('message', { ...common, seq, id, text, at: Date.now() });
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port: () => port, memory: memoryAfterGc };
}
