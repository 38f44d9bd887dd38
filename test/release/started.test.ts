import { execFile, spawn } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { freePorts, pack, Running } from './plain-user.ts';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

test('the packed gateway starts from its tarball, and answers an email', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { tarball } = await pack(dir.path);
  await promisify(execFile)('tar', ['xzf', tarball, '-C', dir.path]);
  // In place of an installation.
  symlinkSync(PACKAGES, join(dir.path, 'node_modules'));
  const env = { PATH: process.env['PATH'], HOME: dir.path, ...(await freePorts()) };
  const sluice = (...args: string[]) =>
    new Running(
      spawn(process.execPath, [join(dir.path, 'package/dist/main.js'), ...args], {
        ...{ cwd: dir.path, env, stdio: ['ignore', 'pipe', 'pipe'] },
        detached: true,
      }),
    );
  const gateway = sluice('serve');
  await gateway.says(/Sluice is ready/);
  const sent = sluice('send', 'email', 'Where is my order 1001?');
  expect({ code: await sent.ended, output: sent.output }).toMatchObject({ code: 0 });
  const outbox = join(dir.path, 'data/platform/outbox');
  await waitFor('the reply', () => readdirSync(outbox).some((name) => name.endsWith('.eml')));
  await gateway.terminate();
  expect(gateway.output).toMatch(/gateway\.stopped/);
});
