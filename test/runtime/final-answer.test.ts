import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { drainRequest } from '../../src/runtime/final-answer.ts';
import { ends } from '../support/ends.ts';

test('a refused request leaves no timer behind when its client goes away before the end', async () => {
  const server = createServer((request, response) => {
    response.writeHead(429).end('no');
    drainRequest(request, 1_000_000);
  });
  ends(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const closed = new Promise((resolve) =>
    server.once('connection', (socket) => socket.once('close', resolve)),
  );
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome');
  await once(client, 'data');
  client.destroy();
  await closed;
  expect(timers()).toBe(before);
});
