import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const PHONE = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

const nameOfFocus = (chat: ChatPage): Promise<string> =>
  chat.page.evaluate(() => {
    const root = document.querySelector('sluice-chat')?.shadowRoot;
    const active = root?.activeElement;
    if (!active?.closest('[role=dialog]')) return 'outside';
    return active.getAttribute('aria-label') ?? active.tagName;
  });

describeInBrowser('a phone', (test) => {
  test('the chat fills the screen, with text that the browser does not enlarge', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    await chat.launcher.tap();
    await chat.input.waitFor();
    await chat.until('the whole screen', async () => {
      const box = await chat.panel.boundingBox();
      const screen = await chat.page.evaluate(() => [innerWidth, innerHeight]);
      return box?.x === 0 && box.y === 0 && box.width === screen[0] && box.height === screen[1];
    });
    expect(await chat.panel.getAttribute('aria-modal')).toBe('true');
    const size = await chat.input.evaluate((field) => getComputedStyle(field).fontSize);
    expect(Number.parseFloat(size)).toBeGreaterThanOrEqual(16);

    await chat.input.tap();
    await chat.type(`${QUIET}from a phone`);
    await chat.button('Send').tap();
    await chat.reaches('from a phone', 'delivered');
    await chat.button('Minimize chat').tap();
    await chat.input.waitFor({ state: 'hidden' });
    await chat.launcher.waitFor();
  });

  test('the focus stays within while it fills the screen', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    await chat.launcher.tap();
    await chat.input.focus();
    const seen = new Set<string>();
    for (const key of [...Array<string>(12).fill('Tab'), ...Array<string>(12).fill('Shift+Tab')]) {
      await chat.page.keyboard.press(key);
      seen.add(await nameOfFocus(chat));
    }
    expect(seen).not.toContain('outside');
    for (const name of ['Message', 'More', 'Minimize chat', 'Attach files']) {
      expect(seen).toContain(name);
    }
  });

  test('what is touched is large enough, and nothing is wider than the screen', async (setting) => {
    const { chat } = await setting.visit({
      browser: { ...PHONE, viewport: { width: 320, height: 568 } },
    });
    await chat.launcher.tap();
    await chat.input.waitFor();
    await chat.type(`${QUIET}${'longword'.repeat(40)} https://acme.example/${'path/'.repeat(40)}`);
    await chat.button('Send').tap();
    await chat.line('longword').waitFor();
    const sizes = await chat.panel.evaluate((panel) =>
      [...panel.querySelectorAll('button, a, textarea')]
        .filter((element) => element.checkVisibility())
        .map((element) => {
          const { width, height } = element.getBoundingClientRect();
          return { name: element.getAttribute('aria-label') ?? element.tagName, width, height };
        }),
    );
    const inLines = sizes.filter(({ name }) => name !== 'A');
    expect(inLines.length).toBeGreaterThan(4);
    for (const { name, width, height } of inLines) {
      expect({ name, isLarge: width >= 24 && height >= 24 }).toEqual({ name, isLarge: true });
    }
    const overflow = await chat.log.evaluate((log) => log.scrollWidth - log.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(await chat.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(
      0,
    );
  });

  test('Enter begins a new line, and the button sends', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    await chat.launcher.tap();
    await chat.input.waitFor();
    expect(await chat.input.getAttribute('enterkeyhint')).toBe('enter');
    await chat.type(`${QUIET}one`);
    await chat.input.press('End');
    await chat.input.press('Enter');
    await chat.input.pressSequentially('two');
    expect(await chat.input.inputValue()).toBe(`${QUIET}one\ntwo`);
    await chat.button('Send').tap();
    await chat.reaches('two', 'delivered');
  });

  for (const [held, viewport, lines] of [
    ['upright', PHONE.viewport, 5],
    ['in landscape, with its keyboard', { width: 740, height: 190 }, 2],
  ] as const) {
    test(`held ${held}, the field grows with what is typed`, async (setting) => {
      const { chat } = await setting.visit({ browser: { ...PHONE, viewport } });
      await chat.launcher.tap();
      await chat.type(Array(lines).fill('a line').join('\n'));
      await chat.until('all lines', () =>
        chat.input.evaluate(
          (field, least) => field.clientHeight >= least && field.clientHeight >= field.scrollHeight,
          lines * 20,
        ),
      );
    });
  }

  test('the page does not scroll while it is covered, and keeps a lock of its own', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    const { page } = chat;
    const isLocked = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.documentElement).overflowY === "hidden"');
    await chat.launcher.tap();
    await chat.input.waitFor();
    expect(await isLocked()).toBe(true);
    // A framework may take the widget out, panel and all.
    await page.evaluate('document.documentElement.dataset.sluice = "off"');
    await chat.host.waitFor({ state: 'detached' });
    expect(await isLocked()).toBe(false);
    await page.evaluate('document.documentElement.dataset.sluice = ""');
    await chat.input.waitFor();
    expect(await isLocked()).toBe(true);
    await page.evaluate('document.documentElement.style.overflow = "hidden"');
    await chat.button('Minimize chat').tap();
    await chat.input.waitFor({ state: 'hidden' });
    expect(await isLocked()).toBe(true);
    await page.evaluate('document.documentElement.style.overflow = ""');
    expect(await isLocked()).toBe(false);
  });

  test('it does not cover the page that the visitor goes to, and is there after a reload', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    const { page } = chat;
    const preview = chat.host.locator('.preview').getByText('You said: Have you any socks?');
    const here = page.url();
    await chat.launcher.tap();
    await chat.input.waitFor();
    await chat.type('Have you any socks?');
    await chat.button('Send').tap();
    await chat.line('You said: Have you any socks?').waitFor();
    await page.reload();
    await chat.line('You said: Have you any socks?').waitFor();
    expect(await chat.input.isVisible()).toBe(true);

    await page.evaluate('location.href += "&socks"');
    await page.waitForURL(/&socks$/);
    // The reply leads back to the chat.
    await preview.waitFor();
    expect(await chat.input.count()).toBe(0);
    await page.reload();
    await preview.waitFor();
    expect(await chat.input.count()).toBe(0);
    await page.goBack();
    await chat.input.waitFor();
    await page.evaluate('location.href += "&socks"');
    await page.waitForURL(/&socks$/);
    await page.evaluate((url) => (location.href = url), here);
    await page.waitForURL(here);
    await preview.waitFor();
    await preview.tap();
    await chat.input.waitFor();
    await chat.button('Minimize chat').tap();
    await chat.launcher.waitFor();
    expect(await preview.count()).toBe(0);
  });

  test('Back closes it without an entry in the history', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE });
    const entries = await chat.page.evaluate(() => history.length);
    await chat.launcher.tap();
    await chat.input.waitFor();
    // The request to close that Android makes of Back: here by Escape, outside of the panel.
    await chat.page.evaluate(
      'document.querySelector("sluice-chat").shadowRoot.activeElement.blur()',
    );
    await chat.page.keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    expect(await chat.page.evaluate(() => history.length)).toBe(entries);
  });

  test('Back closes it by an entry in the history of a page that asks for it', async (setting) => {
    const { chat } = await setting.visit({ browser: PHONE, data: { back: 'history' } });
    const { page } = chat;
    const here = page.url();
    await page.evaluate(() => history.replaceState({ of: 'the page' }, ''));
    const state = (): Promise<unknown> => page.evaluate(() => history.state as unknown);
    await chat.launcher.tap();
    await chat.input.waitFor();
    expect(await state()).toEqual({ of: 'the page', sluice: true });
    await page.evaluate(() => history.back());
    await chat.input.waitFor({ state: 'hidden' });
    expect([page.url(), await state()]).toEqual([here, { of: 'the page' }]);
    // A tap so soon, in the same place, would be the second of a double one.
    await chat.launcher.press('Enter');
    await chat.input.waitFor();
    await chat.button('Minimize chat').tap();
    await chat.until(
      'the entry to be gone',
      async () => JSON.stringify(await state()) === '{"of":"the page"}',
    );
    expect(page.url()).toBe(here);
  });

  test('in landscape, with its keyboard, it shows what was written', async (setting) => {
    const { chat } = await setting.visit({
      browser: { ...PHONE, viewport: { width: 740, height: 190 } },
    });
    await chat.launcher.tap();
    await chat.input.waitFor();
    const height = await chat.log.evaluate((log) => log.clientHeight);
    expect(height).toBeGreaterThan(80);
    const send = await chat.button('Send').boundingBox();
    expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(190);
  });
});
