/**
 * npm run bench -- guests [--only NAME] [--json]
 *
 * Uses the widget on pages of other people: with the frameworks, dialogs, carousels, shortcuts and
 * style sheets of shops, as the npm registry has them. On each, in Chromium and in Firefox: the
 * launcher is in its corner, a text arrives as it is typed, the page's keys work outside of the chat
 * and not within, and nothing of the page has changed when the chat is closed.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { FIRST, type GuestPage, PAGES } from './guests/pages.ts';
import { startGateway } from './support/gateway.ts';
import { readOptions } from './support/options.ts';
import { SHOP } from './support/shop.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

/** Drives both browsers; installed for the run like the pages' packages, as nothing else needs it. */
const PUPPETEER = ['puppeteer-core@24.43.1'];

/** What is used of it. */
interface Puppeteer {
  launch(options: {
    readonly browser: 'chrome' | 'firefox';
    readonly executablePath: string;
    readonly headless: boolean;
    readonly args?: readonly string[];
  }): Promise<Browser>;
}
interface Browser {
  version(): Promise<string>;
  createBrowserContext(): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>;
  close(): Promise<void>;
}
interface Page {
  readonly keyboard: { type(text: string): Promise<void>; press(key: string): Promise<void> };
  readonly mouse: { click(x: number, y: number): Promise<void> };
  setDefaultTimeout(ms: number): void;
  setViewport(size: { readonly width: number; readonly height: number }): Promise<void>;
  goto(url: string): Promise<unknown>;
  evaluate(text: string): Promise<unknown>;
  waitForFunction(text: string): Promise<unknown>;
}

const BROWSERS = [
  { browser: 'chrome', executablePath: '/usr/bin/chromium-headless-shell' },
  { browser: 'firefox', executablePath: '/usr/bin/firefox-esr' },
] as const;
const TEXT = 'ask / skip? j k';
const WAIT_MS = 10_000;
const EDGES = [20, 16];
const NO_PLATFORM = 'http://127.0.0.1:9';

const { only, json } = readOptions();
const pages = PAGES.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()));

/** Each page has the packages that it names: their versions differ. */
async function install(folder: string): Promise<void> {
  const used = [PUPPETEER, ...pages.flatMap(({ packages }) => (packages ? [packages] : []))];
  for (const [prefix, packages] of new Map(used.map((each) => [folderOf(folder, each), each]))) {
    await promisify(execFile)('npm', [
      ...['install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund'],
      ...['--legacy-peer-deps', ...packages],
    ]);
  }
}

const folderOf = (folder: string, packages: readonly string[]): string =>
  join(folder, packages.join(' ').replace(/\W+/g, '-') || 'none');
const modulesOf = (folder: string, packages: readonly string[]): string =>
  join(folderOf(folder, packages), 'node_modules');

interface Site {
  readonly origin: string;
  gatewayUrl: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
};

