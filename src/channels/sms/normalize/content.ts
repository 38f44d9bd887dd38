import type { FormFields } from '../form.ts';
import { lineOf, textOf } from './field-text.ts';
import { choiceOf, contextOf, formOf } from './whatsapp-content.ts';

export const NO_TEXT = '(no text)';

/**
 * What the person says: the Body; else the text of the button that was pressed, or the item that
 * was chosen from a list (WhatsApp, RCS); and the form that was filled in (WhatsApp Flows). Without
 * any of these the place that was shared; else a line that says so, since content is required
 * (API §4.7). Not trimmed.
 */
export function saidIn(fields: FormFields): string {
  const chosen = textOf(fields, 'ButtonText') ?? choiceOf(fields);
  // What was chosen may stand in InteractiveData once more.
  const form = chosen === undefined ? formOf(fields) : undefined;
  const said = [textOf(fields, 'Body') ?? chosen, form].filter((text) => text !== undefined);
  return said.length > 0 ? said.join('\n\n') : (locationOf(fields) ?? NO_TEXT);
}

/**
 * What stands in a message: what the person says, and below it what WhatsApp shows around it.
 * @param to the shop's own address, as in To
 */
export function contentOf(fields: FormFields, to: string): string {
  const around = contextOf(fields, to);
  return [saidIn(fields), ...(around.length > 0 ? [around.join('\n')] : [])].join('\n\n');
}

const FIRST_WORDS_CHARS = 60;

/** The content of the message that brings a text's late media. */
export function followUpContentOf(fields: FormFields): string {
  return `Picture for: \u201C${firstWords(saidIn(fields))}\u201D`;
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
