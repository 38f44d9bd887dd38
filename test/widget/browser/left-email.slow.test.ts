import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { newVisitor, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import { startHostSite } from '../../support/host-site.ts';
import { aGateway, ANN, outbox } from '../../support/person-scene.ts';
import { ChatPage } from './chat-page.ts';

const missing = whyNoBrowser();
if (missing !== undefined) {
  process.stderr.write(`\n!! SKIPPED: an email that is left, in a browser, since ${missing}\n`);
}
const describeInBrowser = missing === undefined ? describe : describe.skip;

const LONG_MS = 90_000;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const dayIn = (days: number) => DAYS[(new Date().getUTCDay() + days) % 7];

async function introduce(chat: ChatPage): Promise<void> {
  await chat.launcher.click();
  await chat.page.getByRole('textbox', { name: 'Name' }).fill('Ann');
  await chat.page.getByRole('textbox', { name: 'Email' }).fill(ANN);
  await chat.button('Start chat').click();
  await chat.input.waitFor();
}

describeInBrowser('the questions before the chat, with the local platform', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, LONG_MS);
  afterAll(() => browser.close(), LONG_MS);

  test.each([
    { shop: 'that is away', days: [dayIn(3)], isAsked: true },
    { shop: 'that is open', days: DAYS, isAsked: false },
  ])(
    'lead to a confirmation of the address, which is said, only in a shop $shop',
    async ({ days, isAsked }) => {
      const site = await startHostSite();
      ends(() => site.stop());
      const hours = { zone: 'UTC', open: [{ days, from: '00:00', to: '24:00' }] };
      const widget = { preChat: 'required', hours };
      const { dataDir, running } = await aGateway({ chat: { origins: [site.origin], widget } });
      const { context, faults } = await newVisitor(browser);
      const page = await context.newPage();
      const chat = new ChatPage(page);
      await page.goto(site.pageUrl({ gatewayUrl: running.gateway.httpUrl, key: CHAT_KEY }));
      await introduce(chat);
      const said = chat.host.getByText(`Check your email at ${ANN}`);
      if (isAsked) {
        await said.waitFor();
        await chat.button('Use another address').waitFor();
        expect(await axeFindings(page)).toEqual([]);
      }
      await chat.send('Is anybody there?');
      await said.waitFor({ state: 'detached' });
      await chat.log.locator('[data-from="agent"][data-line]').first().waitFor();
      const mails = () => outbox(dataDir).filter((name) => name.endsWith('.eml')).length;
      if (isAsked) await chat.until('the mail', () => mails() > 0);
      expect(mails()).toBe(isAsked ? 1 : 0);
      expect(faults).toEqual([]);
      await context.close();
    },
    LONG_MS,
  );

  test(
    'of a shop that was open then lead to one once the visitor writes while it is away',
    async () => {
      const site = await startHostSite();
      ends(() => site.stop());
      const open = [{ days: [dayIn(3)], from: '00:00', to: '24:00' }];
      const widget = { preChat: 'required', hours: { zone: 'UTC', open } };
      const { dataDir, running } = await aGateway({ chat: { origins: [site.origin], widget } });
      const { context, faults } = await newVisitor(browser);
      const page = await context.newPage();
      const chat = new ChatPage(page);
      // The page is of the day on which it is open, and then of today.
      await page.clock.setFixedTime(Date.now() + 3 * 24 * 3_600_000);
      await page.goto(site.pageUrl({ gatewayUrl: running.gateway.httpUrl, key: CHAT_KEY }));
      await introduce(chat);
      await page.clock.setFixedTime(Date.now());
      await page.reload();
      await chat.host.getByText(/^Away until .*, /).waitFor();
      const mails = () => outbox(dataDir).filter((name) => name.endsWith('.eml')).length;
      expect(mails()).toBe(0);
      await chat.send('Is anybody there?');
      await chat.host.getByText(`Check your email at ${ANN}`).waitFor();
      await chat.until('the mail', () => mails() === 1);
      await chat.button('Use another address').click();
      await page.keyboard.type('bob@customer.example');
      await page.keyboard.press('Enter');
      await chat.host.getByText('Check your email at bob@customer.example').waitFor();
      await chat.until('the other mail', () => mails() === 2);
      expect(faults).toEqual([]);
      await context.close();
    },
    LONG_MS,
  );
});
