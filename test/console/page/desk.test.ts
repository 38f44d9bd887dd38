import { describe, expect, test } from '@jest/globals';
import type { DeskMessage, DeskStep } from '../../../src/console/contract.ts';
import { paletteItems } from '../../../src/console/page/shell/palette-items.ts';
import { readPlace, writePlace } from '../../../src/console/page/platform/addresses.ts';
import {
  changeInWords,
  changesBetween,
} from '../../../src/console/page/platform/desk/change-words.ts';
import { type Shown, shownOf } from '../../../src/console/page/platform/desk/shown.ts';
import {
  EMPTY,
  isEmpty,
  readDraft,
  withInserted,
} from '../../../src/console/page/platform/desk/draft.ts';

const row = (number: number, customer: string, assignee?: string) => ({
  ...{ shop: 'acme', number, name: `Order ${number}`, excerpt: 'Where is it?', customer },
  ...(assignee !== undefined && { assignee }),
});
const ROWS = [row(1, 'Bob'), row(2, 'Ada', 'ann'), row(3, ''), row(4, 'Bob', 'tom')];
const ALL = { text: '', whose: '', order: 'listed' } as const;

test.each<[string, Partial<Shown>, number[]]>([
  ['all', {}, [1, 2, 3, 4]],
  ['every word', { text: ' bob  ORDER 4 ' }, [4]],
  ['one’s own', { whose: 'mine' }, [2]],
  ['nobody’s', { whose: 'nobody' }, [1, 3]],
  ['the newest first', { order: 'reversed' }, [4, 3, 2, 1]],
  ['those of one customer together, visitors last', { order: 'customer' }, [2, 1, 4, 3]],
])('shows of a list: %s', (_title, chosen, numbers) => {
  const shown = shownOf(ROWS, { ...ALL, ...chosen }, 'ann');
  expect(shown.map(({ number }) => number)).toEqual(numbers);
});

const said = (id: string, more: Partial<DeskMessage> = {}): DeskMessage => ({
  ...{ id, at: Number(id), from: 'customer', isInternal: false, text: `text ${id}`, files: [] },
  ...more,
});
const did = (at: number, more: Partial<DeskStep> = {}): DeskStep => ({
  ...{ what: 'completed', at, who: 'bea' },
  ...more,
});

test('tells what others did also when there are as many steps as are listed', () => {
  const before = { messages: [], steps: [did(1), did(2)] };
  const now = { messages: [], steps: [did(2), did(3)] };
  expect(changesBetween(before, now, 'ann')).toEqual([did(3)]);
});

describe('a change in words', () => {
  test.each([
    [{ what: 'message', text: 'Hello?' }, 'The customer wrote: “Hello?”'],
    [{ what: 'agent_reply', text: 'Yes.' }, 'The AI agent replied: “Yes.”'],
    [{ what: 'reply', who: 'bea', text: 'Yes.' }, 'bea replied: “Yes.”'],
    [{ what: 'reply', who: 'ann' }, 'You replied'],
    [{ what: 'note', who: 'bea', text: 'x' }, 'bea added a note: “x”'],
    [{ what: 'assigned', who: 'bea', to: 'bea' }, 'bea took it'],
    [{ what: 'assigned', who: 'bea', to: 'ann' }, 'bea assigned it to you'],
    [{ what: 'assigned', who: 'ann', to: 'bea' }, 'You assigned it to bea'],
    [{ what: 'unassigned', who: 'bea' }, 'bea put it back for everyone'],
    [{ what: 'completed', who: 'bea' }, 'bea completed it'],
    [{ what: 'reopened', who: 'bea' }, 'bea reopened it'],
    [{ what: 'handed_back', who: 'bea' }, 'bea handed it back to the AI agent'],
    [{ what: 'status', text: 'WaitingUser' }, /reply could not be delivered/],
    [{ what: 'status', text: 'Open' }, 'Its status has changed'],
  ] as const)('%j', (change, words) => {
    expect(changeInWords({ at: 0, ...change }, 'ann')).toMatch(words);
  });
});

test('tells what others did between two readings, and not what was loaded on request', () => {
  const before = { messages: [said('2')], steps: [did(1)] };
  const now = {
    messages: [
      ...[said('1'), said('2'), said('4', { from: 'person', who: 'bea' })],
      ...[said('5', { from: 'person', who: 'ann' }), said('6', { from: 'agent' })],
      said('7', { from: 'person', who: 'bea', isInternal: true }),
    ],
    steps: [did(1), did(3)],
  };
  expect(changesBetween(before, now, 'ann')).toMatchObject([
    { what: 'completed', at: 3 },
    { what: 'reply', who: 'bea' },
    { what: 'agent_reply' },
    { what: 'note', who: 'bea' },
  ]);
  expect(changesBetween(now, now, 'ann')).toEqual([]);
});

describe('a draft', () => {
  test('is empty without storage, and with spaces alone', () => {
    expect(readDraft('any')).toEqual(EMPTY);
    expect(isEmpty({ ...EMPTY, text: ' \n' })).toBe(true);
    expect(isEmpty({ ...EMPTY, text: 'x' })).toBe(false);
  });

  test.each([
    ['', 0, 'Nine.', 'Nine.'],
    ['Dear Ann,', 9, 'Nine.', 'Dear Ann,\n\nNine.'],
    ['Dear Ann, bye', 9, 'Nine.\n', 'Dear Ann,\n\nNine.\n\nbye'],
  ])('%j takes a text at %i', (text, at, inserted, expected) => {
    expect(withInserted(text, at, inserted)).toBe(expected);
  });
});

test('the queue has an address without filters', () => {
  const place = readPlace('?view=queue&person=ann');
  expect(place).toEqual({ shop: '', view: 'queue', id: '', filters: {} });
  expect(writePlace(place)).toBe('/platform?view=queue');
});

test('somebody at the desk is offered nothing that their role does not permit', () => {
  const places = { pages: [], shops: ['acme'], isUtc: false, isDeskOnly: true };
  const offered = ['', 'ann@example.com', '01936f0a-7c1e-7d3a-9b52-3f1c7a6b5d40', 'dead'].flatMap(
    (text) => paletteItems(text, places),
  );
  const hrefs = offered.flatMap((item) => (item.kind === 'page' ? item.href : []));
  expect(hrefs.length).toBeGreaterThan(1);
  expect(hrefs.filter((href) => !href.startsWith('/platform'))).toEqual([]);
});
