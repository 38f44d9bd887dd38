import { once } from 'node:events';
import { expect, test } from '@jest/globals';
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
