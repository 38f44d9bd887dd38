import { calendarLines } from './calendar-line.ts';
import { readCalendar } from './calendar-event.ts';
import { decodeText } from '../body/charset.ts';
import type { Format } from '../body/body-content.ts';
import { formatNote } from '../body/format-note.ts';
import type { Leaf } from '../parts/read-parts.ts';

const CALENDAR_TYPES = /^(?:text\/calendar|application\/ics)$/;
const MAX_CALENDARS = 5;

export interface ReadCalendars {
  /** For the content. */
  readonly lines: readonly string[];
  readonly attachments: readonly Leaf[];
}

/**
 * What the calendars among the attachments say. Google sends each twice, as an alternative of the
 * body and as a file: one of them stays. A broken one is no more than an attachment.
 */
export function readCalendars(attachments: readonly Leaf[]): ReadCalendars {
  const seen = new Set<string>();
  const lines = new Set<string>();
  const kept = attachments.filter((leaf) => {
    if (!CALENDAR_TYPES.test(leaf.contentType) || seen.size === MAX_CALENDARS) return true;
    const { content, parameters } = leaf;
    if (content.size > content.start.byteLength) return true;
    const { text } = decodeText(content.start, parameters['charset']);
    const lean = text.replace(/\s+/g, '');
    if (seen.has(lean)) return false;
    seen.add(lean);
    const calendar = readCalendar(text);
    for (const line of calendar === undefined ? [] : calendarLines(calendar)) lines.add(line);
    return true;
  });
  return { lines: [...lines], attachments: kept };
}

/** The text with further lines after it, each a paragraph. */
export function withLines(text: string, format: Format, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const written = lines.map((line) => formatNote(line, format));
  return [...(text.trim() === '' ? [] : [text]), ...written].join('\n\n');
}
