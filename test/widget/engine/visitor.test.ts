import { describe, expect, test } from '@jest/globals';
import { effect } from '@preact/signals-core';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { storagePrefix } from '../../../src/widget/storage.ts';
import { ends } from '../../support/ends.ts';
import { aShop, ROOMY } from '../../channels/chat/chat-gateway.ts';
import { SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Browser, online, say, shows, type Tab, textsOf } from './browser.ts';
import { ScriptedServer } from './scripted-server.ts';
import {
  identityOf,
  journalOf,
  outboxOf,
  relayTo,
  reply,
  sameVisitor,
  slowAnswers,
  start,
  visitorOf,
} from './widget-scene.ts';

const states = ({ chat }: Tab): string[] => {
  const seen: string[] = [];
  ends(
    chat.connection.subscribe((connection) =>
      seen.push('code' in connection ? connection.code : connection.state),
    ),
  );
  return seen;
};

test('a page view later the visitor is the same, with all their lines', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const first = await browser.open();
  say(first, 'hello');
  await shows(first, ['hello']);
  const visitor = visitorOf(first);
  first.close();
  await reply(gateway, visitor, 'good day');
  const second = await browser.open();
  await shows(second, ['hello', 'good day']);
  expect(visitorOf(second)).toBe(visitor);
});

test('identify makes every tab the verified visitor, and takes the anonymous lines along', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  const other = await browser.open();
  say(tab, 'before');
  await shows(tab, ['before']);
  tab.chat.identify(await identityOf('ada'));
  await waitFor('the identity', () => tab.chat.session.value?.verified === true);
  say(tab, 'after');
  for (const each of [tab, other]) await shows(each, ['before', 'after']);
  await waitFor('the name', () => other.chat.session.value?.name === 'ada');
  const elsewhere = new Browser(gateway.url).page();
  elsewhere.chat.identify(await identityOf('ada'));
  await shows(elsewhere, ['before', 'after']);
});

test('identifying as another customer switches all tabs, and sends nothing of the first', async () => {
  const gateway = await start();
  const bob = new Browser(gateway.url).page();
  bob.chat.identify(await identityOf('bob'));
  await online(bob);
  say(bob, 'of bob');
  await shows(bob, ['of bob']);

  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url);
  const tab = browser.page();
  tab.chat.identify(await identityOf('ada'));
  await online(tab);
  const other = await browser.open();
  say(tab, 'of ada');
  await shows(other, ['of ada']);
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  say(tab, 'never sent');
  tab.chat.setDraft('half a thought');
  relay.restore(gateway.url);
  tab.chat.identify(await identityOf('bob'));
  for (const each of [tab, other]) await shows(each, ['of bob']);
  expect(tab.chat.draft.value).toBe('');
  expect(outboxOf(browser)).toEqual([]);
  expect(await journalOf(gateway, tab)).toEqual(['of bob']);
});

test('what a guest has sent is one message, also when they say who they are before the answer', async () => {
  const slow = slowAnswers();
  const gateway = await start({ intake: slow.intake });
  const bob = new Browser(gateway.url).page();
  bob.chat.identify(await identityOf('bob'));
  await online(bob);
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  say(tab, 'who am I?');
  say(tab, 'and where?');
  await waitFor('the message', () => slow.taken.length === 1);
  tab.chat.identify(await identityOf('bob'));
  await waitFor('bob', () => tab.chat.session.value?.name === 'bob');
  slow.release();
  for (const each of [tab, bob]) await shows(each, ['who am I?', 'and where?']);
  expect(visitorOf(tab)).toBe(visitorOf(bob));
  expect(await gateway.entries()).toHaveLength(2);
  expect(outboxOf(browser)).toEqual([]);
});

test('a rejected identity is reported and forgotten', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url).open();
  say(tab, 'me');
  await shows(tab, ['me']);
  const visitor = visitorOf(tab);
  const seen = states(tab);
  tab.chat.identify('not.a.jwt');
  await waitFor('the refusal', () => seen.includes('bad_identity'));
  await online(tab);
  expect(visitorOf(tab)).toBe(visitor);
  await shows(tab, ['me']);
});

