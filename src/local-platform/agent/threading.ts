import type { EmailThread } from '../outbound/outbound.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import { z } from 'zod';

const REFERENCES_MAX = 20;
const MESSAGE_ID = /^<[^<>\s]{1,250}>/;
const stored = z.object({
  subject: z.string().optional(),
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
  const earlier = (email.references ?? []).flatMap((id) => MESSAGE_ID.exec(id)?.[0] ?? []);
  const references = [...new Set([...earlier, ...(inReplyTo ? [inReplyTo] : [])])];
  const subject = (email.subject ?? conversation.title ?? '').replace(/\s+/g, ' ').trim();
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

/** The domain of the shop's address, for the right side of a message-id. */
export function domainOf(address: string | null): string {
  const domain = /@([a-z0-9.-]{1,200})$/i.exec(address ?? '')?.[1];
  return domain ?? 'localhost';
}
