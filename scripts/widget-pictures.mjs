// Takes a picture of the widget in every state, light and dark, and checks each state with axe-core:
// node scripts/widget-pictures.mjs <folder> [part of a name ...], or --docs for those of docs/widget.md. The page, the loader and the panel
// are the real ones; the conversation is scripted (test/widget/gallery/).
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { bundle, bundleParts, launcherTexts } from './build-widget.mjs';
import { ROOT, SRC } from './workspace.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
const DESKTOP = { width: 520, height: 800 };
const PHONE = { width: 375, height: 667 };
const GREETING = 'Hi there 👋\nAny question about lamps, orders or returns? We are here.';

/** The shop's settings, and how soon its first reply comes. */
const AGENT = { agent: { name: 'Mia', kind: 'ai' }, usualReplySeconds: 120 };

const PRIVACY = { privacy: 'https://shop.example/privacy' };

const tomorrow = () =>
  ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 1) % 7];

/** In docs/widget.md. */
const DOCUMENTED = [
  ...['closed', 'greeting', 'unread', 'empty-agent', 'pre-chat', 'conversation', 'people', 'rich'],
  ...['pictures', 'viewer', 'uploading', 'queued', 'failed', 'away', 'ending', 'load-failed'],
  ...['seen', 'emoji', 'menu', 'rated'],
];

/** name → {scene, open, attributes, config, viewport, zoom, act} */
const PICTURES = {
  closed: { open: false },
  unread: { open: false, scene: 'unread', session: true, config: AGENT },
  'phone-unread': { open: false, scene: 'unread', session: true, viewport: PHONE },
  'forced-colors-unread': {
    open: false,
    scene: 'unread',
    session: true,
    forcedColors: 'active',
  },
  'arabic-unread': {
    open: false,
    scene: 'arabic-unread',
    session: true,
    attributes: { lang: 'ar' },
  },
  greeting: { open: false, attributes: { greeting: GREETING }, greets: true },
  'load-failed': { open: false, broken: true },
  empty: {},
  'empty-agent': { config: AGENT },
  people: { scene: 'people', config: AGENT },
  'empty-greeting': { attributes: { greeting: GREETING, name: 'Lumen & Co.' } },
  'pre-chat': { attributes: { 'pre-chat': 'optional', greeting: GREETING }, config: PRIVACY },
  'pre-chat-required': {
    attributes: { 'pre-chat': 'required' },
    config: PRIVACY,
    act: submitEmpty,
  },
  conversation: { scene: 'conversation' },
  verified: { scene: 'verified', attributes: { name: 'Lumen & Co.', color: '#0f766e' } },
  rich: { scene: 'rich' },
  wide: { scene: 'wide' },
  'phone-wide': { scene: 'wide', viewport: { width: 320, height: 568 } },
  'unread-focus': {
    open: false,
    scene: 'unread',
    session: true,
    act: async (page) => {
      await page.locator('.cross').focus();
      await page.keyboard.press('Tab');
    },
  },
  pictures: { scene: 'pictures' },
  viewer: {
    scene: 'pictures',
    act: async (page) => {
      await page.locator('.picture canvas').first().click();
      await page.locator('.viewer').waitFor();
    },
  },
  uploading: { scene: 'uploading' },
  queued: { scene: 'queued' },
  failed: { scene: 'failed' },
  busy: { scene: 'busy' },
  refused: { scene: 'refused' },
  many: { scene: 'many', act: scrollUp },
  menu: {
    scene: 'conversation',
    act: (page) => page.getByRole('button', { name: 'More' }).click(),
  },
  away: {
    scene: 'conversation',
    config: {
      hours: { zone: 'UTC', open: [{ days: [tomorrow()], from: '09:00', to: '09:01' }] },
    },
    act: async (page) => {
      await page.getByLabel(/^Nobody is here right now/).waitFor();
      await page.locator('.log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    },
  },
  choices: { scene: 'choices', config: AGENT },
  'phone-choices': { scene: 'choices', viewport: { width: 320, height: 568 }, config: AGENT },
  seen: { scene: 'seen', config: AGENT },
  rated: {
    scene: 'conversation',
    act: async (page) => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'End conversation' }).click();
      await page.getByRole('radio', { name: 'Very good', exact: true }).check();
      await page.locator('.ask .primary').click();
      await page.getByText('Thank you for your rating.').waitFor();
      await page.locator('.log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    },
  },
  ending: {
    scene: 'conversation',
    act: async (page) => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'End conversation' }).click();
      await page.getByRole('radio', { name: 'Good', exact: true }).check();
      await page.locator('.log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    },
  },
  emoji: {
    scene: 'conversation',
    act: async (page) => {
      await page.getByRole('button', { name: 'Emoji' }).click();
      await page.getByRole('searchbox', { name: 'Find an emoji' }).fill('happy');
      await page.getByRole('button', { name: 'grinning face', exact: true }).waitFor();
    },
  },
  drop: { scene: 'conversation', act: dragOver },
  yellow: { scene: 'conversation', attributes: { color: '#ffd400' } },
  black: { scene: 'conversation', attributes: { color: '#111111' } },
  left: { scene: 'conversation', attributes: { position: 'left' } },
  'phone-closed': {
    open: false,
    viewport: PHONE,
    attributes: { greeting: GREETING },
    greets: true,
  },
  phone: { scene: 'conversation', viewport: PHONE },
  'phone-rich': { scene: 'rich', viewport: PHONE },
  'phone-pre-chat': { viewport: PHONE, attributes: { 'pre-chat': 'required' }, config: PRIVACY },
  'phone-empty': {
    viewport: { width: 320, height: 568 },
    config: { ...AGENT, starters: ['Where is my order?', 'How do returns work?'] },
  },
  'phone-emoji': {
    scene: 'conversation',
    viewport: { width: 320, height: 568 },
    act: (page) => page.getByRole('button', { name: 'Emoji' }).click(),
  },
  'phone-small': { scene: 'uploading', viewport: { width: 320, height: 568 } },
  arabic: { scene: 'arabic', attributes: { lang: 'ar' } },
  'arabic-phone': { scene: 'arabic', viewport: PHONE, attributes: { lang: 'ar' } },
  german: { scene: 'queued', attributes: { lang: 'de' } },
  japanese: { scene: 'yesterday', attributes: { lang: 'ja' } },
  // A window of 1280 × 720 at 200 %.
  zoomed: { scene: 'conversation', viewport: { width: 640, height: 360 } },
  'forced-colors': { scene: 'rich', forcedColors: 'active' },
};

