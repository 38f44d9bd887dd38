import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ends } from './ends.ts';
import { LossyProxy, type LossyProxyOptions, TROUBLES } from './lossy-proxy.ts';
import { waitFor } from './wait-for.ts';

/** A server that sends back what it gets, behind a proxy. */
async function echoBehind(options: Partial<LossyProxyOptions>) {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received.push(chunk);
      socket.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await LossyProxy.start({
    ...{ target: { host: '127.0.0.1', port }, seed: 1, meanCalmMs: 20, maxStallMs: 30 },
    ...options,
  });
  ends(() => proxy.stop());
  const dial = (): { socket: Socket; heard: () => string } => {
    const socket = connect(proxy.port, '127.0.0.1');
    let heard = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => (heard += chunk.toString()));
    ends(() => socket.destroy());
    return { socket, heard: () => heard };
  };
  return { proxy, dial, received, server };
}

/** Also of a socket that was reset, which `once` would reject. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()));

test('what arrives is always the beginning of what was sent, whatever happens to the line', async () => {
  const { proxy, dial } = await echoBehind({ meanCalmMs: 5, maxDelayMs: 5 });
  let cut = 0;
  for (let round = 0; round < 40; round += 1) {
    const { socket, heard } = dial();
    const ended = closed(socket);
    let sent = '';
    // Until the trouble comes, however late on a busy machine.
    for (let n = 0; socket.writable; n += 100) {
      const piece = Array.from({ length: 100 }, (_, next) => `${n + next};`).join('');
      socket.write(piece);
      sent += piece;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    expect(sent.startsWith(heard())).toBe(true);
    if (heard() !== sent) cut += 1;
  }
  expect(cut).toBeGreaterThan(5);
  expect([...proxy.counts.keys()].toSorted()).toEqual(Object.keys(TROUBLES).toSorted());
});

test('calm again, it holds nothing back and cuts nothing', async () => {
  const { proxy, dial } = await echoBehind({ meanCalmMs: 1e9 });
  proxy.calm();
  const { socket, heard } = dial();
  socket.write('hello');
  await waitFor('the echo', () => heard() === 'hello');
  socket.end();
  await closed(socket);
  expect(socket.readableEnded).toBe(true);
});

test('a target that is not there resets the client', async () => {
  const { dial, server } = await echoBehind({ meanCalmMs: 1e9 });
  await new Promise((resolve) => server.close(resolve));
  const { socket } = dial();
  await closed(socket);
  expect(socket.destroyed).toBe(true);
});
