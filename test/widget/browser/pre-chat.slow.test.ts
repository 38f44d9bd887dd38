import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

describeInBrowser('the form before the chat', (test) => {
  test('is asked once, says what is missing, and labels the visitor', async (setting) => {
    const { chat } = await setting.visit({ data: { 'pre-chat': 'required' } });
    await chat.launcher.click();
    const name = chat.page.getByRole('textbox', { name: 'Name' });
    const email = chat.page.getByRole('textbox', { name: 'Email' });
    await name.waitFor();
    expect(await chat.input.isVisible()).toBe(false);
    await chat.button('Start chat').click();
    await chat.panel
      .getByRole('alert')
      .filter({ hasText: 'Please fill this in.' })
      .first()
      .waitFor();
    await name.fill('Grace Hopper');
    await email.fill('not an address');
    await chat.button('Start chat').click();
    await chat.panel.getByRole('alert').filter({ hasText: 'check this address' }).waitFor();
    await email.fill('grace@customer.example');
    await chat.button('Start chat').click();
    await chat.input.waitFor();
    await chat.send(`${QUIET}labelled`);
    await chat.reaches('labelled', 'delivered');
    const [mine] = setting.platform.payloads.filter(
      ({ message }) => message.content === `${QUIET}labelled`,
    );
    // The address is a claim: the platform hears of it only where the shop trusts claims.
    expect(mine?.contact).toEqual({ name: 'Grace Hopper' });

    await chat.page.reload();
    await chat.open();
    await chat.shows([`${QUIET}labelled`]);
  });

  test('is not for a visitor who is known, also before there is a connection', async (setting) => {
    const { chat } = await setting.visit({ data: { 'pre-chat': 'required' } });
    await chat.launcher.click();
    await chat.page.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
    await chat.page.getByRole('textbox', { name: 'Email' }).fill('grace@customer.example');
    await chat.button('Start chat').click();
    await chat.input.waitFor();
    await chat.page.route('**/chat/**', (route) => route.abort());
    let isCut = true;
    await chat.page.routeWebSocket('**/chat/**', async (socket) => {
      if (isCut) await socket.close();
      else socket.connectToServer();
    });
    await chat.page.reload();
    await chat.input.waitFor();
    await chat.send(`${QUIET}typed without a connection`);
    await chat.page.evaluate(`window.Sluice.send('${QUIET}said by the page')`);
    await chat.reaches('said by the page', 'queued');
    isCut = false;
    await chat.page.unrouteAll();
    await chat.page.reload();
    for (const words of ['typed without a connection', 'said by the page'])
      await chat.reaches(words, 'delivered');
  });

  test('is empty after a logout, in every tab, also without a connection', async (setting) => {
    const visit = await setting.visit({ data: { 'pre-chat': 'required' } });
    const apart = await visit.anotherTab();
    const tabs = [visit.chat, await visit.anotherTab(), apart];
    const logout = 'window.Sluice.logout()';
    const cutOff = async ({ page }: ChatPage) => {
      await page.routeWebSocket('**/chat/**', (socket) => socket.close());
      await page.route('**/chat/**', (route) => route.abort());
    };
    const nameIn = ({ host }: ChatPage) => host.getByRole('textbox', { name: 'Name' });
    await visit.chat.launcher.click();
    await visit.chat.storedToken();
    await cutOff(apart);
    for (const chat of tabs) {
      if (chat !== visit.chat) await chat.launcher.click();
      await nameIn(chat).fill('Grace Hopper');
    }
    await visit.chat.page.evaluate(logout);
    for (const chat of tabs)
      await chat.until('an empty form', async () => (await nameIn(chat).inputValue()) === '');
    await cutOff(visit.chat);
    await visit.chat.page.evaluate(logout);
    await visit.chat.page.reload();
    await nameIn(visit.chat).fill('Grace Hopper');
    await visit.chat.page.evaluate(logout);
    await visit.chat.until(
      'an empty form',
      async () => (await nameIn(visit.chat).inputValue()) === '',
    );
  });

  test('can be passed where it is optional', async (setting) => {
    const { chat } = await setting.visit({ data: { 'pre-chat': 'optional' } });
    await chat.launcher.click();
    await chat.button('Start chat').click();
    await chat.input.waitFor();
    await chat.send(`${QUIET}nobody`);
    await chat.reaches('nobody', 'delivered');
  });
});
