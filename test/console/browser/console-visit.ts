import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { newVisitor, pictureFile, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { ends } from '../../support/ends.ts';
import type { ConfigChoices } from '../../support/gateway-config.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { PASSWORD } from '../server/console-scene.ts';

/** More than any test takes on an idle machine, by far. */
const TEST_TIMEOUT_MS = 300_000;

export interface VisitChoices {
  readonly gateway?: Partial<ConfigChoices>;
  /** The browser's own. */
  readonly browser?: BrowserContextOptions;
  /** The page that is opened first. */
  readonly path?: string;
  /** Whether the operator signs in at once. */
  readonly signedIn?: boolean;
}

/** A gateway of the test's own, and an operator's browser at its console. */
export interface ConsoleVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly gateway: RunningGateway;
  readonly dataDir: string;
}

type Visit = (choices?: VisitChoices) => Promise<ConsoleVisit>;
type Define = (title: string, body: (visit: Visit) => Promise<void>) => void;

/** Tests of the console in a real browser, each with a whole gateway of its own. */
export function describeConsole(name: string, define: (test: Define) => void): void {
  const missing = whyNoBrowser();
  if (missing !== undefined) {
    process.stderr.write(`\n!! SKIPPED: ${name}, in a browser, since ${missing}\n`);
  }
  (missing === undefined ? describe : describe.skip)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await startBrowser();
    }, TEST_TIMEOUT_MS);
    afterAll(() => browser?.close(), TEST_TIMEOUT_MS);
    define((title, body) => {
      test(title, () => run(browser, title, body), TEST_TIMEOUT_MS);
    });
  });
}

/** A failure leaves pictures; a page that misbehaves fails its test. */
async function run(
  browser: Browser | undefined,
  title: string,
  body: (visit: Visit) => Promise<void>,
): Promise<void> {
  if (browser === undefined) throw new Error('the browser has not started');
  const visits: ConsoleVisit[] = [];
  const faults: (readonly string[])[] = [];
  try {
    await body(async (choices = {}) => {
      const { visit, seen } = await open(browser, choices);
      visits.push(visit);
      faults.push(...seen);
      return visit;
    });
    if (faults.flat().length > 0) throw new Error(`the page misbehaved: ${faults.flat().join()}`);
  } catch (error) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'));
    for (const [n, { page }] of visits.entries()) {
      const path = pictureFile(folder, `${title}-${n + 1}`);
      await page.screenshot({ path, timeout: 5_000 }).catch(() => undefined);
    }
    if (error instanceof Error) error.message += `\nPictures of the pages: ${folder}`;
    throw error;
  }
}

async function open(
  browser: Browser,
  { gateway: parts = {}, browser: options = {}, path = '/', signedIn = true }: VisitChoices,
): Promise<{ visit: ConsoleVisit; seen: (readonly string[])[] }> {
  const dir = tempDir();
  ends(() => dir.remove());
  const gateway = await startGateway({ dataDir: dir.path, ...parts });
  ends(() => gateway.stop());
  const { context, faults, strangers } = await newVisitor(browser, {
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const page = await context.newPage();
  await page.goto(gateway.adminUrl + path);
  if (signedIn) await signIn(page);
  return { visit: { page, context, gateway, dataDir: dir.path }, seen: [faults, strangers] };
}

/** Fills in the login that is shown. */
export async function signIn(page: Page, password: string = PASSWORD): Promise<void> {
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  if (password !== PASSWORD) return;
  await page.locator('#content').waitFor();
}
