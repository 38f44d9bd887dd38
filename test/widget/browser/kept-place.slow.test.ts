import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { changeMessages } from './platform-changes.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser, type Setting, type Visit } from './setting.ts';

const words = (n: number): string => `${QUIET}line ${n} of many`;

/** A visitor with a reply in Markdown, and then so many lines. */
async function longConversation(setting: Setting, count: number): Promise<Visit> {
  const visit = await setting.visit();
  await visit.chat.open();
  const device = await setting.otherDevice(visit);
  setting.script('a list', { content: '- one\n- two\n\n## Three\n\nfour', format: 'MARKDOWN' });
  await visit.chat.send('a list');
  await visit.chat.line('Three').waitFor();
  for (let n = 1; n <= count; n += 1) await device.send(words(n));
  await visit.chat.line(words(count)).waitFor();
  return visit;
}

const topOf = (chat: ChatPage, n: number): Promise<number> =>
  chat
    .line(words(n))
    .first()
    .evaluate((line) => (line as HTMLElement).getBoundingClientRect().top);

/** Scrolls as a visitor until the beginning of that line is near the top of the log. */
async function scrollTo(chat: ChatPage, n: number): Promise<number> {
  await chat.log.hover();
  let last = NaN;
  await chat.until(`line ${n} to be read, and the log to be still`, async () => {
    const line = chat.line(words(n)).first();
    const isDrawn = (await line.count()) > 0;
    const above = isDrawn
      ? await line.evaluate(
          (element) =>
            (element as HTMLElement).getBoundingClientRect().top -
            (element.closest('[role="log"]')?.getBoundingClientRect().top ?? 0),
        )
      : -1_000;
    const isStill = above === last;
    last = above;
    if (above >= 0 && above < 200) return isStill;
    await chat.page.mouse.wheel(0, above < 0 ? Math.max(above, -800) : 100);
    return false;
  });
  return topOf(chat, n);
}

const isAtEnd = (chat: ChatPage): Promise<boolean> =>
  chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 5);

describeInBrowser(
  'where a visitor reads',
  (test) => {
    test('stays across a reload, also far above the end', async (setting) => {
      const visit = await longConversation(setting, 160);
      const { chat } = visit;
      await chat.type('a draft');
      for (const n of [145, 4]) {
        const before = await scrollTo(chat, n);
        await chat.page.reload();
        await chat.line(words(n)).first().waitFor();
        await chat.until(`line ${n} to be where it was`, async () => {
          return Math.abs((await topOf(chat, n)) - before) < 2;
        });
        expect(await chat.input.inputValue()).toBe('a draft');
        expect(await chat.button('New messages').count()).toBe(0);
      }
      // Not for good: what the visitor scrolls to afterwards is where they are.
      await scrollTo(chat, 60);
      await chat.launcher.click();
      const device = await setting.otherDevice(visit);
      await chat.page.goto('about:blank');
      await device.send('Still there?');
      await chat.until('a reply', () => device.texts.includes('You said: Still there?'));
      await chat.page.goBack();
      // The lines are there before it is opened.
      await chat.page.getByRole('button', { name: /^Open chat, 1 unread/ }).waitFor();
      await chat.launcher.click();
      await chat.line(words(160)).waitFor();
      await chat.until('the end', () => isAtEnd(chat));
    });

    test('is left for the end by a message of their own, and told of replies', async (setting) => {
      const visit = await longConversation(setting, 40);
      const { chat } = visit;
      const before = await scrollTo(chat, 20);
      const device = await setting.otherDevice(visit);
      await chat.page.goto('about:blank');
      await device.send('Still there?');
      await chat.until('a reply', () => device.texts.includes('You said: Still there?'));
      await chat.page.goBack();
      await chat.button('New messages').waitFor();
      expect(Math.abs((await topOf(chat, 20)) - before)).toBeLessThan(2);
      // It is below, and counts as not seen.
      await chat.launcher.click();
      await chat.page.getByRole('button', { name: /^Open chat, 1 unread/ }).waitFor();
      await chat.launcher.click();
      // Nor is it forgotten when the visitor scrolls and goes on.
      await scrollTo(chat, 15);
      await chat.page.reload();
      await chat.button('New messages').waitFor();
      await chat.send(words(41));
      await chat.until('the end', () => isAtEnd(chat));
    });

    test('is the end for those who are there', async (setting) => {
      const { chat } = await longConversation(setting, 40);
      await chat.until('the end', () => isAtEnd(chat));
      await chat.page.reload();
      await chat.line(words(40)).waitFor();
      await chat.until('the end', () => isAtEnd(chat));
    });

    test("is the end when it is another visitor's, or nothing that the widget has written", async (setting) => {
      const { chat } = await longConversation(setting, 100);
      for (const note of [
        '{"visitorId":"somebody","seq":2,"px":0,"last":0}',
        '{"seq":"x","px":null,"last":{}}',
        'null',
      ]) {
        await chat.page.evaluate((text) => {
          const open = Object.keys(sessionStorage).find((name) => name.endsWith(':open')) ?? '';
          sessionStorage.setItem(open.replace(/open$/, 'place'), text);
          addEventListener('pagehide', () =>
            sessionStorage.setItem(open.replace(/open$/, 'place'), text),
          );
        }, note);
        await chat.page.reload();
        await chat.line(words(100)).waitFor();
        await chat.until('the end', () => isAtEnd(chat));
        expect(await chat.log.locator('[data-line]').count()).toBeLessThan(60);
      }
    });

    test('is the end again when there is less to scroll, and goes on with the conversation', async (setting) => {
      const visit = await longConversation(setting, 40);
      const { chat } = visit;
      await chat.type('one\ntwo\nthree\nfour\nfive');
      await chat.log.hover();
      await chat.page.mouse.wheel(0, -60);
      await chat.until('the view to be up', async () => !(await isAtEnd(chat)));
      await chat.type('');
      await chat.until('the end', () => isAtEnd(chat));
      // What another device writes is no message of this page.
      const device = await setting.otherDevice(visit);
      await device.send('And now?');
      await chat.line('You said: And now?').waitFor();
      await chat.until('the end', () => isAtEnd(chat));
      expect(await chat.button('New messages').count()).toBe(0);
    });

    test('stays while the reply above it gets its form and its text changes', async (setting) => {
      const visit = await longConversation(setting, 30);
      const { chat } = visit;
      const before = await scrollTo(chat, 12);
      await chat.page.reload();
      await chat.line(words(12)).first().waitFor();
      await chat.line('Three').locator('.heading').waitFor({ state: 'attached' });
      const isSame = async (): Promise<boolean> => Math.abs((await topOf(chat, 12)) - before) < 2;
      await chat.until('the line to be where it was', isSame);
      // For every visitor from now on.
      changeMessages(setting, '- one\n- two\n\n## Three\n\nfour', {
        content: 'Five. '.repeat(200),
      });
      await chat.line('Five. Five.').waitFor({ state: 'attached' });
      await chat.until('the line to be where it was after the change', isSame);
    });
  },
  { limits: { messagesPer10s: 1_000 } },
);
