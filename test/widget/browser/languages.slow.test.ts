import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { tempDir } from '../../support/temp-dir.ts';
import { describeInBrowser } from './setting.ts';

const folder = tempDir();
afterAll(folder.remove);
const swedish = join(folder.path, 'sv.json');
writeFileSync(
  swedish,
  JSON.stringify({ openChat: 'Öppna chatten', dismiss: 'Dölj', message: 'Meddelande' }),
);

const speak = (page: Page, lang: string): Promise<void> =>
  page.evaluate((tag) => {
    document.documentElement.lang = tag;
  }, lang);

describeInBrowser(
  'languages',
  (test) => {
    test('a page that changes its language changes the open chat, which keeps the draft', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.type('half a thought');
      await speak(chat.page, 'de-AT');
      const field = chat.host.getByRole('textbox', { name: 'Nachricht', exact: true });
      await field.waitFor();
      await expect(field.inputValue()).resolves.toBe('half a thought');
      await chat.page.getByRole('button', { name: 'Chat schließen' }).waitFor();
      await speak(chat.page, 'ar');
      await chat.host.locator('[dir=rtl]').first().waitFor({ state: 'attached' });
      await speak(chat.page, 'en');
      await chat.input.waitFor();
    });

    test('a language whose texts do not come leaves the former one, until the page asks again', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.page.route('**/widget/texts/**', (route) => route.abort());
      const failed = chat.page.waitForEvent('requestfailed');
      await speak(chat.page, 'ar');
      await failed;
      const frame = chat.host.getByRole('complementary');
      await chat.until('English', async () => (await frame.getAttribute('lang')) === 'en');
      expect(await frame.getAttribute('dir')).toBe('ltr');
      await chat.page.unrouteAll();
      await speak(chat.page, 'ar');
      await chat.until('Arabic', async () => (await frame.getAttribute('dir')) === 'rtl');
      expect(await frame.getAttribute('lang')).toBe('ar');
    });

    test('a closed chat that was never opened changes its launcher', async (setting) => {
      const { chat } = await setting.visit();
      await chat.launcher.waitFor();
      await speak(chat.page, 'fr');
      await chat.page.getByRole('button', { name: 'Ouvrir le chat' }).waitFor();
    });

    test('a language of the shop is spoken, and has English words where it has none', async (setting) => {
      const { chat } = await setting.visit({ lang: 'sv-SE' });
      await chat.page.getByRole('button', { name: 'Öppna chatten' }).click();
      await chat.host.getByRole('textbox', { name: 'Meddelande', exact: true }).waitFor();
      await chat.host.getByRole('button', { name: 'Attach files', exact: true }).waitFor();
      await chat.host.locator('[lang=sv-SE]').first().waitFor({ state: 'attached' });
    });
  },
  { widget: { languages: [{ language: 'sv', file: swedish }] } },
);
