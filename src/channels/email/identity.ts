import { hash } from 'node:crypto';
import type { HeaderBlock } from './header-block.ts';
import { mailboxOf, type Sender } from './sender.ts';

/** Headers that are identical in copies of a message that took different paths. */
const DEDUP_HEADERS = ['from', 'to', 'cc', 'date', 'subject', 'message-id'];
/** A message-id of 998 characters is legal but useless as a key (RFC 5322 §2.1.1). */
const MAX_MESSAGE_ID_BYTES = 255;
const MESSAGE_ID = /<[^<>\s\p{Cc}]+>/gu;

/**
 * The dedup key of a message for one inbox, 64 hex digits. Copies that took different paths differ
 * in Received, DKIM, ARC and X- headers, so these are not included. The Message-ID alone is never
 * used: anyone can claim one and would suppress another person's mail.
 */
export function emailDedupKey(agentContact: string, head: HeaderBlock, bodySha256: string): string {
  let fields = framed(agentContact) + framed(bodySha256);
  for (const name of DEDUP_HEADERS) {
    const values = head.all(name);
    fields += `${values.length};`;
    for (const value of values) fields += framed(collapseWhiteSpace(value));
  }
  return hash('sha256', fields);
}

/**
 * The Message-ID in angle brackets, if the first Message-ID header contains exactly one valid id.
 */
export function messageIdOf(head: HeaderBlock): string | undefined {
  const found = head.first('message-id')?.slice(0, 2000).match(MESSAGE_ID) ?? [];
  const [id, second] = found;
  if (id === undefined || second !== undefined) return undefined;
  return Buffer.byteLength(id) <= MAX_MESSAGE_ID_BYTES ? id : undefined;
}

/** The `remote_id` of a message without a usable Message-ID; the same for every copy. */
export function idOfRaw(rawSha256: string): string {
  return `<${rawSha256}@sluice>`;
}

/**
 * The `remote_id` if the shop has already seen it on a different message: it includes the start of
 * the dedup key. Otherwise anyone could make the platform drop another person's mail by claiming
 * its id.
 */
export function remoteIdIfTaken(remoteId: string, dedupKey: string): string {
  return `${remoteId}#${dedupKey.slice(0, 12)}`;
}

/**
 * The lane of a message: the sender and the inbox. Mail without a readable From is ordered by the
 * envelope sender.
 */
export function emailLane(sender: Sender, envelopeFrom: string, agentContact: string): string {
  const address = mailboxOf(sender)?.address ?? envelopeFrom;
  return `${address.toLowerCase()} ${agentContact}`;
}

/** The length prefix makes the combination of values unambiguous. */
function framed(value: string): string {
  return `${value.length}:${value}`;
}

/** Relays fold the same header differently. */
function collapseWhiteSpace(value: string): string {
  return /\s\s|[^\S ]/.test(value) ? value.replace(/\s+/g, ' ') : value;
}
