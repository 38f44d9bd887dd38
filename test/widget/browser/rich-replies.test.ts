import { expect } from '@jest/globals';
import { describeInBrowser } from './setting.ts';

const TABLE = 'Our sizes:\n\n| Size | Left |\n|---|---:|\n| 42 | **none** |\n| 43 | 7 |';
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
});
