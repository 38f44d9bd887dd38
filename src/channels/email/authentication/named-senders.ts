/**
 * Whom a message names as its sender. Without mailauth, so that the main thread can read it too:
 * verdicts are remembered by what this file returns (verdict-memo.ts).
 */
import { canonicalDomain, domainOf } from '../../../domain/email-addresses.ts';
import type { HeaderBlock } from '../header-block.ts';
import { authorOf, mailboxOf, selectSender } from '../sender.ts';
import { type SenderLists, senderMatchers } from '../shop.ts';

/** The domain in From, for a single From header with one mailbox. */
export function authorDomain(head: HeaderBlock): string | undefined {
  const author = authorOf(head);
  return author === undefined || author === 'several'
    ? undefined
    : canonicalDomain(domainOf(author.address));
}

/** A person whom no check of From covers. */
export interface Claim {
  readonly address: string;
  readonly domain: string;
  readonly isEnvelope: boolean;
}

/** Undefined if From names the person, or several. */
export function claimOf(
  head: HeaderBlock,
  senders: SenderLists | undefined,
  envelopeFrom: string,
): Claim | undefined {
  if (senders === undefined) return undefined;
  const sender = selectSender(head, senderMatchers(senders));
  if (sender.kind === 'from' || sender.kind === 'several') return undefined;
  const address = mailboxOf(sender)?.address ?? envelopeFrom;
  const domain = canonicalDomain(domainOf(address));
  if (domain === undefined) return undefined;
  return { address, domain, isEnvelope: sender.kind === 'none' };
}
