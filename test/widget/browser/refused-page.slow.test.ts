import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser } from './setting.ts';

const REFUSED = 'Chat isn’t available on this page.';

/** Notes what the page is told from its first line on. */
const noteErrors = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.errors = [];
    window.Sluice = [['on', 'error', ({ code }) => errors.push(code)]];`);

const errorsOf = (page: Page): Promise<unknown> => page.evaluate('window.errors');

describeInBrowser('a page that may not connect', (test) => {
  test('is told so, as are its developer and the visitor, who is not offline', async (setting) => {
    const { chat } = await setting.visit();
    const { page } = chat;
    const refusals: string[] = [];
    page.on('console', (line) => {
      if (line.text().startsWith('Sluice:')) refusals.push(line.text());
    });
    await noteErrors(page);
    // The same page, at an origin that is not configured.
    await page.goto(page.url().replace('127.0.0.1', 'localhost'));
    await chat.launcher.waitFor();
    expect(await errorsOf(page)).toEqual(['origin']);
    await chat.launcher.click();
    await chat.panel.getByRole('alert').filter({ hasText: REFUSED }).waitFor();
    expect(await chat.input.count()).toBe(0);
    for (const words of ['You’re offline', 'Ask us anything'])
      expect(await chat.host.getByText(words).count()).toBe(0);
    expect(await errorsOf(page)).toEqual(['origin']);
    await chat.until('the advice', () => refusals.length > 0);
    expect(refusals).toEqual([expect.stringMatching(/add http:\/\/localhost:\d+ to the chat's/)]);
  });

  test('has an unknown key, and is told that', async (setting) => {
    const { chat } = await setting.visit({ data: { key: 'nope' } });
    const { page } = chat;
    await noteErrors(page);
    for (const url of [page.url(), page.url().replace('127.0.0.1', 'localhost')]) {
      await page.goto(url);
      await chat.launcher.click();
      await chat.panel.getByRole('alert').filter({ hasText: REFUSED }).waitFor();
      expect(await errorsOf(page)).toEqual(['unknown_key']);
      await chat.launcher.click();
    }
  });

  test('is in a sandbox, and its visitor is told', async (setting) => {
    const { chat } = await setting.visit();
    await chat.page.evaluate(() => {
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      const script = document.querySelector('script[data-key]')?.outerHTML ?? '';
      frame.srcdoc = `<html lang="en"><body>${script}`;
      frame.style.cssText = 'width: 600px; height: 500px';
      document.body.append(frame);
    });
    const frame = chat.page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Open chat' }).click();
    await frame.getByRole('alert').filter({ hasText: REFUSED }).waitFor();
  });
});
