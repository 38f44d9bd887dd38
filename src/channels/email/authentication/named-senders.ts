/**
 * Whom a message names as its sender. Without mailauth, so that the main thread can read it too:
 * verdicts are remembered by what this file returns (verdict-memo.ts).
 */
import { canonicalDomain, domainOf } from '../../../domain/email-addresses.ts';
import type { HeaderBlock } from '../header-block.ts';
import { authorOf, mailboxOf, type Sender, selectSender } from '../sender.ts';
import { type SenderLists, senderMatchers } from '../shop.ts';

/** A person whom no check of From covers. */
export interface Claim {
  readonly address: string;
  readonly domain: string;
  readonly isEnvelope: boolean;
}

export interface NamedSenders {
  /** The domain in From; undefined unless there is a single From header with one mailbox. */
  readonly fromDomain: string | undefined;
  /** Undefined if From names the person, or several. */
  readonly claim: Claim | undefined;
}

/** @param senders without them, nobody is claimed */
export function namedSenders(
  head: HeaderBlock,
  senders: SenderLists | undefined,
  envelopeFrom: string,
): NamedSenders {
  const author = authorOf(head);
  const fromDomain =
    author === undefined || author === 'several'
      ? undefined
      : canonicalDomain(domainOf(author.address));
  if (senders === undefined) return { fromDomain, claim: undefined };
  return {
    fromDomain,
    claim: claimOf(selectSender(head, senderMatchers(senders), author), envelopeFrom),
  };
}

function claimOf(sender: Sender, envelopeFrom: string): Claim | undefined {
  if (sender.kind === 'from' || sender.kind === 'several') return undefined;
  const address = mailboxOf(sender)?.address ?? envelopeFrom;
  const domain = canonicalDomain(domainOf(address));
  if (domain === undefined) return undefined;
  return { address, domain, isEnvelope: sender.kind === 'none' };
}
