import { expect, test } from '@jest/globals';
import type { Chat } from '../../../src/widget/engine/chat.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Browser, online, say, shows } from './browser.ts';
import { aLine, lines, ScriptedServer } from './scripted-server.ts';
import { relayTo, reply, start, visitorOf } from './widget-scene.ts';

const seqs = (chat: Chat): number[] => chat.lines.value.map(({ seq = 0 }) => seq);
const range = (from: number, to: number): number[] => lines(from, to).map(({ seq }) => seq);

test('a new page shows the newest lines, and older ones page by page', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const first = await browser.open();
  say(first, 'hello');
  await shows(first, ['hello']);
  for (let line = 2; line <= 130; line += 1) await reply(gateway, visitorOf(first), `line ${line}`);
  await waitFor('all', () => first.chat.lines.value.length === 130);
  first.close();
  const { chat } = await browser.open();
  await waitFor('the newest', () => chat.lines.value.length > 0);
  expect(seqs(chat)).toEqual(range(81, 130));
  expect(chat.older.value).toBe('some');
  await Promise.all([chat.loadOlder(), chat.loadOlder()]);
  expect(seqs(chat)).toEqual(range(31, 130));
  await chat.loadOlder();
  expect(seqs(chat)).toEqual(range(1, 130));
  expect(chat.older.value).toBe('none');
});

test('a tab that was offline for more lines than are sent again has no gap', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url).open();
  say(tab, 'hello');
  await shows(tab, ['hello']);
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  const visitor = visitorOf(tab);
  await Promise.all(
    Array.from({ length: 1_400 }, (_, index) => reply(gateway, visitor, `line ${index + 2}`)),
  );
  relay.restore(gateway.url);
  const { chat } = tab;
  await waitFor('the newest', () => chat.lines.value.at(-1)?.seq === 1_401);
  expect(seqs(chat)).toEqual(range(402, 1_401));
  while (chat.older.value === 'some') await chat.loadOlder();
  expect(seqs(chat)).toEqual(range(1, 1_401));
});

test('older lines are fetched once the connection is back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url);
  const first = await browser.open();
  say(first, 'hello');
  await shows(first, ['hello']);
  for (let line = 2; line <= 60; line += 1) await reply(gateway, visitorOf(first), `line ${line}`);
  await waitFor('all', () => first.chat.lines.value.length === 60);
  first.close();
  const tab = await browser.open();
  await waitFor('the newest', () => tab.chat.older.value === 'some');
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  await tab.chat.loadOlder();
  expect(tab.chat.older.value).toBe('some');
  relay.restore(gateway.url);
  await online(tab);
  await tab.chat.loadOlder();
  expect(seqs(tab.chat)).toEqual(range(1, 60));
});

test('a gap is fetched before any later line is shown', async () => {
  const server = await ScriptedServer.start(undefined, lines(1, 300));
  const tab = await new Browser(server.url).open();
  const shown: number[][] = [];
  const unsubscribe = tab.chat.lines.subscribe(() => shown.push(seqs(tab.chat)));
  server.send(...lines(1, 3), aLine(7), aLine(8), aLine(159), aLine(160));
  await waitFor('the last line', () => tab.chat.lines.value.at(-1)?.seq === 160);
  unsubscribe();
  for (const each of shown) expect(each).toEqual(range(1, each.length));
  expect(server.history).toContainEqual({ before: 7, limit: 3 });
});

test('a gap of lines that no longer exist is skipped', async () => {
  const server = await ScriptedServer.start(undefined, [...lines(1, 3), aLine(7)]);
  const tab = await new Browser(server.url).open();
  server.send(...lines(1, 3), aLine(7));
  await waitFor('the last line', () => tab.chat.lines.value.at(-1)?.seq === 7);
  expect(seqs(tab.chat)).toEqual([1, 2, 3, 7]);
});

test('a server that is busy is asked again for what is missing', async () => {
  const server = await ScriptedServer.start(undefined, lines(1, 9));
  server.session = { ...server.session, lastSeq: 9 };
  const { answer } = server;
  let refusals = 0;
  server.answer = (request) => {
    refusals += 1;
    return refusals <= 2 ? { ok: false, error: 'busy' } : answer(request);
  };
  const { chat } = await new Browser(server.url).open();
  await waitFor('the newest', () => chat.lines.value.length === 9);
  expect(chat.older.value).toBe('none');
});

test('an answer that arrives after the logout is not shown', async () => {
  const server = await ScriptedServer.start(undefined, lines(1, 9));
  server.session = { ...server.session, lastSeq: 9 };
  const tab = new Browser(server.url).page();
  tab.chat.start();
  await waitFor('the question', () => server.history.length === 1);
  tab.chat.logout();
  await online(await new Browser(server.url).open());
  expect(tab.chat.lines.value).toEqual([]);
});

test('a wrong clock changes neither the order nor the unread count', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url, { now: () => 1_000 }).open();
  say(tab, 'from 1970');
  await shows(tab, ['from 1970']);
  await reply(gateway, visitorOf(tab), 'from today');
  await shows(tab, ['from 1970', 'from today']);
  say(tab, 'again from 1970');
  const times = tab.chat.lines.value.map(({ at }) => at);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  await shows(tab, ['from 1970', 'from today', 'again from 1970']);
  expect(tab.chat.unread.value).toBe(1);
});
