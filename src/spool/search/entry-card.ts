import libmime from 'libmime';
import { parseHeaderBlock } from '../../channels/email/header-block.ts';
import type { Channel } from '../../domain/channel.ts';
import type { EntryKind, EntryMeta } from '../entry.ts';
import type { EntryCard } from '../operator-store.ts';

const MAX_CHARS = 300;
const MAX_ENCODED_CHARS = 4096;
const MAX_MORE_CHARS = 2000;
/** Controls, characters that show nothing or turn the text around them, halves of characters. */
const UNSEEN =
  /[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

export interface CardSource {
  readonly kind: EntryKind;
  readonly channel: Channel;
  readonly meta: EntryMeta;
  /** The beginning of the raw form; empty when it was swept. */
  readonly head: Uint8Array;
}

export interface FullCard extends EntryCard {
  /** What else it is found by: other addresses of the envelope and of copies. */
  readonly more: string;
}

/**
 * Who wrote to whom about what, from the raw form as its channel writes it, or from the meta when
 * there is none any more. Never throws: what cannot be read is empty.
 */
export function cardOf(source: CardSource): FullCard {
  if (source.kind === 'event') return eventCard(source);
  switch (source.channel) {
    case 'email':
      return emailCard(source);
    case 'sms':
      return smsCard(source);
    case 'web_chat':
      return chatCard(source);
  }
}

function emailCard({ meta, head }: CardSource): FullCard {
  const headers = parseHeaderBlock(head);
  const envelopeFrom = textIn(meta, 'envelopeFrom');
  const envelopeTo = listIn(meta, 'envelopeTo');
  const addresses = (name: string) => addressesShown(headers.all(name).join(', '));
  return {
    from: addresses('from') || envelopeFrom,
    to: addresses('to') || shown(envelopeTo.join(', ')),
    subject: shown(decoded(headers.first('subject') ?? '')),
    more: [envelopeFrom, ...envelopeTo, addresses('cc'), addresses('reply-to')]
      .join(' ')
      .slice(0, MAX_MORE_CHARS),
  };
}

/** `src/channels/sms/stored.ts` stores the form as a list of pairs. */
function smsCard({ meta, head }: CardSource): FullCard {
  const pairs = parsed(head);
  const field = (name: string): string => {
    for (const pair of Array.isArray(pairs) ? (pairs as unknown[]) : []) {
      const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
      if (key === name && typeof value === 'string') return value;
    }
    return '';
  };
  const number = field('From') || textIn(meta, 'from');
  const name = shown(field('ProfileName'));
  return {
    from: shown(name === '' ? number : `${name} ${number}`),
    to: shown(field('To') || textIn(meta, 'to')),
    subject: '',
    more: '',
  };
}

/** `src/channels/chat/stored.ts` keeps the visitor in the meta. */
function chatCard({ meta }: CardSource): FullCard {
  const name = textIn(meta, 'name');
  const email = textIn(meta, 'email');
  const address = email === '' ? '' : `<${email}>`;
  return {
    from: shown([name, address].filter((part) => part !== '').join(' ')),
    to: '',
    subject: '',
    more: textIn(meta, 'visitorId'),
  };
}

/** A line for a contact's timeline: whom it is about. */
function eventCard({ head }: CardSource): FullCard {
  const event = parsed(head);
  const contact = isRecord(event) && isRecord(event['contact']) ? event['contact'] : {};
  const from = textIn(contact, 'email') || textIn(contact, 'phone');
  return { from: shown(from), to: '', subject: '', more: '' };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function textIn(record: Readonly<Record<string, unknown>>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value.slice(0, MAX_CHARS) : '';
}

function listIn(record: Readonly<Record<string, unknown>>, key: string): string[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, 50) : [];
}

/** RFC 2047; what cannot be decoded stays as it came. */
function decoded(raw: string): string {
  const bounded = raw.slice(0, MAX_ENCODED_CHARS);
  if (!bounded.includes('=?')) return bounded;
  try {
    return libmime.decodeWords(bounded);
  } catch {
    return bounded;
  }
}

/** A list of mailboxes as a person reads it: names without their quotes. */
function addressesShown(raw: string): string {
  return shown(decoded(raw.slice(0, MAX_ENCODED_CHARS).replace(/"((?:[^"\\]|\\.)*)"/g, '$1')));
}

function shown(text: string): string {
  const seen = text.replace(/[\t\r\n]+/g, ' ');
  const clean = /[^\x20-\x7e]/.test(seen) ? seen.replace(UNSEEN, '') : seen;
  return clean.trim().slice(0, MAX_CHARS);
}
