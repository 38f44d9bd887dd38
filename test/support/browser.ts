import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from 'playwright-core';
import { ends } from './ends.ts';

/** Debian's Chromium. The headless shell uses about a fifth less processor time. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) =>
  existsSync(path),
);

/** Why no browser can be started here; undefined when one can. */
export function whyNoBrowser(): string | undefined {
  return CHROMIUM === undefined
    ? 'chromium-headless-shell is not installed (npm test says how)'
    : undefined;
}

/** Chromium without a window; as root it has no sandbox. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--mute-audio'],
  });
}

/** A visitor's browser with a profile of its own. */
export interface Visitor {
  readonly context: BrowserContext;
  /** Addresses outside of this machine that a page asked for; none of them was reached. */
  readonly strangers: readonly string[];
  /** What any page of it did that no page here may: errors thrown, dialogs, violations of its CSP. */
  readonly faults: readonly string[];
}

/** A new profile that ends with the test, and reaches nothing but this machine. */
export async function newVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
    ...options,
  });
  ends(() => context.close());
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  const strangers: string[] = [];
  const faults: string[] = [];
  await context.route(isStranger, (route, request) => {
    strangers.push(request.url());
    return route.abort();
  });
  await context.routeWebSocket(isStranger, (socket) => {
    strangers.push(socket.url());
    return socket.close();
  });
  await context.exposeFunction('reportViolation', (what: string) => faults.push(`CSP: ${what}`));
  await context.addInitScript(watchViolations);
  context.on('page', (page) => {
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  return { context, strangers, faults };
}

/** Generous: another test's browser may have the processor. */
const ACTION_TIMEOUT_MS = 90_000;

/** As source, since it runs in the page. */
const watchViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  window.reportViolation(event.effectiveDirective + ' ' + event.blockedURI);
});`;

function isStranger(url: URL): boolean {
  if (['data:', 'blob:', 'about:', 'chrome-error:'].includes(url.protocol)) return false;
  return !/^127\.\d+\.\d+\.\d+$|^localhost$|^\[::1\]$/.test(url.hostname);
}

/** Where a picture of a page goes that failed: below the system's temporary folder. */
export const pictureFile = (folder: string, name: string): string =>
  join(folder, `${name.replace(/[^\w-]+/g, '-').slice(0, 80)}.png`);