/** `/3/` is the third page, `/3/two` the next one of its framework, `/3/lib/` has its packages. */
async function startSite(bench: Workbench, folder: string): Promise<Site> {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    const [, at = '', rest = ''] = /^\/(\d{1,3})(?:\/(.*))?$/.exec(path) ?? [];
    const page = PAGES[Number(at || NaN)];
    if (page === undefined) return void response.writeHead(404).end();
    const modules = modulesOf(folder, page.packages ?? []);
    if (rest.startsWith('lib/')) {
      response.setHeader('content-type', TYPES[extname(rest)] ?? 'application/octet-stream');
      return void response.end(await readFile(join(modules, rest.slice(4))));
    }
    if (rest === 'bundle.js') {
      response.setHeader('content-type', 'text/javascript');
      return void response.end(await bundled(bench, page, modules));
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(htmlOf(page, `/${at}`, site.gatewayUrl, rest === 'two'));
  };
  const server = createServer(({ url = '/' }, response) => {
    answer(url.split('?')[0] ?? '/', response).catch((error: unknown) => {
      console.error(String(error));
      response.writeHead(500).end();
    });
  });
  bench.onEnd('site', () => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server's address is never a string.
  const { port } = server.address() as AddressInfo;
  const site: Site = { origin: `http://127.0.0.1:${port}`, gatewayUrl: '' };
  return site;
}

const TWO =
  '<div data-barba="wrapper"><main id="swup" class="transition-fade" data-barba="container" data-barba-namespace="two"><h1>Two</h1></main></div>';

const tag = (gatewayUrl: string): string =>
  `<script async src="${gatewayUrl}/widget.js" data-key="${SHOP.chatKey}"></script>`;
const lateTag = (gatewayUrl: string): string => `<script>setTimeout(function () {
  var script = document.createElement('script');
  script.async = true;
  script.src = '${gatewayUrl}/widget.js';
  script.setAttribute('data-key', '${SHOP.chatKey}');
  document.head.appendChild(script);
}, 200);</script>`;

function htmlOf(page: GuestPage, at: string, gatewayUrl: string, isTwo: boolean): string {
  const { head = '', body = '<h1>A shop</h1><input aria-label="search">', bundle } = page;
  return `<!doctype html>
<html ${page.htmlAttributes ?? 'lang="en"'}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A shop</title>
${FIRST}${head.replaceAll('/lib/', `${at}/lib/`)}
${page.isLate === true ? lateTag(gatewayUrl) : tag(gatewayUrl)}
${bundle === undefined ? '' : `<script type="module" src="${at}/bundle.js"></script>`}
</head>
<body>${isTwo ? TWO : body}${'<p style="min-height: 60px">words of the shop</p>'.repeat(20)}</body>
</html>`;
}

async function bundled(bench: Workbench, page: GuestPage, modules: string): Promise<string> {
  const folder = await bench.folder();
  const entry = join(folder, 'entry.js');
  await symlink(modules, join(folder, 'node_modules'));
  await writeFile(entry, (page.bundle ?? '').replaceAll('PACKAGES', modules));
  await build({
    ...{ root: folder, configFile: false, logLevel: 'error' },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: join(folder, 'out'),
      lib: { entry, formats: ['es'], fileName: () => 'page.js' },
    },
  });
  return readFile(join(folder, 'out', 'page.js'), 'utf8');
}

async function faultsOn(browser: Browser, origin: string, guest: GuestPage): Promise<string[]> {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    return await visit(page, `${origin}/${PAGES.indexOf(guest)}`, guest);
  } catch (error) {
    return [String(error)];
  } finally {
    await context.close();
  }
}

const LAUNCHER = `document.querySelector('sluice-chat')?.shadowRoot?.querySelector('.launcher')`;
const FIELD = `document.querySelector('sluice-chat')?.shadowRoot?.activeElement?.tagName === 'TEXTAREA'`;
const CLOSED = `document.querySelector('sluice-chat')?.shadowRoot?.querySelector('.panel')?.dataset.open === 'false'`;
const LINE = `document.querySelector('sluice-chat').shadowRoot.querySelector('[data-line]') !== null`;
/** Where the launcher is: from the left, the right and the bottom of the page, and its middle. */
const PLACE = `(() => {
  const { left, right, top, bottom } = ${LAUNCHER}.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  return { left, right: clientWidth - right, bottom: innerHeight - bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
})()`;
/** What of the page the chat might have changed. */
const STATE = `[document.title, document.adoptedStyleSheets.length, document.body.children.length,
  ...[document.documentElement, document.body].map(({ attributes }) =>
    Array.prototype.map.call(attributes, ({ name, value }) => name + '=' + value).join(' '))].join(' | ')`;

interface Place {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly x: number;
  readonly y: number;
}

