import type { AddressMatcher } from './address-matcher.ts';
import { isInternetHost, type Mailbox, matchKey, parseAddressList } from './email-addresses.ts';
import type { HeaderBlock } from './header-block.ts';

export interface SenderOptions {
  /** From addresses of forms and market places: the person is in Reply-To. */
  readonly formSenders: AddressMatcher;
}

/** The person who wrote. `name` is raw: encoded words are not decoded. */
export type Sender =
  | { readonly kind: 'from'; readonly mailbox: Mailbox }
  | {
      /** Not covered by any check of From: counts as unverified. */
      readonly kind: 'reply-to';
      readonly mailbox: Mailbox;
      readonly because: 'no-reply' | 'form' | 'list-rewrite' | 'own-address';
    }
  /** More than one From line or mailbox: which one is meant cannot be told; held. */
  | { readonly kind: 'several' }
  /** No readable From. */
  | { readonly kind: 'none' };

const NO_REPLY = /(?:^|[-_.+])(?:no|do[-_.]?not|dont|never)[-_.]?reply(?:$|[-_.+\d])/i;
const MAX_SENDER_LENGTH = 8 * 1024;

/**
 * Who a message is from.
 *
 * From, when there is exactly one From line with one mailbox. Reply-To instead when From is a
 * no-reply or configured form sender, was rewritten by a mailing list (X-Original-From), or is one
 * of our own addresses (a contact form); never a Reply-To that is one of our own addresses or the
 * list's (List-Post, RFC 2369 §3.4). When a list that is one of our own addresses rewrote From and
 * left no Reply-To of a person, X-Original-From is taken: else all mail of a support address that
 * is a Google Group would look like our own.
 */
export function selectSender(
  head: HeaderBlock,
  ourAddresses: AddressMatcher,
  options: SenderOptions,
): Sender {
  const author = authorOf(head);
  if (author === 'several') return { kind: 'several' };
  if (author === undefined) return { kind: 'none' };

  const because = whyNotFrom(author, head, ourAddresses, options);
  if (because === undefined) return { kind: 'from', mailbox: author };
  const replyTo = usableReplyTo(author, head, ourAddresses);
  if (replyTo !== undefined) return { kind: 'reply-to', mailbox: replyTo, because };
  const [original] = mailboxes(head.first('x-original-from'));
  if (original !== undefined && ourAddresses.has(author.address)) {
    if (!ourAddresses.has(original.address)) {
      return { kind: 'reply-to', mailbox: original, because };
    }
  }
  return { kind: 'from', mailbox: author };
}

/** Undefined when nobody can tell who wrote. */
export function mailboxOf(sender: Sender): Mailbox | undefined {
  return sender.kind === 'from' || sender.kind === 'reply-to' ? sender.mailbox : undefined;
}

/**
 * The one mailbox in From (RFC 5322 §3.6.2); undefined when it names nobody. Parts of a name that
 * stand before an unquoted comma are no mailbox of their own: `Doe, Jane <j@x.example>` is one
 * person, and so are `Doe@Work, Jane <j@x.example>`, whose first part is no address on the internet,
 * and an address that is named twice.
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
  ourAddresses: AddressMatcher,
  { formSenders }: SenderOptions,
): 'no-reply' | 'form' | 'list-rewrite' | 'own-address' | undefined {
  if (head.count('x-original-from') > 0) return 'list-rewrite';
  // Nobody writes as a list's own address: Mailman leaves no other sign of having rewritten From.
  if (listKey(head) === matchKey(address)) return 'list-rewrite';
  if (ourAddresses.has(address)) return 'own-address';
  if (formSenders.has(address)) return 'form';
  return NO_REPLY.test(address.slice(0, address.lastIndexOf('@'))) ? 'no-reply' : undefined;
}

function usableReplyTo(
  { address }: Mailbox,
  head: HeaderBlock,
  ourAddresses: AddressMatcher,
): Mailbox | undefined {
  const list = listKey(head);
  return mailboxes(head.first('reply-to')).find((replyTo) => {
    const key = matchKey(replyTo.address);
    return key !== list && key !== matchKey(address) && !ourAddresses.has(replyTo.address);
  });
}

/** Whether Reply-To names someone who is not us, be it the author himself. */
export function hasReplyToOfStranger(head: HeaderBlock, ourAddresses: AddressMatcher): boolean {
  const list = listKey(head);
  return mailboxes(head.first('reply-to')).some(
    ({ address }) => matchKey(address) !== list && !ourAddresses.has(address),
  );
}

/** The address of the list, as it came (RFC 2369 §3.4: `List-Post: <mailto:list@example.com>`). */
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
