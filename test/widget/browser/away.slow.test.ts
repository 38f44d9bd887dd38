import { expect } from '@jest/globals';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';
import { axeFindings } from '../../support/axe.ts';

/** The only day that it is open is three days from now. */
const day = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[
  (new Date().getUTCDay() + 3) % 7
];

describeInBrowser(
  'a shop that is closed',
  (test) => {
    test('says when it is back, and keeps the address of a visitor who has written', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.host.getByText(/^Away until .*, /).waitFor();
      const field = chat.host.getByLabel(/^Nobody is here right now/);
      await expect(field.count()).resolves.toBe(0);
      await chat.send('A question at night');
      await field.fill('adda@shop.example');
      expect(await axeFindings(chat.page)).toEqual([]);
      await field.press('Enter');
      await chat.host.getByText('Thank you. We’ll reply to adda@shop.example.').waitFor();
      // The focus is not lost with the field; a mistyped address can be corrected.
      await chat.page.keyboard.type('What is typed next');
      await expect(chat.input.inputValue()).resolves.toBe('What is typed next');
      await chat.button('Use another address').click();
      await field.fill('ada@shop.example');
      await field.press('Enter');
      await chat.host.getByText('Thank you. We’ll reply to ada@shop.example.').waitFor();
      await chat.page.evaluate(() => {
        (window as unknown as { Sluice: { logout(): void } }).Sluice.logout();
      });
      const kept = chat.host.getByText('ada@shop.example');
      await kept.waitFor({ state: 'detached' });
      await chat.send('A question of the next customer');
      await field.waitFor();
      await expect(field.inputValue()).resolves.toBe('');
      await expect(kept.count()).resolves.toBe(0);
      await field.fill('tom@shop.example');
      await field.press('Enter');
      await chat.host.getByText('Thank you. We’ll reply to tom@shop.example.').waitFor();
      await chat.page.reload();
      await chat.line('A question of the next customer').first().waitFor();
      await chat.host.getByText(/^Away until .*, /).waitFor();
      await expect(field.count()).resolves.toBe(0);
    });

    test('asks in a narrow window, right to left, in all colours', async (setting) => {
      for (const browser of [
        { colorScheme: 'light' },
        { colorScheme: 'dark' },
        { forcedColors: 'active' },
      ] as const) {
        const { chat } = await setting.visit({
          ...{ lang: 'ar', dir: 'rtl' },
          browser: { ...browser, viewport: { width: 320, height: 640 } },
        });
        await chat.host.getByRole('button').first().click();
        await chat.host.getByRole('textbox').fill(`${QUIET}at night`);
        await chat.page.keyboard.press('Enter');
        await chat.host.getByLabel(/بريدك/).waitFor();
        expect(await axeFindings(chat.page)).toEqual([]);
      }
    });
  },
  { widget: { hours: { zone: 'UTC', open: [{ days: [day], from: '09:00', to: '18:00' }] } } },
);

const now = new Date();
const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
/** Open now, and for at least ten minutes. */
const opensAt = clock(now.getUTCHours() * 60);
const closesAt = clock(Math.min(24 * 60, (now.getUTCHours() + 2) * 60));
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

describeInBrowser(
  'a shop that has closed since',
  (test) => {
    test('asks only who has written since', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.send(`${QUIET}A question by day`);
      await chat.reaches('A question by day', 'delivered');
      await chat.page.clock.setFixedTime(Date.now() + 3 * 3_600_000);
      await chat.page.reload();
      await chat.line('A question by day').waitFor();
      await chat.host.getByText(/^Away until .*, /).waitFor();
      await expect(chat.host.getByLabel(/^Nobody is here right now/).count()).resolves.toBe(0);
    });
  },
  { widget: { hours: { zone: 'UTC', open: [{ days: DAYS, from: opensAt, to: closesAt }] } } },
);
