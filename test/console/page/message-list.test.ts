import { expect, test } from '@jest/globals';
import type { EntryList, EntryRow } from '../../../src/console/contract.ts';
import type { EntryQuery } from '../../../src/console/page/messages/filters.ts';
import { MessageList } from '../../../src/console/page/messages/message-list.ts';
import { waitFor } from '../../support/wait-for.ts';
import { row, rows } from './entry-rows.ts';

/** A gateway with these entries, which writes down what it is asked. */
function gateway(entries: EntryRow[]) {
  const asked: EntryQuery[] = [];
  const state = { entries, fails: false };
  const answer = (query: EntryQuery): EntryList => {
    const states = query['state'] ?? [];
    const all = state.entries.filter(
      (entry) => states.length === 0 || states.includes(entry.state),
    );
    const before = query['before'];
    const start = before === undefined ? 0 : all.findIndex(({ id }) => id < String(before));
    const page = start < 0 ? [] : all.slice(start, start + Number(query['limit']));
    const last = page.at(-1);
    const hasMore = last !== undefined && last !== all.at(-1);
    return {
      entries: page,
      ...(hasMore && { next: last.id }),
      ...(query['count'] && { total: { count: all.length, exact: true } }),
      searchIsComplete: true,
    };
  };
  const list = new MessageList({
    entries: (query) => {
      asked.push(query);
      return state.fails ? Promise.reject(new Error('no')) : Promise.resolve(answer(query));
    },
    entry: (id) => {
      const found = state.entries.find((entry) => entry.id === id);
      return found === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(found);
    },
    clock: () => Date.now(),
  });
  return { list, asked, state };
}
const ids = (list: MessageList) => [...list.pages.value.rows()].map((listed) => listed.row.id);

test('the next page is asked for before the end is reached, once', async () => {
  const { list, asked } = gateway(rows(250, 1));
  await list.show({});
  expect(list.total.value).toEqual({ count: 250, exact: true });
  list.look(0, 20, true);
  expect(asked).toHaveLength(1);
  list.look(30, 50, false);
  list.look(31, 51, false);
  await waitFor('the second page', () => list.pages.value.total === 200);
  expect(asked).toHaveLength(2);
  list.look(180, 200, false);
  await waitFor('the last page', () => list.pages.value.total === 250);
  list.look(230, 250, false);
  expect(asked).toHaveLength(3);
  list.stop();
});

test('at the top new ones come in, and below they are announced', async () => {
  const { list, state } = gateway(rows(50, 1));
  await list.show({});
  list.look(0, 20, true);
  state.entries = rows(52, 1);
  list.changed(['id-000052', 'id-000051']);
  await waitFor('the new ones', () => list.pages.value.total === 52);
  expect(list.announced.value).toBeUndefined();

  list.look(10, 30, false);
  const before = ids(list);
  state.entries = rows(55, 1);
  list.changed(['id-000055']);
  await waitFor('the announcement', () => list.announced.value !== undefined);
  expect(list.announced.value).toEqual({ count: 3, more: false });
  expect(ids(list)).toEqual(before);

  list.look(0, 20, true);
  await waitFor('the announced ones', () => list.pages.value.total === 55);
  expect(list.announced.value).toBeUndefined();
  list.stop();
});

test('what the index tells late comes in without another change', async () => {
  const { list, asked, state } = gateway([row(10)]);
  await list.show({});
  list.look(0, 1, true);
  list.changed(['id-000006']);
  await waitFor('the first look', () => asked.length === 2);
  state.entries = [row(10), row(6)];
  await waitFor('the one below', () => list.pages.value.total === 2);
  expect(ids(list)).toEqual(['id-000010', 'id-000006']);
  list.stop();
});

test('a row that leaves the filters stays in its place and says what became of it', async () => {
  const dead = rows(5, 1).map((each) => ({ ...each, state: 'dead' as const }));
  const { list, state } = gateway(dead);
  await list.show({ state: ['dead'] });
  list.look(0, 5, true);
  state.entries = dead.map((each) =>
    each.id === 'id-000003' ? row(3, { state: 'delivered' }) : each,
  );
  list.changed(['id-000003']);
  await waitFor('the change', () => list.pages.value.at(2)?.row.state === 'delivered');
  expect(list.pages.value.at(2)?.noLongerMatches).toBe(true);
  expect(ids(list)).toHaveLength(5);
  list.stop();
});

test('an answer that comes after the filters changed is not shown', async () => {
  const { list } = gateway(rows(10, 1));
  const first = list.show({ text: 'a' });
  const second = list.show({ state: ['dead'] });
  await Promise.all([first, second]);
  expect(list.pages.value.total).toBe(0);
  expect(list.query).toEqual({ state: ['dead'] });
});

test('what could not be loaded can be asked for again', async () => {
  const { list, state } = gateway(rows(10, 1));
  state.fails = true;
  await list.show({});
  expect(list.failure.value).toEqual(new Error('no'));
  expect(list.pages.value.isLoaded).toBe(false);
  state.fails = false;
  list.retry();
  await waitFor('the list', () => list.pages.value.total === 10);
  expect(list.failure.value).toBeUndefined();
});

test('a refresh that fails keeps what is shown', async () => {
  const { list, state } = gateway(rows(10, 1));
  await list.show({});
  list.look(0, 10, true);
  state.fails = true;
  list.changed(['id-000003']);
  list.stop();
  expect(list.pages.value.total).toBe(10);
});
