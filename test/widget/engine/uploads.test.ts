import { request as httpRequest } from 'node:http';
import { expect, test } from '@jest/globals';
import type { UploadRequest } from '../../../src/widget/engine/page.ts';
import { storagePrefix } from '../../../src/widget/storage.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Browser, online, say, shows, type Tab, textsOf } from './browser.ts';
import { identityOf, relayTo, sameVisitor, start, visitorOf } from './widget-scene.ts';

/** What XMLHttpRequest does in a browser: it tells how much of the body has gone out. */
const uploadByHttp: UploadRequest = async ({ url, token, file, onProgress, signal }) => {
  const form = new FormData();
  form.append('file', file, file.name);
  const encoded = new Response(form);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  return new Promise((resolve) => {
    const outgoing = httpRequest(url, {
      method: 'POST',
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': encoded.headers.get('content-type') ?? '',
        'content-length': bytes.length,
      },
    });
    outgoing.on('error', () => resolve({ status: 0, body: '' }));
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        const { statusCode = 0, complete } = response;
        const body = Buffer.concat(chunks).toString();
        resolve(complete ? { status: statusCode, body } : { status: 0, body: '' });
      });
    });
    const half = bytes.length / 2;
    outgoing.write(bytes.subarray(0, half), () => onProgress(0.5));
    outgoing.end(bytes.subarray(half), () => onProgress(1));
  });
};

const textFile = (name: string, text = name): File =>
  new File([text], name, { type: 'text/plain' });
const states = ({ chat }: Tab): string[] => chat.files.value.map(({ state }) => state);
const namesOf = ({ chat }: Tab): string[] => chat.files.value.map(({ name }) => name);
const uploaded = (tab: Tab, count: number): Promise<unknown> =>
  waitFor(
    'the uploads',
    () => states(tab).filter((state) => state === 'uploaded').length === count,
  );

test('files are uploaded with progress, go with the message, and can be opened', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const tab = await browser.open();
  const progress = new Set<number>();
  ends(tab.chat.files.subscribe(([file]) => file && progress.add(file.progress)));
  tab.chat.attach([textFile('one.txt'), textFile('two.txt', 'the second')]);
  expect(tab.chat.send()).toBe('uploading');
  await uploaded(tab, 2);
  expect([...progress]).toEqual([0, 0.5, 1]);
  expect(tab.chat.send()).toBeUndefined();
  expect(tab.chat.files.value).toEqual([]);
  await shows(tab, ['']);
  const files = tab.chat.lines.value[0]?.files ?? [];
  expect(files).toMatchObject([{ name: 'one.txt' }, { name: 'two.txt', size: 10 }]);
  const bytes = files.map(async (file) => (await tab.chat.open(file))?.text());
  expect(await Promise.all(bytes)).toEqual(['one.txt', 'the second']);

  const later = await browser.open();
  await shows(later, ['']);
  const [, second] = later.chat.lines.value[0]?.files ?? [];
  const fetched = second && (await later.chat.open(second));
  expect(await fetched?.text()).toBe('the second');
  expect(await later.chat.open({ id: 'nothing', name: '', type: '', size: 0 })).toBeUndefined();
  expect(await later.chat.open({ name: '', type: '', size: 0 })).toBeUndefined();
});

test('more than ten files, and one that is too large, are refused at once', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url, { upload: uploadByHttp }).open();
  const large = new File([new Uint8Array(25 * 1024 * 1024 + 1)], 'large.bin');
  tab.chat.attach([large, ...Array.from({ length: 11 }, (_, at) => textFile(`${at}.txt`))]);
  await uploaded(tab, 9);
  expect(tab.chat.files.value.flatMap(({ name, error }) => (error ? [[name, error]] : []))).toEqual(
    [
      ['large.bin', 'too_large'],
      ['9.txt', 'too_many'],
      ['10.txt', 'too_many'],
    ],
  );
  expect(tab.chat.send()).toBe('failed_file');
  for (const { key, error } of tab.chat.files.value) if (error) tab.chat.removeFile(key);
  expect(tab.chat.send()).toBeUndefined();
  await shows(tab, ['']);
});

test('what the server refuses fails by its name', async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url, { upload: uploadByHttp }).open();
  tab.chat.attach([new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'a.svg')]);
  await waitFor('the refusal', () => states(tab)[0] === 'failed');
  expect(tab.chat.files.value[0]?.error).toBe('unsupported');
});

