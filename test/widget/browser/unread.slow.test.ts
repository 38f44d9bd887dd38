import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { holdReplies } from './platform-changes.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

/** As the browser tells a page that another tab covers it: a browser without windows never does. */
const look = (chat: ChatPage, state: 'hidden' | 'visible'): Promise<void> =>
  chat.page.evaluate((now) => {
    const isHidden = now === 'hidden';
    Object.defineProperty(document, 'visibilityState', { value: now, configurable: true });
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    Object.defineProperty(document, 'hasFocus', { value: () => !isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    window.dispatchEvent(new Event(isHidden ? 'blur' : 'focus'));
  }, state);

const title = (chat: ChatPage): Promise<string> => chat.page.title();

describeInBrowser('what comes while nobody looks', (test) => {
  test('a reply to a closed chat is counted on the launcher and in the title, until it is read', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.page.evaluate(() => {
      const heard: unknown[] = [];
      Object.assign(window, { heard });
      const { Sluice } = window as unknown as {
        Sluice: { on(event: string, fn: (detail: unknown) => void): () => void };
      };
      Sluice.on('unread', (count) => heard.push(count));
    });
    const answer = holdReplies(setting);
    await chat.send('Answer me later');
    await chat.reaches('Answer me later', 'delivered');
    await chat.launcher.click();
    await chat.input.waitFor({ state: 'hidden' });
    answer();

    await chat.page
      .getByRole('button', { name: 'Open chat, 1 unread message', exact: true })
      .waitFor();
    // The launcher is seen; the title speaks to someone in another tab.
    expect(await title(chat)).toBe('A shop');
    await look(chat, 'hidden');
    await chat.until('the title', async () => (await title(chat)) === '(1) A shop');
    await look(chat, 'visible');
    await chat.until('the title', async () => (await title(chat)) === 'A shop');
    await chat.open();
    await chat.shows(['Answer me later', 'You said: Answer me later']);
    await chat.launcher.click();
    await chat.page.getByRole('button', { name: 'Open chat', exact: true }).waitFor();
    await chat.until('to be told', () =>
      chat.page.evaluate(() => {
        const { heard } = window as unknown as { heard: unknown[] };
        return heard.includes(1) && heard.at(-1) === 0;
      }),
    );
  });

  test('it is still unread on the next page, and read in all tabs once it is in one', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    const answer = holdReplies(setting);
    await chat.send('And this later still');
    await chat.reaches('And this later still', 'delivered');
    await chat.launcher.click();
    answer();
    const unread = { name: 'Open chat, 1 unread message', exact: true };
    await chat.page.getByRole('button', unread).waitFor();
    await chat.page.reload();
    await chat.page.getByRole('button', unread).waitFor();
    const tab = await visit.anotherTab();
    await tab.page.getByRole('button', unread).waitFor();
    await tab.open();
    await chat.page.getByRole('button', { name: 'Open chat', exact: true }).waitFor();
  });

  test('a reply in an open chat of a tab that is not looked at is unread, too', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await look(chat, 'hidden');
    await chat.send('I am looking elsewhere');
    await chat.line('You said: I am looking elsewhere').waitFor();
    await chat.until('the title', async () => (await title(chat)) === '(1) A shop');
    await look(chat, 'visible');
    await chat.until('the title', async () => (await title(chat)) === 'A shop');
  });

  test('a title that the page has set meanwhile is its own', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await look(chat, 'hidden');
    await chat.send('Have I paid?');
    await chat.until('the title', async () => (await title(chat)) === '(1) A shop');
    await chat.page.evaluate('document.title = "Order 4711  paid"');
    await chat.send('And now?');
    await chat.until('the title', async () => (await title(chat)) === '(2) Order 4711 paid');
    await chat.page.evaluate('Sluice.destroy()');
    expect(await title(chat)).toBe('Order 4711 paid');
  });

  test('a reply that is being read is not counted', async (setting) => {
    const { chat } = await setting.visit();
    const note = `window.counts = []; Sluice.on('unread', (count) => counts.push(count))`;
    await chat.open();
    for (const question of ['And this?', 'And that?']) {
      await chat.page.evaluate(note);
      await chat.send(question);
      await chat.line(`You said: ${question}`).waitFor();
      expect(await chat.page.evaluate('counts')).toEqual([]);
      await chat.page.reload();
      await chat.line(`You said: ${question}`).waitFor();
    }
  });

  test('a reply to someone who has scrolled up does not move the view', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    for (let n = 1; n <= 15; n += 1) await chat.send(`${QUIET}filling line ${n}`);
    const answer = holdReplies(setting);
    await chat.send('One more answer');
    await chat.reaches('One more answer', 'delivered');
    await chat.log.hover();
    await chat.until('the view to be up', async () => {
      await chat.page.mouse.wheel(0, -300);
      return chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight > 150);
    });
    answer();
    await chat.button('New messages').waitFor();
    await chat.button('New messages').click();
    await chat.until('the view to be down', () =>
      chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 5),
    );
    await chat.button('New messages').waitFor({ state: 'detached' });
  });
});
