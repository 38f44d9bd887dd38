import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const OWN =
  'keydown keypress keyup beforeinput input change compositionstart compositionupdate compositionend copy cut paste focusin focusout dragenter dragover dragleave drop';
const PASSING = 'pointerdown pointerup touchstart touchend wheel click';

/** Notes which events the page hears, and which of them at the widget. */
const listen = (chat: ChatPage): Promise<void> =>
  chat.page.evaluate((types) => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    for (const type of types.split(' ')) {
      document.addEventListener(type, ({ target }) => {
        heard.push(
          target instanceof Element && target.localName === 'sluice-chat' ? type : `page: ${type}`,
        );
      });
    }
  }, `${OWN} ${PASSING} sluice:activity`);

const heard = (chat: ChatPage): Promise<string[]> =>
  chat.page.evaluate(() =>
    [...new Set((window as unknown as { heard: string[] }).heard)].toSorted(),
  );

/** Drags over the panel's head and drops there. @returns which of the two was prevented */
const drop = (chat: ChatPage, what: 'file' | 'text'): Promise<boolean[]> =>
  chat.panel.getByRole('heading', { level: 2 }).evaluate((head, kind) => {
    const dataTransfer = new DataTransfer();
    if (kind === 'file') dataTransfer.items.add(new File(['notes'], 'notes.txt'));
    else dataTransfer.setData('text/plain', 'words');
    const init = { dataTransfer, bubbles: true, cancelable: true, composed: true };
    for (const type of ['dragenter', 'dragleave', 'dragenter'])
      head.dispatchEvent(new DragEvent(type, init));
    return ['dragover', 'drop'].map((type) => {
      const event = new DragEvent(type, init);
      head.dispatchEvent(event);
      return event.defaultPrevented;
    });
  }, what);

describeInBrowser('what belongs to the chat', (test) => {
  test('does not reach the page, which hears presses, touches, wheels and clicks', async (setting) => {
    const { chat } = await setting.visit({ browser: { hasTouch: true } });
    const { keyboard } = chat.page;
    await chat.launcher.waitFor();
    await listen(chat);
    await chat.open();
    await chat.input.focus();
    await keyboard.type('typed');
    for (const key of ['a', 'c', 'x', 'v']) await keyboard.press(`ControlOrMeta+${key}`);
    await chat.type(`${QUIET}typed`);
    await keyboard.press('End');
    const ime = await chat.page.context().newCDPSession(chat.page);
    await ime.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
    await ime.send('Input.insertText', { text: '日' });
    expect(await chat.input.inputValue()).toBe(`${QUIET}typed日`);
    await keyboard.press('Enter');
    await chat.reaches('typed日', 'delivered');
    await drop(chat, 'file');
    await chat.uploaded('notes.txt');
    await chat.log.hover();
    await chat.page.mouse.wheel(0, 40);
    await chat.button('Remove notes.txt').tap();
    await chat.input.focus();
    await keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    await chat.until('the wheel', async () => (await heard(chat)).includes('wheel'));
    expect(await heard(chat)).toEqual([...PASSING.split(' '), 'sluice:activity'].toSorted());
    await chat.page.locator('#shop-button').press('a');
    expect(await heard(chat)).toContain('page: keydown');
  });

  test('works beside shortcuts and a focus trap of the page', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await chat.page.evaluate(() => {
      const trapped = document.querySelector<HTMLElement>('#shop-button');
      document.addEventListener('focusin', ({ target }) => {
        if (target !== trapped) trapped?.focus();
      });
      window.addEventListener('keydown', (event) => {
        if (event.target instanceof HTMLElement && event.target.isContentEditable) return;
        event.preventDefault();
        document.title = `took ${event.key}`;
      });
    });
    await chat.launcher.focus();
    await chat.page.keyboard.press('Space');
    await chat.input.waitFor();
    await chat.input.focus();
    await chat.page.keyboard.type('a /s?k j');
    expect(await chat.input.inputValue()).toBe('a /s?k j');
    // As jQuery listens: while the event is on its way in.
    await chat.page.evaluate(() => {
      const trapped = document.querySelector<HTMLElement>('#shop-button');
      for (const type of ['focus', 'focusin']) {
        const take = ({ target }: Event): void => {
          if (target !== trapped) trapped?.focus();
        };
        document.addEventListener(type, take, true);
      }
    });
    await chat.page.keyboard.press('Shift+Tab');
    await chat.input.focus();
    await chat.page.keyboard.type('?');
    expect(await chat.input.inputValue()).toBe('a /s?k j?');
    await chat.page.keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    expect(await chat.page.title()).toBe('A shop');
  });

  test('leaves the release of Escape to nobody, though the page has the focus again', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await chat.page.evaluate(() => {
      document.addEventListener('keyup', ({ key }) => (document.title = `released ${key}`));
    });
    await chat.page.locator('#shop-button').focus();
    await chat.page.evaluate('Sluice.open()');
    await chat.input.waitFor();
    await chat.input.focus();
    await chat.page.keyboard.press('Escape');
    await chat.input.waitFor({ state: 'hidden' });
    expect(await chat.page.title()).toBe('A shop');
    await chat.page.keyboard.press('Escape');
    expect(await chat.page.title()).toBe('released Escape');
  });

  test('tells the page once a minute that someone types', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.page.clock.install();
    await chat.page.evaluate(() => {
      Object.assign(window, { activities: 0 });
      document.addEventListener('sluice:activity', () => {
        (window as unknown as { activities: number }).activities += 1;
      });
    });
    const activities = (): Promise<unknown> => chat.page.evaluate('window.activities');
    await chat.page.keyboard.press('Tab');
    expect(await activities()).toBe(0);
    for (const text of ['a', 'ab', 'abc']) await chat.type(text);
    expect(await activities()).toBe(1);
    await chat.page.clock.fastForward(59_000);
    await chat.type('abcd');
    expect(await activities()).toBe(1);
    await chat.page.clock.fastForward(2_000);
    for (const text of ['a', 'ab']) await chat.type(text);
    expect(await activities()).toBe(2);
  });

  test('keeps the browser from opening a dropped file, even where none is taken', async (setting) => {
    const { chat } = await setting.visit({ data: { 'pre-chat': 'required' } });
    await chat.launcher.click();
    await chat.button('Start chat').waitFor();
    expect(await drop(chat, 'file')).toEqual([true, true]);
    expect(await drop(chat, 'text')).toEqual([false, false]);
    await chat.host.getByLabel('Name').fill('Ada');
    await chat.host.getByLabel('Email').fill('ada@shop.example');
    await chat.button('Start chat').click();
    await chat.input.waitFor();
    expect(await chat.button('Remove notes.txt').count()).toBe(0);
    expect(await drop(chat, 'text')).toEqual([false, false]);
    expect(await drop(chat, 'file')).toEqual([true, true]);
    await chat.uploaded('notes.txt');
  });
});