test('an upload waits for the connection, and begins again when it is back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url, { upload: uploadByHttp }).open();
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  tab.chat.attach([textFile('patient.txt')]);
  expect(states(tab)).toEqual(['waiting']);
  relay.restore(gateway.url);
  await uploaded(tab, 1);
});

test('an upload that fails again and again can be tried by hand', async () => {
  const gateway = await start();
  let failures = 0;
  const flaky: UploadRequest = (order) => {
    failures += 1;
    return failures <= 4 ? Promise.resolve({ status: 502, body: 'no JSON' }) : uploadByHttp(order);
  };
  const tab = await new Browser(gateway.url, { upload: flaky }).open();
  tab.chat.attach([textFile('a.txt')]);
  await waitFor('the failure', () => states(tab)[0] === 'failed');
  expect(failures).toBe(4);
  tab.chat.retryFile(tab.chat.files.value[0]?.key ?? '');
  await uploaded(tab, 1);
});

test.each([
  ['once more with a fresh token', 1, 'uploaded'],
  ['no third time', 2, 'failed'],
] as const)('a token that is refused is tried %s', async (_case, refusals, state) => {
  const gateway = await start();
  let calls = 0;
  const tokens = new Set<string>();
  const upload: UploadRequest = (order) => {
    calls += 1;
    tokens.add(order.token);
    return calls <= refusals ? Promise.resolve({ status: 401, body: '{}' }) : uploadByHttp(order);
  };
  const tab = await new Browser(gateway.url, { upload }).open();
  tab.chat.attach([textFile('a.txt')]);
  await waitFor('the end', () => states(tab)[0] === state);
  await online(tab);
});

test('a file that is removed is not uploaded to its end', async () => {
  const gateway = await start();
  let aborted = false;
  const upload: UploadRequest = ({ signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        resolve({ status: 0, body: '' });
      });
    });
  const tab = await new Browser(gateway.url, { upload }).open();
  tab.chat.attach([textFile('a.txt')]);
  await waitFor('the upload', () => states(tab)[0] === 'uploading');
  tab.chat.removeFile(tab.chat.files.value[0]?.key ?? '');
  expect(aborted).toBe(true);
  expect(tab.chat.files.value).toEqual([]);
});

test('a file that is removed makes room for another, at the gateway too', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const tab = await browser.open();
  tab.chat.attach(Array.from({ length: 10 }, (_, at) => textFile(`${at}.txt`)));
  await uploaded(tab, 10);
  for (const { key } of tab.chat.files.value) tab.chat.removeFile(key);
  tab.chat.attach(Array.from({ length: 10 }, (_, at) => textFile(`again-${at}.txt`)));
  await uploaded(tab, 10);
  expect(await gateway.store.chat.countUnusedUploads(SHOP, visitorOf(tab))).toBe(10);
  expect(tab.chat.send()).toBeUndefined();
  await shows(tab, ['']);
  expect(tab.chat.lines.value[0]?.files).toHaveLength(10);
});

test('what is uploaded is there after a reload, and in other tabs, until it is sent', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const first = await browser.open();
  first.chat.attach([textFile('one.txt'), textFile('two.txt')]);
  await uploaded(first, 2);
  first.close();

  const second = await browser.open();
  const other = await browser.open();
  for (const tab of [second, other]) {
    expect(namesOf(tab)).toEqual(['one.txt', 'two.txt']);
    expect(states(tab)).toEqual(['uploaded', 'uploaded']);
  }
  second.chat.removeFile(second.chat.files.value[0]?.key ?? '');
  other.chat.attach([textFile('three.txt')]);
  for (const tab of [second, other]) {
    await waitFor('the same files', () => namesOf(tab).join() === 'two.txt,three.txt');
  }
  await uploaded(second, 2);
  say(second, 'both of them');
  await shows(other, ['both of them']);
  expect(other.chat.lines.value[0]?.files.map(({ name }) => name)).toEqual([
    'two.txt',
    'three.txt',
  ]);
  await waitFor('no file', () => namesOf(other).length === 0);
  expect(namesOf(await browser.open())).toEqual([]);
  const waiting = (): Promise<number> =>
    gateway.store.chat.countUnusedUploads(SHOP, visitorOf(second));
  await waitFor('nothing to wait at the gateway', async () => (await waiting()) === 0);
});

