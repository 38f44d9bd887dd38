import { jsonText } from '../json.ts';
import { printable } from '../terminal.ts';
import { localTime } from './times.ts';

/**
 * A resource for people: a line for each field under the API's own name, absent ones left out,
 * times in local time; then the text of `body`, as it is.
 */
export function details(resource: object, body?: string): string {
  const fields = Object.entries(resource).filter(([, value]) => value !== undefined);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}  ${shown(name, value)}\n`);
  const text = body === undefined || body === '' ? '' : `\n${body.trimEnd()}\n`;
  return printable(lines.join('') + text);
}

function shown(name: string, value: unknown): string {
  if (value === null || value === '') return '-';
  if (typeof value !== 'string') return JSON.stringify(value);
  return name.endsWith('_at') ? localTime(value) : value.replace(/\s+/g, ' ');
}

/** One JSON document, for programs. */
export const document = (value: unknown): string => `${jsonText(value, 2)}\n`;
