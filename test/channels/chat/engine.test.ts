import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { Server, type Socket } from 'socket.io';
import { io } from 'socket.io-client';
import {
  closeConnections,
  closeOneByOne,
  writeTogether,
} from '../../../src/channels/chat/engine.ts';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { silentClient } from '../../support/raw-web-socket.ts';
import { aShop, ChatGateway } from './chat-gateway.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function pair(transport: 'websocket' | 'polling') {
  const http = createServer();
  const server = new Server(http, { transports: ['websocket', 'polling'] });
  cleanups.push(() => server.close());
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const client = io(`http://127.0.0.1:${port}`, { transports: [transport], reconnection: false });
  cleanups.push(() => client.disconnect());
  return { server: await connected, client };
}

test.each(['websocket', 'polling'] as const)(
  'what is written together over %s arrives whole and in order',
  async (transport) => {
    const { server, client } = await pair(transport);
    const got: number[] = [];
    client.on('line', (n: number) => got.push(n));
    const last = new Promise((resolve) => client.once('last', resolve));
    for (let n = 0; n < 20; n += 2) {
      writeTogether(server.conn, () => {
        server.emit('line', n);
        server.emit('line', n + 1);
      });
    }
    server.emit('last');
    await last;
    expect(got).toEqual(Array.from({ length: 20 }, (_, n) => n));
  },
);

test('over a WebSocket it is one write, and an error in between leaves the connection usable', async () => {
  const { server, client } = await pair('websocket');
  // What the function relies on, and the library declares nowhere.
  const { transport } = server.conn as unknown as {
    transport: { socket: { _socket: { _writev: (...args: unknown[]) => unknown } } };
  };
  const tcp = transport.socket._socket;
  let writes = 0;
  const writev = tcp._writev.bind(tcp);
  tcp._writev = (...args) => {
    writes += 1;
    return writev(...args);
  };
  const second = new Promise((resolve) => client.once('second', resolve));
  writeTogether(server.conn, () => {
    server.emit('first');
    server.emit('second');
  });
  await second;
  expect(writes).toBe(1);

  const third = new Promise((resolve) => client.once('third', resolve));
  const failing = () => {
    throw new RangeError('in between');
  };
  expect(() => writeTogether(server.conn, failing)).toThrow(RangeError);
  server.emit('third');
  await third;
});

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

  await closeConnections(io.engine, 1_000);
  // engine.io alone would wait for 30 s.
  expect(io.engine.clientsCount).toBe(0);
});

test('clients that have to leave do so at equal intervals', async () => {
  const http = createServer();
  const server = new Server(http, { transports: ['websocket'] });
  ends(() => server.close());
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // A listening TCP server's address is never a string.
  const { port } = http.address() as AddressInfo;
  const left: number[] = [];
  const clients = Array.from({ length: 20 }, () =>
    io(`http://127.0.0.1:${port}`, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    }),
  );
  ends(() => clients.forEach((client) => client.disconnect()));
  await Promise.all(clients.map((client) => once(client as never, 'connect')));
  for (const client of clients) client.once('disconnect', () => left.push(performance.now()));

  const startedAt = performance.now();
  await closeOneByOne(server.engine, 400);
  await waitFor('all to leave', () => left.length === clients.length);
  // None leaves before its turn: the last after 360 ms.
  expect(left.filter((at, n) => at - startedAt < (400 * (n - 1)) / clients.length)).toEqual([]);
});
