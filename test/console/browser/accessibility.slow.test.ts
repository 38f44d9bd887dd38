import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { describeConsole } from './console-visit.ts';
import { sendChat, sendEmail, sendText } from './first-messages.ts';

const PAGES = [
  ...['/', '/messages', '/platform', '/platform?view=queue'],
  ...['/configuration', '/audit', '/doctor', '/incidents', '/people'],
];
const LOOKS = [
  { name: 'light', browser: { colorScheme: 'light' } },
  { name: 'dark', browser: { colorScheme: 'dark' } },
  {
    name: 'on a phone',
    browser: { colorScheme: 'dark', viewport: { width: 360, height: 740 }, hasTouch: true },
  },
] as const;

/** Each with the page that it is on. */
async function findings(page: Page): Promise<string[]> {
  const { pathname } = new URL(page.url());
  return (await axeFindings(page)).map((finding) => `${pathname} | ${finding}`);
}

const overhang = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth');

/** The page has what it asked for. */
async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}

describeConsole('for everyone', (test) => {
  for (const { name, browser } of LOOKS) {
    test(`axe finds nothing on any page: ${name}`, async (visit) => {
      const { page, gateway } = await visit({ browser, signedIn: false });
      await page.getByLabel('Password').waitFor();
      const found = await findings(page);
      await page.getByLabel('Password').fill('of-the-console');
      await page.keyboard.press('Enter');
      await page.locator('#content h1').waitFor();
      await settle(page);
      found.push(...(await findings(page)));
      await sendEmail(gateway, 'A parcel');
      await sendText(gateway, 'one');
      await sendChat(gateway, 'Hello?');
      for (const path of PAGES) {
        await page.goto(gateway.adminUrl + path);
        await settle(page);
        found.push(...(await findings(page)));
        expect([path, await overhang(page)]).toEqual([path, 0]);
      }
      expect(found).toEqual([]);
    });
  }

  test('at 200 % zoom nothing hangs over', async (visit) => {
    const { page, gateway } = await visit({ browser: { viewport: { width: 640, height: 430 } } });
    for (const path of PAGES) {
      await page.goto(gateway.adminUrl + path);
      await settle(page);
      expect([path, await overhang(page)]).toEqual([path, 0]);
    }
  });

  test('a keyboard skips to the content, and opens the menu of a phone and leaves it', async (visit) => {
    const { page } = await visit({ browser: { viewport: { width: 360, height: 740 } } });
    await page.locator('#content h1').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.locator('#content h1:focus').waitFor();
    const menu = page.getByRole('button', { name: 'Menu' });
    await menu.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Sluice' });
    await drawer.getByRole('link', { name: 'Audit' }).press('Enter');
    await drawer.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  });
});
