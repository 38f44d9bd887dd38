import { cleanLine } from '../../../runtime/clean-text.ts';
import { parseAddress } from '../address.ts';
import type { FormFields } from '../form.ts';
import { MESSAGE_SID } from '../stored.ts';

const NO_TEXT = '(no text)';

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

/**
 * What WhatsApp sends beside a text, in words: create message has no fields for it (API §4.7). The
 * parameters are those of Twilio, "Twilio's request to your incoming message Webhook URL",
 * WhatsApp-specific parameters.
 */

const MAX_FORM_FIELDS = 100;
const MAX_FORM_DEPTH = 6;
const MAX_VALUE_LENGTH = 1000;
const MAX_AD_LENGTH = 300;
/** Names the form to its sender; no person typed it (Meta, WhatsApp Flows). */
const TOKEN = 'flow_token';

/** The item that was chosen from a list, with its id, which stands for it in the shop's own words. */
function choiceOf(fields: FormFields): string | undefined {
  const [title, id] = [lineOf(fields, 'ListTitle'), lineOf(fields, 'ListId')];
  if (title === undefined || id === undefined || title === id) return title ?? id;
  return `${title} (${id})`;
}

/** A form that was filled in, as a line for each of its fields; undefined when there is none. */
function formOf(fields: FormFields): string | undefined {
  const raw = fields.first('InteractiveData') ?? '';
  if (raw.trim() === '') return undefined;
  const lines: string[] = [];
  addFormLines(parsed(raw), { path: [], depth: 0 }, lines);
  return lines.length === 0 ? undefined : ['Form:', ...lines].join('\n');
}

/** JSON, or the text that it is otherwise. */
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
      // The place of an item in an array says nothing.
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
 * Where it comes from and what it answers, each as a line in brackets.
 * @param to the shop's own address, as in To
 */
function contextOf(fields: FormFields, to: string): string[] {
  return [forwardedLine(fields), repliedLine(fields, to), adLine(fields)].filter(
    (line) => line !== undefined,
  );
}

function forwardedLine(fields: FormFields): string | undefined {
  const is = (name: string): boolean => fields.first(name)?.toLowerCase() === 'true';
  if (is('FrequentlyForwarded')) return '[Forwarded many times]';
  return is('Forwarded') ? '[Forwarded]' : undefined;
}

/** The replies of the platform are known by the same SIDs. */
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

/** The parameter's text as it may be submitted; undefined when it is missing or blank. */
function textOf(fields: FormFields, name: string): string | undefined {
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
