import { expect, test } from '@jest/globals';
import {
  bulkQuery,
  entryQuery,
  type Filters,
  NO_FILTERS,
  readFilters,
  completeId,
  writeFilters,
} from '../../../src/console/page/messages/filters.ts';

const NOW = Date.UTC(2026, 4, 6, 12);

test.each<[string, Partial<Filters>]>([
  ['nothing', {}],
  ['words with signs', { text: 'order & "café" +49 170 100%' }],
  ['several states, in the order of the life of a message', { states: ['queued', 'dead', 'held'] }],
  ['a channel, a shop and a reason', { channel: 'web_chat', shop: 'acme', reason: 'loop: per' }],
  ['a preset', { time: { kind: 'last', preset: '24h' } }],
  ['a range', { time: { kind: 'between', from: NOW - 5000, to: NOW } }],
  ['a range without an end', { time: { kind: 'between', from: NOW } }],
])('an address keeps %s', (_what, part) => {
  const filters = { ...NO_FILTERS, ...part };
  expect(readFilters(writeFilters(filters))).toEqual(filters);
});

test('no filters leave no query', () => {
  expect(writeFilters(NO_FILTERS)).toBe('');
});

test('what an address has that nobody understands is left out', () => {
  const query = '?channel=fax&state=lost&state=dead&time=yesterday&from=whenever&x=1';
  expect(readFilters(query)).toEqual({ ...NO_FILTERS, states: ['dead'] });
});

test('states may be separated by commas', () => {
  expect(readFilters('?state=held,dead').states).toEqual(['dead', 'held']);
});

test('a preset is asked for as a time before now', () => {
  const filters: Filters = { ...NO_FILTERS, time: { kind: 'last', preset: '1h' }, text: ' ann ' };
  expect(entryQuery(filters, NOW)).toEqual({ text: 'ann', from: String(NOW - 3_600_000) });
});

test('an action on all that is found leaves alone what arrives later', () => {
  expect(bulkQuery({ ...NO_FILTERS, states: ['dead'] }, NOW)).toEqual({
    state: ['dead'],
    to: String(NOW),
  });
  const earlier: Filters = { ...NO_FILTERS, time: { kind: 'between', to: NOW - 1 } };
  expect(bulkQuery(earlier, NOW)).toEqual({ to: String(NOW - 1) });
});

test.each([
  [' 01936F0A-7c1e-7d3a-9b52-0123456789ab\n', '01936f0a-7c1e-7d3a-9b52-0123456789ab'],
  ['01936f0a-7c1e', undefined],
  ['ann@example.com', undefined],
])('%j as a whole id', (text, id) => {
  expect(completeId(text)).toBe(id);
});
