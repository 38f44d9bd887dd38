import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

/** A WebSocket client that says what it is told to, and never answers again; destroy it. */
export async function silentClient(url: string, packet?: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk.toString()));
  socket.on('error', () => undefined);
  const lines = ['GET /chat/?EIO=4&transport=websocket HTTP/1.1', 'Host: x', 'Upgrade: websocket'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const rest = ['Connection: Upgrade', key, 'Sec-WebSocket-Version: 13', '', ''];
  socket.write([...lines, ...rest].join('\r\n'));
  await waitFor('the upgrade', () => heard.includes('"sid"'));
  if (packet !== undefined) {
    socket.write(maskedFrame(packet));
    await waitFor('the session', () => heard.includes('"session"'));
  }
  return socket;
}

/** One masked text frame (RFC 6455 §5.2); a mask of zeros changes nothing. */
export function maskedFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length);
  const head = payload.length < 126 ? [0x81, 0x80 | payload.length] : [0x81, 0xfe, ...length];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}