test('an upload that the gateway has forgotten by now is not shown again', async () => {
  let now = Date.now();
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp, now: () => now });
  const tab = await browser.open();
  tab.chat.attach([textFile('old.txt')]);
  await uploaded(tab, 1);
  tab.close();
  now += 24 * 3_600_000;
  expect((await browser.open()).chat.files.value).toEqual([]);
});

test('an upload that the gateway is about to forget is uploaded again before it is sent', async () => {
  let now = Date.now();
  let uploads = 0;
  const upload: UploadRequest = (order) => {
    uploads += 1;
    return uploadByHttp(order);
  };
  const gateway = await start();
  const tab = await new Browser(gateway.url, { upload, now: () => now }).open();
  tab.chat.attach([textFile('invoice.txt')]);
  await uploaded(tab, 1);
  now += 23.5 * 3_600_000;
  tab.chat.setDraft('see the invoice');
  expect(tab.chat.send()).toBe('uploading');
  await uploaded(tab, 1);
  expect(uploads).toBe(2);
  expect(tab.chat.send()).toBeUndefined();
  await shows(tab, ['see the invoice']);
  expect(tab.chat.lines.value[0]?.files).toMatchObject([{ name: 'invoice.txt' }]);
});

test('an upload of another page that the gateway is about to forget is not left out silently', async () => {
  let now = Date.now();
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp, now: () => now });
  const first = await browser.open();
  first.chat.attach([textFile('invoice.txt')]);
  await uploaded(first, 1);
  first.close();
  const tab = await browser.open();
  now += 23.5 * 3_600_000;
  tab.chat.setDraft('see the invoice');
  expect(tab.chat.send()).toBe('failed_file');
  expect(tab.chat.files.value).toMatchObject([{ name: 'invoice.txt', state: 'failed' }]);
  tab.chat.removeFile(tab.chat.files.value[0]?.key ?? '');
  expect(tab.chat.send()).toBeUndefined();
  await shows(tab, ['see the invoice']);
  expect((await browser.open()).chat.files.value).toEqual([]);
});

test('what another tab has just uploaded, or taken, is shown before it is sent', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const tab = await browser.open();
  const other = await browser.open();
  tab.chat.attach([textFile('one.txt')]);
  for (const each of [tab, other]) await uploaded(each, 1);
  // As if its events were still on their way.
  browser.storage.close(tab.storage);
  other.chat.attach([textFile('two.txt')]);
  await uploaded(other, 2);
  tab.chat.setDraft('both');
  expect(tab.chat.send()).toBe('changed');
  expect(namesOf(tab)).toEqual(['one.txt', 'two.txt']);
  expect(namesOf(other)).toEqual(['one.txt', 'two.txt']);
  other.chat.removeFile(other.chat.files.value[0]?.key ?? '');
  expect(tab.chat.send()).toBe('changed');
  expect(tab.chat.send()).toBeUndefined();
  await shows(tab, ['both']);
  expect(tab.chat.lines.value[0]?.files).toMatchObject([{ name: 'two.txt' }]);
  await waitFor('no file', () => namesOf(other).length === 0);
});

const freeze = (browser: Browser, { storage }: Tab): void => {
  browser.storage.close(storage);
  storage.window.dispatchEvent(new Event('pagehide'));
};
const thaw = async (browser: Browser, tab: Tab): Promise<void> => {
  browser.storage.reopen(tab.storage);
  tab.storage.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await online(tab);
};

test('a frozen page of a customer who has logged out takes nothing from who came after', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const old = await browser.open();
  old.chat.identify(await identityOf('ada'));
  await waitFor('ada', () => old.chat.session.value?.name === 'ada');
  old.chat.attach([textFile('of ada.txt')]);
  await uploaded(old, 1);
  old.chat.setDraft('typed by ada');
  freeze(browser, old);
  const next = await browser.open();
  next.chat.logout();
  next.chat.start();
  await online(next);
  next.chat.attach([textFile('of the guest.txt')]);
  await uploaded(next, 1);
  next.chat.setDraft('typed by the guest');
  await thaw(browser, old);
  await sameVisitor(old, next);
  for (const tab of [old, next, await browser.open()]) {
    expect(namesOf(tab)).toEqual(['of the guest.txt']);
    expect(tab.chat.draft.value).toBe('typed by the guest');
  }
  say(next, 'mine');
  await shows(old, ['mine']);
  expect(old.chat.lines.value[0]?.files).toMatchObject([{ name: 'of the guest.txt' }]);
});

