import ICAL from 'ical.js';
import { decodeText } from './body/charset.ts';
import { type Format, readHtml } from './body/body-content.ts';
import { formatNote, MAX_CONTENT_LENGTH } from './body/content-limits.ts';
import { renderHtml } from './html/render-html.ts';
import type { Leaf } from './parts/read-parts.ts';
import { joinLines } from './quotes/lines.ts';
import { cleanLine, cleanText, cutText } from '../../../runtime/clean-text.ts';

const CALENDAR_TYPES = /^(?:text\/calendar|application\/ics)$/;
const MAX_CALENDARS = 5;

interface ReadCalendars {
  readonly notes: readonly CalendarNote[];
  readonly attachments: readonly Leaf[];
}

/**
 * Reads the calendars among the attachments. Google sends each twice, as an alternative of the body
 * and as a file; one of them is kept. An invalid calendar is treated as an attachment only.
 */
export function readCalendars(attachments: readonly Leaf[]): ReadCalendars {
  const seen = new Set<string>();
  const notes: CalendarNote[] = [];
  const kept = attachments.filter((leaf) => {
    if (!CALENDAR_TYPES.test(leaf.contentType) || seen.size === MAX_CALENDARS) return true;
    const { content, parameters } = leaf;
    if (content.size > content.start.byteLength) return true;
    const text = decodeText(content.start, parameters['charset']);
    const lean = text.replace(/\s+/g, '');
    if (seen.has(lean)) return false;
    seen.add(lean);
    const calendar = readCalendar(text);
    if (calendar !== undefined) notes.push(...calendarNotes(calendar));
    return true;
  });
  return { notes, attachments: kept };
}

/** What a calendar adds to the content. */
interface CalendarNote {
  readonly text: string;
  /** Left out when the body has it: most programs write a description in both places. */
  readonly unlessInBody?: true;
}

/** The paragraphs that the notes add to a body with this text. */
export function notesBelow(body: string, notes: readonly CalendarNote[]): readonly string[] {
  const words = pairsOfWords(cutText(body, MAX_CONTENT_LENGTH));
  const isInBody = ({ text }: CalendarNote) => {
    const pairs = [...pairsOfWords(text)];
    return pairs.filter((pair) => words.has(pair)).length > IN_BODY * pairs.length;
  };
  const added = notes.filter((note) => note.unlessInBody !== true || !isInBody(note));
  return [...new Set(added.map(({ text }) => text))];
}

/** Above this share of its pairs of words, a text is in another; the rest are rewritten links. */
const IN_BODY = 0.75;

/** Each word with the next one, which is the same however lines are wrapped and marked. */
function pairsOfWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Set(
    words.length === 1 ? words : words.slice(1).map((word, at) => `${words[at]} ${word}`),
  );
}

/** The text with further paragraphs after it. */
export function withParagraphs(text: string, format: Format, added: readonly string[]): string {
  if (added.length === 0) return text;
  const written = added.map((paragraph) => formatNote(paragraph, format));
  return [...(text.trim() === '' ? [] : [text]), ...written].join('\n\n');
}

/** A larger calendar is not an invitation and is not parsed. */
const MAX_CALENDAR_LENGTH = 128 * 1024;
const MAX_EVENTS = 20;
const MAX_TEXT_LENGTH = 300;

interface Calendar {
  /** Upper case; empty for a published calendar. */
  readonly method: string;
  readonly events: readonly ICAL.Component[];
}

/**
 * The events of a calendar (RFC 5545), as parsed by ical.js (RFC 7265). The library's objects for
 * times and recurrences are not used, because their computation is unbounded. Undefined if it is
 * invalid.
 */
export function readCalendar(text: string): Calendar | undefined {
  if (text.length > MAX_CALENDAR_LENGTH) return undefined;
  const calendar = components(text).find(({ name }) => name === 'vcalendar');
  if (calendar === undefined) return undefined;
  return {
    method: textOf(calendar.getFirstProperty('method')).toUpperCase(),
    events: calendar.getAllSubcomponents('vevent').slice(0, MAX_EVENTS),
  };
}

/** None if the text cannot be parsed. */
function components(text: string): readonly ICAL.Component[] {
  try {
    const parsed: unknown = ICAL.parse(text);
    if (!Array.isArray(parsed)) return [];
    // A single component is not nested in a list.
    const list: readonly unknown[] = typeof parsed[0] === 'string' ? [parsed] : parsed;
    return list.filter((each) => Array.isArray(each)).map((each) => new ICAL.Component(each));
  } catch {
    return [];
  }
}

