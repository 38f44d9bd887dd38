import { expect, test } from '@jest/globals';
import { EntryPages } from '../../../src/console/page/messages/entry-pages.ts';
import { row, rows } from './entry-rows.ts';

/** Pages of 100, newest first, of entries `newest` down to 1. */
function loaded(newest: number, pages: number): EntryPages {
  let list = EntryPages.EMPTY;
  for (let page = 0; page < pages; page++) {
    const first = newest - page * 100;
    const before = page === 0 ? undefined : `id-${first + 1}`;
    list = list.append(before, rows(first, first - 99), `id-${first - 99}`);
  }
  return list;
}
const ids = (list: EntryPages) => [...list.rows()].map(({ row: { id } }) => id);

test('pages follow each other', () => {
  const list = loaded(1000, 3);
  expect(list.total).toBe(300);
  expect(list.at(0)?.row.id).toBe('id-001000');
  expect(list.at(100)?.row.id).toBe('id-000900');
  expect(list.at(299)?.row.id).toBe('id-000701');
  expect(list.at(300)).toBeUndefined();
  expect(list.indexOf('id-000850')).toBe(150);
});

test('a page that begins with what is there already does not repeat it', () => {
  const list = EntryPages.begin(rows(10, 5), 'a').append('a', rows(6, 1), undefined);
  expect(list.total).toBe(10);
  expect(new Set(ids(list)).size).toBe(10);
});

test('a row changes in place, and one that left the filters stays, marked', () => {
  const list = EntryPages.begin(rows(4, 1), undefined);
  const after = list.refresh(undefined, [row(4), row(3, { state: 'dead' }), row(1)], true);
  expect(ids(after)).toEqual(ids(list));
  expect(after.at(1)).toEqual({ row: row(3, { state: 'dead' }), noLongerMatches: false });
  expect(after.at(2)).toEqual({ row: row(2), noLongerMatches: true });
  expect(after.update(row(2, { state: 'delivered' })).at(2)).toEqual({
    row: row(2, { state: 'delivered' }),
    noLongerMatches: true,
  });
});

test('an answer that ends early says nothing of the rows behind it', () => {
  const list = EntryPages.begin(rows(4, 1), 'x').refresh(undefined, [row(5), row(4)], false);
  expect([...list.rows()].map(({ noLongerMatches }) => noLongerMatches)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('new ones are counted, and put first when they are wanted', () => {
  const list = EntryPages.begin(rows(10, 1), undefined);
  expect(list.newIn(rows(12, 3))).toEqual({ count: 2, more: false });
  expect(list.newIn(rows(10, 1))).toEqual({ count: 0, more: false });
  const after = list.prepend(rows(12, 3), 'next');
  expect(ids(after)).toEqual(rows(12, 1).map(({ id }) => id));
  expect(after.next).toBeUndefined();
});

test('an older one that came to answer to the filters is put where it belongs', () => {
  const list = EntryPages.begin([row(10), row(6), row(2)], undefined);
  const newest = [row(10), row(8), row(6), row(2)];
  expect(list.newIn(newest)).toEqual({ count: 1, more: false });
  expect(ids(list.prepend(newest, undefined))).toEqual(newest.map(({ id }) => id));
});

test('an older one than all that a whole list shows comes in below them', () => {
  const list = EntryPages.begin([row(10)], undefined);
  const newest = [row(10), row(8), row(6)];
  expect(ids(list.prepend(newest, undefined))).toEqual(newest.map(({ id }) => id));
});

test('what comes forward because all that was shown has left is not new', () => {
  const list = EntryPages.begin(rows(200, 101), 'next');
  expect(list.newIn(rows(100, 1))).toEqual({ count: 0, more: false });
});

test('after more new ones than an answer holds the list begins anew, without a gap', () => {
  const list = EntryPages.begin(rows(10, 1), undefined);
  const newest = rows(300, 201);
  expect(list.newIn(newest)).toEqual({ count: 100, more: true });
  const after = list.prepend(newest, 'next');
  expect(ids(after)).toEqual(newest.map(({ id }) => id));
  expect(after.next).toBe('next');
});

test('rows far from the window are dropped, and their place is kept', () => {
  const list = loaded(100_000, 60).trimmed(5900, 5950);
  expect(list.total).toBe(6000);
  expect([...list.rows()].length).toBeLessThanOrEqual(2200);
  expect(list.at(0)?.row.id).toBe('id-100000');
  expect(list.at(3050)).toBeUndefined();
  expect(list.missing(3050, 3120)).toEqual(['id-97001', 'id-96901']);
  const again = list.refresh('id-97001', rows(97_000, 96_901), false);
  expect(again.at(3050)?.row.id).toBe('id-096950');
  expect(again.total).toBe(6000);
});

test('a range goes from one row to another in the order of the list, either way', () => {
  const list = loaded(1000, 2);
  expect(list.between('id-000901', 'id-000899')).toEqual(['id-000901', 'id-000900', 'id-000899']);
  expect(list.between('id-000899', 'id-000901')).toEqual(['id-000901', 'id-000900', 'id-000899']);
  expect(list.between('id-000899', 'gone')).toEqual([]);
});
