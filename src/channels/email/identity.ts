import { hash } from 'node:crypto';
import type { HeaderBlock } from './header-block.ts';
import { mailboxOf, type Sender } from './sender.ts';

/** Headers that are the same in copies of a message that came by different paths. */
const DEDUP_HEADERS = ['from', 'to', 'cc', 'date', 'subject', 'message-id'];
/** A message-id of 998 characters is legal and of no use as a key (RFC 5322 §2.1.1). */
const MAX_MESSAGE_ID_BYTES = 255;
const MESSAGE_ID = /<[^<>\s\p{Cc}]+>/gu;

/**
 * The dedup key of a message for one inbox, 64 hex digits. Copies that came by different paths
 * differ in Received, DKIM, ARC and X- lines, so these do not count. Never the Message-ID alone:
 * anyone can claim one, and would suppress another person's mail.
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

/** The Message-ID in angle brackets, when the first Message-ID line has exactly one valid id. */
export function messageIdOf(head: HeaderBlock): string | undefined {
  const found = head.first('message-id')?.slice(0, 2000).match(MESSAGE_ID) ?? [];
  const [id, second] = found;
  if (id === undefined || second !== undefined) return undefined;
  return Buffer.byteLength(id) <= MAX_MESSAGE_ID_BYTES ? id : undefined;
}

/** The `remote_id` of a message without a usable Message-ID; the same each time it comes. */
export function idOfRaw(rawSha256: string): string {
  return `<${rawSha256}@sluice>`;
}

/**
 * The `remote_id` when the shop has already seen it on a different message: with the start of the
 * dedup key. Else anyone could make the platform drop another person's mail by claiming its id.
 */
export function remoteIdIfTaken(remoteId: string, dedupKey: string): string {
  return `${remoteId}#${dedupKey.slice(0, 12)}`;
}

/**
 * The lane of a message: who wrote, and to which inbox. Mail without a readable From is ordered by
 * the envelope's sender.
 */
export function emailLane(sender: Sender, envelopeFrom: string, agentContact: string): string {
  const address = mailboxOf(sender)?.address ?? envelopeFrom;
  return `${address.toLowerCase()} ${agentContact}`;
}

/** The length in front keeps values apart: no value can pass for two. */
function framed(value: string): string {
  return `${value.length}:${value}`;
}

/** Relays fold the same header differently. */
function collapseWhiteSpace(value: string): string {
  return /\s\s|[^\S ]/.test(value) ? value.replace(/\s+/g, ' ') : value;
}
