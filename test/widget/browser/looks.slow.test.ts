import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { describeInBrowser } from './setting.ts';

/** In which half of the page the launcher and, when it is open, the panel are. */
async function cornerOf({ page, launcher }: ChatPage): Promise<string> {
  const box = await launcher.boundingBox();
  const width = page.viewportSize()?.width ?? 0;
  return box !== null && box.x + box.width / 2 < width / 2 ? 'left' : 'right';
}

describeInBrowser(
  'how it looks',
  (test) => {
    test('it is in the corner at which the lines of the page end, unless told otherwise', async (setting) => {
      const { chat } = await setting.visit({ dir: 'rtl' });
      await chat.launcher.waitFor();
      expect(await cornerOf(chat)).toBe('left');
      await chat.page.evaluate('document.documentElement.dir = "ltr"');
      await chat.until('the other corner', async () => (await cornerOf(chat)) === 'right');
      for (const position of ['left', 'right']) {
        const dir = position === 'left' ? 'ltr' : 'rtl';
        const told = await setting.visit({ dir, data: { position } });
        await told.chat.open();
        expect(await cornerOf(told.chat)).toBe(position);
      }
    });

    test('the panel has a button that closes it', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.button('Minimize chat').click();
      await chat.input.waitFor({ state: 'hidden' });
      await chat.until('the focus', () =>
        chat.launcher.evaluate((it) => it === (it.getRootNode() as ShadowRoot).activeElement),
      );
    });

    test('a failure to load looks different from a greeting', async (setting) => {
      const { chat } = await setting.visit({ data: { greeting: 'Hello!' } });
      const card = (role: string) => chat.host.locator(`.card[role=${role}]`);
      const borderOf = (role: string): Promise<string> =>
        card(role).evaluate((it) => getComputedStyle(it).borderColor);
      await card('note').waitFor();
      const greeting = await borderOf('note');
      await chat.page.route('**/main-*', (route) => route.abort());
      await chat.launcher.click();
      await card('alert').waitFor();
      expect(await borderOf('alert')).not.toBe(greeting);
    });

    test('the first view has a face, a sentence, and how soon a reply comes while there is a connection', async (setting) => {
      const visit = await setting.visit({ data: { greeting: 'Ask us anything.' } });
      const { chat } = visit;
      await chat.page.route('**/widget/config/*', async (route) => {
        const response = await route.fetch();
        const config = (await response.json()) as object;
        await route.fulfill({ response, json: { ...config, usualReplySeconds: 120 } });
      });
      await chat.page.reload();
      await chat.open();
      const hello = chat.log.locator('.hello');
      await hello.getByText('Ask us anything.').waitFor();
      await expect(hello.locator('.avatar').innerText()).resolves.toBe('M');
      const soon = chat.panel.getByText('Usually replies in 2 minutes');
      await soon.waitFor();
      await visit.goOffline();
      await soon.waitFor({ state: 'detached' });
    });

    test('ticks of what is delivered are grey, and the assistant has the colour of the shop', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.send('Hello');
      await chat.line('You said: Hello').waitFor();
      await chat.reaches('Hello', 'delivered');
      const styleOf = (selector: string): Promise<{ color: string; background: string }> =>
        chat.host
          .locator(selector)
          .first()
          .evaluate((it) => {
            const { color, backgroundColor: background } = getComputedStyle(it);
            return { color, background };
          });
      const time = await styleOf('[data-from=visitor] .meta');
      expect((await styleOf('.i-ticks')).color).toBe(time.color);
      const launcher = await styleOf('.launcher');
      expect(await styleOf('.line .avatar')).toEqual(launcher);
      // `seen` needs somebody at the local platform's desk: see `seen.slow.test.ts`.
      await chat
        .line('Hello')
        .first()
        .evaluate((it) => it.setAttribute('data-state', 'seen'));
      expect((await styleOf('.i-ticks')).color).not.toBe(time.color);
    });

    test('required fields are marked, and a shop’s page on privacy is linked', async (setting) => {
      const { chat } = await setting.visit({ data: { 'pre-chat': 'required' } });
      await chat.launcher.click();
      const field = chat.host.getByRole('textbox', { name: 'Name', exact: true });
      await field.waitFor();
      expect(await chat.host.locator('label[for=name]').innerText()).toBe('Name *');
      const link = chat.host.getByRole('link', { name: 'How we use your data' });
      expect(await link.getAttribute('href')).toBe('https://acme.example/privacy');
      expect(await link.getAttribute('target')).toBe('_blank');
      const optional = await setting.visit({ data: { 'pre-chat': 'optional' } });
      await optional.chat.launcher.click();
      const label = optional.chat.host.locator('label[for=name]');
      await label.waitFor();
      expect(await label.innerText()).toBe('Name');
    });
  },
  { widget: { agent: { name: 'Mia' }, privacy: 'https://acme.example/privacy' } },
);
