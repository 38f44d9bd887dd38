// Takes the pictures of the console from a gateway that runs: node scripts/console-pictures.mjs
// It starts one with the demo shop in a folder of its own, sends test messages through each door,
// signs in with Chromium, and writes docs/pictures/console-*.png.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build } from './build.mjs';
import { DIST, ROOT } from './workspace.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const PICTURES = join(ROOT, 'docs/pictures');
const PASSWORD = 'of-the-pictures';
const ROUNDS = 4;
const WIDE = { width: 1280, height: 860 };
const SHOTS = [
  { name: 'overview', path: '/' },
  { name: 'overview-dark', path: '/', colorScheme: 'dark' },
  { name: 'overview-phone', path: '/', viewport: { width: 375, height: 812 } },
  { name: 'messages', path: '/messages' },
  { name: 'message', path: '/messages', open: true },
  { name: 'platform', path: '/platform' },
  { name: 'configuration', path: '/configuration' },
  { name: 'audit', path: '/audit' },
  { name: 'doctor', path: '/doctor' },
];

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves with the gateway's process and its console's address once it is ready. */
async function startGateway(dir) {
  const [http, admin, smtp, platform] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
  const listen = { host: '127.0.0.1' };
  const config = {
    dataDir: join(dir, 'data'),
    log: { level: 'warn' },
    smtp: { ...listen, port: smtp },
    http: { ...listen, port: http, publicUrl: `http://127.0.0.1:${http}` },
    admin: { ...listen, port: admin, password: PASSWORD },
    localPlatform: { port: platform },
  };
  const file = join(dir, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const args = [join(DIST, 'main.js'), 'serve', '--config', file];
  const gateway = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let code;
  gateway.once('exit', (status) => (code = status ?? 1));
  for (;;) {
    if (code !== undefined) throw new Error(`the gateway ended with ${code}`);
    const answer = await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => undefined);
    if (answer?.ok) return { gateway, url: `http://127.0.0.1:${admin}` };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Something to show: a few messages through each of the gateway's own doors. */
async function sendMessages(url) {
  const headers = {
    authorization: `Bearer ${PASSWORD}`,
    'content-type': 'application/json',
    'x-sluice-console': '1',
  };
  const { shops } = await (await fetch(`${url}/api/configuration`, { headers })).json();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const channel of ['email', 'sms', 'web_chat']) {
      const body = JSON.stringify({ shop: shops[0].shop, channel });
      const answer = await fetch(`${url}/api/test-message`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`the test by ${channel} was answered with ${answer.status}`);
    }
  }
}

async function take(browser, url, { name, path, open = false, ...look }) {
  const page = await browser.newPage({
    colorScheme: 'light',
    viewport: WIDE,
    reducedMotion: 'reduce',
    deviceScaleFactor: 2,
    ...look,
  });
  await page.goto(url + path);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content h1').waitFor();
  if (open) {
    await page.locator('a[href^="/messages/"]').first().click();
    await page.waitForURL(/\/messages\/.+/);
  }
  const busy = page.locator('[aria-busy="true"]').first();
  await busy.waitFor({ state: 'detached', timeout: 60_000 });
  await page.screenshot({ path: join(PICTURES, `console-${name}.png`) });
  await page.close();
  console.error(`docs/pictures/console-${name}.png`);
}

if (build() !== 0) process.exit(1);
mkdirSync(PICTURES, { recursive: true });
const dir = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
let started;
let browser;
try {
  started = await startGateway(dir);
  await sendMessages(started.url);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  for (const shot of SHOTS) await take(browser, started.url, shot);
} finally {
  await browser?.close();
  if (started !== undefined && started.gateway.exitCode === null) {
    const ended = new Promise((resolve) => started.gateway.once('exit', resolve));
    started.gateway.kill('SIGTERM');
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
}
