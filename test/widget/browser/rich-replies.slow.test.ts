import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { describeInBrowser } from './setting.ts';

const TABLE = 'Our sizes:\n\n| Size | Left |\n|---|---:|\n| 42 | **none** |\n| 43 | 7 |';
const WIDE =
  '| Size | Colour | Width | In stock | Delivery | Price |\n|---|---|---|---|---|---|\n| 42 | Night blue | Regular | 3 | Tomorrow | 129 € |\n\n```\ncurl -s "https://api.shop.example/v2/orders?limit=100&status=open&page=1"\n```';
const PICTURE =
  '<p><img src="https://x.test/a.png" alt="Lamp"><a href="https://x.test/">Buy it</a></p>';

describeInBrowser('a reply', (test) => {
  test('with a table in Markdown shows its rows and cells', async (setting) => {
    setting.script('Which sizes?', { content: TABLE, format: 'MARKDOWN' });
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send('Which sizes?');
    const table = chat.log.locator('table');
    await table.waitFor();
    expect(await table.locator('tr').count()).toBe(3);
    expect(await table.locator('th').allTextContents()).toEqual(['Size', 'Left']);
    expect(await table.locator('td').allTextContents()).toEqual(['42', 'none', '43', '7']);
  });

  test('with a picture beside a link keeps them apart', async (setting) => {
    setting.script('A lamp?', { content: PICTURE, format: 'HTML' });
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send('A lamp?');
    const link = chat.log.getByRole('link', { name: 'Buy it' });
    await link.waitFor();
    expect(await link.locator('xpath=..').innerText()).toBe('Lamp Buy it');
  });

  test('that is wide scrolls in its own box, by keyboard too', async (setting) => {
    setting.script('A wide table?', { content: WIDE, format: 'MARKDOWN' });
    const { chat } = await setting.visit({ browser: { viewport: { width: 320, height: 600 } } });
    await chat.open();
    await chat.send('A wide table?');
    await chat.log.locator('table').waitFor();
    const overflow = (element: Element): number => element.scrollWidth - element.clientWidth;
    const boxes = chat.log.locator('.scrolls');
    expect(await boxes.count()).toBe(2);
    for (const box of await boxes.all()) {
      expect(await box.evaluate(overflow)).toBeGreaterThan(50);
      await box.focus();
      await chat.page.keyboard.press('ArrowRight');
      await chat.until('the box to scroll', () => box.evaluate(({ scrollLeft }) => scrollLeft > 0));
    }
    expect(await chat.log.evaluate(overflow)).toBe(0);
    expect(await axeFindings(chat.page)).toEqual([]);
  });

  test('of up to three emoji is large, and of more or of words is not', async (setting) => {
    setting.script('Send me some', { content: '👨‍👩‍👧🇩🇪👍🏽', format: 'MARKDOWN' });
    const { chat } = await setting.visit();
    await chat.open();
    const large = chat.log.locator('.say.large');
    // An emoji alone gets no answer.
    await chat.send('❤️');
    await chat.send('Send me some');
    await chat.line('👨‍👩‍👧🇩🇪👍🏽').waitFor();
    expect(await large.allTextContents()).toEqual(['❤️', '👨‍👩‍👧🇩🇪👍🏽']);
    for (const text of ['🎉🎉🎉🎉', '12', 'ok 👍']) await chat.send(text);
    expect(await large.count()).toBe(2);
  });
});