async function submitEmpty(page) {
  await page.getByRole('textbox', { name: 'Email' }).fill('ada@');
  await page.getByRole('button', { name: 'Start chat' }).click();
}

async function scrollUp(page) {
  await page.getByRole('log').evaluate((log) => {
    log.scrollTop -= 900;
  });
}

async function dragOver(page) {
  await page.getByRole('dialog').evaluate((panel) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['x'], 'x.png'));
    panel.dispatchEvent(new DragEvent('dragenter', { dataTransfer, bubbles: true }));
  });
}

/** The strictest policy that a shop's page may have: nothing inline, only the gateway. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'";

const shopPage = (attributes) => `<!doctype html>
<html lang="en"${attributes.includes('lang="ar"') ? ' dir="rtl"' : ''}><head><meta charset="utf-8"><title>Lumen &amp; Co.</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<link rel="stylesheet" href="/shop.css">
<script async src="/widget.js" ${attributes}></script></head>
<body><main><h1>Lamps for long evenings</h1><p>Hand-made in small numbers, shipped within two days.</p>
<button>Add to basket</button></main></body></html>`;

const SHOP_CSS = `* { margin: 0; font-family: Georgia, serif; letter-spacing: .1em }
html { font-size: 62.5% } body { background: #efeae2; color: #333; padding: 40px; font-size: 2rem }
h1 { font-size: 4rem } button { background: #b33; color: #fff; padding: 1rem }
div { border: 1px solid red } p { color: #555 }
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) { body { background: #16140f; color: #ddd } p { color: #bbb } }`;

/** What the gateway answers to the page that a picture is taken of. */
let config = {};

