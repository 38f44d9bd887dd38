import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeLines } from '../../../src/widget/engine/line-record.ts';
import { Outbox, type OutboxItem, waitOf } from '../../../src/widget/engine/outbox.ts';
import { SafeStorage } from '../../../src/widget/storage.ts';
import { SendLease } from '../../../src/widget/engine/sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { BrowserStorage, type PageStorage } from './browser-storage.ts';

const item = (id: string, change: Partial<OutboxItem> = {}): Omit<OutboxItem, 'place'> => ({
  ...{ id, visitorId: 'me', text: id, files: [], at: 1 },
  ...change,
});

const idsOf = (outbox: Outbox): string[] => outbox.items.value.map(({ id }) => id);

/** A tab's outbox, which hears of the other tabs. */
function tabOf(browser: BrowserStorage): { outbox: Outbox; page: PageStorage } {
  const page = browser.page();
  const storage = new SafeStorage(page, 'p:');
  const outbox = new Outbox(storage);
  page.window.addEventListener('storage', (event) => {
    const { key, newValue } = event as StorageEvent;
    outbox.onStored(storage.nameOf(key ?? '') ?? '', newValue);
  });
  return { outbox, page };
}

describe('the outbox', () => {
  test('is the same in every tab, in the order in which it was written', async () => {
    const browser = new BrowserStorage();
    const [one, other] = [tabOf(browser), tabOf(browser)];
    one.outbox.add(item('a'));
    await waitFor('a', () => idsOf(other.outbox).length === 1);
    other.outbox.add(item('b'));
    await waitFor('b', () => idsOf(one.outbox).length === 2);
    one.outbox.add(item('c'));
    await waitFor('c', () => idsOf(other.outbox).length === 3);
    for (const { outbox } of [one, other, tabOf(browser)]) {
      expect(idsOf(outbox)).toEqual(['a', 'b', 'c']);
      expect(outbox.head('me')?.id).toBe('a');
    }
    other.outbox.remove('a');
    await waitFor('the removal', () => one.outbox.head('me')?.id === 'b');
  });

  test('orders alike what two tabs have written at the same moment', async () => {
    const browser = new BrowserStorage();
    const [one, other] = [tabOf(browser), tabOf(browser)];
    one.outbox.add(item('z'));
    other.outbox.add(item('a'));
    for (const { outbox } of [one, other]) {
      await waitFor('both', () => idsOf(outbox).length === 2);
      expect(idsOf(outbox)).toEqual(['a', 'z']);
    }
  });

  test('keeps an acknowledged item in all tabs until its line is there', async () => {
    const browser = new BrowserStorage();
    const [one, other] = [tabOf(browser), tabOf(browser)];
    one.outbox.add(item('a'));
    one.outbox.acknowledge('a', 7);
    expect([...browser.values]).toEqual([]);
    await waitFor('the number', () => other.outbox.find('a')?.seq === 7);
    for (const { outbox } of [one, other]) {
      expect(outbox.head('me')).toBeUndefined();
      outbox.settle(6);
      expect(idsOf(outbox)).toEqual(['a']);
      outbox.settle(7);
      expect(idsOf(outbox)).toEqual([]);
    }
    one.outbox.add(item('b'));
    one.outbox.acknowledge('b', 3);
    expect(idsOf(one.outbox)).toEqual([]);
  });

  test('passes over what was refused, and over what is another visitor’s', () => {
    const { outbox } = tabOf(new BrowserStorage());
    outbox.add(item('refused', { error: 'invalid' }));
    outbox.add(item('theirs', { visitorId: 'you' }));
    const { visitorId: _, ...nobodys } = item('nobodys');
    outbox.add(nobodys);
    expect(outbox.head('me')).toBeUndefined();
    outbox.claim('me');
    expect(outbox.head('me')?.id).toBe('nobodys');
    expect(outbox.head('you')?.id).toBe('theirs');
  });

  test.each([
    ['a guest’s items go with them', false, ['a', 'c']],
    ['a verified visitor’s items go with nobody', true, ['c']],
  ])('when the visitor changes, %s', (_case, verified, left) => {
    const { outbox } = tabOf(new BrowserStorage());
    outbox.add(item('a'));
    outbox.add(item('b', { seq: 3 }));
    outbox.add(item('c', { visitorId: 'you' }));
    outbox.handOver({ visitorId: 'me', verified }, 'you');
    expect(idsOf(outbox)).toEqual(left);
    expect(outbox.head('you')?.id).toBe(left[0]);
  });

  test('does not send again what was acknowledged just before the page ended', () => {
    const browser = new BrowserStorage();
    browser.page().setItem('p:out:a', JSON.stringify({ ...item('a', { seq: 4 }), place: 1 }));
    browser.page().setItem('p:out:b', '{"id":"b"}');
    browser.page().setItem('p:out:c', 'nonsense');
    expect(idsOf(tabOf(browser).outbox)).toEqual([]);
    expect([...browser.values.keys()]).toEqual(['p:out:b', 'p:out:c']);
  });

  test('loses nothing while a storage is full', () => {
    const { outbox, page } = tabOf(new BrowserStorage());
    page.refuses = new Error('full');
    outbox.add(item('a'));
    outbox.reread();
    expect(idsOf(outbox)).toEqual(['a']);
  });
});

test.each([
  ['nothing', undefined, 0],
  ['the past', 900, 0],
  ['a while', 1_500, 500],
  ['a clock that was set back', 9_000_000, 0],
])('waiting for %s', (_case, retryAt, wait) => {
  const waiting = { ...item('a', retryAt === undefined ? {} : { retryAt }), place: 1 };
  expect(waitOf(waiting, 1_000)).toBe(wait);
});

test('the lease has one holder, which may crash or have another clock', () => {
  const storage = new SafeStorage(new BrowserStorage().page(), 'p:');
  let now = 1_000;
  const [one, other] = ['one', 'other'].map(
    (tab) => new SendLease(storage, tab, 100, () => now),
  ) as [SendLease, SendLease];
  expect(one.take()).toBe(0);
  expect(other.take()).toBe(100);
  other.release();
  now += 60;
  expect(one.take()).toBe(0);
  expect(other.take()).toBe(100);
  now += 100;
  expect(other.take()).toBe(0);
  other.release();
  expect(one.take()).toBe(0);
  now -= 500;
  expect(other.take()).toBe(0);
});

describe('what is shown', () => {
  test('has each message once, the numbered ones first', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 8 });
    fc.assert(
      fc.property(ids, ids, ids, (numbered, waiting, acknowledged) => {
        const lines = numbered.map((id, index) => ({
          ...({ id: `${id}`, seq: index + 1, from: 'visitor', text: '', format: 'TEXT' } as const),
          ...({ files: [], at: index, state: 'accepted' } as const),
        }));
        const outbox = waiting.map((id, place) => ({
          ...item(`${id}`),
          place,
          ...(acknowledged.includes(id) && { seq: 100 - place }),
        }));
        const shown = mergeLines(lines, outbox, undefined);
        expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length);
        expect(shown.slice(0, lines.length)).toEqual(lines);
        const rest = waiting.filter((id) => !numbered.includes(id)).map(String);
        expect(
          shown
            .slice(lines.length)
            .map(({ id }) => id)
            .sort(),
        ).toEqual(rest.sort());
        const times = shown.map(({ at }) => at);
        expect(times).toEqual([...times].sort((one, other) => one - other));
        const isWaiting = shown.map(({ state }) => state === 'queued');
        expect(isWaiting).toEqual([...isWaiting].sort((one, other) => Number(one) - Number(other)));
      }),
    );
  });
});
