import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cutText } from '../../runtime/clean-text.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import {
  diskFailure,
  type Outbound,
  type OutgoingReply,
  type Sent,
  unreachable,
} from './outbound.ts';

/** Leaves each text message as a line of JSON in `sms.log`. DELIVERED is what is on disk. */
export class SmsLog implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = true;
  readonly #path: string;

  constructor(folder: string) {
    makeFolder(folder);
    this.#path = join(folder, 'sms.log');
  }

  async send({ id, at, from, to, content: text }: OutgoingReply): Promise<Sent> {
    if (from === undefined || to === undefined) throw unreachable('a number');
    const line = JSON.stringify({ at: at.toISOString(), id, from, to, text });
    try {
      await appendFile(this.#path, `${line}\n`, { mode: 0o600, flush: true });
      await durableFiles.syncFolder(dirname(this.#path));
    } catch (error) {
      throw diskFailure(error);
    }
    return { outboxPath: this.#path };
  }
}

/** What Twilio takes as one message (error 21617 beyond it). */
export const PART_MAX_CHARS = 1600;
/** A telephone is no place for more; what does not fit is left out, and seen to be. */
export const PARTS_MAX = 5;

const ELLIPSIS = '…';
/** Where a text is cut best: after a paragraph, a line, a sentence, a word. */
const ENDS = [/\n[ \t]*\n/g, /\n/g, /[.!?…。！？](?=["'”’)\]]*\s)["'”’)\]]*/g, /\s/g];

/**
 * A long answer as the messages that it is sent in, in order: each ends where a paragraph, a line, a
 * sentence or a word does, and only text without any of these is cut in the middle of one.
 * Characters are counted as Twilio does, in UTF-16 units.
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
  const end = endWithin(rest, maxChars - ELLIPSIS.length - 1);
  return [...parts, `${rest.slice(0, end).trimEnd()} ${ELLIPSIS}`];
}

/** The end of the first part. Not in its first half, for one word's sake. */
function endWithin(text: string, maxChars: number): number {
  const window = text.slice(0, maxChars + 1);
  for (const end of ENDS) {
    const last = [...window.matchAll(end)].map((found) => found.index + found[0].length);
    const at = last.findLast((index) => index <= maxChars);
    if (at !== undefined && at > maxChars / 2) return at;
  }
  return cutText(text, maxChars).length;
}

/** Twilio's marks of messages that travel by other ways than SMS. */
const PREFIX = /^(whatsapp|messenger|rcs):/i;

/**
 * Both ends as Twilio wants them: who was written to through WhatsApp, answers through WhatsApp.
 * One of the two may have come without its prefix; with one only, Twilio refuses (error 63007).
 */
export function smsAddresses(from: string, to: string): { from: string; to: string } {
  const prefix = (PREFIX.exec(to) ?? PREFIX.exec(from))?.[0] ?? '';
  const bare = (address: string) => address.trim().replace(PREFIX, '');
  return { from: `${prefix}${bare(from)}`, to: `${prefix}${bare(to)}` };
}
