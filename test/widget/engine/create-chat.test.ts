import { expect, test } from '@jest/globals';
import { aShop, ROOMY } from '../../channels/chat/chat-gateway.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Browser, online, say, shows, textsOf } from './browser.ts';
import { ScriptedServer } from './scripted-server.ts';
import {
  journalOf,
  outboxOf,
  relayTo,
  sameVisitor,
  slowAnswers,
  start,
  visitorOf,
} from './widget-scene.ts';

test('a line is queued, sent, accepted and delivered, and never shown twice', async () => {
  const gateway = await start();
  const tab = new Browser(gateway.url).page();
  say(tab, 'hello');
  expect(tab.chat.lines.value).toMatchObject([{ text: 'hello', state: 'queued', from: 'visitor' }]);
  expect(tab.chat.draft.value).toBe('');
  await shows(tab, ['hello']);
  const [line] = tab.chat.lines.value;
  expect(line).toMatchObject({ seq: 1, state: 'accepted' });

  const visitorId = visitorOf(tab);
  const settled = { shopId: SHOP, visitorId, messageId: line?.id ?? '' } as const;
  await gateway.server.messageSettled({ ...settled, state: 'failed' });
  await waitFor('the failure', () => tab.chat.lines.value[0]?.state === 'failed');
  await gateway.server.messageSettled({ ...settled, state: 'delivered' });
  await waitFor('the tick', () => tab.chat.lines.value[0]?.state === 'delivered');
  for (const texts of tab.shown) expect(texts.length).toBeLessThanOrEqual(1);
  // Once shown, it never flickers.
  expect(tab.shown.slice(1).every((texts) => texts.length === 1)).toBe(true);
});

test('what a person has seen while the tab had no connection is known when it has one again', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = new Browser(relay.url).page();
  say(tab, 'hello');
  await shows(tab, ['hello']);
  const messageId = tab.chat.lines.value[0]?.id ?? '';
  const message = { shopId: SHOP, visitorId: visitorOf(tab), messageId };
  await gateway.server.messageSettled({ ...message, state: 'delivered' });
  await waitFor('the tick', () => tab.chat.lines.value[0]?.state === 'delivered');
  relay.cut();
  await waitFor('the end of the connection', () => tab.chat.connection.value.state === 'offline');
  await gateway.server.messageSettled({ ...message, state: 'seen' });
  relay.restore(gateway.url);
  await waitFor('the state', () => tab.chat.lines.value[0]?.state === 'seen');
});

test('what is empty or too long is not sent', async () => {
  const gateway = await start();
  const { chat } = await new Browser(gateway.url).open();
  chat.setDraft(' \n ');
  expect(chat.send()).toBe('empty');
  chat.setDraft('😀'.repeat(8_001));
  expect(chat.send()).toBe('too_large');
  chat.setDraft('😀'.repeat(8_000));
  expect(chat.send()).toBeUndefined();
  await waitFor('the line', () => chat.lines.value[0]?.seq === 1);
});

test('a message that was taken in, but not acknowledged before the reload, is one message', async () => {
  const slow = slowAnswers();
  const gateway = await start({ intake: slow.intake });
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  say(tab, 'once');
  await waitFor('the message', () => slow.taken.length === 1);
  tab.crash();
  const reloaded = browser.page({ timing: { leaseMs: 300 } });
  expect(textsOf(reloaded)).toEqual(['once']);
  slow.release();
  reloaded.chat.start();
  await shows(reloaded, ['once']);
  expect(reloaded.chat.lines.value[0]?.seq).toBe(1);
  await waitFor('an empty outbox', () => outboxOf(browser).length === 0);
  expect(await gateway.entries()).toHaveLength(1);
  for (const texts of reloaded.shown) expect(texts).toEqual(['once']);
});

test('three messages written offline are sent in order when the network is back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url).open();
  say(tab, 'zero');
  await shows(tab, ['zero']);
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  for (const text of ['one', 'two', 'three']) say(tab, text);
  expect(tab.chat.lines.value.map(({ state }) => state)).toEqual([
    'accepted',
    ...['queued', 'queued', 'queued'],
  ]);
  relay.restore(gateway.url);
  await shows(tab, ['zero', 'one', 'two', 'three']);
  expect(await journalOf(gateway, tab)).toEqual(['zero', 'one', 'two', 'three']);
});

test('a queued line can be taken back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url);
  const tab = await browser.open();
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  for (const text of ['one', 'two']) say(tab, text);
  tab.chat.discard(tab.chat.lines.value[0]?.id ?? '');
  relay.restore(gateway.url);
  await shows(tab, ['two']);
  expect(await journalOf(gateway, tab)).toEqual(['two']);
});

test('the gateway may restart in the middle of everything', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const first = await start({ dir: temp.path });
  const relay = await relayTo(first);
  const tab = await new Browser(relay.url).open();
  const said = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  for (const text of said.slice(0, 15)) say(tab, text);
  await waitFor('some lines', () => tab.chat.lines.value.some(({ seq = 0 }) => seq > 3));
  relay.cut();
  await first.stop();
  for (const text of said.slice(15)) say(tab, text);
  const second = await start({ dir: temp.path });
  relay.restore(second.url);
  await shows(tab, said);
  expect(await journalOf(second, tab)).toEqual(said);
  expect(await second.entries()).toHaveLength(said.length);
});

test('a server that does not answer is asked again', async () => {
  const slow = slowAnswers();
  const gateway = await start({ intake: slow.intake });
  const tab = await new Browser(gateway.url, { timing: { ackTimeoutMs: 200 } }).open();
  say(tab, 'hello?');
  await waitFor('a second attempt', () => slow.taken.length > 1);
  slow.release();
  await shows(tab, ['hello?']);
  expect(await gateway.entries()).toHaveLength(1);
});