type Property = ICAL.Property | null;

/** As parsed: a string, or an object for a recurrence (RFC 7265 §3.4.1). */
function valueOf(property: Property): unknown {
  const jCal: unknown = property?.toJSON();
  return Array.isArray(jCal) ? jCal[3] : undefined;
}

/** A text value on one line; empty if it is absent. */
function textOf(property: Property): string {
  const value = valueOf(property);
  if (typeof value !== 'string') return '';
  return value.slice(0, MAX_TEXT_LENGTH).replace(/\s+/g, ' ').trim();
}

function parameter(property: Property, name: string): string {
  const value = property?.getParameter(name);
  return typeof value === 'string' ? value.slice(0, 200) : '';
}

const MAX_EVENTS_SHOWN = 3;
const MAX_LINE_LENGTH = 800;
/** Of a description, and of the comments on an event. */
const MAX_PROSE_LENGTH = 4000;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** RFC 5545 §3.2.12, RFC 5546 §3.2.3. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['ACCEPTED', 'Accepted'],
  ['DECLINED', 'Declined'],
  ['TENTATIVE', 'Tentatively accepted'],
  ['DELEGATED', 'Delegated'],
]);
const UNITS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['DAILY', ['daily', 'days']],
  ['WEEKLY', ['weekly', 'weeks']],
  ['MONTHLY', ['monthly', 'months']],
  ['YEARLY', ['yearly', 'years']],
]);

/** The methods of answers (RFC 5546 §1.4), which repeat the description of what they answer. */
const ANSWERING: ReadonlySet<string> = new Set(['REPLY', 'COUNTER', 'DECLINECOUNTER', 'REFRESH']);

/**
 * Of each event a line with what is requested or answered, when and where; its comments; and its
 * description, unless it is that of the answered invitation.
 */
export function calendarNotes({ method, events }: Calendar): readonly CalendarNote[] {
  return events.slice(0, MAX_EVENTS_SHOWN).flatMap((event) => {
    const isAnswer = ANSWERING.has(method);
    const comments = [
      ...event.getAllProperties('comment').map(proseOf),
      isAnswer ? noteOf(event) : '',
    ];
    const description = isAnswer ? '' : proseOf(event.getFirstProperty('description'));
    const notes: readonly CalendarNote[] = [
      { text: cleanLine(eventLine(method, event), MAX_LINE_LENGTH) },
      { text: cutText([...new Set(comments)].join('\n\n'), MAX_PROSE_LENGTH).trim() },
      { text: description, unlessInBody: true },
    ];
    return notes.filter(({ text }) => text !== '');
  });
}

/** Google Calendar writes HTML (Calendar API, Events: `description`). */
const MARKUP = /&#\d{1,5};|<(?:a|b|br|div|i|li|ol|p|span|u|ul)(?:\s[^<>]{0,500})?\/?>/i;

/** A text of several lines, with entities and tags resolved where it is HTML. */
function proseOf(property: Property): string {
  const value = valueOf(property);
  return typeof value === 'string' ? prose(value) : '';
}

/** What a person adds to an answer in Google Calendar, which has no comment: `it&#39\;s too late`. */
function noteOf(event: ICAL.Component): string {
  const note = event.getFirstProperty('attendee')?.getParameter('x-response-comment');
  return typeof note === 'string' ? prose(note.replace(/\\([;,\\])/g, '$1')) : '';
}

function prose(value: string): string {
  const head = value.slice(0, 4 * MAX_PROSE_LENGTH);
  const text = MARKUP.test(head) ? htmlText(head) : cleanText(head);
  return cutText(text.trim(), MAX_PROSE_LENGTH);
}

function htmlText(html: string): string {
  const { tree } = readHtml({ text: html.replaceAll('\n', '<br>'), cut: false });
  return joinLines(renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined }), 'TEXT');
}

function eventLine(method: string, event: ICAL.Component): string {
  const summary = textOf(event.getFirstProperty('summary'));
  const place = textOf(event.getFirstProperty('location'));
  const parts = [
    summary === '' ? '(no title)' : summary,
    timeOf(event),
    place === '' ? '' : `at ${place}`,
    repetition(event.getFirstProperty('rrule')),
  ];
  return `${kindOf(method, event)}: ${parts.filter((part) => part !== '').join(', ')}`;
}

