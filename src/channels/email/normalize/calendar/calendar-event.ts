import ICAL from 'ical.js';

/** What is parsed; a larger calendar is no invitation. */
const MAX_CALENDAR_LENGTH = 128 * 1024;
const MAX_EVENTS = 20;
const MAX_TEXT_LENGTH = 300;

export interface CalendarProperty {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** `date`, `date-time`, `text`, … (RFC 5545 §3.3). */
  readonly type: string;
  readonly value: unknown;
}

export interface CalendarEvent {
  first(name: string): CalendarProperty | undefined;
}

export interface Calendar {
  /** Upper case; empty for a calendar that is only published. */
  readonly method: string;
  readonly events: readonly CalendarEvent[];
}

/**
 * The events of a calendar (RFC 5545), as ical.js parses them (RFC 7265); its own objects for times
 * and recurrences are not used, since they compute without a bound. Undefined when it is broken.
 */
export function readCalendar(text: string): Calendar | undefined {
  if (text.length > MAX_CALENDAR_LENGTH) return undefined;
  const [calendar] = components(parsed(text), 'vcalendar');
  if (calendar === undefined) return undefined;
  const events = components(calendar[2], 'vevent').slice(0, MAX_EVENTS);
  return {
    method: textOf(propertyOf(calendar, 'method')).toUpperCase(),
    events: events.map((event) => ({ first: (name) => propertyOf(event, name) })),
  };
}

/** A text value on one line; empty when there is none. */
export function textOf(property: CalendarProperty | undefined): string {
  const value = property?.value;
  if (typeof value !== 'string') return '';
  return value.slice(0, MAX_TEXT_LENGTH).replace(/\s+/g, ' ').trim();
}

type Component = readonly [name: string, properties: readonly unknown[], inner: readonly unknown[]];

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = ICAL.parse(text);
    if (!Array.isArray(value)) return [];
    const list: readonly unknown[] = value;
    // One component is not in a list of its own.
    return typeof list[0] === 'string' ? [list] : list;
  } catch {
    return [];
  }
}

function components(list: readonly unknown[], name: string): readonly Component[] {
  return list.filter(
    (value): value is Component =>
      Array.isArray(value) &&
      value[0] === name &&
      Array.isArray(value[1]) &&
      Array.isArray(value[2]),
  );
}

function propertyOf([, properties]: Component, name: string): CalendarProperty | undefined {
  for (const property of properties) {
    if (!Array.isArray(property) || property[0] !== name) continue;
    const [, parameters, type, value] = property as readonly unknown[];
    if (typeof parameters !== 'object' || parameters === null || typeof type !== 'string') continue;
    return { parameters: { ...parameters }, type, value };
  }
  return undefined;
}