test('logout forgets the visitor in every tab, and leaves nothing behind', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  say(tab, 'secret');
  await shows(tab, ['secret']);
  const visitor = visitorOf(tab);
  const other = await browser.open();
  await shows(other, ['secret']);
  other.chat.setDraft('more secrets');
  tab.chat.logout();
  await waitFor('the other tab', () => other.chat.connection.value.state === 'idle');
  for (const { chat } of [tab, other]) {
    expect(chat.connection.value).toEqual({ state: 'idle' });
    expect(chat.session.value).toBeUndefined();
    expect(chat.lines.value).toEqual([]);
    expect(chat.draft.value).toBe('');
  }
  expect([...browser.storage.values.keys()]).toEqual([]);
  say(tab, 'a new life');
  await shows(tab, ['a new life']);
  expect(visitorOf(tab)).not.toBe(visitor);
  other.chat.start();
  await shows(other, ['a new life']);
});

test('after a logout, the tabs do not make a visitor each', async () => {
  let made = 0;
  const server = await ScriptedServer.start((socket, next) => {
    const { token } = socket.handshake.auth as { token?: string };
    made += token === undefined ? 1 : 0;
    server.session = { ...server.session, token: token ?? `token-${made}`, visitorId: `v-${made}` };
    next();
  });
  // None of them would come to its own attempt.
  const browser = new Browser(server.url, {
    timing: { reconnectMs: 60_000, maxReconnectMs: 60_000 },
  });
  const first = await browser.open();
  const tabs = [first, await browser.open(), await browser.open()];
  // As open panels do.
  for (const { chat } of tabs)
    ends(chat.connection.subscribe(({ state }) => state === 'idle' && chat.start()));
  expect(made).toBe(1);
  first.chat.logout();
  await waitFor('the new visitor', () =>
    tabs.every(({ chat }) => chat.session.value?.visitorId === 'v-2'),
  );
  expect(made).toBe(2);
});

test('logout ends the token at the gateway, too', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url).open();
  say(tab, 'secret');
  await shows(tab, ['secret']);
  const { token, visitorId } = tab.chat.session.value ?? {};
  tab.chat.logout();
  await waitFor('the logout', async () => {
    const id = asVisitorId(visitorId ?? '');
    return (await gateway.store.chat.visitor(SHOP, id))?.logouts === 1;
  });
  const thief = await gateway.connect({ auth: { key: 'demo', token } });
  expect(thief.session.visitorId).not.toBe(visitorId);
});

test('a token that the server does not know makes a new visitor, who sends what waited', async () => {
  const gateway = await start();
  const elsewhere = await start({
    signingKeys: [{ id: 'k2', secret: 'quite another signing key' }],
  });
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url).open();
  say(tab, 'old');
  await shows(tab, ['old']);
  const visitor = visitorOf(tab);
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  say(tab, 'waiting');
  relay.restore(elsewhere.url);
  await shows(tab, ['waiting']);
  expect(visitorOf(tab)).not.toBe(visitor);
});

test('a tab whose visitor another tab has replaced takes along what waited', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url);
  const tab = await browser.open();
  say(tab, 'as the first');
  await shows(tab, ['as the first']);
  const second = new Browser(relay.url);
  const other = await second.open();
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  say(tab, 'waiting');
  for (const [key, value] of second.storage.values) browser.storage.page().setItem(key, value);
  await waitFor('the change', () => tab.chat.session.value === undefined);
  relay.restore(gateway.url);
  for (const each of [tab, other]) await shows(each, ['waiting']);
  await sameVisitor(tab, other);
});

test('after the server has lost its database, the tab starts again with its record', async () => {
  const gateway = await start();
  const empty = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url).open();
  for (const text of ['one', 'two']) say(tab, text);
  await shows(tab, ['one', 'two']);
  await reply(gateway, visitorOf(tab), 'three');
  await shows(tab, ['one', 'two', 'three']);
  tab.chat.markSeen();
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  say(tab, 'again');
  relay.restore(empty.url);
  await shows(tab, ['again']);
  await reply(empty, visitorOf(tab), 'an answer');
  await shows(tab, ['again', 'an answer']);
  expect(tab.chat.unread.value).toBe(1);
});

