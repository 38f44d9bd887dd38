import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isGsm } from '../../domain/gsm.ts';
import { cutText } from '../../runtime/clean-text.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import {
  diskFailure,
  type Outbound,
  type OutgoingReply,
  type Sent,
  unreachable,
} from './outbound.ts';

/** Appends each text message to `sms.log` as a line of JSON. A reply is DELIVERED once it is durable. */
export class SmsLog implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = true;
  readonly #path: string;

  constructor(folder: string) {
    makeFolder(folder);
    this.#path = join(folder, 'sms.log');
  }

  async send({ id, at, from, to, content: text, links }: OutgoingReply): Promise<Sent> {
    if (from === undefined || to === undefined) throw unreachable('a number');
    const line = JSON.stringify({
      ...{ at: at.toISOString(), id, from, to, text },
      ...(links && { files: links.map(({ url }) => url) }),
    });
    try {
      await appendFile(this.#path, `${line}\n`, { mode: 0o600, flush: true });
      await durableFiles.syncFolder(dirname(this.#path));
    } catch (error) {
      throw diskFailure(error);
    }
    return { outboxPath: this.#path };
  }
}

/** Twilio's limit for one message (error 21617). */
export const PART_MAX_CHARS = 1600;
/** A longer answer is shortened and ends with an ellipsis. */
export const PARTS_MAX = 5;

/** The character "…" is not in the alphabet of GSM, and would more than halve the last part's room. */
const ellipsisFor = (text: string): string => (isGsm(text) ? '...' : '…');
/** Where to cut, best first: after a paragraph, a line, a sentence, a word. */
const ENDS = [/\n[ \t]*\n/g, /\n/g, /[.!?…。！？]["'”’)\]]*\s/g, /\s/g];

/**
 * Splits a long answer into messages. Each ends at the end of a paragraph, a line, a sentence or a
 * word if possible. Characters are counted in UTF-16 units, like Twilio does.
 */
export function smsParts(text: string, maxChars = PART_MAX_CHARS, maxParts = PARTS_MAX): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > maxChars && parts.length < maxParts - 1) {
    const end = endWithin(rest, maxChars);
    parts.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  if (rest.length <= maxChars) return rest === '' ? parts : [...parts, rest];
  const ellipsis = ellipsisFor(text);
  const end = endWithin(rest, maxChars - ellipsis.length - 1);
  return [...parts, `${rest.slice(0, end).trimEnd()} ${ellipsis}`];
}

/** Whether `smsParts` cuts off the end of a text. */
export const isTooLong = (text: string, maxChars: number): boolean =>
  smsParts(text, maxChars, Infinity).length > PARTS_MAX;

/** The end of the first part, which must be in the second half of the allowed length. */
function endWithin(text: string, maxChars: number): number {
  const window = text.slice(0, maxChars + 1);
  for (const end of ENDS) {
    const last = [...window.matchAll(end)].map((found) => found.index + found[0].trimEnd().length);
    const at = last.findLast((index) => index <= maxChars);
    if (at !== undefined && at > maxChars / 2) return at;
  }
  return cutText(text, maxChars).length;
}

/** Twilio's prefixes of addresses on transports other than SMS. */
const PREFIX = /^(whatsapp|messenger|rcs):/i;

/**
 * Gives both addresses the same transport prefix, because Twilio refuses a message with only one
 * (error 63007) and either may have been stored without it.
 */
export function smsAddresses(from: string, to: string): { from: string; to: string } {
  const prefix = (PREFIX.exec(to) ?? PREFIX.exec(from))?.[0] ?? '';
  const bare = (address: string) => address.trim().replace(PREFIX, '');
  return { from: `${prefix}${bare(from)}`, to: `${prefix}${bare(to)}` };
}
