import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

/** Connections that the page which does not know that it is offline tries; the waits between them double. */
const TRIES = 8;

const said = (who: string): string[] => [1, 2, 3].map((n) => `${QUIET}${who}, message ${n}`);

async function statesOf(chat: ChatPage): Promise<string[]> {
  return (await chat.lines()).map(({ state }) => state);
}

describeInBrowser('a long time without a network', (test) => {
  test('keeps what is written, and sends it once and in order afterwards', async (setting) => {
    // One browser knows that it is offline; to the other, only nobody answers.
    const aware = await setting.visit();
    const unaware = await setting.visit();
    const visits = [
      { chat: aware.chat, texts: said('aware') },
      { chat: unaware.chat, texts: said('unaware') },
    ];
    for (const { chat } of visits) {
      await chat.open();
      await chat.send(`${QUIET}hello`);
      await chat.reaches('hello', 'delivered');
    }

    await aware.goOffline();
    const met = setting.proxy.met;
    for (const { chat, texts } of visits) for (const text of texts) await chat.send(text);
    await waitFor('many tries', () => setting.proxy.met >= met + TRIES, 250);
    for (const { chat } of visits) {
      await chat.host.getByText('You’re offline').first().waitFor();
      expect(await statesOf(chat)).toEqual(['delivered', 'queued', 'queued', 'queued']);
    }
    expect(setting.arrived(`${QUIET}aware`)).toEqual([]);
    expect(setting.arrived(`${QUIET}unaware`)).toEqual([]);

    await aware.goOnline();
    for (const { chat, texts } of visits) {
      for (const text of texts) await chat.reaches(text, 'delivered');
      await chat.shows([`${QUIET}hello`, ...texts]);
      await chat.host.getByText('You’re offline').waitFor({ state: 'detached' });
    }
    for (const who of ['aware', 'unaware']) {
      const arrived = setting.arrived(`${QUIET}${who}`).map(({ content }) => content);
      expect(arrived).toEqual(said(who));
    }
    await aware.chat.send('and now?');
    await aware.chat.line('You said: and now?').waitFor();
  });
});