function serve(folder) {
  const types = { js: 'text/javascript', css: 'text/css', json: 'application/json' };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const send = (type, body) => {
      response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY });
      response.end(body);
    };
    if (pathname === '/') return send('text/html', shopPage(searchParams.get('attributes') ?? ''));
    if (pathname === '/shop.css') return send(types.css, SHOP_CSS);
    if (pathname.startsWith('/widget/config/')) return send(types.json, JSON.stringify(config));
    if (pathname.startsWith('/widget/texts/'))
      return send(
        types.json,
        readFileSync(join(SRC, 'widget/texts', `${basename(pathname)}.json`)),
      );
    try {
      return send(types.js, readFileSync(join(folder, pathname)));
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function bundleGallery(folder) {
  const { define } = await bundleParts(folder);
  const entry = join(ROOT, 'test/widget/gallery/gallery-main.ts');
  await bundle({ entry, folder, format: 'es', fileName: 'main.js', define });
  await bundle({
    entry: join(SRC, 'widget/loader/loader.ts'),
    folder,
    format: 'iife',
    fileName: 'widget.js',
    define: { MAIN_FILE: '"main.js"', ...launcherTexts() },
  });
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

async function take(browser, origin, name, scheme, target) {
  const { scene = '', open = true, attributes = {}, viewport = DESKTOP, ...more } = PICTURES[name];
  config = more.config ?? {};
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: forDocs ? 1 : 2,
    colorScheme: scheme,
    hasTouch: viewport === PHONE,
    ...(more.forcedColors && { forcedColors: more.forcedColors }),
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const isExpected = more.broken || scene === 'refused';
    if (message.type() === 'error' && !isExpected) complaints.push(message.text());
  });
  const tag = Object.entries({ key: 'demo', ...attributes })
    .map(([key, value]) => `data-${key}="${escaped(value)}"`)
    .join(' ');
  const url = new URL(`${origin}/`);
  url.searchParams.set('scene', scene);
  url.searchParams.set('attributes', tag);
  if (more.broken) await page.route('**/main.js*', (route) => route.abort());
  if (more.session)
    await page.addInitScript(
      (key) => localStorage.setItem(key, '{}'),
      `sluice:${origin}:demo:session`,
    );
  await page.goto(url.href);
  await page.locator('.launcher').waitFor();
  if (more.greets) await page.locator('.card').waitFor();
  if (more.session) await page.locator('.badge:not([hidden])').waitFor({ state: 'attached' });
  if (open || more.broken) await page.locator('.launcher').click();
  if (more.broken) await page.getByRole('alert').waitFor();
  if (open) await page.getByRole('dialog').waitFor();
  await more.act?.(page);
  // All animations have ended, and delayed texts are shown.
  await page.waitForTimeout(1_700);
  await page.screenshot({ path: join(target, `${name}-${scheme}.png`) });
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(`axe.run('sluice-chat', { iframes: false })`);
  for (const { id, nodes } of violations)
    complaints.push(
      ...nodes.map(
        (node) =>
          `axe ${id}: ${node.html.slice(0, 140)} ${node.failureSummary?.split('\n')[1] ?? ''}`,
      ),
    );
  await context.close();
  return complaints;
}

const forDocs = process.argv[2] === '--docs';
const [target, ...parts] = forDocs ? [join(ROOT, 'docs/pictures/widget')] : process.argv.slice(2);
if (!target) {
  console.error('usage: node scripts/widget-pictures.mjs --docs | <folder> [part of a name ...]');
  process.exit(2);
}
const isWanted = (name) =>
  forDocs
    ? DOCUMENTED.includes(name)
    : parts.length === 0 || parts.some((part) => name.includes(part));
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'widget-gallery-'));
await bundleGallery(folder);
const server = await serve(folder);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
let count = 0;
try {
  const origin = `http://127.0.0.1:${server.address().port}`;
  for (const name of Object.keys(PICTURES).filter(isWanted))
    for (const scheme of forDocs ? ['light'] : ['light', 'dark'])
      for (const complaint of await take(browser, origin, name, scheme, target)) {
        count += 1;
        console.error(`${name} ${scheme}: ${complaint}`);
      }
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
console.error(`Pictures are in ${target}; ${count} complaints.`);
process.exitCode = count === 0 ? 0 : 1;
