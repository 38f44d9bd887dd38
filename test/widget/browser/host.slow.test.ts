import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

/** Takes the host out, as a framework does that did not render it. @returns whether it is back in the next frame */
const comesBack = (chat: ChatPage): Promise<boolean> =>
  chat.page.evaluate(async () => {
    const host = document.querySelector('sluice-chat');
    host?.remove();
    await new Promise(requestAnimationFrame);
    return host?.isConnected === true;
  });

/** As Turbo and Astro navigate. */
const navigate = (chat: ChatPage, heading: string): Promise<void> =>
  chat.page.evaluate((words) => {
    const body = document.createElement('body');
    const shown = document.createElement('h1');
    shown.textContent = words;
    body.append(shown);
    // Removed first, which a replaced body is not.
    document.body.remove();
    document.documentElement.append(body);
  }, heading);

const call = (chat: ChatPage, name: string): Promise<unknown> =>
  chat.page.evaluate(`window.Sluice.${name}()`);

const setRoot = (chat: ChatPage, value: string): Promise<void> =>
  chat.page.evaluate((given) => {
    document.documentElement.dataset['sluice'] = given;
  }, value);

describeInBrowser('the place of the widget', (test) => {
  test('is behind the body, whose transform, filter and zoom do not move it', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await chat.page.addStyleTag({
      content:
        'body { transform: translateX(40px); filter: grayscale(1); zoom: 1.5; min-height: 4000px }',
    });
    await chat.page.evaluate('scrollTo(0, 1000)');
    const place = await chat.host.evaluate((host) => {
      const { position, width, height } = getComputedStyle(host);
      const isBehind = document.body.compareDocumentPosition(host);
      return { isBehind, parent: host.parentElement?.localName, position, width, height };
    });
    expect(place).toEqual({
      isBehind: 4, // DOCUMENT_POSITION_FOLLOWING
      parent: 'html',
      position: 'fixed',
      width: '0px',
      height: '0px',
    });
    const corner = await chat.launcher.evaluate((button) => {
      const { right, bottom } = button.getBoundingClientRect();
      const { clientWidth, clientHeight } = document.documentElement;
      return [clientWidth - right, clientHeight - bottom];
    });
    expect(corner).toEqual([20, 20]);
  });

  test('survives a new body, where the script tag again is no second widget', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.type(`${QUIET}half a thought`);
    await chat.page.evaluate(async () => {
      const old = document.querySelector<HTMLScriptElement>('script[data-key]');
      const body = document.createElement('body');
      const script = document.createElement('script');
      Object.assign(script.dataset, old?.dataset);
      script.src = old?.src ?? '';
      body.append(script);
      const loaded = new Promise((resolve) => (script.onload = resolve));
      document.documentElement.replaceChild(body, document.body);
      await loaded;
    });
    expect(await chat.host.count()).toBe(1);
    expect(await chat.input.inputValue()).toBe(`${QUIET}half a thought`);
    await chat.input.press('Enter');
    await chat.reaches('half a thought', 'delivered');
  });

  test('is taken again three times in ten seconds, then at the next navigation', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.type('half a thought');
    await chat.page.clock.install();
    for (const returns of [1, 2, 3])
      expect([returns, await comesBack(chat)]).toEqual([returns, true]);
    await chat.page.clock.fastForward(10_000);
    for (const returns of [1, 2, 3])
      expect([returns, await comesBack(chat)]).toEqual([returns, true]);
    expect(await comesBack(chat)).toBe(false);
    await chat.page.clock.fastForward(20_000);
    await chat.page.evaluate('document.documentElement.className = "later"');
    expect(await chat.host.count()).toBe(0);
    await navigate(chat, 'The next page');
    await chat.input.waitFor();
    expect(await chat.input.inputValue()).toBe('half a thought');
    expect(await chat.page.locator('body ~ sluice-chat').count()).toBe(1);
    expect(await comesBack(chat)).toBe(true);
  });

  test('is taken again with the log at its end, or where the visitor reads', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.type(`${QUIET}${'a line\n'.repeat(60)}the last one`);
    await chat.input.press('Enter');
    await chat.reaches('the last one', 'delivered');
    const scrolled = (): Promise<number> => chat.log.evaluate((log) => Math.round(log.scrollTop));
    const end = await chat.until('the end', async () => (await scrolled()) || false);
    expect(await comesBack(chat)).toBe(true);
    await chat.until('the end again', async () => (await scrolled()) === end);
    await chat.log.hover();
    await chat.page.mouse.wheel(0, -300);
    await chat.until('the place', async () => (await scrolled()) === end - 300);
    expect(await comesBack(chat)).toBe(true);
    await chat.until('the place again', async () => (await scrolled()) === end - 300);
  });

  test('is taken again in a root that a framework has rendered anew', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await chat.page.evaluate(() => {
      const root = document.createElement('html');
      root.append(document.head.cloneNode(true), document.body.cloneNode(true));
      document.documentElement.replaceWith(root);
    });
    await chat.open();
    expect(await chat.host.count()).toBe(1);
    expect(await comesBack(chat)).toBe(true);
  });

  test('is not taken again after hide, destroy and data-sluice="off"', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await call(chat, 'hide');
    expect(await comesBack(chat)).toBe(true);
    await chat.launcher.waitFor({ state: 'hidden' });
    await call(chat, 'show');
    await chat.launcher.waitFor();

    await setRoot(chat, 'off');
    await chat.host.waitFor({ state: 'detached' });
    await navigate(chat, 'A page without a chat');
    await setRoot(chat, 'off');
    expect(await chat.host.count()).toBe(0);
    await setRoot(chat, '');
    await chat.launcher.waitFor();

    await call(chat, 'destroy');
    await navigate(chat, 'A page after that');
    await setRoot(chat, '');
    expect(await chat.host.count()).toBe(0);
  });
});
