import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const field = (chat: ChatPage) => chat.host.getByRole('searchbox', { name: 'Find an emoji' });

describeInBrowser('emoji', (test) => {
  test('are found by their words, and go where the text is written', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.type('before after');
    await chat.input.press('Home');
    for (let n = 0; n < 'before'.length; n += 1) await chat.input.press('ArrowRight');
    await chat.button('Emoji').click();
    await chat.button('grinning face').waitFor();
    await chat.page.keyboard.type('Delivery Tr');
    await chat.button('delivery truck').waitFor();
    await expect(chat.host.locator('.found button').count()).resolves.toBe(1);
    // Enter takes the first one, and sends nothing.
    await chat.page.keyboard.press('Enter');
    await field(chat).waitFor({ state: 'detached' });
    await expect(chat.input.inputValue()).resolves.toBe('before🚚 after');
    await expect(chat.lines()).resolves.toEqual([]);
    await chat.page.keyboard.type('!');
    await expect(chat.input.inputValue()).resolves.toBe('before🚚! after');
  });

  test('are not chosen by the Enter that ends a composition, nor left by its Escape', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.button('Emoji').click();
    await chat.button('grinning face').waitFor();
    await field(chat).fill('heart');
    for (const key of ['Enter', 'Escape']) {
      await field(chat).evaluate((input, pressed) => {
        // As Safari reports it.
        const event = { key: pressed, keyCode: 229, bubbles: true, composed: true };
        input.dispatchEvent(new KeyboardEvent('keydown', event));
      }, key);
    }
    await expect(field(chat).inputValue()).resolves.toBe('heart');
    await expect(chat.input.inputValue()).resolves.toBe('');
    await chat.page.keyboard.press('Escape');
    await field(chat).waitFor({ state: 'detached' });
  });

  test('are all there for the keys', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.button('Emoji').click();
    await chat.button('grinning face').waitFor();
    const nameOfFocus = () =>
      chat.host.evaluate(({ shadowRoot }) => shadowRoot?.activeElement?.getAttribute('aria-label'));
    await expect(nameOfFocus()).resolves.toBe('Find an emoji');
    await chat.page.keyboard.press('Enter');
    await chat.page.keyboard.press('ArrowDown');
    await expect(nameOfFocus()).resolves.toBe('grinning face');
    await chat.page.keyboard.press('ArrowRight');
    await chat.page.keyboard.press('ArrowDown');
    await expect(nameOfFocus()).resolves.toBe('thinking face');
    await chat.page.keyboard.press('ArrowUp');
    await chat.page.keyboard.press('ArrowUp');
    await expect(nameOfFocus()).resolves.toBe('Find an emoji');
    // To the last one, which is drawn only when one comes near.
    await chat.page.keyboard.press('Tab');
    const drawn = chat.host.locator('.found button');
    await chat.until('the last one', async () => {
      await chat.page.keyboard.press('End');
      return (await drawn.count()) > 1_300;
    });
    await chat.page.keyboard.press('Escape');
    await expect(nameOfFocus()).resolves.toBe('Emoji');
    await expect(chat.panel.isVisible()).resolves.toBe(true);
  });

  test('have names in the language of the page', async (setting) => {
    const { chat } = await setting.visit({ lang: 'de' });
    await chat.host.getByRole('button').first().click();
    await chat.host.getByRole('textbox').waitFor();
    await chat.button('Emoji').click();
    await chat.host.getByRole('searchbox', { name: 'Emoji suchen' }).fill('glücklich');
    await chat.host.locator('.found button').first().waitFor();
    await chat.host.getByRole('searchbox').fill('gibt es nicht');
    await chat.host.getByText('Nichts gefunden').waitFor();
  });

  test('can be asked for again when they could not be loaded', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    await chat.send(`${QUIET}before the tunnel`);
    await visit.goOffline();
    await chat.button('Emoji').click();
    await chat.host.getByText('That didn’t work. Please try again.').waitFor();
    await visit.goOnline();
    await chat.until('the emoji', async () => {
      const again = chat.button('Try again');
      // It may have gone by the time of the click.
      if (await again.isVisible()) await again.click({ timeout: 1_000 }).catch(() => undefined);
      return field(chat).isVisible();
    });
    await chat.button('grinning face').click();
    await expect(chat.input.inputValue()).resolves.toBe('😀');
  });
});
