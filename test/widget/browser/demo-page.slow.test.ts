import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newVisitor, startBrowser, type Visitor, whyNoBrowser } from '../../support/browser.ts';
import { startDemoGateway } from '../../support/demo-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { axeFindings } from '../../support/axe.ts';
import { ChatPage } from './chat-page.ts';

const missing = whyNoBrowser();
if (missing !== undefined) {
  process.stderr.write(`\n!! SKIPPED: the demo page, in a browser, since ${missing}\n`);
}
const describeInBrowser = missing === undefined ? describe : describe.skip;

const LONG_MS = 90_000;

describeInBrowser('GET /demo', () => {
  const dir = tempDir();
  let gateway: Awaited<ReturnType<typeof startDemoGateway>>;
  let browser: Browser;
  beforeAll(async () => {
    gateway = await startDemoGateway(dir.path);
    browser = await startBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    dir.remove();
  }, LONG_MS);

  const open = async (
    path: string,
    options: Parameters<typeof newVisitor>[1] = {},
  ): Promise<Visitor & { readonly page: Page; readonly chat: ChatPage }> => {
    const visitor = await newVisitor(browser, options);
    const page = await visitor.context.newPage();
    await page.goto(gateway.url + path);
    return { ...visitor, page, chat: new ChatPage(page, 'Kaj') };
  };

  test(
    'the shop answers, under a policy that allows nothing else',
    async () => {
      const { page, chat, faults, strangers } = await open('/demo');
      const policy = (await fetch(`${gateway.url}/demo`)).headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*/);
      await chat.open();
      await chat.send('How do I return my shoes?');
      await chat.log.locator('[data-from="agent"]').filter({ hasText: '30 days' }).waitFor();
      await chat.button('Talk to a person').waitFor();
      // Also on the next page, from the journal.
      await page.reload();
      const choices = chat.log.locator('.starters button');
      await chat.button('Yes').waitFor();
      expect(await choices.allInnerTexts()).toEqual(['Yes', 'No', 'Talk to a person']);
      await chat.button('Yes').click();
      await chat.line('You’re welcome!').waitFor();
      await chat.reaches('Yes', 'delivered');
      expect(await choices.count()).toBe(0);

      await page.getByText('This is a demo: try it').click();
      await page.getByRole('button', { name: 'Log in as Ada' }).click();
      await page.getByText('You are Ada now').waitFor();
      await chat.panel.getByText('Signed in as Ada Nilsson').waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await chat.line('How do I return my shoes?').waitFor({ state: 'detached' });

      await chat.launcher.click();
      await chat.input.waitFor({ state: 'hidden' });
      await page.getByRole('radio', { name: 'Moss' }).check();
      await page.getByRole('button', { name: 'The pair' }).click();
      expect(await page.locator('#picture').getAttribute('src')).toBe(
        '/demo/pictures/harbour-moss-pair.svg',
      );
      await page.getByRole('button', { name: 'Add to bag' }).click();
      await page.getByText('Size 42 is in your bag.').waitFor();
      expect({ faults, strangers }).toEqual({ faults: [], strangers: [] });
    },
    LONG_MS,
  );

  test(
    'speaks the visitor’s language, and another one when asked',
    async () => {
      const { page, faults } = await open('/demo', { locale: 'de-AT' });
      await page.getByRole('button', { name: 'Chat öffnen' }).waitFor();
      expect(await page.getAttribute('html', 'lang')).toBe('de');
      await page.getByRole('combobox', { name: 'Sprache' }).selectOption('ar');
      await page.waitForURL('**/demo/ar');
      expect(await page.getAttribute('html', 'dir')).toBe('rtl');
      await page.getByRole('button', { name: 'أضف إلى السلة' }).waitFor();
      expect(faults).toEqual([]);
    },
    LONG_MS,
  );

  for (const colorScheme of ['light', 'dark'] as const) {
    test(
      `axe finds nothing, at any width (${colorScheme})`,
      async () => {
        for (const [path, width] of [
          ['/demo', 1280],
          ['/demo/ar', 390],
        ] as const) {
          const { page, faults } = await open(path, {
            colorScheme,
            viewport: { width, height: 800 },
          });
          await page.locator('.demo summary').click();
          expect({ path, findings: await axeFindings(page) }).toEqual({ path, findings: [] });
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - innerWidth,
          );
          expect({ path, overflow, faults }).toEqual({ path, overflow: 0, faults: [] });
        }
      },
      LONG_MS,
    );
  }

  test('the files behind the page are there, and others are not', async () => {
    const status = async (path: string, method = 'GET'): Promise<number> =>
      (await fetch(gateway.url + path, { method })).status;
    expect(await status('/demo/assets/page.js')).toBe(200);
    expect(await status('/demo/pictures/harbour-sand-side.svg')).toBe(200);
    for (const path of ['/demo/xx', '/demo/assets/..%2fpage.ts', '/demo/pictures/none.svg']) {
      expect({ path, status: await status(path) }).toEqual({ path, status: 404 });
    }
    expect(await status('/demo/identity')).toBe(404);
    expect(await status('/demo/identity', 'POST')).toBe(200);
  });
});
