import { cleanLine } from '../../../runtime/clean-text.ts';

/**
 * What WhatsApp sends besides text, in words: create message has no fields for it (API §4.7). The
 * words are the same for every provider of WhatsApp.
 */

const MAX_LINE_LENGTH = 1000;
const MAX_FORM_FIELDS = 100;
const MAX_FORM_DEPTH = 6;
const MAX_AD_LENGTH = 300;
const MAX_MEMBERS = 10;
const DECIMAL = /^-?\d{1,3}(\.\d{1,20})?$/;
/** Identifies the form to its sender; it is not user input (Meta, WhatsApp Flows). */
const TOKEN = 'flow_token';

/**
 * The text on one line, for use within a line, like names in email: without control characters,
 * bidirectional overrides and invisible characters. Undefined if nothing is left.
 */
export function oneLine(text: string | undefined, maxLength = MAX_LINE_LENGTH): string | undefined {
  const line = cleanLine(text ?? '', maxLength);
  return line === '' ? undefined : line;
}

/** A shared place; each member as received. */
export interface Place {
  readonly name: string | undefined;
  readonly address: string | undefined;
  /** Decimal degrees. */
  readonly latitude: string | undefined;
  readonly longitude: string | undefined;
}

/** The place with a link to a map; undefined if nothing of it is usable. */
export function locationWords(place: Place): string | undefined {
  const latitude = coordinate(place.latitude, 90);
  const longitude = coordinate(place.longitude, 180);
  const point =
    latitude === undefined || longitude === undefined ? undefined : `${latitude},${longitude}`;
  const parts = [oneLine(place.name), oneLine(place.address), point];
  const named = parts.filter((part) => part !== undefined);
  if (named.length === 0) return undefined;
  const line = `Location: ${named.join(', ')}`;
  return point === undefined ? line : `${line}\nhttps://www.google.com/maps?q=${point}`;
}

function coordinate(value: string | undefined, limit: number): string | undefined {
  if (value === undefined || !DECIMAL.test(value)) return undefined;
  return Math.abs(Number(value)) <= limit ? value : undefined;
}

/** The item that was selected from a list, with its id, which the shop defines. */
export function choiceWords(
  rawTitle: string | undefined,
  rawId: string | undefined,
): string | undefined {
  const [title, id] = [oneLine(rawTitle), oneLine(rawId)];
  if (title === undefined || id === undefined || title === id) return title ?? id;
  return `${title} (${id})`;
}

/** A form that was filled in, with one line per field; undefined if there is none. */
export function formWords(raw: string): string | undefined {
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
  const text = oneLine(written);
  const label = oneLine(path.join(' / '));
  if (text !== undefined) lines.push(label === undefined ? text : `${label}: ${text}`);
}

/** The members of content of a kind that nobody knows, each as a line in brackets. */
export function memberLines(content: unknown): string[] {
  const lines: string[] = [];
  addFormLines(content, { path: [], depth: 0 }, lines);
  return lines.slice(0, MAX_MEMBERS).map((line) => `[${line}]`);
}

/** Where a message came from and what it replies to. */
export interface Origin {
  readonly forwarded: 'once' | 'often' | undefined;
  /** The message that it replies to; replies of the platform have the same ids. */
  readonly repliedTo:
    | { readonly id: string; readonly whose: 'ours' | 'theirs' | undefined }
    | undefined;
  /** The ad that led to it, its members as received; undefined if there was none. */
  readonly ad:
    | {
        readonly url: string | undefined;
        readonly headline: string | undefined;
        readonly body: string | undefined;
      }
    | undefined;
}

/** Each as a line in brackets. */
export function originLines({ forwarded, repliedTo, ad }: Origin): string[] {
  return [
    ...(forwarded === 'often' ? ['[Forwarded many times]'] : []),
    ...(forwarded === 'once' ? ['[Forwarded]'] : []),
    ...(repliedTo === undefined ? [] : [repliedLine(repliedTo)]),
    ...(ad === undefined ? [] : [adLine(ad)]),
  ];
}

const WHOSE = { ours: 'our message', theirs: 'their own message' } as const;

const repliedLine = ({ id, whose }: NonNullable<Origin['repliedTo']>): string =>
  `[In reply to ${whose === undefined ? 'message' : WHOSE[whose]} ${id}]`;

function adLine(ad: NonNullable<Origin['ad']>): string {
  const url = oneLine(ad.url) ?? '';
  const parts = [
    oneLine(ad.headline, MAX_AD_LENGTH),
    oneLine(ad.body, MAX_AD_LENGTH),
    /^https?:\/\//i.test(url) ? url : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '[Came from an ad]' : `[Came from an ad: ${parts.join(' \u2013 ')}]`;
}
