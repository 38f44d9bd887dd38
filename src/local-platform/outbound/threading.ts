import { domainToASCII } from 'node:url';
import { z } from 'zod';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { EmailThread } from './outbound.ts';

const REFERENCES_MAX = 20;
const SUBJECT_MAX = 250;
const MESSAGE_ID = /^<[^<>\s]{1,250}>/;
const stored = z.object({
  subject: z.string().optional(),
  in_reply_to: z.string().optional(),
  references: z.array(z.string()).optional(),
});

/**
 * The headers that put a reply beneath the customer's message (RFC 5322 §3.6.4).
 * A `remote_id` may be a message-id with a suffix that tells two claims of it apart, or something
 * else altogether; only a message-id goes into a header.
 */
export function threadOf(
  message: MessageRow,
  conversation: ConversationRow,
  messageId: string,
): EmailThread {
  const email = message.email === null ? {} : stored.parse(JSON.parse(message.email));
  const inReplyTo = MESSAGE_ID.exec(message.remote_id ?? '')?.[0];
  // Without References, In-Reply-To is all that is known of the thread.
  const known = email.references?.length ? email.references : [email.in_reply_to ?? ''];
  const earlier = known.flatMap((id) => MESSAGE_ID.exec(id)?.[0] ?? []);
  const references = [...new Set([...earlier, ...(inReplyTo ? [inReplyTo] : [])])];
  const subject = cut(oneLine(email.subject ?? conversation.title ?? ''));
  return {
    messageId,
    inReplyTo,
    // The first names the thread, the last ones its end.
    references:
      references.length > REFERENCES_MAX
        ? [...references.slice(0, 1), ...references.slice(1 - REFERENCES_MAX)]
        : references,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject === '' ? 'your message' : subject}`,
  };
}

/** What may stand in a header: no line breaks, no control characters. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

function cut(subject: string): string {
  if (subject.length <= SUBJECT_MAX) return subject;
  // Not between the two halves of one character.
  return `${subject.slice(0, SUBJECT_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The domain of the shop's address, in ASCII, for the right side of a message-id. */
export function domainOf(address: string | null): string {
  const domain = domainToASCII(/@([^@\s]{1,200})$/.exec(address ?? '')?.[1] ?? '');
  return /^[a-z0-9.-]+$/.test(domain) ? domain : 'localhost';
}
