import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser, type Visit } from './setting.ts';

const SCHEMES = ['light', 'dark'] as const;

const expectNoFindings = async (state: string, { chat }: Visit): Promise<void> => {
  expect({ state, findings: await axeFindings(chat.page) }).toEqual({ state, findings: [] });
};

describeInBrowser('axe', (test) => {
  test('finds what is wrong, in a shadow root too', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.page.evaluate(`
      document.querySelector('sluice-chat').shadowRoot.querySelector('[role="dialog"]')
        .append(document.createElement('input'))`);
    expect(await axeFindings(chat.page)).toEqual([expect.stringMatching(/^label .*sluice-chat/)]);
  });

  for (const colorScheme of SCHEMES) {
    test(`finds nothing in a conversation (${colorScheme})`, async (setting) => {
      setting.script('Show me everything', {
        content:
          '# A head\n\nWords with **weight**, `code`, [a link](https://acme.example/)\n\n1. one\n2. two\n\n> quoted\n\n```\nlines of code\n```\n\n---\n\n- [x] a list',
        format: 'MARKDOWN',
      });
      const visit = await setting.visit({
        data: { greeting: 'Hello! How can we help?', scheme: colorScheme },
        browser: { colorScheme },
      });
      const { chat } = visit;
      await chat.host.getByText('Hello! How can we help?').waitFor();
      await expectNoFindings('closed, with a greeting', visit);
      await chat.open();
      await expectNoFindings('empty', visit);

      await chat.send('Show me everything');
      await chat.log.locator('[data-from="agent"]').first().waitFor();
      await chat.reaches('Show me everything', 'delivered');
      await expectNoFindings('with a reply', visit);

      const choosing = chat.page.waitForEvent('filechooser');
      await chat.button('Attach files').click();
      await (
        await choosing
      ).setFiles([
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') },
        { name: 'bad.html', mimeType: 'text/html', buffer: Buffer.from('<!doctype html><p>1') },
      ]);
      await chat.host.getByText('This file type can’t be sent').first().waitFor();
      await chat.type('a draft');
      await expectNoFindings('files, one of them refused', visit);
      await chat.button('Remove bad.html').click();
      await chat.send(`${QUIET}with a file`);
      await chat.reaches('with a file', 'delivered');

      await chat.button('More').click();
      // The menu is drawn once its part has been loaded.
      await chat.page.getByRole('menuitem').first().waitFor();
      await expectNoFindings('menu', visit);
      await chat.page.getByRole('menuitem', { name: 'End conversation' }).click();
      await chat.host.getByRole('radio', { name: 'Good', exact: true }).check();
      await expectNoFindings('rating', visit);
      await chat.button('Skip').click();
      await chat.button('Emoji').click();
      await chat.button('grinning face').waitFor();
      await expectNoFindings('emoji', visit);
      await chat.page.keyboard.type('no such thing');
      await chat.host.getByText('Nothing found').waitFor();
      await expectNoFindings('no emoji', visit);
      await chat.page.keyboard.press('Escape');

      await visit.goOffline();
      await chat.page.getByRole('status').filter({ hasText: 'You’re offline.' }).waitFor();
      await chat.send(`${QUIET}waits`);
      await expectNoFindings('offline', visit);
      await visit.goOnline();
      await chat.reaches('waits', 'delivered');
    });

    test(`finds nothing in the form, on a phone and right to left (${colorScheme})`, async (setting) => {
      const form = await setting.visit({
        data: { 'pre-chat': 'required', scheme: colorScheme },
        browser: { colorScheme },
      });
      await form.chat.launcher.click();
      await form.chat.button('Start chat').click();
      await form.chat.panel.getByText('Please fill this in.').first().waitFor();
      await expectNoFindings('form', form);

      const phone = await setting.visit({
        data: { scheme: colorScheme },
        browser: {
          colorScheme,
          viewport: { width: 390, height: 844 },
          hasTouch: true,
          isMobile: true,
        },
      });
      await phone.chat.launcher.tap();
      await phone.chat.type(`${QUIET}from a phone`);
      await phone.chat.button('Send').tap();
      await phone.chat.reaches('from a phone', 'delivered');
      await expectNoFindings('phone', phone);

      const arabic = await setting.visit({
        ...{ lang: 'ar', dir: 'rtl' },
        data: { scheme: colorScheme },
        browser: { colorScheme },
      });
      await arabic.chat.host.getByRole('button').first().click();
      await arabic.chat.host.getByRole('textbox').waitFor();
      await expectNoFindings('right to left', arabic);

      const narrow = await setting.visit({
        ...{ lang: 'ar', dir: 'rtl' },
        data: { scheme: colorScheme },
        browser: { colorScheme, viewport: { width: 320, height: 640 }, forcedColors: 'active' },
      });
      const { host, page } = narrow.chat;
      await host.getByRole('button').first().click();
      await host.getByRole('textbox').fill(`${QUIET}from a narrow window`);
      await page.keyboard.press('Enter');
      await host.locator('[data-state="delivered"]').waitFor();
      await host.locator('.emoji button').first().click();
      await host.locator('.found button').nth(100).waitFor();
      const fits = await host
        .locator('.emoji .popover')
        .evaluate((box) => [box.getBoundingClientRect().left, box.getBoundingClientRect().right]);
      expect(fits[0]).toBeGreaterThanOrEqual(0);
      expect(fits[1]).toBeLessThanOrEqual(320);
      await expectNoFindings('emoji, narrow', narrow);
      await page.keyboard.press('Escape');
      await host.locator('.menu button').first().click();
      await host.getByRole('menuitem').first().click();
      await host.getByRole('radio').nth(3).check();
      await expectNoFindings('rating, narrow', narrow);
      await host.locator('.choices .primary').click();
      await host.locator('.ask[role="status"]').waitFor();
      await expectNoFindings('rated, narrow', narrow);
    });
  }
});
