import { domainToASCII } from 'node:url';
import addressparser from 'nodemailer/lib/addressparser';
import { untagged } from '../../domain/email-addresses.ts';
import { cutText } from '../../runtime/clean-text.ts';
import { type ConversationRow, emailOf, type MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type EmailThread, type OutgoingReply, SendFailed, unreachable } from './outbound.ts';
import { isEmailAddress } from '../../platform-api/schemas.ts';
import { isAutomatedAddress } from '../addresses.ts';

/**
 * The address or number that a customer's message came from, which may differ from the contact's. If
 * the message has none, the contact's.
 */
export function senderOf(
  store: Store,
  { type }: ConversationRow,
  message: MessageRow,
): string | undefined {
  if (message.sender !== null) return message.sender;
  if (type === 'web_chat') return undefined;
  const contact = store.contacts.ofMessage(message);
  return (type === 'email' ? contact?.email : contact?.phone) ?? undefined;
}

/** The address that a stored email went to; undefined if that is no longer known. */
export function recipientOf(store: Store, reply: MessageRow): string | undefined {
  const conversation = store.conversations.get(reply.conversation_id);
  if (conversation === undefined) return undefined;
  const question = store.messages.answeredBy(reply);
  // One that answers no email goes where a chat visitor has asked for it.
  const left = question === undefined ? store.leftAddresses.ofThread(conversation.id) : undefined;
  return left?.email ?? senderOf(store, conversation, question ?? reply);
}

/** Addresses a stored reply: from the address that the customer wrote to, to the one they wrote from. */
export function addressReply(
  store: Store,
  conversation: ConversationRow,
  reply: MessageRow,
  shopName: string,
): OutgoingReply {
  const contact = store.contacts.ofMessage(reply);
  const question = store.messages.answeredBy(reply);
  const isEmail = conversation.type === 'email';
  // No word of a stranger goes to somebody else in the shop's name.
  const isNeutral = isEmail && reply.unverified_from !== null;
  const to = senderOf(store, conversation, question ?? reply);
  return {
    id: reply.id,
    shop: reply.shop,
    content: reply.content,
    format: reply.format,
    from: reply.agent_contact ?? question?.agent_contact ?? conversation.agent_contact ?? undefined,
    fromName: shopName,
    to,
    toName: isNeutral || contact?.is_name_claimed === 1 ? undefined : (contact?.name ?? undefined),
    at: new Date(reply.created_at),
    isByPerson: reply.user_id !== null,
    email:
      isEmail && reply.remote_id !== null
        ? isNeutral
          ? neutralThread(reply.remote_id)
          : threadOf(question, { title: titleFor(store, conversation, question) }, reply.remote_id)
        : undefined,
    ...(isNeutral && to !== undefined && { shownTo: untagged(to) }),
  };
}

/**
 * The subject of a conversation's first email. Null without one, or if nothing confirms who sent that, and the
 * sender of this message is confirmed: it may be a stranger's.
 */
export function titleFor(
  store: Store,
  { id, title }: ConversationRow,
  message: MessageRow | undefined,
): string | null {
  if (title === null || message?.unverified_from !== null) return title;
  const first = store.messages.firstOfCustomer(id);
  return (first?.unverified_from ?? null) === null ? title : null;
}

/**
 * No header repeats the email: its message-id and References are a stranger's words, too
 * (docs/decisions/0059-words-of-unconfirmed-senders.md).
 */
const neutralThread = (messageId: string): EmailThread => ({
  ...{ messageId, inReplyTo: undefined, references: [], subject: UNNAMED_SUBJECT },
});

/** The subject of an answer to an email that has none, or one that is not repeated. */
const UNNAMED_SUBJECT = 'Re: your message';
const REFERENCES_MAX = 20;
const SUBJECT_MAX = 250;
const MESSAGE_ID = /^<[^<>\s]{1,250}>/;

/** The ids in an element of `references`: some clients write the whole header into one. */
export const messageIdsIn = (text: string): readonly string[] =>
  text.match(/<[^<>\s]+>/g)?.filter((id) => MESSAGE_ID.test(id)) ?? [];

