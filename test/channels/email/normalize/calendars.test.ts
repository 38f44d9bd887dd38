import { describe, expect, test } from '@jest/globals';
import { calendarLines, readCalendar } from '../../../../src/channels/email/normalize/calendars.ts';

const START = 'DTSTART:20260113T090000Z';
const lines = (method: string, event: string) => {
  const text = `BEGIN:VCALENDAR\r\nMETHOD:${method}\r\nBEGIN:VEVENT\r\n${event.replaceAll('\n', '\r\n')}\r\nEND:VEVENT\r\nEND:VCALENDAR`;
  const calendar = readCalendar(text);
  return calendar === undefined ? undefined : calendarLines(calendar);
};

describe('a calendar in one line', () => {
  test.each([
    [
      'REQUEST',
      `SUMMARY:Demo\n${START}\nDTEND:20260113T100000Z`,
      'Invitation: Demo, Tue 13 Jan 2026, 09:00–10:00 (UTC)',
    ],
    [
      'REQUEST',
      `SUMMARY:Demo\nDTSTART:20260113T090000`,
      'Invitation: Demo, Tue 13 Jan 2026, 09:00',
    ],
    [
      'REQUEST',
      `${START}\nLOCATION:Room\\, 5`,
      'Invitation: (no title), Tue 13 Jan 2026, 09:00 (UTC), at Room, 5',
    ],
    [
      'REPLY',
      `SUMMARY:Demo\nATTENDEE;PARTSTAT=TENTATIVE:mailto:a@b.example`,
      'Tentatively accepted by a@b.example: Demo',
    ],
    [
      'REPLY',
      `SUMMARY:Demo\nATTENDEE;PARTSTAT=DECLINED;CN=Ann:MAILTO:a@b.example`,
      'Declined by Ann <a@b.example>: Demo',
    ],
    [
      'COUNTER',
      `SUMMARY:Demo\nATTENDEE;CN=Ann:mailto:a@b.example`,
      'New time proposed by Ann <a@b.example>: Demo',
    ],
    [
      'CANCEL',
      `SUMMARY:Demo\nRRULE:FREQ=DAILY;COUNT=5`,
      'Event cancelled: Demo, repeats daily, 5 times',
    ],
    [
      'PUBLISH',
      `SUMMARY:Demo\nRRULE:FREQ=MONTHLY;BYDAY=1MO`,
      'Event: Demo, repeats monthly on 1MO',
    ],
    [
      'REQUEST',
      'SUMMARY:Fair\nDTSTART;VALUE=DATE:20260113\nDTEND;VALUE=DATE:20260114',
      'Invitation: Fair, Tue 13 Jan 2026',
    ],
  ])('%s %s', (method, event, expected) => {
    expect(lines(method, event)).toEqual([expected]);
  });

  test.each([
    ['nothing', ''],
    ['no calendar', 'Hello'],
    ['a line without a colon', 'BEGIN:VCALENDAR\r\nx\r\nEND:VCALENDAR'],
    ['one that never ends', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:x'],
    ['one that is too long', `BEGIN:VCALENDAR\r\nX:${'x'.repeat(200_000)}\r\nEND:VCALENDAR`],
    ['components in components', 'BEGIN:VCALENDAR\r\n'.repeat(7000)],
  ])('%s says nothing', (_, text) => {
    const calendar = readCalendar(text);
    expect(calendar === undefined ? [] : calendarLines(calendar)).toEqual([]);
  });

  test('a rule that would take for ever to expand is only read', () => {
    const rule = 'SUMMARY:x\nDTSTART:16010101T000000Z\nRRULE:FREQ=SECONDLY;UNTIL=99991231T235959Z';
    expect(lines('REQUEST', rule)).toEqual(['Invitation: x, Mon 1 Jan 1601, 00:00 (UTC), repeats']);
  });
});
