import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { changeMessages } from './platform-changes.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

describeInBrowser('a reply whose text changes', (test) => {
  test('changes in every tab, in its place, and says so to a screen reader', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    await chat.send('When?');
    await chat.line('You said: When?').waitFor();
    await chat.send(`${QUIET}thanks`);
    const other = await visit.anotherTab();
    await other.open();
    await other.shows(['When?', 'You said: When?', 'thanks']);
    changeMessages(setting, 'You said: When?', { content: 'On **Monday**', format: 'MARKDOWN' });
    for (const tab of [chat, other]) {
      await tab.shows(['When?', 'On Monday', 'thanks']);
      await tab.line('On Monday').locator('b', { hasText: 'Monday' }).waitFor();
      await tab.line('On Monday').getByText('Edited', { exact: true }).waitFor();
      await tab.panel.getByRole('status').filter({ hasText: 'Edited: On **Monday**' }).waitFor();
    }
    // Twice fast: the last text counts.
    changeMessages(setting, 'On **Monday**', { content: 'On Tuesday' });
    changeMessages(setting, 'On Tuesday', { content: 'On Wednesday' });
    for (const tab of [chat, other]) await tab.shows(['When?', 'On Wednesday', 'thanks']);
    expect(await axeFindings(chat.page)).toEqual([]);
    await other.page.reload();
    await other.shows(['When?', 'On Wednesday', 'thanks']);
    // It changed before this page.
    await other.line('On Wednesday').getByText('Edited', { exact: true }).waitFor();
    expect(await other.panel.getByText('Edited: ').count()).toBe(0);
  });

  test('while the visitor is away has changed when they are back', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    await chat.send('How much?');
    await chat.line('You said: How much?').waitFor();
    await visit.goOffline();
    await chat.page.getByRole('status').filter({ hasText: 'You’re offline.' }).waitFor();
    changeMessages(setting, 'You said: How much?', { content: 'Nine euros' });
    await visit.goOnline();
    await chat.shows(['How much?', 'Nine euros']);
  });

  test('above what is read leaves that where it is', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send('First');
    await chat.line('You said: First').waitFor();
    for (let n = 1; n <= 15; n += 1) await chat.send(`${QUIET}filling line ${n}`);
    await chat.reaches('filling line 15', 'delivered');
    const top = () =>
      chat.line('filling line 6').evaluate((line) => line.getBoundingClientRect().top);
    const aboveEnd = () =>
      chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    await chat.until('the end', async () => (await aboveEnd()) < 1);
    await chat.log.hover();
    // One turn of the wheel, and the whole of it: one still under way would move the line later.
    await chat.page.mouse.wheel(0, -180);
    await chat.until('the view to be up', async () => (await aboveEnd()) > 179);
    const before = await top();
    changeMessages(setting, 'You said: First', { content: 'A long answer. '.repeat(30) });
    await chat.line('A long answer.').waitFor({ state: 'attached' });
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
  });
});
