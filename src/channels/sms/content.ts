import { cleanLine } from '../../runtime/clean-text.ts';
import type { FormFields } from './form.ts';

export const NO_TEXT = '(no text)';

/**
 * What stands in a message: its Body; else the text of the button that was pressed (WhatsApp,
 * RCS); else the place that was shared; else a line that says so, since content is required
 * (API §4.7). Not trimmed.
 */
export function contentOf(fields: FormFields): string {
  const candidates = [textOf(fields, 'Body'), textOf(fields, 'ButtonText'), locationOf(fields)];
  return candidates.find((text) => text !== undefined) ?? NO_TEXT;
}

const FIRST_WORDS_CHARS = 60;

/** What stands in the message that brings a text's late media. */
export function followUpContentOf(fields: FormFields): string {
  return `Picture for: \u201C${firstWords(contentOf(fields))}\u201D`;
}

/** The beginning of a text on one line, cut between words where it has any. */
function firstWords(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  // By code points: half a surrogate pair is no text.
  const chars = Array.from(line);
  if (chars.length <= FIRST_WORDS_CHARS) return line;
  const head = chars.slice(0, FIRST_WORDS_CHARS + 1).join('');
  const words = head.slice(0, Math.max(head.lastIndexOf(' '), 0));
  return `${words === '' ? chars.slice(0, FIRST_WORDS_CHARS).join('') : words}\u2026`;
}

/** The parameter's text as it may be submitted; undefined when it is missing or blank. */
export function textOf(fields: FormFields, name: string): string | undefined {
  const text = submittable(fields.first(name) ?? '');
  return text.trim() === '' ? undefined : text;
}

/** C0 and C1 controls, less tab, line feed and carriage return. NUL is one of them. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * Without NUL, which databases refuse, and without other controls, as in email: no person types
 * them, and a terminal obeys them. Half a surrogate pair (JSON can say one) is replaced.
 */
function submittable(text: string): string {
  return text.replace(CONTROLS, '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/**
 * On one line, for what stands within a line, as email's names are read: without control
 * characters, bidirectional overrides and what is invisible. Undefined when nothing is left.
 */
export function lineOf(fields: FormFields, name: string, maxLength = 1000): string | undefined {
  const line = cleanLine(fields.first(name) ?? '', maxLength);
  return line === '' ? undefined : line;
}

const DECIMAL = /^-?\d{1,3}(\.\d{1,20})?$/;

function locationOf(fields: FormFields): string | undefined {
  const latitude = coordinate(fields.first('Latitude'), 90);
  const longitude = coordinate(fields.first('Longitude'), 180);
  const point =
    latitude === undefined || longitude === undefined ? undefined : `${latitude},${longitude}`;
  const parts = [lineOf(fields, 'Label'), lineOf(fields, 'Address'), point];
  const named = parts.filter((part) => part !== undefined);
  if (named.length === 0) return undefined;
  const line = `Location: ${named.join(', ')}`;
  return point === undefined ? line : `${line}\nhttps://www.google.com/maps?q=${point}`;
}

function coordinate(value: string | undefined, limit: number): string | undefined {
  if (value === undefined || !DECIMAL.test(value)) return undefined;
  return Math.abs(Number(value)) <= limit ? value : undefined;
}
