import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import express from 'express';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { demoRouter } from '../../src/gateway/demo.ts';
import { ends } from '../support/ends.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';

/** The statuses of the demo's pages at a gateway with this configuration. */
async function statuses(config: (dataDir: string) => object): Promise<number[]> {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.json');
  writeFileSync(file, JSON.stringify(config(dir.path)));
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error('the configuration is not valid');
  const server = express()
    .use(demoRouter(await completeConfig(loaded.config)))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => new Promise((resolve) => server.close(resolve)));
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const each = [
    ...['/demo', '/demo/de', '/demo/assets/page.css'].map((path) => fetch(base + path)),
    fetch(`${base}/demo/identity`, { method: 'POST' }),
  ];
  return (await Promise.all(each)).map(({ status }) => status);
}

test('the demo page is there while no shop is configured', async () => {
  expect(await statuses((dataDir) => ({ dataDir }))).toEqual([200, 200, 200, 200]);
});

test('there is none beside own shops, even at the local platform', async () => {
  expect(await statuses((dataDir) => gatewayConfig({ dataDir }))).toEqual([404, 404, 404, 404]);
});