test.each<[string, string]>([
  ['unknown_key', 'nobody'],
  ['origin', 'demo'],
])('after a refusal with %s it does not reconnect', async (code, key) => {
  const gateway = await start({ shops: [aShop({ limits: ROOMY, allowNoOrigin: key !== 'demo' })] });
  const relay = await relayTo(gateway);
  const tab = new Browser(relay.url).page({ key });
  tab.chat.start();
  await waitFor('the refusal', () => tab.chat.connection.value.state === 'refused');
  expect(tab.chat.connection.value).toEqual({ state: 'refused', code });
});

test('refused for too many sockets it says when it tries again', async () => {
  const gateway = await start({ shops: [aShop({ limits: { ...ROOMY, socketsPerIp: 1 } })] });
  await new Browser(gateway.url).open();
  const second = new Browser(gateway.url).page();
  second.chat.start();
  await waitFor('the refusal', () => second.chat.connection.value.state === 'refused');
  const { connection } = second.chat;
  expect(connection.value).toMatchObject({ code: 'rate_limited' });
  expect('retryAt' in connection.value && connection.value.retryAt).toBeGreaterThan(Date.now());
});

test.each(['busy', 'rate_limited'])('refused as %s it tries again when it may', async (code) => {
  let refusals = 0;
  const server = await ScriptedServer.start((_socket, next) => {
    refusals += 1;
    next(
      refusals < 2 ? Object.assign(new Error(code), { data: { code, retryAfter: 1 } }) : undefined,
    );
  });
  const tab = new Browser(server.url).page();
  const seen = states(tab);
  tab.chat.start();
  await online(tab);
  expect(seen).toEqual(['idle', 'connecting', code, 'connecting', 'online']);
});

test('it works with a storage that refuses every write', async () => {
  const gateway = await start();
  const tab = new Browser(gateway.url).page();
  tab.storage.refuses = new Error('QuotaExceeded');
  tab.chat.setDraft('kept');
  expect(tab.chat.draft.value).toBe('kept');
  await converses(tab);
});

test('it works with a storage full of invalid values', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const prefix = storagePrefix(gateway.url, 'demo');
  for (const nonsense of ['{"half":', 'null', '[]', '"x"', '{"visitorId":1}', '[1,[{}]]']) {
    for (const name of ['session', 'last', 'seen', 'breaks', 'sender', 'out:1', 'draft']) {
      browser.storage.page().setItem(prefix + name, nonsense);
    }
    const tab = browser.page();
    tab.chat.setDraft('');
    await converses(tab);
    tab.close();
  }
});

async function converses(tab: Tab): Promise<void> {
  say(tab, 'one');
  say(tab, 'two');
  await shows(tab, ['one', 'two']);
  expect(await tab.chat.newConversation()).toBe(true);
  expect(tab.chat.breaks.value).toEqual([2]);
}

test('it works without a storage', async () => {
  const gateway = await start();
  const tab = new Browser(gateway.url).page({ storage: undefined });
  say(tab, 'one');
  await shows(tab, ['one']);
  tab.chat.logout();
  expect(textsOf(tab)).toEqual([]);
});

test('draft, looked-at lines and breaks are the same in all tabs and after a reload', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  say(tab, 'question');
  await shows(tab, ['question']);
  const other = await browser.open();
  await sameVisitor(tab, other);
  await reply(gateway, visitorOf(tab), 'answer');
  for (const { chat } of [tab, other]) await waitFor('unread', () => chat.unread.value === 1);
  expect(await tab.chat.newConversation()).toBe(true);
  tab.chat.setDraft('to be continued');
  other.chat.markSeen();
  await waitFor('read', () => tab.chat.unread.value === 0);
  await waitFor('the break', () => other.chat.breaks.value.length === 1);
  await waitFor('the draft', () => other.chat.draft.value === 'to be continued');
  const elsewhere = await reloaded(browser, tab, other);
  await shows(elsewhere, ['question', 'answer']);
  expect(elsewhere.chat.breaks.value).toEqual([2]);
  expect(elsewhere.chat.unread.value).toBe(0);
  expect(elsewhere.chat.draft.value).toBe('to be continued');
});

