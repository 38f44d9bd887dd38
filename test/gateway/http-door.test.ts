import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createHttpDoor } from '../../src/gateway/public-http.ts';
import { LiveConfig } from '../../src/gateway/live-config.ts';
import type { CompleteConfig } from '../../src/config/complete.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { ends } from '../support/ends.ts';
import { waitFor } from '../support/wait-for.ts';

test('a door has the configured limits, counts whom it refuses, and tells it in one line', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (event, fields) => void lines.push({ event, ...fields }),
  };
  const http = { maxConnections: 100, maxConnectionsPerIp: 2, trustProxy: ['127.0.9.9'] };
  // A door reads these keys alone.
  const config = { http } as unknown as CompleteConfig;
  const metrics = createMetrics();
  const live = new LiveConfig(config, silentLogger);
  const listener = createHttpDoor('public', (_request, response) => response.end('ok'), {
    ...{ live, logger, metrics },
  });
  ends(() => listener.stop(0));
  const port = await listener.listen('127.0.0.1', 0);
  const open = (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    ends(() => void socket.destroy());
    return socket;
  };
  const held = async () => (await metrics.httpConnections.get()).values[0]?.value;
  open('127.0.1.1');
  open('127.0.1.1');
  await waitFor('two', async () => (await held()) === 2);
  for (let more = 0; more < 5; more += 1) await once(open('127.0.1.1'), 'data');
  for (let more = 0; more < 5; more += 1) open('127.0.9.9');
  await waitFor('those of the proxy', async () => (await held()) === 7);
  const { values } = await metrics.httpCutOff.get();
  expect(values).toEqual([
    { labels: { door: 'public', reason: 'too_many_connections' }, value: 5 },
  ]);
  await waitFor('the line', () => lines.length > 0);
  expect(lines).toEqual([{ event: 'http.cut_off', door: 'public', too_many_connections: 5 }]);
});
