import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

/** The accessible name, or the text, of what has the focus, within the widget's shadow root too. */
function focused(chat: ChatPage): Promise<string> {
  return chat.page.evaluate(() => {
    const active = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
    return active?.getAttribute('aria-label') ?? active?.textContent.trim() ?? '';
  });
}

describeInBrowser('the keyboard', (test) => {
  test('opens, writes, sends, uses the menu and closes, and the focus returns', async (setting) => {
    const { chat } = await setting.visit();
    const { keyboard } = chat.page;
    await chat.launcher.waitFor();
    await chat.page.locator('#shop-button').focus();
    await keyboard.press('Tab');
    expect(await focused(chat)).toBe('Open chat');
    expect(await chat.launcher.getAttribute('aria-expanded')).toBe('false');
    await keyboard.press('Enter');
    await chat.until('the focus in the field', async () => (await focused(chat)) === 'Message');

    await keyboard.type(`${QUIET}typed`);
    await keyboard.press('Enter');
    await chat.reaches('typed', 'delivered');
    expect(await focused(chat)).toBe('Message');

    for (let presses = 0; (await focused(chat)) !== 'More'; presses += 1) {
      expect(presses).toBeLessThan(20);
      await keyboard.press('Shift+Tab');
    }
    await keyboard.press('Enter');
    await chat.until('the first entry', async () => (await focused(chat)) === 'End conversation');
    await keyboard.press('ArrowDown');
    expect(await focused(chat)).toBe('Save transcript');
    await keyboard.press('ArrowDown');
    expect(await focused(chat)).toBe('Sound');
    const sound = chat.page.getByRole('menuitemcheckbox', { name: 'Sound' });
    expect(await sound.getAttribute('aria-checked')).toBe('false');
    await keyboard.press('Escape');
    await sound.waitFor({ state: 'detached' });
    // Escape closed the menu, and nothing else.
    expect(await chat.input.isVisible()).toBe(true);
    expect(await focused(chat)).toBe('More');

    await keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    await chat.until('the focus back', async () => (await focused(chat)) === 'Open chat');
    expect(await chat.launcher.getAttribute('aria-expanded')).toBe('false');
  });

  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    test(`what the page opened it from has the focus again (motion: ${reducedMotion})`, async (setting) => {
      const { chat } = await setting.visit({ browser: { reducedMotion } });
      await chat.launcher.waitFor();
      await chat.page.evaluate(() => {
        document.querySelector('#shop-button')?.addEventListener('click', () => {
          (window as unknown as { Sluice: { open(): void } }).Sluice.open();
        });
      });
      await chat.page.locator('#shop-button').focus();
      await chat.page.keyboard.press('Enter');
      await chat.until('the focus in the field', async () => (await focused(chat)) === 'Message');
      await chat.page.keyboard.press('Escape');
      await chat.until(
        'the focus back',
        async () => (await focused(chat)) === 'A button of the shop',
      );
    });
  }

  test('what is not open cannot be reached', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.page.keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    const reached: string[] = [];
    await chat.page.locator('#shop-link').focus();
    for (let presses = 0; presses < 6; presses += 1) {
      await chat.page.keyboard.press('Tab');
      reached.push(await focused(chat));
    }
    expect(reached).toContain('Open chat');
    expect(reached).not.toContain('Message');
    expect(reached).not.toContain('More');
  });
});
