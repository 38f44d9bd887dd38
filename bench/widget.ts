/**
 * npm run bench -- widget [--quick] [--json]
 *
 * Measures the widget in Chromium: how long a visitor with an empty cache waits from the press of the
 * launcher until they can type, on a processor that is four times slower; and how much memory a
 * conversation of 1,000 lines takes, beyond that of the page without the widget.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { io, type Socket } from 'socket.io-client';
import type {
  ClientToServerEvents,
  MessageAck,
  ServerToClientEvents,
} from '../src/channels/chat/events.ts';
import { startGateway } from './support/gateway.ts';
import { type Figure, printFigures } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import { SHOP } from './support/shop.ts';
import { median } from './support/statistics.ts';
import { waitUntil } from './support/wait-until.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const SLOWER = 4;
const TYPING_WITHIN_MS = 400;
const MEMORY_AT_MOST_MIB = 12;
const LINES = 1_000;
const WAIT_MS = 120_000;
/** Nothing is delivered: the discard port. */
const NO_PLATFORM = 'http://127.0.0.1:9';

const { quick, json } = readOptions();

await withWorkbench(async (bench) => {
  const site = await startSite(bench);
  const gateway = await startGateway(bench, {
    ...{ platformUrl: NO_PLATFORM, paused: true, chatOrigins: [site.origin] },
  });
  site.gatewayUrl = `http://127.0.0.1:${gateway.httpPort}`;
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  bench.onEnd('browser', () => browser.close());
  const times: number[] = [];
  for (let round = 0; round < (quick ? 3 : 15); round += 1) {
    times.push(await timeToType(browser, site.origin));
  }
  const lines = quick ? LINES / 5 : LINES;
  const bytes = await memoryOfLines(browser, site, lines);
  const figures: readonly Figure[] = [
    {
      what: `launcher to typing at 1/${SLOWER} of the processor, median ms`,
      value: median(times),
      atMost: TYPING_WITHIN_MS,
    },
    { what: `the slowest of ${times.length}, ms`, value: Math.max(...times) },
    {
      what: `memory with ${lines} lines, MiB`,
      value: bytes / 1024 ** 2,
      atMost: MEMORY_AT_MOST_MIB,
    },
  ];
  if (json) console.log(JSON.stringify(figures, null, 2));
  else if (!printFigures(figures)) process.exitCode = 1;
});

interface Site {
  readonly origin: string;
  gatewayUrl: string;
}

/** A shop's site: `/` has the widget, `/bare` does not. */
async function startSite(bench: Workbench): Promise<Site> {
  const server = createServer(({ url }, response) => {
    const tag = `<script async src="${site.gatewayUrl}/widget.js" data-key="${SHOP.chatKey}"></script>`;
    response
      .setHeader('content-type', 'text/html')
      .end(
        `<!doctype html><html lang="en"><title>A shop</title>${url === '/' ? tag : ''}<h1>A shop</h1>`,
      );
  });
  bench.onEnd('site', () => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server's address is never a string.
  const { port } = server.address() as AddressInfo;
  const site: Site = { origin: `http://127.0.0.1:${port}`, gatewayUrl: '' };
  return site;
}

async function openPage(browser: Browser, url: string): Promise<[Page, CDPSession]> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await page.goto(url);
  return [page, devtools];
}

/** Milliseconds from the press to the focus in the field; nothing was fetched before the press. */
async function timeToType(browser: Browser, url: string): Promise<number> {
  const [page, devtools] = await openPage(browser, url);
  await page.locator('sluice-chat .launcher').waitFor();
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  const ms = await page.evaluate<number>(`new Promise((resolve) => {
    const { shadowRoot } = document.querySelector('sluice-chat');
    const began = performance.now();
    const look = () => {
      if (shadowRoot.activeElement?.tagName !== 'TEXTAREA') return requestAnimationFrame(look);
      resolve(performance.now() - began);
    };
    shadowRoot.querySelector('.launcher').click();
    look();
  })`);
  await page.context().close();
  return ms;
}

/** Bytes that the widget with an open conversation of so many lines adds to a page. */
async function memoryOfLines(browser: Browser, site: Site, count: number): Promise<number> {
  const [bare, bareDevtools] = await openPage(browser, `${site.origin}/bare`);
  const before = await heapBytes(bareDevtools);
  await bare.context().close();
  const [page, devtools] = await openPage(browser, site.origin);
  await page.locator('sluice-chat .launcher').click();
  const token = await waitUntil('the token', WAIT_MS, () =>
    page.evaluate<string | undefined>(`Object.entries(localStorage)
      .filter(([name]) => name.endsWith(':session'))
      .map(([, session]) => JSON.parse(session).token)[0]`),
  );
  await sendLines(site.gatewayUrl, token, count);
  await page.locator('sluice-chat [data-line]', { hasText: `Question ${count}:` }).waitFor();
  const after = await heapBytes(devtools);
  await page.context().close();
  return after - before;
}

/** Of scripts and of the documents' objects, after a garbage collection. */
async function heapBytes(devtools: CDPSession): Promise<number> {
  for (let round = 0; round < 3; round += 1) await devtools.send('HeapProfiler.collectGarbage');
  const usage: { usedSize: number; embedderHeapUsedSize?: number } =
    await devtools.send('Runtime.getHeapUsage');
  return usage.usedSize + (usage.embedderHeapUsedSize ?? 0);
}

/** Writes as another device of the visitor: questions of one to three sentences. */
async function sendLines(url: string, token: string, count: number): Promise<void> {
  const socket: Socket<ServerToClientEvents, ClientToServerEvents> = io(url, {
    path: '/chat',
    transports: ['websocket'],
    auth: { key: SHOP.chatKey, token },
  });
  try {
    for (let n = 1; n <= count; n += 1) {
      const text = `Question ${n}: where is my order? ${'It should be here by now. '.repeat(n % 3)}`;
      const answer = await new Promise<MessageAck>((resolve) => {
        socket.emit('message', { id: randomUUID(), text }, resolve);
      });
      if (!answer.ok) throw new Error(`refused: ${answer.error}`);
    }
  } finally {
    socket.disconnect();
  }
}
