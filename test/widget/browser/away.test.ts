import { expect } from '@jest/globals';
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
      await field.fill('ada@shop.example');
      expect(await axeFindings(chat.page)).toEqual([]);
      await field.press('Enter');
      await chat.host.getByText('Thank you. We can reach you at ada@shop.example.').waitFor();
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
      await chat.host.getByText('Thank you. We can reach you at tom@shop.example.').waitFor();
      await chat.page.reload();
      await chat.line('A question of the next customer').first().waitFor();
      await chat.host.getByText(/^Away until .*, /).waitFor();
      await expect(field.count()).resolves.toBe(0);
    });
  },
  { widget: { hours: { zone: 'UTC', open: [{ days: [day], from: '09:00', to: '18:00' }] } } },
);
