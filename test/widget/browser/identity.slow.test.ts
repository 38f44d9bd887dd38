import { expect } from '@jest/globals';
import { SignJWT } from 'jose';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser, IDENTITY_SECRET } from './setting.ts';

const jwtOf = (subject: string, name: string): Promise<string> =>
  new SignJWT({ name, email: `${subject}@customer.example` })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(subject)
    .setAudience(CHAT_KEY)
    .setExpirationTime('10 minutes')
    .sign(new TextEncoder().encode(IDENTITY_SECRET));

/** What the shop's own page does once its visitor has logged in. */
const identify = (chat: ChatPage, jwt: string): Promise<void> =>
  chat.page.evaluate((token) => (window as unknown as Hosted).Sluice.identify(token), jwt);

interface Hosted {
  readonly Sluice: { identify(jwt: string): void; logout(): void };
}

describeInBrowser('identity', (test) => {
  test('a customer whom the shop vouches for is one contact, with what was said before', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(`${QUIET}anonymous`);
    await chat.reaches('anonymous', 'delivered');
    await identify(chat, await jwtOf('ada-1', 'Ada Nilsson'));
    await chat.until('a verified session', async () => {
      await chat.send(`${QUIET}as Ada`);
      await chat.reaches('as Ada', 'delivered');
      return setting.platform.payloads.some(
        ({ contact }) => contact.email === 'ada-1@customer.example',
      );
    });
    await chat.line('anonymous').waitFor();

    const phone = await setting.visit();
    await phone.chat.open();
    await identify(phone.chat, await jwtOf('ada-1', 'Ada Nilsson'));
    await phone.chat.line('anonymous').waitFor();
    await phone.chat.line('as Ada').first().waitFor();
  });

  test('logging out forgets everything, in every tab', async (setting) => {
    const visit = await setting.visit();
    const tab = await (await visit.anotherTab()).open();
    await visit.chat.open();
    await identify(visit.chat, await jwtOf('ada-2', 'Ada Nilsson'));
    await visit.chat.send(`${QUIET}private`);
    await visit.chat.reaches('private', 'delivered');
    await tab.line('private').waitFor();

    await visit.chat.page.evaluate(() => (window as unknown as Hosted).Sluice.logout());
    for (const each of [visit.chat, tab]) await each.line('private').waitFor({ state: 'detached' });
    await visit.chat.page.reload();
    await visit.chat.open();
    await visit.chat.send(`${QUIET}someone else`);
    await visit.chat.reaches('someone else', 'delivered');
    await visit.chat.shows([`${QUIET}someone else`]);
    const [before] = setting.arrived(`${QUIET}private`);
    const [after] = setting.arrived(`${QUIET}someone else`);
    expect(after?.contact_id).not.toBe(before?.contact_id);
  });

  test('logging out leaves the open chat to a new visitor, in every tab', async (setting) => {
    const visit = await setting.visit({ data: { 'pre-chat': 'required' } });
    const { chat } = visit;
    await identify(chat, await jwtOf('ada-6', 'Ada Nilsson'));
    await chat.open();
    await chat.send(`${QUIET}of Ada`);
    await chat.reaches('of Ada', 'delivered');
    const tab = await (await visit.anotherTab()).open();
    await chat.page.evaluate(() => (window as unknown as Hosted).Sluice.logout());
    for (const each of [chat, tab]) await each.button('Start chat').waitFor();
    await tab.page.getByRole('textbox', { name: 'Name' }).fill('Grace');
    await tab.page.getByRole('textbox', { name: 'Email' }).fill('grace@customer.example');
    await tab.button('Start chat').click();
    await tab.input.waitFor();
    await tab.send(`${QUIET}of Grace`);
    await tab.reaches('of Grace', 'delivered');
    await chat.shows([`${QUIET}of Grace`]);
    const contacts = ['of Ada', 'of Grace'].map(
      (words) => setting.arrived(`${QUIET}${words}`)[0]?.contact_id,
    );
    expect(contacts[0]).not.toBe(contacts[1]);
    // The next visitor is asked, too, in the tab where this one was.
    await chat.page.evaluate(() => (window as unknown as Hosted).Sluice.logout());
    for (const each of [chat, tab]) await each.button('Start chat').waitFor();
  });

  test('logging out on the way to another page forgets everything too', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.open();
    await identify(chat, await jwtOf('ada-4', 'Ada Nilsson'));
    await chat.send(`${QUIET}private too`);
    await chat.reaches('private too', 'delivered');

    // The page goes before the main part has come.
    await chat.page.route('**/widget/main-*', () => undefined);
    const asked = chat.page.waitForRequest('**/widget/main-*');
    await chat.page.reload();
    await asked;
    const left = await chat.page.evaluate(() => {
      localStorage.setItem('of the shop', 'kept');
      (window as unknown as Hosted).Sluice.logout();
      return Object.keys(localStorage);
    });
    expect(left).toEqual(['of the shop']);
    await chat.page.unrouteAll({ behavior: 'ignoreErrors' });
    await chat.page.reload();
    await chat.open();
    await chat.send(`${QUIET}nobody`);
    await chat.reaches('nobody', 'delivered');
    await chat.shows([`${QUIET}nobody`]);
  });

  test('logging out before the chat is opened touches nobody who comes later', async (setting) => {
    const visit = await setting.visit();
    const { chat } = visit;
    await chat.launcher.waitFor();
    await identify(chat, await jwtOf('ada-5', 'Ada Nilsson'));
    await chat.page.evaluate(() => (window as unknown as Hosted).Sluice.logout());
    const tab = await (await visit.anotherTab()).open();
    await tab.send(`${QUIET}from the second tab`);
    await tab.reaches('from the second tab', 'delivered');
    await tab.type('a draft');

    await chat.open();
    await chat.line('from the second tab').waitFor();
    await chat.until('the draft', async () => (await chat.input.inputValue()) === 'a draft');
    await chat.send(`${QUIET}from the first tab`);
    await chat.reaches('from the first tab', 'delivered');
    const lines = [`${QUIET}from the second tab`, `${QUIET}from the first tab`];
    for (const each of [chat, tab]) await each.shows(lines);
    const contacts = lines.map((line) => setting.arrived(line)[0]?.contact_id);
    expect(contacts[0]).toBe(contacts[1]);
    const emails = setting.platform.payloads.map(({ contact }) => contact.email);
    expect(emails).not.toContain('ada-5@customer.example');
  });

  test('an unsigned token identifies no one', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(`${QUIET}me`);
    await chat.reaches('me', 'delivered');
    const [header, payload] = (await jwtOf('ada-3', 'Ada')).split('.');
    await identify(chat, `${header}.${payload}.${'A'.repeat(43)}`);
    await chat.host.getByRole('alert').filter({ hasText: 'confirm who you are' }).waitFor();
    await chat.send(`${QUIET}still me`);
    await chat.reaches('still me', 'delivered');
    await chat.shows([`${QUIET}me`, `${QUIET}still me`]);
    const [payloads] = [setting.platform.payloads.map(({ contact }) => contact.email)];
    expect(payloads).not.toContain('ada-3@customer.example');
  });
});
