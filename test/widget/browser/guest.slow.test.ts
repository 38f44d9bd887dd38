import { expect } from '@jest/globals';
import { describeInBrowser } from './setting.ts';

/**
 * What Prototype.js 1.6 does to the objects of every page that has it. Its `toJSON` is tried in
 * `storage.test.ts`: Playwright cannot work beside it.
 */
const PROTOTYPE_JS = `
  Array.prototype.entries = function () { return [...this]; };
  Array.from = (all) => Array.prototype.slice.call(all);`;

describeInBrowser('on other people’s pages', (test) => {
  test('messages arrive and are kept beside Prototype.js', async (setting) => {
    const { chat } = await setting.visit();
    await chat.page.addInitScript(PROTOTYPE_JS);
    await chat.page.reload();
    await chat.open();
    await chat.send('Is it "there"?');
    await chat.shows(['Is it "there"?', 'You said: Is it "there"?']);
    expect(setting.arrived('Is it').map(({ content }) => content)).toEqual(['Is it "there"?']);
    await chat.page.reload();
    await chat.shows(['Is it "there"?', 'You said: Is it "there"?']);
  });
});
