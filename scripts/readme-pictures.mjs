// Takes the README's pictures from a gateway that runs: node scripts/readme-pictures.mjs [--moving-only]
// It starts one with the demo shop in a folder of its own, opens /demo in Chromium, has a short
// conversation with the local platform's agent, and writes docs/pictures/. The moving picture, of
// the widget and the console side by side, is put together by ffmpeg.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM, PICTURES, withGateway } from './picture-gateway.mjs';

const OPERATOR = { name: 'maria', password: 'the words of maria' };
const QUESTIONS = ['How can I pay?', 'And what does shipping cost?'];
const SHOTS = [
  { name: 'widget-light', colorScheme: 'light', viewport: { width: 1120, height: 720 } },
  { name: 'widget-dark', colorScheme: 'dark', viewport: { width: 1120, height: 720 } },
  { name: 'widget-phone', colorScheme: 'light', viewport: { width: 375, height: 720 } },
];

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

const FRAMES_PER_SECOND = 10;
const HALF = { width: 520, height: 620 };

/** A question on the shop's page, and what the console shows of it meanwhile. */
async function takeMovingPicture(browser, shopUrl, consoleUrl) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-frames-'));
  try {
    const shop = await browser.newPage({ viewport: HALF });
    await shop.goto(`${shopUrl}/demo`);
    const operator = await signedIn(browser, consoleUrl);
    const frames = new Frames(folder, [shop, operator]);
    await frames.show(1.2);
    await shop.getByRole('button', { name: 'Open chat' }).click();
    await shop.getByRole('textbox', { name: 'Message' }).waitFor();
    await frames.show(0.8);
    for (const question of QUESTIONS) await ask(shop, operator, frames, question);
    await frames.show(2.5);
    frames.write(join(PICTURES, 'moving.gif'));
    console.error('docs/pictures/moving.gif');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function signedIn(browser, url) {
  const context = await browser.newContext({ viewport: { width: 760, height: HALF.height } });
  const headers = { 'x-sluice-console': '1', origin: url };
  const data = { operator: OPERATOR.name, password: OPERATOR.password };
  await context.request.post(`${url}/api/login`, { headers, data });
  const page = await context.newPage();
  await page.goto(`${url}/messages`);
  await page.locator('#content h1').waitFor();
  return page;
}

async function ask(shop, operator, frames, question) {
  const field = shop.getByRole('textbox', { name: 'Message' });
  const answers = shop.locator('[data-from="agent"][data-line]');
  const before = await answers.count();
  for (let typed = 4; typed < question.length + 4; typed += 4) {
    await field.fill(question.slice(0, typed));
    await frames.show(0.1);
  }
  await field.press('Enter');
  for (let shown = 0; shown < 12 || (await answers.count()) === before; shown += 1) {
    await frames.show(0.1);
    await shop.waitForTimeout(100);
  }
  await operator.locator('.entries-body .entry').first().getByText('Delivered').waitFor();
  await frames.show(2);
}

/** Pictures of pages side by side, each for a while. */
class Frames {
  #folder;
  #pages;
  #shown = 0;
  #taken = 0;

  constructor(folder, pages) {
    this.#folder = folder;
    this.#pages = pages;
  }

  async show(seconds) {
    this.#taken += 1;
    const files = this.#pages.map((_, side) => join(this.#folder, `${side}-${this.#taken}.png`));
    await Promise.all(this.#pages.map((page, side) => page.screenshot({ path: files[side] })));
    for (let left = Math.round(seconds * FRAMES_PER_SECOND); left > 0; left -= 1) {
      this.#shown += 1;
      const name = String(this.#shown).padStart(4, '0');
      for (const [side, file] of files.entries())
        symlinkSync(file, join(this.#folder, `side${side}-${name}.png`));
    }
  }

  write(file) {
    const inputs = this.#pages.flatMap((_, side) => [
      ...['-framerate', String(FRAMES_PER_SECOND)],
      ...['-i', join(this.#folder, `side${side}-%04d.png`)],
    ]);
    const filter =
      'hstack,split[a][b];[a]palettegen=max_colors=128:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle';
    const args = ['-y', '-loglevel', 'error', ...inputs, '-filter_complex', filter, file];
    execFileSync('ffmpeg', args, { stdio: 'inherit' });
  }
}

const configure = ({ http }) => ({
  log: { level: 'warn' },
  smtp: { enabled: false },
  http: { publicUrl: `http://127.0.0.1:${http}` },
  admin: { operators: [OPERATOR] },
});

mkdirSync(PICTURES, { recursive: true });
await withGateway(configure, async ({ http, admin }) => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const url = `http://127.0.0.1:${http}`;
    if (process.argv[2] !== '--moving-only') {
      for (const shot of SHOTS) await take(browser, url, shot);
    }
    await takeMovingPicture(browser, url, `http://127.0.0.1:${admin}`);
  } finally {
    await browser.close();
  }
});