function kindOf(method: string, event: ICAL.Component): string {
  const attendee = event.getFirstProperty('attendee');
  const status = textOf(event.getFirstProperty('status')).toUpperCase();
  switch (method) {
    case 'REQUEST':
      return status === 'CANCELLED' ? 'Event cancelled' : 'Invitation';
    case 'REPLY': {
      const answer = ANSWERS.get(parameter(attendee, 'partstat').toUpperCase()) ?? 'Answered';
      return `${answer}${by(attendee)}`;
    }
    case 'CANCEL':
      return 'Event cancelled';
    case 'COUNTER':
      return `New time proposed${by(attendee)}`;
    case 'DECLINECOUNTER':
      return 'Proposed time declined';
    default:
      return status === 'CANCELLED' ? 'Event cancelled' : 'Event';
  }
}

/** The name and address of a person. */
function by(attendee: Property): string {
  const name = parameter(attendee, 'cn').replace(/^["']|["']$/g, '');
  const address = textOf(attendee).replace(/^mailto:/i, '');
  if (name === '' || name === address) return address === '' ? '' : ` by ${address}`;
  return address === '' ? ` by ${name}` : ` by ${name} <${address}>`;
}

interface Moment {
  readonly day: string;
  /** Absent for a whole day. */
  readonly time?: string;
  readonly zone: string;
  readonly utcDay: number;
}

function timeOf(event: ICAL.Component): string {
  const start = momentOf(event.getFirstProperty('dtstart'));
  if (start === undefined) return '';
  const zone = start.zone === '' ? '' : ` (${start.zone})`;
  const end = momentOf(event.getFirstProperty('dtend'));
  if (start.time === undefined) {
    // RFC 5545 §3.6.1: the end is the day after the last one.
    const last = end === undefined ? start.utcDay : end.utcDay - 1;
    return last > start.utcDay ? `${start.day} – ${dayName(last)}` : start.day;
  }
  const from = `${start.day}, ${start.time}`;
  if (end?.time === undefined)
    return `${from}${durationOf(event.getFirstProperty('duration'))}${zone}`;
  const endZone = end.zone === start.zone ? '' : ` ${end.zone}`;
  const to = end.utcDay === start.utcDay ? end.time : `${end.day}, ${end.time}`;
  return `${from}–${to}${endZone}${zone}`;
}

/** The local time of its author, and the name of that time zone. */
function momentOf(property: Property, text = textOf(property)): Moment | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d):\d\d(Z?))?$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, time, utc] = match;
  const utcDay = Date.UTC(Number(year), Number(month) - 1, Number(day)) / 86_400_000;
  if (Number.isNaN(utcDay)) return undefined;
  const zone = utc === 'Z' ? 'UTC' : parameter(property, 'tzid');
  return { day: dayName(utcDay), ...(time !== undefined && { time }), zone, utcDay };
}

function dayName(utcDay: number): string {
  const date = new Date(utcDay * 86_400_000);
  const month = MONTHS[date.getUTCMonth()] ?? '';
  return `${DAYS[date.getUTCDay()] ?? ''} ${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}

function durationOf(property: Property): string {
  const match = /^P(?:(\d{1,3})D)?(?:T(?:(\d{1,3})H)?(?:(\d{1,4})M)?)?$/.exec(textOf(property));
  if (match === null) return '';
  const [, days, hours, minutes] = match;
  const parts = [days && `${days} d`, hours && `${hours} h`, minutes && `${minutes} min`];
  const said = parts.filter((part) => part !== undefined && part !== '');
  return said.length === 0 ? '' : ` for ${said.join(' ')}`;
}

/** RFC 5545 §3.3.10, as far as it fits on one line. */
function repetition(property: Property): string {
  const rule = valueOf(property);
  if (typeof rule !== 'object' || rule === null) return '';
  const parts: Readonly<Record<string, unknown>> = { ...rule };
  const unit = UNITS.get(String(parts['freq']).toUpperCase());
  if (unit === undefined) return 'repeats';
  const interval = Number(parts['interval'] ?? 1);
  const often = interval > 1 ? `every ${interval} ${unit[1]}` : unit[0];
  const days = [parts['byday']]
    .flat(1)
    .filter((day) => typeof day === 'string')
    .slice(0, 7);
  const named = days.map(dayOfRule).join(', ');
  const on = named === '' ? '' : ` on ${named}`;
  const until = momentOf(null, String(parts['until']));
  const count = Number(parts['count']);
  const end = until !== undefined ? ` until ${until.day}` : count > 0 ? `, ${count} times` : '';
  return `repeats ${often}${on}${end}`;
}

/** `MO` becomes `Mon`; `1MO` (the first Monday) stays. */
const dayOfRule = (day: string): string =>
  DAYS.find((name) => name.slice(0, 2).toUpperCase() === day) ?? day;
