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

/** How far the launcher is from the right and the bottom of the page. */
const corner = (chat: ChatPage): Promise<number[]> =>
  chat.launcher.evaluate((button) => {
    const { right, bottom } = button.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    return [clientWidth - right, clientHeight - bottom];
  });

const layer = (chat: ChatPage): Promise<string> =>
  chat.host.evaluate((host) => getComputedStyle(host).zIndex);

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
  test('a double press, or an impatient one, opens the chat', async (setting) => {
    const { chat } = await setting.visit();
    const { page } = chat;
    await chat.launcher.waitFor();
    const goOn = await hold(page, '**/widget/main-*');
    for (let press = 1; press <= 2; press += 1) await chat.launcher.click();
    goOn();
    await chat.input.waitFor();
    await chat.launcher.click();
    await chat.input.waitFor({ state: 'hidden' });
    await chat.launcher.dblclick();
    await chat.input.waitFor();
    expect(await chat.launcher.getAttribute('aria-expanded')).toBe('true');
  });

  test('it is not on paper', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.page.emulateMedia({ media: 'print' });
    for (const part of [chat.launcher, chat.panel]) expect(await part.isVisible()).toBe(false);
    await chat.page.emulateMedia({ media: 'screen' });
    await chat.input.waitFor();
  });

  test('a shop moves it by attributes, and a page by its own style', async (setting) => {
    const { chat } = await setting.visit({
      data: { 'offset-x': '10', 'offset-y': '60px', 'z-index': '7' },
    });
    const { page } = chat;
    await chat.launcher.waitFor();
    expect([await corner(chat), await layer(chat)]).toEqual([[30, 80], '7']);
    await page.addStyleTag({
      content: 'sluice-chat { --sluice-offset-y: 30px; --sluice-z-index: 8 }',
    });
    expect([await corner(chat), await layer(chat)]).toEqual([[30, 50], '8']);
    await page.setViewportSize({ width: 1_000, height: 520 });
    await chat.open();
    const box = await chat.panel.boundingBox();
    expect(box?.y).toBe(20);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBe(970);
  });

  test('it stays in its corner when attributes make no sense', async (setting) => {
    const { chat } = await setting.visit({
      data: { 'offset-x': '1;}*{display:none', 'offset-y': 'auto', 'z-index': 'top' },
    });
    await chat.launcher.waitFor();
    expect([await corner(chat), await layer(chat)]).toEqual([[21, 20], '2147483000']);
  });

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
    const notice = chat.host.getByText('This will be sent once the file is uploaded.');
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
