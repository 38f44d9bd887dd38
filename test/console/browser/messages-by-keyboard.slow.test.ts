import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { describeDesk } from './desk.ts';
import { stock } from './stock.ts';

describeDesk('Messages', (test) => {
  test('works by keyboard alone', async (desk) => {
    await stock(desk);
    const { page, open, row } = await desk.operator();
    await open('/messages?text=parcel');
    await row('Parcel number').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+X');
    await page.getByText('3 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('3 selected').waitFor({ state: 'detached' });
    const current = page.locator('.entry.current');
    const subject = (await current.locator('.subject').textContent()) ?? '';
    await page.waitForFunction('document.activeElement?.closest(".entry.current") !== null');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: subject }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL('**/messages?text=parcel');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing in the list (${colorScheme})`, async (desk) => {
      await stock(desk);
      const { page, open, row, faults } = await desk.operator({ colorScheme });
      await open('/messages');
      await row('').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await row('').nth(2).getByRole('checkbox').click();
      await row('')
        .nth(4)
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] });
      await page.getByText('3 selected').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await open('/messages?text=nothinghasthis');
      await page.getByRole('heading', { name: 'No messages found' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      await open('/messages');
      await row('').first().waitFor();
      await page.getByRole('button', { name: 'Filters' }).click();
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      expect(faults).toEqual([]);
    });
  }
});
