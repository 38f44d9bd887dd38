import { expect, test } from '@jest/globals';
import {
  positionAfter,
  ListPositions,
} from '../../../../src/channels/chat/replies/list-position.ts';
import { aReply } from './platform-messages.ts';

const written = (...seconds: number[]) =>
  seconds.map((second) => aReply({ created_at: new Date(second * 1000).toISOString() }));

test('a list that is sorted oldest first goes on at its last page, once it was read to its end', () => {
  const first = positionAfter({
    ...{ messages: written(1, 2, 3), cursors: [undefined, 'b', 'c'], next: 'd' },
  });
  expect(first).toMatchObject({ cursor: 'd', before: 'c', isAtEnd: false, isOldestFirst: true });
  const end = positionAfter({ messages: written(4), cursors: ['d'], next: undefined }, first);
  expect(end).toMatchObject({ cursor: 'd', before: 'c', isAtEnd: true, isOldestFirst: true });
  const grown = positionAfter(
    { messages: written(4, 5), cursors: ['d', 'e'], next: undefined },
    end,
  );
  expect(grown).toMatchObject({ cursor: 'e', before: 'd', isAtEnd: true });
});

test('a list without an order begins anew at its end', () => {
  const first = positionAfter({ messages: written(2, 1, 3), cursors: [undefined], next: 'b' });
  expect(first).toMatchObject({ cursor: 'b', isAtEnd: false, isOldestFirst: false });
  // What looks sorted later on does not make it so.
  const end = positionAfter({ messages: written(4, 5), cursors: ['b'], next: undefined }, first);
  expect(end).toMatchObject({ cursor: undefined, isAtEnd: true, isOldestFirst: false });
});

test('a place whose cursor is refused again and again is given up, and no outage does that', () => {
  const places = new ListPositions();
  const place = positionAfter({ messages: [], cursors: ['a'], next: 'b' });
  places.set('long', place);
  for (let failure = 0; failure < 20; failure += 1) places.failed('long', false, 1_000);
  expect(places.get('long')).toMatchObject({ cursor: 'b', failures: 20, pausedUntil: 31_000 });
  places.failed('long', true, 1_000);
  places.failed('long', true, 1_000);
  expect(places.get('long')).toMatchObject({ cursor: 'b', refusals: 2 });
  places.set('long', place);
  places.failed('long', true, 1_000);
  expect(places.get('long')).toMatchObject({ refusals: 1, failures: 1, pausedUntil: 2_000 });
  places.failed('long', true, 1_000);
  places.failed('long', true, 1_000);
  expect(places.get('long')).toBeUndefined();
  places.failed('unknown', true, 1_000);
});

test.each([1, 2, 3, 7, 50])(
  'a list that goes round after %d readings comes to an end, also when it looks sorted',
  (length) => {
    let place = positionAfter({ messages: [], cursors: [undefined], next: 'before the circle' });
    let readings = 0;
    for (; !place.isAtEnd && readings < 1_000; readings += 1) {
      const next = `circle ${readings % length}`;
      place = positionAfter({ messages: [], cursors: [place.cursor], next }, place);
    }
    expect(place).toMatchObject({ cursor: undefined, isOldestFirst: false });
    expect(readings).toBeLessThan(5 * length + 5);
  },
);

test('a long list of pages that are all different goes on', () => {
  let place = positionAfter({ messages: [], cursors: [undefined], next: '0' });
  for (let page = 1; page < 1_000; page += 1) {
    place = positionAfter({ messages: [], cursors: [place.cursor], next: `${page}` }, place);
  }
  expect(place).toMatchObject({ cursor: '999', isAtEnd: false });
});

test('places are a thousand at most, the least lately used go', () => {
  const places = new ListPositions();
  const place = positionAfter({ messages: [], cursors: [], next: 'b' });
  for (let index = 0; index < 1_000; index += 1) places.set(`${index}`, place);
  places.set('0', place);
  places.set('one more', place);
  expect(places.get('0')).toBeDefined();
  expect(places.get('1')).toBeUndefined();
});
