import libmime from 'libmime';
import type { EntryMeta, StoredSummary } from '../../spool/entry.ts';
import { type StoredForm, shownText, textIn } from '../../spool/stored-form.ts';
import { type HeaderBlock, parseHeaderBlock } from './header-block.ts';

const MAX_ENCODED_CHARS = 4096;
const MAX_MORE_CHARS = 2000;
const MAX_RECIPIENTS = 50;

/** An email is stored as its bytes; who it is from is in its lane. */
export const storedEmail: StoredForm = {
  summaryOf: (meta, head) => summaryOfHeaders(meta, parseHeaderBlock(head)),
  // `emailLane` puts the agent's contact behind the sender's address.
  identitiesIn: ({ lane, meta }) => [lane.slice(0, -1 - String(meta['agentContact']).length)],
};

/** The same of a header block that was read already. */
export function summaryOfHeaders(meta: EntryMeta, headers: HeaderBlock): StoredSummary {
  const envelopeFrom = textIn(meta, 'envelopeFrom');
  const envelopeTo = recipientsIn(meta);
  const addresses = (name: string) => addressesShown(headers.all(name).join(', '));
  return {
    from: addresses('from') || envelopeFrom,
    to: addresses('to') || shownText(envelopeTo.join(', ')),
    subject: shownText(decoded((headers.first('subject') ?? '').slice(0, MAX_ENCODED_CHARS))),
    more: [envelopeFrom, ...envelopeTo, addresses('cc'), addresses('reply-to')]
      .filter((text) => text !== '')
      .join(' ')
      .slice(0, MAX_MORE_CHARS),
  };
}

function recipientsIn({ envelopeTo }: EntryMeta): string[] {
  if (!Array.isArray(envelopeTo)) return [];
  return envelopeTo.filter((one) => typeof one === 'string').slice(0, MAX_RECIPIENTS);
}

/** RFC 2047; what cannot be decoded stays as it came. */
function decoded(text: string): string {
  if (!text.includes('=?')) return text;
  try {
    return libmime.decodeWords(text);
  } catch {
    return text;
  }
}

/** A list of mailboxes as a person reads it: names without their quotes. */
function addressesShown(raw: string): string {
  if (raw === '') return '';
  const bounded = raw.slice(0, MAX_ENCODED_CHARS);
  const unquoted = bounded.includes('"') ? bounded.replace(/"((?:[^"\\]|\\.)*)"/g, '$1') : bounded;
  return shownText(decoded(unquoted));
}
