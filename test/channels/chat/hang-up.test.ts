import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Server } from 'socket.io';
import { hangUp } from '../../../src/channels/chat/hang-up.ts';
import { ends } from '../../support/ends.ts';
import { silentClient } from '../../support/raw-web-socket.ts';
import { aShop, ChatGateway } from './chat-gateway.ts';

test('a stop waits a second for clients that do not answer, with a session or without', async () => {
  const gateway = await ChatGateway.start({ shops: [aShop()] });
  ends(() => gateway.stop());
  const silent = [
    await silentClient(gateway.url),
    await silentClient(gateway.url, '40{"key":"demo"}'),
  ];
  ends(() => silent.forEach((socket) => socket.destroy()));
  const closed = silent.map((socket) => once(socket, 'close'));
  const started = performance.now();
  await gateway.server.stop();
  await Promise.all(closed);
  // `ws` alone would wait for 30 s.
  expect(performance.now() - started).toBeLessThan(15_000);
});

test('a client that is between two polls keeps nothing open', async () => {
  const http = createServer();
  const io = new Server(http);
  ends(() => io.close());
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // A listening TCP server's address is never a string.
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/socket.io/?EIO=4&transport=polling`;
  expect((await fetch(url)).status).toBe(200);
  expect(io.engine.clientsCount).toBe(1);

  await hangUp(io.engine, 1_000);
  // engine.io alone would wait for 30 s.
  expect(io.engine.clientsCount).toBe(0);
});
