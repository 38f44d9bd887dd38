import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

/** Holds the requests of these URLs. @returns a function that lets them go on */
async function hold(page: Page, urls: string): Promise<() => void> {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  await page.route(urls, async (route) => {
    await gate;
    await route.continue();
  });
  return goOn;
}

const attach = (chat: ChatPage): Promise<void> =>
  chat.host
    .locator('input[type=file]')
    .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') });

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

  test('a message that is sent during an upload goes when the file is there', async (setting) => {
    const { chat } = await setting.visit();
    const notice = chat.host.getByText('This is sent once the file is uploaded.');
    await chat.open();
    const goOn = await hold(chat.page, '**/chat/uploads');
    await attach(chat);
    await chat.type(`${QUIET}see the file`);
    await chat.input.press('Enter');
    await notice.waitFor();
    // What is typed after that is not sent unasked.
    await chat.type(`${QUIET}see the file and`);
    await notice.waitFor({ state: 'detached' });
    await chat.type(`${QUIET}see the file`);
    await chat.input.press('Enter');
    await notice.waitFor();
    goOn();
    await chat.reaches('see the file', 'delivered');
    expect(await chat.line('see the file').innerText()).toContain('notes.txt');
    expect(await notice.count()).toBe(0);
    expect(await chat.input.inputValue()).toBe('');
  });
});
