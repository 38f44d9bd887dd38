import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway } from './chat-gateway.ts';

/** A WebSocket client that says what it is told to, and never reads or answers again. */
async function silentClient(url: string, packet?: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  ends(() => socket.destroy());
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk.toString()));
  socket.on('error', () => undefined);
  const lines = ['GET /chat/?EIO=4&transport=websocket HTTP/1.1', 'Host: x', 'Upgrade: websocket'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const rest = ['Connection: Upgrade', key, 'Sec-WebSocket-Version: 13', '', ''];
  socket.write([...lines, ...rest].join('\r\n'));
  await waitFor('the upgrade', () => heard.includes('"sid"'));
  if (packet !== undefined) {
    // One masked text frame (RFC 6455 §5.2); a mask of zeros changes nothing.
    const frame = Buffer.from([0x81, 0x80 | packet.length, 0, 0, 0, 0]);
    socket.write(Buffer.concat([frame, Buffer.from(packet)]));
    await waitFor('the session', () => heard.includes('"session"'));
  }
  return socket;
}

test('a stop waits a second for clients that do not answer, with a session or without', async () => {
  const gateway = await ChatGateway.start({ shops: [aShop()] });
  ends(() => gateway.stop());
  const silent = [
    await silentClient(gateway.url),
    await silentClient(gateway.url, '40{"key":"demo"}'),
  ];
  const closed = silent.map((socket) => once(socket, 'close'));
  const started = performance.now();
  await gateway.server.stop();
  await Promise.all(closed);
  // `ws` alone would wait for 30 s.
  expect(performance.now() - started).toBeLessThan(15_000);
});
