import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createLocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { LocalPlatformUnusable } from '../../../src/local-platform/store/database.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ends } from '../../support/ends.ts';
import { anEmail, create, newFolder, SHOP, startPlatform } from '../harness.ts';

const on = (dir: string, port = 0) =>
  createLocalPlatform({
    ...{ dir, port, host: '127.0.0.1', shops: [SHOP] },
    ...{ logger: silentLogger, agent: { kind: 'off' } as const },
  });

test('a folder that is in use is refused, and nothing in it is touched', async () => {
  const dir = newFolder();
  const first = await startPlatform({ dir });
  const halfUploaded = join(dir, 'media', 'tmp');
  writeFileSync(join(halfUploaded, 'half'), 'x');
  expect(() => on(dir)).toThrow(LocalPlatformUnusable);
  expect(() => on(dir)).toThrow(/in use/);
  expect(readdirSync(halfUploaded)).toEqual(['half']);
  expect((await create(first, anEmail())).status).toBe(201);
  await first.stop();
  const second = await startPlatform({ dir });
  expect(second.inspect.messages(SHOP.shopId)).toHaveLength(1);
});

test('a platform that cannot listen releases its folder', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  ends(() => new Promise((resolve) => taken.close(resolve)));
  const dir = newFolder();
  // A listening TCP server has an AddressInfo.
  const { port } = taken.address() as AddressInfo;
  await expect(on(dir, port).start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await startPlatform({ dir });
});
