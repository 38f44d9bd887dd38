// A gateway for the scripts that take pictures: from dist/, in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from './build.mjs';
import { DIST, ROOT } from './workspace.mjs';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
export const PICTURES = join(ROOT, 'docs/pictures');
const HOST = '127.0.0.1';

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Builds, starts a gateway, gives it to `work`, and stops it.
 * @param configure makes the configuration from four free ports
 * @param work gets the ports
 */
export async function withGateway(configure, work) {
  if (build() !== 0) throw new Error('the build failed');
  const dir = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
  const [http, admin, smtp, platform] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
  const ports = { http, admin, smtp, platform };
  const listening = Object.fromEntries(
    ['http', 'admin', 'smtp'].map((door) => [door, { host: HOST, port: ports[door] }]),
  );
  const config = { dataDir: './data', localPlatform: { port: platform }, ...listening };
  for (const [key, value] of Object.entries(configure(ports)))
    config[key] = Array.isArray(value) ? value : { ...config[key], ...value };
  writeFileSync(join(dir, 'sluice.json'), JSON.stringify(config, null, 2));
  const args = [join(DIST, 'main.js'), 'serve', '--config', 'sluice.json'];
  const gateway = spawn(process.execPath, args, {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  try {
    while (!(await isReady(admin))) {
      if (gateway.exitCode !== null) throw new Error(`the gateway ended with ${gateway.exitCode}`);
      await pause(100);
    }
    await work(ports);
  } finally {
    gateway.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  }
}

const isReady = async (port) =>
  (await fetch(`http://${HOST}:${port}/readyz`).catch(() => undefined))?.ok === true;