test('a frozen page of a guest whom the server forgot takes nothing from the next one', async () => {
  const gateway = await start();
  const elsewhere = await start({ signingKeys: [{ id: 'k2', secret: 'quite another key' }] });
  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url, { upload: uploadByHttp });
  const old = await browser.open();
  const next = await browser.open();
  await sameVisitor(old, next);
  const before = visitorOf(old);
  freeze(browser, old);
  relay.cut();
  await waitFor('the loss', () => next.chat.connection.value.state === 'offline');
  relay.restore(elsewhere.url);
  await waitFor('another guest', () => ![before, ''].includes(visitorOf(next)));
  next.chat.attach([textFile('of the next.txt')]);
  await uploaded(next, 1);
  await thaw(browser, old);
  await sameVisitor(old, next);
  for (const tab of [old, next, await browser.open()]) {
    expect(namesOf(tab)).toEqual(['of the next.txt']);
  }
});

test('a file that is removed while offline is removed at the gateway when it is back', async () => {
  const gateway = await start();
  const relay = await relayTo(gateway);
  const tab = await new Browser(relay.url, { upload: uploadByHttp }).open();
  tab.chat.attach([textFile('regretted.txt')]);
  await uploaded(tab, 1);
  const visitor = visitorOf(tab);
  relay.cut();
  await waitFor('the loss', () => tab.chat.connection.value.state === 'offline');
  tab.chat.removeFile(tab.chat.files.value[0]?.key ?? '');
  expect(await gateway.store.chat.countUnusedUploads(SHOP, visitor)).toBe(1);
  relay.restore(gateway.url);
  await waitFor(
    'the removal',
    async () => (await gateway.store.chat.countUnusedUploads(SHOP, visitor)) === 0,
  );
});

test('whoever logs out takes their files along, and what is no upload is none', async () => {
  const gateway = await start();
  const browser = new Browser(gateway.url, { upload: uploadByHttp });
  const tab = await browser.open();
  const other = await browser.open();
  tab.chat.attach([textFile('mine.txt')]);
  await uploaded(other, 1);
  tab.chat.logout();
  await waitFor('no file', () => other.chat.files.value.length === 0);
  expect(tab.chat.files.value).toEqual([]);
  expect([...browser.storage.values.keys()].filter((key) => key.endsWith(':files'))).toEqual([]);
  const key = `${storagePrefix(gateway.url, 'demo')}files`;
  const nearly = { id: 'a', name: 'a', type: 'a', size: 1, at: Date.now() };
  for (const value of ['{', '7', '[null, 1, {}]', JSON.stringify([nearly])]) {
    browser.storage.page().setItem(key, value);
    expect((await browser.open()).chat.files.value).toEqual([]);
  }
});

test("a guest's uploads go with them when they say who they are, and with nobody else", async () => {
  const gateway = await start();
  const tab = await new Browser(gateway.url, { upload: uploadByHttp }).open();
  tab.chat.attach([textFile('mine.txt')]);
  await uploaded(tab, 1);
  tab.chat.identify(await identityOf('ada'));
  await waitFor('ada', () => tab.chat.session.value?.name === 'ada');
  say(tab, 'see this');
  await shows(tab, ['see this']);
  expect(tab.chat.lines.value[0]?.files).toMatchObject([{ name: 'mine.txt' }]);
  tab.chat.attach([textFile('private.txt')]);
  await uploaded(tab, 1);
  tab.chat.identify(await identityOf('bob'));
  await waitFor('bob', () => tab.chat.session.value?.name === 'bob');
  expect(tab.chat.files.value).toEqual([]);
  expect(textsOf(tab)).toEqual([]);
});

test('a server that is not there is no error of the page', async () => {
  const tab = new Browser('http://127.0.0.1:9', { upload: uploadByHttp }).page();
  tab.chat.start();
  tab.chat.attach([textFile('a.txt')]);
  await waitFor('the failure', () => tab.chat.connection.value.state === 'offline');
  expect(await tab.chat.open({ id: 'x', name: '', type: '', size: 0 })).toBeUndefined();
  expect(states(tab)).toEqual(['waiting']);
});
