import { cleanLine } from '../../../../runtime/clean-text.ts';
import { parseAddress } from '../../address.ts';
import { NO_TEXT } from '../../../../domain/no-text.ts';
import { submittable } from '../../normalize/content.ts';
import { type FormFields, MESSAGE_SID } from './form.ts';

/**
 * The person's words: the Body; otherwise the text of the button that was pressed, or the item that
 * was selected from a list (WhatsApp, RCS); and the form that was filled in (WhatsApp Flows). If
 * there is none of these, the shared location; otherwise a line that says so, since content is
 * required (API §4.7). Not trimmed.
 */
export function messageText(fields: FormFields): string {
  const chosen = textOf(fields, 'ButtonText') ?? choiceOf(fields);
  // InteractiveData may repeat the selection.
  const form = chosen === undefined ? formOf(fields) : undefined;
  const said = [textOf(fields, 'Body') ?? chosen, form].filter((text) => text !== undefined);
  return said.length > 0 ? said.join('\n\n') : (locationOf(fields) ?? NO_TEXT);
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

/**
 * The context that WhatsApp sends with a text, in words, since create message has no fields for it
 * (API §4.7). The parameters are documented in Twilio, "Twilio's request to your incoming message
 * Webhook URL", WhatsApp-specific parameters.
 */

const MAX_FORM_FIELDS = 100;
const MAX_FORM_DEPTH = 6;
const MAX_VALUE_LENGTH = 1000;
const MAX_AD_LENGTH = 300;
/** Identifies the form to its sender; it is not user input (Meta, WhatsApp Flows). */
const TOKEN = 'flow_token';

/** The item that was selected from a list, with its id, which the shop defines. */
function choiceOf(fields: FormFields): string | undefined {
  const [title, id] = [lineOf(fields, 'ListTitle'), lineOf(fields, 'ListId')];
  if (title === undefined || id === undefined || title === id) return title ?? id;
  return `${title} (${id})`;
}

/** A form that was filled in, with one line per field; undefined if there is none. */
function formOf(fields: FormFields): string | undefined {
  const raw = fields.first('InteractiveData') ?? '';
  if (raw.trim() === '') return undefined;
  const lines: string[] = [];
  addFormLines(parsed(raw), { path: [], depth: 0 }, lines);
  return lines.length === 0 ? undefined : ['Form:', ...lines].join('\n');
}

/** The parsed JSON, or the text if it is not JSON. */
function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

function addFormLines(
  value: unknown,
  { path, depth }: { readonly path: readonly string[]; readonly depth: number },
  lines: string[],
): void {
  if (lines.length >= MAX_FORM_FIELDS || depth > MAX_FORM_DEPTH) return;
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === TOKEN) continue;
      // The index of an array item is not shown.
      const within = Array.isArray(value) ? path : [...path, name];
      addFormLines(inner, { path: within, depth: depth + 1 }, lines);
    }
    return;
  }
  if (value === null) return;
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const text = cleanLine(written, MAX_VALUE_LENGTH);
  const label = cleanLine(path.join(' / '), MAX_VALUE_LENGTH);
  if (text !== '') lines.push(label === '' ? text : `${label}: ${text}`);
}

/**
 * The origin of the message and what it replies to, each as a line in brackets.
 * @param to the shop's own address, as in To
 */
export function contextOf(fields: FormFields, to: string): string[] {
  return [forwardedLine(fields), repliedLine(fields, to), adLine(fields)].filter(
    (line) => line !== undefined,
  );
}

function forwardedLine(fields: FormFields): string | undefined {
  const is = (name: string): boolean => fields.first(name)?.toLowerCase() === 'true';
  if (is('FrequentlyForwarded')) return '[Forwarded many times]';
  return is('Forwarded') ? '[Forwarded]' : undefined;
}

/** Replies of the platform have the same SIDs. */
function repliedLine(fields: FormFields, to: string): string | undefined {
  const sid = fields.first('OriginalRepliedMessageSid') ?? '';
  if (!MESSAGE_SID.test(sid)) return undefined;
  const sender = parseAddress(fields.first('OriginalRepliedMessageSender') ?? '').address;
  if (sender === '') return `[In reply to message ${sid}]`;
  const whose = sender === parseAddress(to).address ? 'our message' : 'their own message';
  return `[In reply to ${whose} ${sid}]`;
}

function adLine(fields: FormFields): string | undefined {
  const url = lineOf(fields, 'ReferralSourceUrl') ?? '';
  const parts = [
    lineOf(fields, 'ReferralHeadline', MAX_AD_LENGTH),
    lineOf(fields, 'ReferralBody', MAX_AD_LENGTH),
    /^https?:\/\//i.test(url) ? url : undefined,
  ].filter((part) => part !== undefined);
  if (parts.length > 0) return `[Came from an ad: ${parts.join(' \u2013 ')}]`;
  return lineOf(fields, 'ReferralSourceId') === undefined ? undefined : '[Came from an ad]';
}

const textOf = (fields: FormFields, name: string): string | undefined =>
  submittable(fields.first(name) ?? '');

/**
 * The parameter on one line, for use within a line, like names in email: without control
 * characters, bidirectional overrides and invisible characters. Undefined if nothing is left.
 */
export function lineOf(fields: FormFields, name: string, maxLength = 1000): string | undefined {
  const line = cleanLine(fields.first(name) ?? '', maxLength);
  return line === '' ? undefined : line;
}
