import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { memoryAfterGc } from '../chat/memory-after-gc.ts';
import { CHAT_PATH, type ClientToServerEvents } from '../../src/channels/chat/events.ts';

/** socket.io as it comes: acknowledges each message and keeps nothing. */
export async function start() {
  const server = createServer();
  const io = new Server<ClientToServerEvents>(server, { path: CHAT_PATH, serveClient: false });
  let seq = 0;
  io.on('connection', (socket) => {
    socket.on('message', (_message, acknowledge) => {
      acknowledge?.({ ok: true, seq: ++seq });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port: () => port, memory: memoryAfterGc };
}
