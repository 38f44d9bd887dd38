import {
  type AddressMatcher,
  domainOf,
  type Mailbox,
  matchKey,
  parseAddressList,
} from '../../domain/email-addresses.ts';
import { isDoubtfulAddress, isInternetHost } from '../../domain/strict-addresses.ts';
import type { HeaderBlock } from './header-block.ts';
import { isSharedDomain } from '../../domain/shared-domains.ts';
import { platformAddress } from './normalize/head/header-values.ts';
import type { SenderMatchers } from './shop.ts';

/** The author. `name` is raw: encoded words are not decoded. */
export type Sender =
  | { readonly kind: 'from'; readonly mailbox: Mailbox }
  | {
      /**
       * Named in a header that the checks of From do not cover and that anyone can write, so it
       * counts as unverified.
       */
      readonly kind: 'claimed';
      readonly mailbox: Mailbox;
      readonly because: WhyNotFrom | 'no-author';
      /**
       * From is an address that sends on behalf of others: a shop's own address or domain, or a
       * form sender. It applies only if From passes authentication.
       */
      readonly byForm: boolean;
    }
  /** There are several From headers or mailboxes, so the author is unknown. Held. */
  | { readonly kind: 'several' }
  /** The message names no author; only the envelope has a sender. */
  | { readonly kind: 'none' };

type WhyNotFrom = 'no-reply' | 'form' | 'list-rewrite' | 'own-address';

export const NO_REPLY = /(?:^|[-_.+])(?:no|do[-_.]?not|dont|never)[-_.]?reply(?:$|[-_.+\d])/i;
const MAX_SENDER_LENGTH = 8 * 1024;

/**
 * The author of a message.
 *
 * From, if there is exactly one From header with one mailbox. Reply-To instead, if From
 * - was rewritten by a mailing list or group (X-Original-From, or From is the address of
 *   List-Post),
 * - is one of our addresses, or is at one of our domains and Reply-To is not: a contact form,
 * - is a form sender, or a no-reply address.
 *
 * A Reply-To that is one of our addresses or the list's (List-Post, RFC 2369 §3.4) is never used.
 * If a list or group left no Reply-To of a person, X-Original-From or X-Original-Sender is used;
 * otherwise all mail of a support address that is a Google Group would look like our own.
 *
 * Without a usable From: Reply-To, then Sender; otherwise the caller uses the envelope sender.
 * @param author if the caller knows it already
 */
export function selectSender(
  head: HeaderBlock,
  matchers: SenderMatchers,
  author = authorOf(head),
): Sender {
  const { own: ourAddresses, formSenders } = matchers;
  if (author === 'several') return { kind: 'several' };
  if (author === undefined || !isUsable(author)) {
    const mailbox = firstOtherMailbox(head, ['reply-to', 'sender'], ourAddresses);
    if (mailbox === undefined) return { kind: 'none' };
    return { kind: 'claimed', mailbox, because: 'no-author', byForm: false };
  }
  const because = whyNotFrom(author, head, matchers);
  const mailbox =
    because === undefined ? undefined : claimedMailbox(author, because, head, ourAddresses);
  if (because === undefined || mailbox === undefined) return { kind: 'from', mailbox: author };
  const byForm = isOurs(author.address, ourAddresses) || formSenders.has(author.address);
  return { kind: 'claimed', mailbox, because, byForm };
}

/** Whether the platform takes the address; nearly all addresses are beyond doubt. */
function isUsable({ address }: Mailbox): boolean {
  return !isDoubtfulAddress(address) || platformAddress(address) !== undefined;
}

/** Undefined if the author is unknown. */
export function mailboxOf(sender: Sender): Mailbox | undefined {
  return sender.kind === 'from' || sender.kind === 'claimed' ? sender.mailbox : undefined;
}

/**
 * The single mailbox in From (RFC 5322 §3.6.2); undefined if there is none. The part of a name
 * before an unquoted comma is not a separate mailbox: `Doe, Jane <j@x.example>` is one person, as
 * is `Doe@Work, Jane <j@x.example>`, whose first part is not an internet address. An address that
 * occurs twice counts once.
 */