/**
 * The headers that thread a reply below the customer's message (RFC 5322 §3.6.4). A `remote_id` need
 * not be a message-id, and may have a suffix after it; only the message-id goes into a header.
 * @param message undefined for a reply that the customer has asked for elsewhere, which starts a thread
 */
export function threadOf(
  message: MessageRow | undefined,
  { title }: Pick<ConversationRow, 'title'>,
  messageId: string,
): EmailThread {
  const subject = shortened(oneLine((message && emailOf(message).subject) ?? title ?? ''));
  if (message === undefined) {
    const shown = subject === '' ? 'Your message' : subject;
    return { messageId, inReplyTo: undefined, references: [], subject: shown };
  }
  const email = emailOf(message);
  const inReplyTo = MESSAGE_ID.exec(message.remote_id ?? '')?.[0];
  // Without References, only In-Reply-To is known of the thread.
  const known = email.references?.length ? email.references : [email.in_reply_to ?? ''];
  const earlier = known.flatMap((text) => messageIdsIn(text));
  const references = [...new Set([...earlier, ...(inReplyTo ? [inReplyTo] : [])])];
  return {
    messageId,
    inReplyTo,
    // Keeps the first, which identifies the thread, and the latest ones.
    references:
      references.length > REFERENCES_MAX
        ? [...references.slice(0, 1), ...references.slice(1 - REFERENCES_MAX)]
        : references,
    subject: /^re:/i.test(subject) ? subject : subject === '' ? UNNAMED_SUBJECT : `Re: ${subject}`,
  };
}

/** Text for a header: without line breaks and control characters. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

const shortened = (subject: string): string =>
  subject.length <= SUBJECT_MAX ? subject : `${cutText(subject, SUBJECT_MAX - 1)}…`;

/**
 * The `remote_id` of a reply before it is sent: by email its Message-ID, since the customer's mail program
 * puts it in In-Reply-To, which threads their next message. Providers of texts give one later.
 */
export function remoteIdOf(
  id: string,
  conversation: ConversationRow,
  question: MessageRow | undefined,
): string | null {
  if (conversation.type !== 'email') return null;
  return messageIdOf(id, question?.agent_contact ?? conversation.agent_contact);
}

/** The Message-ID of an email. @param from the shop's address */
export const messageIdOf = (id: string, from: string | null): string => `<${id}@${domainOf(from)}>`;

/**
 * The Message-ID of an email that a person sends again: `<id@host>`, `<id.2@host>`, `<id.3@host>`. A
 * late bounce of the one before says nothing about it, and no mailbox takes it for a duplicate.
 */
export const nextMessageId = (messageId: string): string =>
  messageId.replace(
    /^(<[^@.]{1,100})(?:\.(\d{1,6}))?(?=@)/,
    (_, id: string, times = '1') => `${id}.${Number(times) + 1}`,
  );

/** The domain of the shop's address in ASCII. */
function domainOf(address: string | null): string {
  const domain = domainToASCII(/@([^@\s]{1,200})$/.exec(address ?? '')?.[1] ?? '');
  return /^[a-z0-9.-]+$/.test(domain) ? domain : 'localhost';
}

/**
 * Why an email must not be sent: an address is missing or is a list of addresses, the recipient is a
 * program, or it is the shop itself, whose agent would answer again. Undefined when it may be sent.
 */
export function emailRefusal(
  store: Store,
  { shop, from, to }: Pick<OutgoingReply, 'shop' | 'from' | 'to'>,
): SendFailed | undefined {
  if (from === undefined || to === undefined) return unreachable('an address');
  if (!isOneAddress(from) || !isOneAddress(to)) {
    return new SendFailed('permanent', 'not one address', { code: 'not_one_address' });
  }
  if (isAutomatedAddress(to)) return new SendFailed('permanent', 'a machine', { code: 'machine' });
  return store.conversations.isAgentContact(shop, to)
    ? new SendFailed('permanent', 'our own address', { code: 'own_address' })
    : undefined;
}

/** Whether the mail library reads the text as one address, so that nobody else receives the email. */
function isOneAddress(text: string): boolean {
  const [mailbox, ...others] = addressparser(text, { flatten: true });
  return mailbox?.address === text && others.length === 0 && isEmailAddress(text);
}
