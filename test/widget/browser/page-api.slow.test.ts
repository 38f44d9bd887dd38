import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser } from './setting.ts';

/** Calls `window.Sluice` as the page's own script does. */
const call = (page: Page, name: string, ...args: readonly string[]): Promise<unknown> =>
  page.evaluate(
    ([method = '', values = '[]']) => {
      const { Sluice } = window as unknown as Record<
        'Sluice',
        Record<string, (...given: readonly string[]) => unknown>
      >;
      Sluice[method]?.(...(JSON.parse(values) as string[]));
    },
    [name, JSON.stringify(args)],
  );

describeInBrowser('the calls of a page', (test) => {
  test('hide takes the launcher away, not the chat, and show brings it back', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await call(chat.page, 'hide');
    await chat.launcher.waitFor({ state: 'hidden' });
    await call(chat.page, 'open');
    await chat.input.waitFor();
    // Beside the open panel it is what closes it.
    await chat.button('Close chat').click();
    await chat.panel.waitFor({ state: 'hidden' });
    await chat.launcher.waitFor({ state: 'hidden' });
    await call(chat.page, 'show');
    await chat.launcher.waitFor();
  });

  test('what is written for the queue works after loading, too', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await chat.page.evaluate(
      `(window.Sluice = window.Sluice || []).push(['prefill', 'Late words'], ['open'], ['nothing'])`,
    );
    await chat.input.waitFor();
    await expect(chat.input.inputValue()).resolves.toBe('Late words');
  });

  test('prefill fills an empty field and keeps what the visitor typed', async (setting) => {
    const { chat } = await setting.visit();
    await chat.launcher.waitFor();
    await call(chat.page, 'prefill', 'About order 1001: ');
    await chat.open();
    await expect(chat.input.inputValue()).resolves.toBe('About order 1001: ');
    await chat.type('My own words');
    await call(chat.page, 'prefill', 'Words of the page');
    await expect(chat.input.inputValue()).resolves.toBe('My own words');
  });

  test('send sends words of the page once, and the draft stays', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.type('half a thought');
    await call(chat.page, 'send', 'Words of a button');
    await chat.reaches('Words of a button', 'delivered');
    await expect(chat.input.inputValue()).resolves.toBe('half a thought');
    expect(setting.arrived('Words of a button')).toHaveLength(1);
  });

  test('destroy removes everything, and a new script tag continues the conversation', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send('Before it was removed');
    await chat.reaches('Before it was removed', 'delivered');
    const tag = await chat.page.locator('script[data-key]').evaluateHandle((script) => script);
    await call(chat.page, 'destroy');
    await chat.host.waitFor({ state: 'detached' });
    await expect(chat.page.evaluate('typeof window.Sluice')).resolves.toBe('undefined');
    await expect(chat.page.locator('script[data-key]').count()).resolves.toBe(0);
    await tag.evaluate((old) => {
      const { src, dataset } = old as HTMLScriptElement;
      const script = document.createElement('script');
      script.src = src;
      Object.assign(script.dataset, dataset);
      document.head.append(script);
    });
    await chat.line('Before it was removed').first().waitFor();
    await chat.send('After it was added again');
    await chat.reaches('After it was added again', 'delivered');
  });
});

describeInBrowser(
  'the calls of a page that asks for names first',
  (test) => {
    test('send leaves the words in the field of a visitor who is not known', async (setting) => {
      const { chat } = await setting.visit();
      await chat.launcher.waitFor();
      await call(chat.page, 'open');
      await call(chat.page, 'send', 'Words before a name');
      await chat.host.getByLabel('Name').fill('Ada');
      await chat.host.getByLabel('Email').fill('ada@shop.example');
      await chat.button('Start chat').click();
      await expect(chat.input.inputValue()).resolves.toBe('Words before a name');
      expect(setting.arrived('Words before a name')).toHaveLength(0);
    });
  },
  { widget: { preChat: 'required' } },
);

describeInBrowser(
  'the page that a visitor writes on',
  (test) => {
    test('is a line of the first message, with the cart and without the query', async (setting) => {
      const { chat } = await setting.visit({ data: { cart: '2 pairs' } });
      await chat.open();
      await chat.send('Words from this page');
      await chat.line('You said: Words from this page').waitFor();
      await chat.send('Words after that');
      await chat.line('You said: Words after that').waitFor();
      const [first] = setting.arrived('Words from this page');
      expect(first?.content).toMatch(
        /^Words from this page\n\n\[Written on: A shop · http:\/\/127\.0\.0\.1:\d+\/ · cart: 2 pairs\]$/,
      );
      expect(setting.arrived('Words after that').map(({ content }) => content)).toEqual([
        'Words after that',
      ]);
    });
  },
  { widget: { pageLine: true } },
);
