import { cleanLine } from '../../../runtime/clean-text.ts';
import { parseAddress } from '../address.ts';
import { lineOf } from './field-text.ts';
import type { FormFields } from '../form.ts';
import { MESSAGE_SID } from '../receive.ts';

/**
 * What WhatsApp tells beside a text, in words: create message has no fields for it (API §4.7). The
 * parameters are those of Twilio, "Twilio's request to your incoming message Webhook URL",
 * WhatsApp-specific parameters.
 */

const MAX_FORM_FIELDS = 100;
const MAX_FORM_DEPTH = 6;
const MAX_VALUE_LENGTH = 1000;
const MAX_AD_LENGTH = 300;
/** Says which form it is, to whoever sent the form; nobody typed it (Meta, WhatsApp Flows). */
const TOKEN = 'flow_token';

/** The item that was chosen from a list, with its id, which stands for it in the shop's own words. */
export function choiceOf(fields: FormFields): string | undefined {
  const [title, id] = [lineOf(fields, 'ListTitle'), lineOf(fields, 'ListId')];
  if (title === undefined || id === undefined || title === id) return title ?? id;
  return `${title} (${id})`;
}

/** A form that was filled in, as a line for each of its fields; undefined when there is none. */
export function formOf(fields: FormFields): string | undefined {
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