async function visit(page: Page, url: string, guest: GuestPage): Promise<string[]> {
  const faults: string[] = [];
  const evaluate = <T>(text: string): Promise<T> => page.evaluate(text) as Promise<T>;
  const wait = async (what: string, text: string): Promise<void> => {
    await page.waitForFunction(text).catch(() => {
      throw new Error(`${what} within ${WAIT_MS / 1000} s`);
    });
  };
  await page.setViewport(guest.viewport ?? { width: 1280, height: 800 });
  await page.goto(url);
  await wait('no launcher', LAUNCHER);
  if (guest.act !== undefined) await evaluate(`(async () => { ${guest.act} })()`);
  await wait('no launcher after what the page did', LAUNCHER);
  const place = await evaluate<Place>(PLACE);
  const side = guest.htmlAttributes?.includes('rtl') === true ? place.left : place.right;
  if (!EDGES.some((edge) => near(side, edge) && near(place.bottom, edge))) {
    faults.push(`the launcher is not in its corner: ${JSON.stringify(place)}`);
  }
  const before = await evaluate<string>(STATE);
  const heard = await evaluate<number>('window.heard');
  await page.mouse.click(place.x, place.y);
  await wait('no focus in the field', FIELD);
  await page.keyboard.type(TEXT);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await wait('no line of the text', LINE);
  const line = await evaluate<string>(
    `document.querySelector('sluice-chat').shadowRoot.querySelector('[data-line]').textContent`,
  );
  if (!line.includes(TEXT)) faults.push(`the text arrives as ${JSON.stringify(line)}`);
  const within = await evaluate<number>('window.heard');
  if (within !== heard) faults.push(`the page hears ${within - heard} keys of the chat`);
  await page.keyboard.press('Escape');
  await wait('not closed by Escape', CLOSED);
  const after = await evaluate<string>(STATE);
  if (after !== before) faults.push(`the page was ${before}, and is ${after}`);
  if (guest.key !== undefined) {
    await evaluate(
      `(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).blur()`,
    );
    await page.keyboard.press(guest.key);
    await page
      .waitForFunction(`window.heard > ${within}`)
      .catch(() => faults.push('the page does not hear its own key'));
  }
  return faults;
}

const near = (value: number, wanted: number): boolean => Math.abs(value - wanted) <= 1;

await withWorkbench(async (bench) => {
  const folder = await bench.folder();
  await install(folder);
  const { default: puppeteer } = (await import(
    join(modulesOf(folder, PUPPETEER), 'puppeteer-core/lib/esm/puppeteer/puppeteer-core.js')
  )) as { default: Puppeteer };
  const site = await startSite(bench, folder);
  const gateway = await startGateway(bench, {
    ...{ platformUrl: NO_PLATFORM, paused: true, chatOrigins: [site.origin] },
  });
  site.gatewayUrl = `http://127.0.0.1:${gateway.httpPort}`;
  const results = [];
  for (const { browser: name, executablePath } of BROWSERS) {
    if (!existsSync(executablePath)) {
      console.error(`!! SKIPPED: ${name}, since ${executablePath} is not installed`);
      continue;
    }
    const browser = await puppeteer.launch({
      ...{ browser: name, executablePath, headless: true },
      ...(name === 'chrome' && { args: ['--no-sandbox', '--disable-dev-shm-usage'] }),
    });
    bench.onEnd(name, () => browser.close());
    const version = await browser.version();
    for (const page of pages) {
      const faults = await faultsOn(browser, site.origin, page);
      results.push({ browser: version, page: page.name, faults });
      if (!json) console.log(`${faults.length === 0 ? 'PASS' : 'FAIL'} ${version}: ${page.name}`);
      for (const fault of json ? [] : faults) console.log(`       ${fault}`);
    }
  }
  const bad = results.filter(({ faults }) => faults.length > 0).length;
  if (json) console.log(JSON.stringify(results, null, 2));
  else console.log(`${results.length} visits, ${bad} with faults`);
  if (bad > 0) process.exitCode = 1;
});
