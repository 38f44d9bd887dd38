import { expect } from '@jest/globals';
import { describeInBrowser } from './setting.ts';
import { QUIET } from './scripted-agent.ts';

const STARTERS = ['Where is it?', 'How do returns work?'] as const;

describeInBrowser(
  'a conversation',
  (test) => {
    test('begins with a greeting that leaves when it is used, and a button that sends what can be sent', async (setting) => {
      const { chat } = await setting.visit({ data: { greeting: 'Hello! How can we help?' } });
      await chat.open();
      const greeting = chat.log.getByText('Hello! How can we help?');
      await greeting.waitFor();
      const isDisabled = () => chat.button('Send').getAttribute('aria-disabled');
      expect(await isDisabled()).toBe('true');
      await chat.type('   ');
      expect(await isDisabled()).toBe('true');
      await chat.type('x'.repeat(8_001));
      expect(await isDisabled()).toBe('true');
      // A press says why.
      await chat.button('Send').click({ force: true });
      await chat.host.getByRole('alert').filter({ hasText: 'This message is too long.' }).waitFor();
      await chat.type('My question');
      expect(await isDisabled()).toBe('false');
      await chat.button('Send').click();
      await chat.line('You said: My question').waitFor();
      expect(await greeting.count()).toBe(0);
      await chat.page.reload();
      await chat.line('You said: My question').waitFor();
      expect(await greeting.count()).toBe(0);
    });

    test('a starter is sent with one press; none is left then, or while one writes', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      const starters = chat.panel.locator('.starters button');
      expect(await starters.allTextContents()).toEqual(STARTERS);
      await chat.type('My own');
      await starters.first().waitFor({ state: 'detached' });
      await chat.type('');
      await starters.first().click();
      await chat.shows([STARTERS[0], `You said: ${STARTERS[0]}`]);
      expect(await starters.count()).toBe(0);
      expect(setting.arrived(STARTERS[0])).toHaveLength(1);
      expect(await chat.input.inputValue()).toBe('');
    });

    test('dots stand for the answer until it comes; after half a minute, what really holds', async (setting) => {
      const { chat } = await setting.visit();
      const { page } = chat;
      await page.clock.install();
      await chat.open();
      const dots = page.locator('.dots');
      await chat.send('Is anybody there?');
      await chat.shows(['Is anybody there?', 'You said: Is anybody there?']);
      await dots.waitFor({ state: 'detached' });
      await chat.send(`${QUIET}a hard question`);
      await chat.reaches('a hard question', 'delivered');
      await dots.waitFor();
      await page.clock.fastForward(31_000);
      await dots.waitFor({ state: 'detached' });
      await page.getByText('We have your message. Our reply will appear here.').waitFor();
      // A new page knows how long ago it was.
      await page.reload();
      await chat.open();
      await page.getByText('We have your message. Our reply will appear here.').waitFor();
    });

    test('a message that the platform refuses for good says so', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      setting.platform.faults = ({ path }) =>
        path.endsWith('/messages/') ? { kind: 'status', status: 400 } : undefined;
      try {
        await chat.send(`${QUIET}refused`);
        await chat.reaches('refused', 'failed');
      } finally {
        setting.platform.faults = () => undefined;
      }
      await chat.line('refused').getByRole('alert').filter({ hasText: 'Not sent' }).waitFor();
      await chat.send(`${QUIET}taken`);
      await chat.reaches('taken', 'delivered');
      expect(setting.arrived(QUIET).map(({ content }) => content)).toContain(`${QUIET}taken`);
    });

    test('a new page shows what was said, in order, without a double', async (setting) => {
      const visit = await setting.visit();
      await visit.chat.open();
      const said = [`${QUIET}one`, `${QUIET}two`, `${QUIET}three`];
      for (const text of said) await visit.chat.send(text);
      await visit.chat.reaches(`${QUIET}three`, 'delivered');
      const before = await visit.chat.lines();

      await visit.chat.page.reload();
      await visit.chat.open();
      await visit.chat.shows(said);
      const after = await visit.chat.lines();
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    });

    test('the panel stays open from page to page, takes no focus there, and stays closed', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await chat.open();
      await chat.type('half a sentence');
      await chat.page.reload();
      await chat.input.waitFor();
      expect(await chat.input.inputValue()).toBe('half a sentence');
      expect(await chat.page.evaluate('document.activeElement === document.body')).toBe(true);
      // Another tab is another place.
      const other = await visit.anotherTab();
      await other.launcher.waitFor();
      expect(await other.input.isVisible()).toBe(false);
      await chat.input.press('Escape');
      await chat.page.reload();
      await chat.launcher.waitFor();
      expect(await chat.input.isVisible()).toBe(false);
    });

    test('the colours are those of the page', async (setting) => {
      for (const [scheme, colorScheme, shown] of [
        ['', 'dark', 'light'],
        ['light', 'dark', 'light'],
        ['light dark', 'dark', 'dark'],
        ['light dark', 'light', 'light'],
        ['dark', 'light', 'dark'],
      ] as const) {
        const { chat } = await setting.visit({ scheme, browser: { colorScheme } });
        await chat.launcher.waitFor();
        const frame = chat.page.locator('sluice-chat .frame');
        expect([scheme, await frame.getAttribute('data-scheme')]).toEqual([scheme, shown]);
        // The page's own switch.
        await chat.page.evaluate('document.documentElement.style.colorScheme = "dark"');
        await frame.and(chat.page.locator('[data-scheme=dark]')).waitFor({ state: 'attached' });
        await chat.page.close();
      }
    });

    test('several lines and emoji arrive as they were written', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.type(`${QUIET}first`);
      await chat.input.press('Shift+Enter');
      await chat.input.pressSequentially('second ✓ 👋🏽');
      await chat.input.press('Enter');
      await chat.reaches('second', 'delivered');
      expect(setting.arrived(`${QUIET}first`).map(({ content }) => content)).toEqual([
        `${QUIET}first\nsecond ✓ 👋🏽`,
      ]);
    });

    test('what is typed survives a reload, and is not sent by it', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.type('Half a sen');
      await chat.page.reload();
      await chat.open();
      await chat.until('the draft', async () => (await chat.input.inputValue()) === 'Half a sen');
      await chat.shows([]);
      await chat.input.press('End');
      await chat.input.pressSequentially('tence');
      await chat.input.press('Enter');
      await chat.reaches('Half a sentence', 'delivered');
      await chat.page.reload();
      await chat.open();
      expect(await chat.input.inputValue()).toBe('');
    });

    test('a new conversation is one for the platform, and divided from the old one', async (setting) => {
      const { chat } = await setting.visit();
      await chat.open();
      await chat.send(`${QUIET}about shoes`);
      await chat.reaches('about shoes', 'delivered');
      await chat.button('More').click();
      await chat.page.getByRole('menuitem', { name: 'End conversation' }).click();
      await chat.button('Skip').click();
      await chat.log.getByText('New conversation').waitFor();
      await chat.send(`${QUIET}about socks`);
      await chat.reaches('about socks', 'delivered');
      await chat.shows([`${QUIET}about shoes`, `${QUIET}about socks`]);
      const conversations = setting
        .arrived(`${QUIET}about`)
        .map(({ conversation_id: conversation }) => conversation);
      expect(new Set(conversations).size).toBe(2);
    });

    test('older lines come when one scrolls up, and the view stays where it was', async (setting) => {
      const visit = await setting.visit();
      await visit.chat.open();
      const texts = Array.from({ length: 80 }, (_, n) => `${QUIET}line ${n + 1}.`);
      await visit.chat.send(texts[0] ?? '');
      await visit.chat.reaches('line 1.', 'accepted', 'delivered');
      const other = await setting.otherDevice(visit);
      for (const text of texts.slice(1)) expect(await other.send(text)).toMatchObject({ ok: true });

      await visit.chat.page.reload();
      await visit.chat.open();
      await visit.chat.line('line 80.').waitFor();
      await visit.chat.until('everything from the first line on', async () => {
        await visit.chat.log.hover();
        await visit.chat.page.mouse.wheel(0, -4_000);
        return (await visit.chat.lines())[0]?.text.includes('line 1.');
      });
      await visit.chat.shows(texts);
    });
  },
  { widget: { starters: STARTERS } },
);
