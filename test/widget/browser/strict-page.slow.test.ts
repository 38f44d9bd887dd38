import { expect } from '@jest/globals';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const RED_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

describeInBrowser('a page with a strict Content-Security-Policy', (test) => {
  test('has the whole widget, and nothing to report', async (setting) => {
    setting.script('Everything, please', {
      content: '# Head\n\n- **one**\n- `two`\n\n[link](https://acme.example/)\n\n```\ncode\n```',
      format: 'MARKDOWN',
    });
    const { chat } = await setting.visit({ strict: true, data: { greeting: 'Hello from a test' } });
    await chat.host.getByText('Hello from a test').first().waitFor();
    await chat.open();
    await chat.send('Everything, please');
    await chat.log.getByRole('link', { name: /link/ }).waitFor();

    await chat.button('Emoji').click();
    await chat.button('grinning face').click();
    await expect(chat.input.inputValue()).resolves.toBe('😀');

    const choosing = chat.page.waitForEvent('filechooser');
    await chat.button('Attach files').click();
    await (await choosing).setFiles({ name: 'red.png', mimeType: 'image/png', buffer: RED_PIXEL });
    await chat.uploaded('red.png');
    await chat.send(`${QUIET}with a picture`);
    await chat.reaches('with a picture', 'delivered');
    await chat.button('More').click();
    await chat.page.getByRole('menuitemcheckbox', { name: 'Sound' }).click();
    await chat.launcher.click();
    await chat.input.waitFor({ state: 'hidden' });
    // Styles are there: without them the launcher would be a small grey box in the page's flow.
    const look = await chat.launcher.evaluate((button) => {
      const { width, right, bottom } = button.getBoundingClientRect();
      return { width, right: innerWidth - right, bottom: innerHeight - bottom };
    });
    expect(look.width).toBeGreaterThanOrEqual(48);
    for (const distance of [look.right, look.bottom]) {
      expect(distance).toBeGreaterThan(0);
      expect(distance).toBeLessThan(40);
    }
  });

  test('the widget is no part of the page: styles neither come in nor go out', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    const ofThePage = await chat.page.evaluate(
      () => document.styleSheets.length + document.adoptedStyleSheets.length,
    );
    expect(ofThePage).toBe(0);
    await chat.page.addStyleTag({
      content:
        '* { font-size: 3px !important; color: lime !important } button, div, p { display: none !important }',
    });
    await chat.launcher.click();
    await chat.input.waitFor();
    const input = await chat.input.evaluate((field) => {
      const { fontSize, color } = getComputedStyle(field);
      return { fontSize: Number.parseFloat(fontSize), color };
    });
    expect(input.fontSize).toBeGreaterThanOrEqual(13);
    expect(input.color).not.toBe('rgb(0, 255, 0)');
  });
});
