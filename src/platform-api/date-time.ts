import { z } from 'zod';

/** A calendar date and a time of day to the minute, which must follow; then what may be absent. */
const WRITTEN =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-]\d{2})(?::?(\d{2}))?)?$/;
const exact = z.iso.datetime({ offset: true });

/**
 * An ISO 8601 date-time in UTC with milliseconds; undefined if it is none, or its year is not from 0001
 * to 9999, which would not sort by time. Seconds and offset may be absent (the API asks for neither):
 * a time without an offset is UTC.
 */
export function utcTime(text: string): string | undefined {
  const parts = WRITTEN.exec(text);
  if (parts === null) return undefined;
  const [, date = '', minutes = '', seconds = '00', fraction = '0', hours, more = '00'] = parts;
  const offset = hours === undefined ? 'Z' : `${hours}:${more}`;
  const whole = `${date}T${minutes}:${seconds}.${fraction}${offset}`;
  // Date.parse would take 30 February for 2 March.
  if (!exact.safeParse(whole).success) return undefined;
  const time = new Date(whole);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999 ? time.toISOString() : undefined;
}