test('a connection that died silently is noticed when the page comes back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url, { timing: { probeTimeoutMs: 200 } }).open();
  relay.silence();
  tab.storage.window.dispatchEvent(new Event('visibilitychange'));
  await waitFor('another connection', () => relay.connections > 1);
  await online(tab);
  say(tab, 'still here');
  await shows(tab, ['still here']);
});

test('tabs that write at once keep the order of each, and nothing is sent twice', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const one = await browser.open();
  say(one, 'first');
  await shows(one, ['first']);
  const other = await browser.open();
  await shows(other, ['first']);
  const [ones, others] = ['one', 'other'].map((who) =>
    Array.from({ length: 20 }, (_, index) => `${who} ${index}`),
  );
  for (let index = 0; index < 20; index += 1) {
    say(one, ones?.[index] ?? '');
    say(other, others?.[index] ?? '');
  }
  for (const tab of [one, other]) {
    await waitFor('all lines', () => tab.chat.lines.value.at(-1)?.seq === 41);
    expect(textsOf(tab).filter((text) => text.startsWith('one '))).toEqual(ones);
    expect(textsOf(tab).filter((text) => text.startsWith('other '))).toEqual(others);
    for (const texts of tab.shown) expect(new Set(texts).size).toBe(texts.length);
    await waitFor('no rest', () => tab.chat.lines.value.length === 41);
  }
  expect(await journalOf(gateway, one)).toEqual(textsOf(one));
  expect(await gateway.entries()).toHaveLength(41);
  expect(outboxOf(browser)).toEqual([]);
});

test('a line that another tab has sent does not flicker', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const writer = await browser.open();
  const reader = await browser.open();
  await sameVisitor(writer, reader);
  for (let index = 0; index < 10; index += 1) {
    say(writer, `line ${index}`);
    await shows(
      reader,
      Array.from({ length: index + 1 }, (_, at) => `line ${at}`),
    );
  }
  const lengths = reader.shown.map((texts) => texts.length);
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
});

test('over the rate it waits and goes on by itself, in order', async () => {
  const gateway = await start({ shops: [aShop({ limits: { ...ROOMY, messagesPer10s: 2 } })] });
  const tab = await new Browser(gateway.url).open();
  for (const text of ['one', 'two', 'three']) say(tab, text);
  await waitFor('the limit', () => tab.chat.lines.value[2]?.retryAt !== undefined);
  expect(tab.chat.lines.value[2]).toMatchObject({ state: 'queued' });
  await shows(tab, ['one', 'two', 'three']);
  expect(await journalOf(gateway, tab)).toEqual(['one', 'two', 'three']);
});

test('a line that is refused for good does not hold up the next', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tab = await browser.open({ upload: answerUpload({ id: 'nobody-knows' }) });
  tab.chat.attach([new File(['a'], 'a.txt', { type: 'text/plain' })]);
  await waitFor('the upload', () => tab.chat.files.value[0]?.state === 'uploaded');
  say(tab, 'with a file');
  say(tab, 'without');
  await waitFor('the refusal', () => tab.chat.lines.value.some(({ state }) => state === 'failed'));
  await waitFor('the other', () => tab.chat.lines.value.some(({ seq }) => seq === 1));
  expect(tab.chat.lines.value).toMatchObject([
    { text: 'without', seq: 1 },
    { text: 'with a file', state: 'failed', error: 'unknown_upload', files: [{ name: 'a.txt' }] },
  ]);
  const reloaded = await browser.open();
  await waitFor('both', () => reloaded.chat.lines.value.length === 2);
  reloaded.chat.retry(reloaded.chat.lines.value[1]?.id ?? '');
  expect(reloaded.chat.lines.value[1]?.state).toBe('sending');
  await waitFor('the refusal', () => reloaded.chat.lines.value[1]?.state === 'failed');
  reloaded.chat.discard(reloaded.chat.lines.value[1]?.id ?? '');
  await shows(reloaded, ['without']);
  await shows(tab, ['without']);
});

const answerUpload =
  (info: Record<string, unknown>) =>
  ({ file }: { file: File }) => {
    const { name, type, size } = file;
    return Promise.resolve({ status: 201, body: JSON.stringify({ name, type, size, ...info }) });
  };

test('tabs that are new at the same moment become one visitor', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tabs = Array.from({ length: 5 }, () => browser.page());
  for (const { chat } of tabs) chat.start();
  await sameVisitor(...tabs);
  await Promise.all(tabs.map(online));
  for (const [index, tab] of tabs.entries()) say(tab, `tab ${index}`);
  for (const tab of tabs) {
    await waitFor('all lines', () => tab.chat.lines.value.filter(({ seq }) => seq).length === 5);
  }
});

test.each([
  ['refuses WebSockets', { refusesWebSockets: true }],
  ['swallows WebSockets', { swallowsWebSockets: true }],
])('a network that %s is crossed by polling', async (_case, options) => {
  const server = await ScriptedServer.start(undefined, [], options);
  const tab = new Browser(server.url, { timing: { connectTimeoutMs: 400 } }).page();
  tab.chat.start();
  await online(tab);
});

test('a new conversation begins after what was written before it', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url).open();
  for (const text of ['one', 'two']) say(tab, text);
  expect(await tab.chat.newConversation()).toBe(true);
  say(tab, 'three');
  await shows(tab, ['one', 'two', 'three']);
  expect(tab.chat.breaks.value).toEqual([2]);
  const lanes = (await gateway.entries()).map(({ lane }) => lane);
  expect(new Set(lanes).size).toBe(2);
  tab.storage.window.dispatchEvent(new Event('offline'));
  expect(tab.chat.connection.value.state).toBe('offline');
  expect(await tab.chat.newConversation()).toBe(false);
});
