import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { DeskQueue, DeskTicketView } from '../../../src/console/contract.ts';
import { newVisitor, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import { startHostSite } from '../../support/host-site.ts';
import { type ConsoleClient } from '../../console/server/console-client.ts';
import { consoleScene } from '../../console/server/console-scene.ts';
import { ChatPage } from './chat-page.ts';

const missing = whyNoBrowser();
if (missing !== undefined) {
  process.stderr.write(`\n!! SKIPPED: what a person has seen, in a browser, since ${missing}\n`);
}
const describeInBrowser = missing === undefined ? describe : describe.skip;

const LONG_MS = 90_000;

/** Somebody at the desk of the local platform, by the requests of the console's page. */
function personAt(operator: ConsoleClient) {
  let path = '';
  const read = async () => (await operator.get(path)).body as DeskTicketView;
  return {
    /** Opens the first ticket that waits, whose last message says this. */
    async opens(chat: ChatPage, last: string): Promise<void> {
      const { messages } = await chat.until('the ticket', async () => {
        const { tickets } = (await operator.get('/api/platform/desk/queue')).body as DeskQueue;
        path = `/api/platform/desk/acme/tickets/${tickets[0]?.id}`;
        const ticket = tickets.length > 0 && (await read());
        return ticket && ticket.messages.at(-1)?.text === last && ticket;
      });
      const answer = await operator.post(`${path}/seen`, { message: messages.at(-1)?.id });
      expect(answer.status).toBe(204);
    },
    async replies(text: string): Promise<void> {
      const { version } = await read();
      expect((await operator.post(`${path}/reply`, { version, text })).status).toBe(200);
    },
  };
}

describeInBrowser('what a person has seen', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, LONG_MS);
  afterAll(() => browser.close(), LONG_MS);

  test(
    'is told below the visitor’s last message, also on the next page, until the reply comes',
    async () => {
      const site = await startHostSite();
      ends(() => site.stop());
      const { gateway, operator } = await consoleScene({ chat: { origins: [site.origin] } });
      const person = personAt(operator);
      const { context, faults, strangers } = await newVisitor(browser);
      const page = await context.newPage();
      const chat = new ChatPage(page);
      await page.goto(site.pageUrl({ gatewayUrl: gateway.httpUrl, key: CHAT_KEY }));
      await chat.open();
      const visible = chat.log.locator('.state');
      const isShownBelow = async (words: string) => {
        await chat.reaches(words, 'seen');
        await chat.line(words).locator('.state').filter({ hasText: 'Seen' }).waitFor();
        expect(await visible.allTextContents()).toEqual(['Seen']);
      };

      await chat.send('I want to talk to a human');
      await chat.log.locator('[data-from="agent"][data-line]').waitFor();
      await chat.send('Do you have it in blue?');
      await chat.reaches('Do you have it in blue?', 'delivered');
      expect(await visible.count()).toBe(0);
      await person.opens(chat, 'Do you have it in blue?');
      await isShownBelow('Do you have it in blue?');

      await page.reload();
      await chat.open();
      await isShownBelow('Do you have it in blue?');

      // What was written since has not been seen.
      await chat.send('Or in green?');
      await chat.reaches('Or in green?', 'delivered');
      expect(await visible.count()).toBe(0);
      await person.opens(chat, 'Or in green?');
      await isShownBelow('Or in green?');

      await person.replies('In blue, since yesterday.');
      await chat.line('In blue, since yesterday.').waitFor();
      await visible.waitFor({ state: 'detached' });
      await chat.reaches('Or in green?', 'seen');
      expect({ faults, strangers }).toEqual({ faults: [], strangers: [] });
    },
    LONG_MS,
  );
});