export function authorOf(head: HeaderBlock): Mailbox | 'several' | undefined {
  if (head.count('from') > 1) return 'several';
  const all = mailboxes(head.first('from'));
  const named = all.filter(({ name, address }) => name !== '' || isInternetHost(address));
  const candidates = named.length > 0 ? named : all;
  const keys = new Set(candidates.map(({ address }) => matchKey(address)));
  if (keys.size > 1) return 'several';
  return candidates.find(({ name }) => name !== '') ?? candidates[0];
}

function whyNotFrom(
  { address }: Mailbox,
  head: HeaderBlock,
  { own: ourAddresses, formSenders }: SenderMatchers,
): WhyNotFrom | undefined {
  const key = matchKey(address);
  const original = mailboxes(head.first('x-original-from'));
  if (original.some((each) => matchKey(each.address) !== key)) return 'list-rewrite';
  // A list's own address is not an author: it is Mailman's only sign of a rewritten From.
  if (listKey(head) === key) return 'list-rewrite';
  if (isOurs(address, ourAddresses)) return 'own-address';
  if (formSenders.has(address)) return 'form';
  return isNoReply(address) ? 'no-reply' : undefined;
}

/** Whether the address says that nobody reads its mail: `no-reply@`, `orders-donotreply+7@`. */
export function isNoReply(address: string): boolean {
  return NO_REPLY.test(address.slice(0, address.lastIndexOf('@')));
}

function claimedMailbox(
  { address }: Mailbox,
  because: WhyNotFrom,
  head: HeaderBlock,
  ourAddresses: AddressMatcher,
): Mailbox | undefined {
  const isList = because === 'list-rewrite' || ourAddresses.has(address);
  const names = isList ? ['reply-to', 'x-original-from', 'x-original-sender'] : ['reply-to'];
  const claimed = firstOtherMailbox(head, names, ourAddresses, address);
  // A colleague who directs the answer to another colleague is the author.
  const isColleague = because === 'own-address' && !ourAddresses.has(address);
  return isColleague && claimed !== undefined && isOurs(claimed.address, ourAddresses)
    ? undefined
    : claimed;
}

/** The first mailbox in these headers that is not ours, the list's or the author's. */
function firstOtherMailbox(
  head: HeaderBlock,
  names: readonly string[],
  ourAddresses: AddressMatcher,
  author?: string,
): Mailbox | undefined {
  const list = listKey(head);
  const authorKey = author === undefined ? undefined : matchKey(author);
  return names
    .flatMap((name) => mailboxes(head.first(name)))
    .find((mailbox) => {
      const key = matchKey(mailbox.address);
      if (key === list || key === authorKey || ourAddresses.has(mailbox.address)) return false;
      return isUsable(mailbox);
    });
}

/**
 * One of our addresses, or an address at one of our domains or subdomains, unless the domain is
 * shared.
 */
function isOurs(address: string, ourAddresses: AddressMatcher): boolean {
  if (ourAddresses.has(address)) return true;
  const domain = domainOf(address);
  return (
    ourAddresses.domains.some((ours) => domain === ours || domain.endsWith(`.${ours}`)) &&
    !isSharedDomain(domain)
  );
}

/** Whether Reply-To names an address that is not ours, even the author's. */
export function hasForeignReplyTo(head: HeaderBlock, ourAddresses: AddressMatcher): boolean {
  return firstOtherMailbox(head, ['reply-to'], ourAddresses) !== undefined;
}

/** The raw address of the list (RFC 2369 §3.4: `List-Post: <mailto:list@example.com>`). */
export function listPost(head: HeaderBlock): string | undefined {
  return /<mailto:([^>?]{1,320})/i.exec(head.first('list-post')?.slice(0, 2000) ?? '')?.[1];
}

function listKey(head: HeaderBlock): string | undefined {
  const address = listPost(head);
  return address === undefined ? undefined : matchKey(address);
}

function mailboxes(value: string | undefined): readonly Mailbox[] {
  return value === undefined ? [] : parseAddressList(value, MAX_SENDER_LENGTH);
}
