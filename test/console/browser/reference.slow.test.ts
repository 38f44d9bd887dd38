import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { describeConsole } from './console-visit.ts';

describeConsole('the reference of the API', (test) => {
  test('opens from the tokens, and fits a phone in both schemes', async (visit) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context, gateway } = await visit({
        path: '/configuration#tokens',
        browser: { colorScheme, viewport: { width: 360, height: 740 } },
      });
      const opened = context.waitForEvent('page');
      await page.getByRole('link', { name: 'API reference' }).click();
      const reference = await opened;
      await reference.getByRole('heading', { name: 'Sluice admin API' }).waitFor();
      expect(reference.url()).toBe(`${gateway.adminUrl}/api/docs`);
      await reference.getByRole('heading', { name: 'List entries' }).waitFor();
      const isWider = 'document.documentElement.scrollWidth > innerWidth';
      expect(await reference.evaluate(isWider)).toBe(false);
      expect(await axeFindings(reference)).toEqual([]);
      expect(await reference.evaluate('document.scripts.length')).toBe(0);
    }
  });
});
