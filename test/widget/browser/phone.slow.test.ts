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
    await chat.send(`${QUIET}${'longword'.repeat(40)} https://acme.example/${'path/'.repeat(40)}`);
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
});
