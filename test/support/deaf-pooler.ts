import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { ends } from './ends.ts';

/**
 * A proxy that lets no notification through, as a pooler in transaction mode does. It ends with the test.
 * Resolves with its URL.
 */
export async function startDeafPooler(url: string): Promise<string> {
  const pooled = new URL(url);
  const [port, host] = [Number(pooled.port), pooled.hostname];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(port, host);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => undefined);
      end.on('close', () => {
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream);
    let rest: Buffer = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // Each message has a type and a length (PostgreSQL, "Message Formats"); NotificationResponse is "A".
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const length = 1 + rest.readUInt32BE(1);
        if (rest.toString('latin1', 0, 1) !== 'A') socket.write(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A listening TCP server's address is never a string.
  pooled.port = String((server.address() as AddressInfo).port);
  return pooled.href;
}
