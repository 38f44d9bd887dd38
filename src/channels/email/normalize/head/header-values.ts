import { writtenAt } from '../../../../domain/written-at.ts';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import {
  type AddressMatcher,
  type Mailbox,
  matchKey,
  containsOtherAddress,
  parseAddressList,
} from '../../../../domain/email-addresses.ts';
import { decodeWords } from './encoded-words.ts';
import type { HeaderBlock } from '../../header-block.ts';
import { createMessageRequestSchema } from '../../../../platform-api/schemas.ts';

const MAX_SUBJECT_LENGTH = 1000;
const MAX_NAME_LENGTH = 200;

/** The subject, decoded (RFC 2047), on one line; undefined if it is empty. */
export function readSubject(raw: string | undefined): string | undefined {
  return decoded(raw ?? '', MAX_SUBJECT_LENGTH);
}

/** A display name, decoded, without control and bidi characters, at most 200 characters. */
export function readDisplayName(raw: string): string | undefined {
  const name = decoded(raw, MAX_NAME_LENGTH);
  // Some clients put quotes around the name inside the encoded word.
  return name?.replace(/^(["'])(.+)\1$/, '$2');
}

function decoded(raw: string, maxLength: number): string | undefined {
  const text = cleanLine(decodeWords(raw), maxLength);
  return text === '' ? undefined : text;
}

const MAX_MAILBOXES = 200;

/** What the platform accepts as an address (API §4.7). */
const platformEmail = createMessageRequestSchema.shape.contact.shape.email;

export interface NamedAddress {
  readonly email: string;
  readonly name?: string;
}

interface CopyRecipients {
  /** Cc, and the other recipients in To. */
  readonly cc: readonly NamedAddress[];
  readonly bcc: readonly NamedAddress[];
}

/**
 * The other participants: without our own addresses and the author, each once, with groups
 * flattened. Addresses that the platform would refuse are left out.
 * @param leftOut names of fields that do not count
 */
export function readCopyRecipients(
  head: HeaderBlock,
  own: AddressMatcher,
  sender: string | undefined,
  leftOut: readonly string[] = [],
): CopyRecipients {
  const seen = new Set(sender === undefined ? [] : [matchKey(sender)]);
  const collect = (names: readonly string[]) => {
    const found: NamedAddress[] = [];
    const mailboxes = names
      .flatMap((name) => (leftOut.includes(name) ? [] : head.all(name)))
      .flatMap((raw) => parseAddressList(raw));
    for (const mailbox of mailboxes) {
      const key = matchKey(mailbox.address);
      const named = toNamedAddress(mailbox);
      if (named === undefined || seen.has(key) || own.has(mailbox.address)) continue;
      seen.add(key);
      found.push(named);
      if (found.length === MAX_MAILBOXES) break;
    }
    return found;
  };
  return { cc: collect(['to', 'cc']), bcc: collect(['bcc']) };
}

/** Undefined when the platform would refuse the address. */
export function toNamedAddress({ address, name }: Mailbox): NamedAddress | undefined {
  const email = platformAddress(address);
  if (email === undefined) return undefined;
  const displayName = readDisplayName(name);
  const isNamed = displayName !== undefined && !containsOtherAddress(displayName, email);
  return { email, ...(isNamed && { name: displayName }) };
}

/** The address, if the platform accepts it. */
export function platformAddress(address: string): string | undefined {
  return platformEmail.safeParse(address).success ? address : undefined;
}

/** RFC 5322 §3.6.4, parsed leniently: anything in angle brackets without white space. */
const MESSAGE_ID = /<[^<>\s]+>/g;
/** A longer id cannot be used as a key and is left out rather than truncated. */
const MAX_ID_BYTES = 255;
const KEPT_AT_END = 19;

interface Threading {
  readonly inReplyTo?: string;
  readonly references: readonly string[];
}

/**
 * The ids that a message answers, from the raw, unfolded headers: the first id of In-Reply-To, and
 * the ids of References in order and without duplicates, at most the first and the last 19.
 */
export function readThreading(head: HeaderBlock): Threading {
  const [inReplyTo] = messageIds(head.all('in-reply-to'));
  const references = messageIds(head.all('references'));
  const [first, ...others] = references;
  return {
    ...(inReplyTo !== undefined && { inReplyTo }),
    references: first === undefined ? [] : [first, ...others.slice(-KEPT_AT_END)],
  };
}

/** All ids that a message answers, without duplicates. */
export function answeredIds({ inReplyTo, references }: Threading): readonly string[] {
  return [...new Set([...(inReplyTo === undefined ? [] : [inReplyTo]), ...references])];
}

/** The host part of a message-id, in lower case; empty if there is none. */
export function messageIdHost(id: string): string {
  const at = id.lastIndexOf('@');
  return at === -1 ? '' : id.slice(at + 1, -1).toLowerCase();
}

/** The ids in header values, in order and without duplicates. */
export function messageIds(values: readonly string[]): readonly string[] {
  const ids = values.flatMap((value) => value.match(MESSAGE_ID) ?? []);
  return [...new Set(ids)].filter((id) => Buffer.byteLength(id) <= MAX_ID_BYTES);
}

const MAX_DATE_LENGTH = 100;

/** When a message was written, by its Date header. */
export const readSentAt = (date: string | undefined, receivedAt: number): number =>
  writtenAt(parseDate(date), receivedAt);

/** RFC 5322 §3.3, ignoring comments; without a zone, the time is UTC (§4.3: `-0000`). Else NaN. */
function parseDate(date = ''): number {
  const text = date
    .slice(0, MAX_DATE_LENGTH)
    .replace(/\([^()]*\)/g, ' ')
    .trim();
  const zoned = /(?:[+-]\d{4}|\b[A-Z]{1,4}|Z)$/i.test(text) ? text : `${text} +0000`;
  return Date.parse(zoned);
}