async function reloaded(browser: Browser, ...tabs: Tab[]): Promise<Tab> {
  for (const tab of tabs) tab.close();
  return browser.open();
}

test('seen lines are known on another device', async () => {
  const gateway = await start();
  const here = new Browser(gateway.url).page();
  here.chat.identify(await identityOf('ada'));
  await online(here);
  await reply(gateway, visitorOf(here), 'hello ada');
  await waitFor('unread', () => here.chat.unread.value === 1);
  here.chat.markSeen();
  await waitFor('the server to know', () => here.chat.session.value?.seenSeq === 1);
  const there = new Browser(gateway.url).page();
  there.chat.identify(await identityOf('ada'));
  await shows(there, ['hello ada']);
  expect(there.chat.unread.value).toBe(0);
});

test('a profile labels the visitor in all tabs', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url);
  const tab = browser.page();
  expect(await tab.chat.setProfile({ name: 'Ada' })).toBe('busy');
  tab.chat.start();
  expect(await tab.chat.setProfile({ name: 'Ada', email: 'ada@customer.example' })).toBeUndefined();
  expect(await tab.chat.setProfile({ email: 'nonsense' })).toBe('invalid');
  expect(tab.chat.session.value).toMatchObject({ name: 'Ada', email: 'ada@customer.example' });
  const other = await browser.open();
  expect(other.chat.session.value).toMatchObject({ name: 'Ada' });
});

test('a frozen page shows the current state when it returns', async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  const gateway = await start({ dir: temp.path });
  const browser = new Browser(gateway.url);
  const tab = await browser.open();
  const other = await browser.open();
  await sameVisitor(tab, other);
  tab.storage.window.dispatchEvent(new Event('pagehide'));
  expect(tab.chat.connection.value.state).toBe('idle');
  browser.storage.close(tab.storage);
  say(other, 'meanwhile');
  await shows(other, ['meanwhile']);
  browser.storage.reopen(tab.storage);
  tab.storage.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await shows(tab, ['meanwhile']);
});

describe('a frozen page after a logout elsewhere', () => {
  const freeze = async () => {
    const gateway = await start();
    const browser = new Browser(gateway.url);
    const tab = await browser.open();
    say(tab, 'secret');
    await shows(tab, ['secret']);
    const other = await browser.open();
    await shows(other, ['secret']);
    // As an open panel does.
    ends(
      effect(() => {
        if (tab.chat.connection.value.state === 'idle') tab.chat.start();
      }),
    );
    tab.storage.window.dispatchEvent(new Event('pagehide'));
    expect(tab.chat.connection.value.state).toBe('idle');
    browser.storage.close(tab.storage);
    other.chat.logout();
    const thaw = (): void => {
      browser.storage.reopen(tab.storage);
      tab.storage.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
      expect(tab.chat.lines.value).toEqual([]);
    };
    return { tab, other, thaw };
  };

  test('goes on as the new visitor', async () => {
    const { tab, other, thaw } = await freeze();
    say(other, 'somebody else');
    await shows(other, ['somebody else']);
    thaw();
    await shows(tab, ['somebody else']);
    await sameVisitor(tab, other);
  });

  test('connects as a new visitor where there is none', async () => {
    const { tab, thaw } = await freeze();
    thaw();
    await online(tab);
  });
});

test('stop leaves no timer, listener or connection', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url).open();
  say(tab, 'bye');
  tab.chat.markSeen();
  const profile = tab.chat.setProfile({ name: 'Ada' });
  tab.chat.stop();
  await profile;
  tab.storage.window.dispatchEvent(new Event('online'));
  expect(tab.chat.connection.value).toEqual({ state: 'idle' });
  await waitFor('no connection', async () => (await gateway.connections) === 0);
});
