import { canonicalAddress } from '../../domain/email-addresses.ts';
import type { Taken } from './accept-message.ts';
import { SmtpRefusal } from './smtp-reply.ts';

/**
 * The answers to the final dot in LMTP: one for each RCPT that was answered 250, in the order in
 * which they came, also for a recipient that was named twice (RFC 2033 §4.2). Pure.
 */
export function lmtpReplies(
  recipients: readonly string[],
  taken: readonly Taken[],
): (string | SmtpRefusal)[] {
  const byRecipient = new Map<string, Taken>();
  for (const entry of taken.toReversed()) {
    for (const recipient of entry.recipients) byRecipient.set(sameAddress(recipient), entry);
  }
  return recipients.map((recipient) => {
    const entry = byRecipient.get(sameAddress(recipient));
    return entry === undefined ? new SmtpRefusal('unavailable') : queuedAs(entry);
  });
}

/** The library keeps one recipient of those that differ in case only. */
function sameAddress(address: string): string {
  return (canonicalAddress(address) ?? address).toLowerCase();
}

/** The text after 250. */
export function queuedAs({ id }: Pick<Taken, 'id'>): string {
  return `2.0.0 Ok: queued as ${id}`;
}
