import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { holdReplies } from './platform-changes.ts';
import type { ChatPage } from './chat-page.ts';
import { describeInBrowser, type Setting, type Visit } from './setting.ts';

const preview = (chat: ChatPage) => chat.host.locator('.preview');

/** Counts the notes that the page plays; a chime has two. */
const COUNT_NOTES = `{
  window.notes = 0;
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (when) {
    window.notes += 1;
    start.call(this, when);
  };
}`;

/** Asks, closes the chat, and lets the reply come then. */
async function askAndLeave(setting: Setting, { chat }: Visit, question: string): Promise<void> {
  const answer = holdReplies(setting);
  await chat.open();
  await chat.send(question);
  await chat.reaches(question, 'delivered');
  await chat.page.keyboard.press('Escape');
  await chat.input.waitFor({ state: 'hidden' });
  await chat.page.locator('#shop-button').focus();
  answer();
}

describeInBrowser(
  'a reply to a closed chat',
  (test) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`is previewed beside the launcher, and leaves when it is opened (${colorScheme})`, async (setting) => {
        setting.script('Where is it?', {
          content: '# On its way\n\nIt is **with the carrier**.\n\n- tomorrow',
          format: 'MARKDOWN',
        });
        const visit = await setting.visit({
          data: { scheme: colorScheme, greeting: 'Hello!' },
          browser: { colorScheme, reducedMotion: 'reduce', viewport: { width: 320, height: 600 } },
        });
        const { chat } = visit;
        await askAndLeave(setting, visit, 'Where is it?');
        await preview(chat).waitFor();
        expect(await preview(chat).locator('b').innerText()).toBe('Mia');
        expect(await preview(chat).locator('.words > span').textContent()).toBe(
          'On its way It is with the carrier. tomorrow',
        );
        expect(await preview(chat).locator('xpath=..').getAttribute('aria-live')).toBe('polite');
        expect(await axeFindings(chat.page)).toEqual([]);
        // It takes no focus.
        expect(await chat.page.evaluate('document.activeElement.id')).toBe('shop-button');
        await preview(chat).locator('.words').click();
        await chat.input.waitFor();
        await preview(chat).waitFor({ state: 'detached' });
        await chat.page.keyboard.press('Escape');
        await chat.input.waitFor({ state: 'hidden' });
        expect(await preview(chat).count()).toBe(0);
      });
    }

    test('that is dismissed stays so on every page, and the next one is previewed', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await askAndLeave(setting, visit, 'First question');
      await preview(chat).getByText('You said: First question').waitFor();
      const other = await visit.anotherTab();
      await preview(other).waitFor();
      await preview(chat).getByRole('button', { name: 'Dismiss' }).click();
      for (const tab of [chat, other]) await preview(tab).waitFor({ state: 'detached' });
      await chat.page.reload();
      // It is unread all the same.
      await chat.page.getByRole('button', { name: 'Open chat, 1 unread message' }).waitFor();
      expect(await preview(chat).count()).toBe(0);
      await askAndLeave(setting, visit, 'Second question');
      await preview(chat).getByText('You said: Second question').waitFor();
    });

    test('sounds in one tab only, and only if the visitor wants it', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await chat.open();
      const other = await visit.anotherTab();
      await other.open();
      const tabs = [chat, other];
      for (const { page } of tabs) {
        await page.evaluate(COUNT_NOTES);
      }
      const notes = async (): Promise<number> => {
        const heard = await Promise.all(tabs.map(({ page }) => page.evaluate<number>('notes')));
        return heard.reduce((sum, count) => sum + count, 0);
      };
      await chat.send('In silence');
      for (const tab of tabs) await tab.line('You said: In silence').waitFor();
      const sound = (tab: ChatPage) =>
        tab.panel.locator('header').getByRole('img', { name: 'Sound' });
      expect(await sound(chat).count()).toBe(0);
      expect(await notes()).toBe(0);

      await chat.button('More').click();
      await chat.page.getByRole('menuitemcheckbox', { name: 'Sound' }).click();
      // A sample of two notes, and its state in every tab.
      for (const tab of tabs) await sound(tab).waitFor();
      await chat.until('the sample', async () => (await notes()) === 2);
      await chat.send('Aloud');
      for (const tab of tabs) await tab.line('You said: Aloud').waitFor();
      await chat.until('the chime', async () => (await notes()) === 4);
      await chat.send('Again');
      for (const tab of tabs) await tab.line('You said: Again').waitFor();
      await chat.until('the second chime', async () => (await notes()) >= 6);
      expect(await notes()).toBe(6);
    });

    test('sounds once, and not again on the next page, where it is still unread', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await chat.page.addInitScript(COUNT_NOTES);
      const last = (): Promise<string | undefined> =>
        chat.page.evaluate(
          `Object.entries(localStorage).find(([key]) => key.endsWith(':chimed'))?.[1]`,
        );
      await chat.open();
      await chat.button('More').click();
      await chat.page.getByRole('menuitemcheckbox', { name: 'Sound' }).click();
      await askAndLeave(setting, visit, 'Is it loud?');
      const before = await chat.until('the chime', last);
      await chat.page.reload();
      await chat.page.getByRole('button', { name: 'Open chat, 1 unread message' }).waitFor();
      const device = await setting.otherDevice(visit);
      await device.send('From another device');
      await chat.until('the next chime', async () => (await last()) !== before);
      expect(await chat.page.evaluate('notes')).toBe(2);
    });
  },
  { widget: { agent: { name: 'Mia' } } },
);
