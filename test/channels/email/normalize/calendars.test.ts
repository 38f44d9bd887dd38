import { describe, expect, test } from '@jest/globals';
import {
  calendarNotes,
  notesBelow,
  readCalendar,
  withParagraphs,
} from '../../../../src/channels/email/normalize/calendars.ts';

const START = 'DTSTART:20260113T090000Z';
const paragraphs = (method: string, event: string, body = '') => {
  const text = `BEGIN:VCALENDAR\r\nMETHOD:${method}\r\nBEGIN:VEVENT\r\n${event.replaceAll('\n', '\r\n')}\r\nEND:VEVENT\r\nEND:VCALENDAR`;
  const calendar = readCalendar(text);
  return calendar === undefined ? undefined : notesBelow(body, calendarNotes(calendar));
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
    expect(paragraphs(method, event)).toEqual([expected]);
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
    expect(calendar === undefined ? [] : calendarNotes(calendar)).toEqual([]);
  });

  test('a rule that would take for ever to expand is only read', () => {
    const rule = 'SUMMARY:x\nDTSTART:16010101T000000Z\nRRULE:FREQ=SECONDLY;UNTIL=99991231T235959Z';
    expect(paragraphs('REQUEST', rule)).toEqual([
      'Invitation: x, Mon 1 Jan 1601, 00:00 (UTC), repeats',
    ]);
  });
});

const DEMO = 'SUMMARY:Demo\n';

describe('the words of a calendar', () => {
  const leak = 'DESCRIPTION:My boiler leaks at flat 7. Please bring a new valve.';
  test.each([
    [
      'are unfolded and unescaped',
      'REQUEST',
      'DESCRIPTION;LANGUAGE=en-US;ALTREP="cid:x:y":Pallet 7\\, da\n mag\n ed\\; see C:\\\\nord.\\nThanks\\N',
      ['Pallet 7, damaged; see C:\\nord.\nThanks'],
    ],
    ['are those of a published event', 'PUBLISH', leak, [leak.slice(12)]],
    ['are those of a cancellation', 'CANCEL', 'DESCRIPTION:Ill\nCOMMENT:Sorry', ['Sorry', 'Ill']],
    [
      'are all comments of an answer, and not what it answers',
      'REPLY',
      `COMMENT:On holiday\\, Thursday is fine.\nCOMMENT;X=1:👍\n${leak}`,
      ['On holiday, Thursday is fine.\n\n👍'],
    ],
    [
      'are the note of an answer of Google Calendar',
      'REPLY',
      'ATTENDEE;PARTSTAT=DECLINED;X-RESPONSE-COMMENT="Ill, it&#39\\;s the flu":mailto:a@b.example',
      ["Ill, it's the flu"],
    ],
    [
      'are told once where both have them',
      'REPLY',
      'ATTENDEE;PARTSTAT=DECLINED;X-RESPONSE-COMMENT=Ill:mailto:a@b.example\nCOMMENT:Ill',
      ['Ill'],
    ],
    ['are those of another proposal', 'COUNTER', `COMMENT:Too early\n${leak}`, ['Too early']],
    [
      'are read from HTML',
      'REQUEST',
      'DESCRIPTION:<b>Flat 7</b><br>ring &amp; wait<span style="display:none">no</span>\\nThanks',
      ['Flat 7\nring & wait\nThanks'],
    ],
    ['are clean', 'REQUEST', 'DESCRIPTION:Fl\u200bat\u202e 7', ['Flat 7']],
    ['are not white space', 'REQUEST', 'DESCRIPTION:\\n \\n\nCOMMENT:', []],
  ])('%s (%s)', (_, method, event, expected) => {
    expect(paragraphs(method, `${DEMO}${event}`)?.slice(1)).toEqual(expected);
  });

  test('are cut at 4,000 characters', () => {
    const long = `x${'😀'.repeat(3000)}`;
    const event = `COMMENT:${long}\nCOMMENT:${long}\nDESCRIPTION:${long}`;
    const words = paragraphs('REQUEST', event)?.slice(1) ?? [];
    expect(words.map(({ length }) => length)).toEqual([3999]);
    expect(words[0]).toBe(long.slice(0, 3999));
  });

  test('of a description are left out when the body has them, of a comment never', () => {
    const event = `${DEMO}DESCRIPTION:Please bring a new valve to flat 7\nCOMMENT:See you`;
    const body = 'See you.\n\n**Please bring** a\nnew valve to [flat 7](https://x.example).';
    expect(paragraphs('REQUEST', event, body)).toEqual(['Invitation: Demo', 'See you']);
    expect(paragraphs('REQUEST', event, 'You are invited to flat 7.')).toEqual([
      'Invitation: Demo',
      'See you',
      'Please bring a new valve to flat 7',
    ]);
  });

  test('of several events are told once', () => {
    const event = `${DEMO}${leak}`;
    expect(paragraphs('REQUEST', `${event}\nEND:VEVENT\nBEGIN:VEVENT\n${event}`)).toHaveLength(2);
  });

  test('are written in the format of the body', () => {
    const words = ['1. _Flat_ 7\n> <b>'];
    expect(withParagraphs('Hi', 'TEXT', words)).toBe('Hi\n\n1. _Flat_ 7\n> <b>');
    expect(withParagraphs('', 'MARKDOWN', words)).toBe('1\\. \\_Flat\\_ 7  \n> <b>');
    expect(withParagraphs('<p>Hi</p>', 'HTML', words)).toBe(
      '<p>Hi</p>\n\n<p>1. _Flat_ 7<br />&gt; &lt;b&gt;</p>',
    );
  });

  test.each([
    ['lines that are folded', `DESCRIPTION:${'\n x'.repeat(40_000)}`],
    ['escapes', `DESCRIPTION:${'\\n\\,'.repeat(30_000)}`],
    ['tags that do not end', `DESCRIPTION:${'<a '.repeat(40_000)}`],
    ['comments', 'COMMENT:x\n'.repeat(12_000)],
  ])('take little time whatever they are: %s', (_, event) => {
    const started = performance.now();
    paragraphs('REQUEST', `${DEMO}${event}`, 'a b '.repeat(500_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
