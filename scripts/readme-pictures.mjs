// Takes the README's pictures of the widget from a gateway that runs: node scripts/readme-pictures.mjs
// It starts one with the demo shop in a folder of its own, opens /demo in Chromium, has a short
// conversation with the local platform's agent, and writes docs/pictures/.
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
const QUESTIONS = ['How can I pay?', 'And what does shipping cost?'];
const SHOTS = [
  { name: 'widget-light', colorScheme: 'light', viewport: { width: 1120, height: 720 } },
  { name: 'widget-dark', colorScheme: 'dark', viewport: { width: 1120, height: 720 } },
  { name: 'widget-phone', colorScheme: 'light', viewport: { width: 375, height: 720 } },
];

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves with the gateway's process once it is ready. */
async function startGateway(dir, port) {
  const listen = async () => ({ host: '127.0.0.1', port: await freePort() });
  const config = {
    dataDir: join(dir, 'data'),
    log: { level: 'warn' },
    smtp: { enabled: false },
    http: { host: '127.0.0.1', port, publicUrl: `http://127.0.0.1:${port}` },
    admin: await listen(),
    localPlatform: { port: await freePort() },
  };
  const file = join(dir, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const args = [join(DIST, 'main.js'), 'serve', '--config', file];
  const gateway = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let code;
  gateway.once('exit', (status) => (code = status ?? 1));
  for (;;) {
    if (code !== undefined) throw new Error(`the gateway ended with ${code}`);
    const answer = await fetch(`${config.http.publicUrl}/readyz`).catch(() => undefined);
    if (answer?.ok) return gateway;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function take(browser, url, { name, ...look }) {
  const page = await browser.newPage({ ...look, deviceScaleFactor: 2 });
  await page.goto(`${url}/demo`);
  await page.getByRole('button', { name: 'Open chat' }).click();
  const log = page.getByRole('log', { name: 'Conversation' });
  for (const [index, question] of QUESTIONS.entries()) {
    await page.getByRole('textbox', { name: 'Message' }).fill(question);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await log.locator('[data-from="agent"][data-line]').nth(index).waitFor();
  }
  await log.locator('[data-from="visitor"][data-state="delivered"]').nth(1).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).blur();
  await page.evaluate(() =>
    Promise.all(
      document
        .querySelector('sluice-chat')
        .shadowRoot.getAnimations()
        .map(({ finished }) => finished.catch(() => undefined)),
    ),
  );
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.close();
  console.error(`docs/pictures/${name}.png`);
}

if (build() !== 0) process.exit(1);
mkdirSync(PICTURES, { recursive: true });
const dir = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
const port = await freePort();
let gateway;
let browser;
try {
  gateway = await startGateway(dir, port);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  for (const shot of SHOTS) await take(browser, `http://127.0.0.1:${port}`, shot);
} finally {
  await browser?.close();
  if (gateway !== undefined && gateway.exitCode === null) {
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill('SIGTERM');
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
}
