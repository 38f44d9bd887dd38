import { expect } from '@jest/globals';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

describeInBrowser('a bad line', (test) => {
  test('a reload before the acknowledgement came: one message, shown once', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(`${QUIET}before`);
    await chat.reaches('before', 'delivered');

    setting.proxy.loseAnswers();
    await chat.send(`${QUIET}reloaded`);
    await chat.until('the message to be at the platform', () => {
      return setting.arrived(`${QUIET}reloaded`).length > 0;
    });
    const [, sent] = await chat.lines();
    expect(sent?.state).toBe('sending');

    await chat.page.reload();
    await chat.open();
    await chat.reaches('reloaded', 'delivered');
    await chat.send(`${QUIET}after`);
    await chat.reaches('after', 'delivered');
    const lines = await chat.shows([`${QUIET}before`, `${QUIET}reloaded`, `${QUIET}after`]);
    expect(lines[1]?.id).toBe(sent?.id);
    expect(setting.arrived(`${QUIET}reloaded`)).toHaveLength(1);
  });

  test('two tabs that write at once show the same, each message once', async (setting) => {
    const visit = await setting.visit();
    const tabs = [await visit.chat.open(), await (await visit.anotherTab()).open()];
    const said = (n: number) => ['a', 'b', 'c'].map((part) => `${QUIET}tab ${n}${part}`);
    // One draft is in both tabs: nobody types in two at once, but what was sent is on its way.
    for (const part of [0, 1, 2]) {
      for (const [n, tab] of tabs.entries()) await tab.send(said(n)[part] ?? '');
    }
    await Promise.all(
      tabs.map((tab) => tab.until('six', async () => (await tab.lines()).length >= 6)),
    );
    await tabs[0]?.until('all of them to arrive', () => setting.arrived(`${QUIET}tab`).length >= 6);

    const order = setting.arrived(`${QUIET}tab`).map(({ content }) => content);
    expect(order.toSorted()).toEqual([...said(0), ...said(1)]);
    for (const n of [0, 1]) {
      expect(order.filter((text) => text.startsWith(`${QUIET}tab ${n}`))).toEqual(said(n));
    }
    for (const tab of tabs) {
      await tab.shows(order);
      for (const text of order) await tab.reaches(text, 'delivered');
    }
  });

  test('a reply to one tab is in the other, too', async (setting) => {
    const visit = await setting.visit();
    const one = await visit.chat.open();
    const other = await (await visit.anotherTab()).open();
    await one.send('To both of us');
    const lines = ['To both of us', 'You said: To both of us'];
    const shown = await one.shows(lines);
    expect((await other.shows(lines)).map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
  });

  test('a restart of the gateway in the middle loses nothing and doubles nothing', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(`${QUIET}restart 1`);
    await chat.reaches('restart 1', 'accepted', 'delivered');
    const restarted = setting.restartGateway();
    await chat.send(`${QUIET}restart 2`);
    await chat.send(`${QUIET}restart 3`);
    await restarted;
    await chat.send('restart 4');
    const said = [1, 2, 3].map((n) => `${QUIET}restart ${n}`);
    await chat.shows([...said, 'restart 4', 'You said: restart 4']);
    for (const text of said) await chat.reaches(text, 'delivered');
    expect(setting.arrived(`${QUIET}restart`).map(({ content }) => content)).toEqual(said);
  });

  test('what is written offline waits, and goes out in order when the line is back', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    await chat.send(`${QUIET}offline 0`);
    await chat.reaches('offline 0', 'delivered');

    await visit.goOffline();
    const banner = chat.page.getByRole('status').filter({ hasText: 'You’re offline.' });
    await banner.waitFor();
    const said = [1, 2, 3].map((n) => `${QUIET}offline ${n}`);
    for (const text of said) await chat.send(text);
    for (const text of said) await chat.reaches(text, 'queued');
    expect(setting.arrived(`${QUIET}offline`)).toHaveLength(1);

    await visit.goOnline();
    for (const text of said) await chat.reaches(text, 'delivered');
    await banner.waitFor({ state: 'detached' }).catch(() => banner.waitFor({ state: 'hidden' }));
    await chat.shows([`${QUIET}offline 0`, ...said]);
    expect(setting.arrived(`${QUIET}offline`).map(({ content }) => content)).toEqual([
      `${QUIET}offline 0`,
      ...said,
    ]);
  });

  test('what was written offline is sent after the tab was closed, by the next one', async (setting) => {
    const visit = await setting.visit();
    await visit.chat.open();
    await visit.chat.send(`${QUIET}closed 0`);
    await visit.chat.reaches('closed 0', 'delivered');
    // The site is there, the gateway is not.
    setting.proxy.down();
    await visit.chat.send(`${QUIET}closed 1`);
    await visit.chat.reaches('closed 1', 'queued');
    await visit.chat.page.close();
    setting.proxy.up();

    const next = await visit.anotherTab();
    await next.open();
    await next.reaches('closed 1', 'delivered');
    await next.shows([`${QUIET}closed 0`, `${QUIET}closed 1`]);
    expect(setting.arrived(`${QUIET}closed 1`)).toHaveLength(1);
  });
});
