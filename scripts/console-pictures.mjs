// Takes the pictures of the console from a gateway that runs: node scripts/console-pictures.mjs
// It starts one in a folder of its own, lets customers write for four minutes through its doors, signs
// in with Chromium, and writes docs/pictures/console-*.png.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { Customers, OUTLET, SHOP } from './customers.mjs';
import { CHROMIUM, PICTURES, withGateway } from './picture-gateway.mjs';

const OPERATORS = [
  { name: 'maria', password: 'the words of maria' },
  { name: 'jonas', password: 'the words of jonas' },
];
const [MARIA, JONAS] = OPERATORS;
/** What the charts show of a gateway that has just begun. */
const FILL_MS = 4.5 * 60_000;
const EVERY_MS = 900;
const WIDE = { width: 1280, height: 860 };
const PUBLIC_URL = 'https://gateway.northwind.example';

const configure = () => ({
  log: { level: 'error' },
  smtp: { hostname: 'mx.northwind.example' },
  http: { publicUrl: PUBLIC_URL },
  admin: { operators: OPERATORS },
  shops: [SHOP, OUTLET],
});

/** More chats than emails, more emails than texts, now more and now less. */
async function fill(customers) {
  const begun = Date.now();
  for (let nth = 0; Date.now() - begun < FILL_MS; nth += 1) {
    const minute = (Date.now() - begun) / 60_000;
    const busy = 0.75 + 0.25 * Math.sin(minute * 2.3) + 0.1 * Math.sin(minute * 9);
    const ways = ['chat', 'email', 'chat', 'text', 'email', 'chat', 'email'];
    await customers[ways[nth % ways.length]](nth);
    await pause(EVERY_MS / busy);
  }
}

/** Signed in, as an operator's own browser is. */
async function visit(browser, url, { name, password }, look = {}) {
  const context = await browser.newContext({
    colorScheme: 'light',
    viewport: WIDE,
    reducedMotion: 'reduce',
    deviceScaleFactor: 2,
    locale: 'en-GB',
    ...look,
  });
  const headers = { 'x-sluice-console': '1', origin: url };
  const data = { operator: name, password };
  const answer = await context.request.post(`${url}/api/login`, { headers, data });
  if (!answer.ok() && look.mayFail !== true) throw new Error(`${answer.status()} to the login`);
  const page = await context.newPage();
  const open = async (path) => {
    await page.goto(url + path);
    await page.locator('#content h1').waitFor();
  };
  return { page, open, close: () => context.close() };
}

async function take(page, name) {
  const busy = page.locator('[aria-busy="true"]').first();
  await busy.waitFor({ state: 'detached', timeout: 60_000 });
  await page.screenshot({ path: join(PICTURES, `console-${name}.png`) });
  console.error(`docs/pictures/console-${name}.png`);
}

async function takeOverviews(browser, url) {
  for (const [name, colorScheme] of [
    ['overview', 'light'],
    ['overview-dark', 'dark'],
  ]) {
    const { page, open, close } = await visit(browser, url, MARIA, { colorScheme });
    await open('/');
    await page.getByText('All messages are being delivered').waitFor();
    await page.locator('.chart canvas').nth(4).waitFor();
    await take(page, name);
    await close();
  }
}

async function takeLogin(browser, url) {
  const page = await browser.newPage({ viewport: WIDE, deviceScaleFactor: 2 });
  await page.goto(url);
  await page.getByLabel('Password').waitFor();
  await take(page, 'login');
  await page.close();
}

/** The other pages, with what operators did on the way. */
async function takeOthers(browser, url, customers) {
  await customers.absence();
  await customers.twoAuthors();
  await customers.reply();
  for (const nth of [3, 5, 8]) await customers[nth === 5 ? 'chat' : 'email'](nth);
  const { page, open, close } = await visit(browser, url, MARIA);
  const rows = page.locator('.entries-body .entry');
  await open('/messages');
  for (const text of ['Several senders', 'Automatic reply']) {
    await rows.filter({ hasText: text }).first().waitFor();
  }
  await page.locator('.entries-body').getByText('Delivered').nth(5).waitFor();
  await take(page, 'messages');
  await rows.filter({ hasText: 'has shipped' }).first().getByRole('link').click();
  await page.getByRole('region', { name: 'State' }).getByText('Delivered').waitFor();
  await page.getByRole('button', { name: 'Show content' }).click();
  await page.getByRole('region', { name: 'Submitted' }).waitFor();
  await take(page, 'message');
  await open('/messages?state=held');
  await rows.first().getByRole('link').click();
  await page.getByRole('button', { name: 'Release' }).click();
  await page.getByRole('button', { name: 'Release 1 message' }).click();
  await page.getByRole('region', { name: 'State' }).getByText('Delivered').waitFor();
  await open('/platform');
  await page.locator('tbody tr').nth(5).waitFor();
  await take(page, 'platform');
  await open('/platform?view=queue');
  await page.locator('.queue tbody tr').nth(5).waitFor();
  await take(page, 'queue');
  await page.locator('.queue .wide-cell a').first().click();
  await page.getByRole('button', { name: 'Assign to me' }).click();
  await page.getByText('You took it').waitFor();
  const answer = page.getByLabel(/^Reply /);
  await answer.fill('Thank you for asking. I’ll look into it and get back to you today.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.turn.team').last().getByText(/^sent/).waitFor();
  await take(page, 'ticket');
  await open('/configuration');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByText('No changes to apply.').waitFor();
  await page
    .getByRole('button', { name: 'Send a test message: Email, northwind', exact: true })
    .click();
  await page.getByText('Accepted. Show the message').waitFor();
  await open('/configuration');
  await take(page, 'configuration');
  await (await visit(browser, url, { ...JONAS, password: 'mistyped' }, { mayFail: true })).close();
  const other = await visit(browser, url, JONAS);
  await other.open('/messages?state=suppressed');
  await other.page.locator('.entries-body .entry a').first().click();
  await other.page.getByRole('button', { name: 'Discard' }).click();
  await other.page.getByRole('button', { name: 'Undo' }).click();
  await other.page.getByText('Undone.').waitFor();
  await other.close();
  await open('/audit');
  await page.locator('tbody tr').nth(8).waitFor();
  await take(page, 'audit');
  await open('/doctor');
  await page.getByText(/problems? found/i).waitFor({ timeout: 60_000 });
  await take(page, 'doctor');
  await open('/incidents');
  await page.locator('tbody tr').nth(1).waitFor();
  await take(page, 'incidents');
  await close();
}

mkdirSync(PICTURES, { recursive: true });
await withGateway(configure, async ({ http, smtp, admin }) => {
  const url = `http://127.0.0.1:${admin}`;
  const customers = new Customers({ http, smtp, publicUrl: PUBLIC_URL });
  let browser;
  try {
    await fill(customers);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    await takeOverviews(browser, url);
    await takeLogin(browser, url);
    await takeOthers(browser, url, customers);
  } finally {
    customers.close();
    await browser?.close();
  }
});
