import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { MediaRecord } from '../../../src/platform-api/resources.ts';
import { call, newFolder, startPlatform } from '../harness.ts';

test('a start removes files that were never acknowledged, and no others', async () => {
  const dir = newFolder();
  const first = await startPlatform({ dir });
  const body = new FormData();
  body.set('file', new Blob(['kept']), 'kept.txt');
  const { body: kept } = await call<MediaRecord>(first, 'POST', '/media/', { body });
  await first.stop();
  // As left by a crash before the row was stored, and by one during the upload.
  const orphan = join(dir, 'media', '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c77');
  const half = join(dir, 'media', 'tmp', '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c78');
  for (const path of [orphan, half]) writeFileSync(path, 'lost');

  const second = await startPlatform({ dir });
  expect([orphan, half].map((path) => existsSync(path))).toEqual([false, false]);
  const { pathname } = new URL(kept.url);
  expect(await (await fetch(`${second.url}${pathname}`)).text()).toBe('kept');
});
