import { expect, test } from '@jest/globals';
import type { OpeningHours } from '../../src/channels/chat/events.ts';
import { nextOpening } from '../../src/widget/ui/away/hours.ts';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
const OFFICE: OpeningHours = {
  zone: 'Europe/Berlin',
  open: [{ days: WEEKDAYS, from: '09:00', to: '18:00' }],
};
const NIGHTS: OpeningHours = {
  zone: 'America/New_York',
  open: [
    { days: ['sat'], from: '20:00', to: '24:00' },
    { days: ['sun'], from: '00:00', to: '02:30' },
  ],
};

const OVERNIGHT: OpeningHours = {
  zone: 'UTC',
  open: [{ days: ['mon'], from: '22:00', to: '06:00' }],
};

test.each([
  // 2026-11-27 is a Friday; Berlin is at +01:00.
  ['in the morning', OFFICE, '2026-11-27T08:00:00Z', undefined],
  ['a minute before', OFFICE, '2026-11-27T07:59:00Z', '2026-11-27T08:00:00Z'],
  ['in the last minute', OFFICE, '2026-11-27T16:59:59Z', undefined],
  ['at the end', OFFICE, '2026-11-27T17:00:00Z', '2026-11-30T08:00:00Z'],
  ['on a Sunday', OFFICE, '2026-11-29T12:00:00Z', '2026-11-30T08:00:00Z'],
  // Clocks go back on Sunday, 25 October, and forward on Sunday, 29 March.
  ['over the end of summer time', OFFICE, '2026-10-23T17:00:00Z', '2026-10-26T08:00:00Z'],
  ['over its beginning', OFFICE, '2026-03-27T18:00:00Z', '2026-03-30T07:00:00Z'],
  ['at midnight', NIGHTS, '2026-11-29T05:00:00Z', undefined],
  ['before it', NIGHTS, '2026-11-29T04:59:59Z', undefined],
  ['in an evening', OVERNIGHT, '2026-11-30T23:00:00Z', undefined],
  ['on the morning after', OVERNIGHT, '2026-12-01T05:59:00Z', undefined],
  ['when the night is over', OVERNIGHT, '2026-12-01T06:00:00Z', '2026-12-07T22:00:00Z'],
  ['after the night', NIGHTS, '2026-11-29T07:30:00Z', '2026-12-06T01:00:00Z'],
])('%s', (_name, hours, now, expected) => {
  const at = nextOpening(hours, Date.parse(now));
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(
    expected?.replace('Z', '.000Z'),
  );
});
