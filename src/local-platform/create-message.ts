import { randomUUID } from 'node:crypto';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { ApiError, invalidRequest } from './api-error.ts';
import { LIMITS } from './open-points.ts';
import { excerptOf, plainText, titleOf } from './plain-text.ts';
import { addressesOf, normalAddress } from './addresses.ts';
import {
  type Channel,
  type ContactRow,
  type ConversationRow,
  isWithPeople,
  type MessageRow,
  type TicketRow,
} from './store/rows.ts';
import { messageIdsIn, recipientOf } from './outbound/address-reply.ts';
import type { Store } from './store/store.ts';

export interface Created {
  readonly message: MessageRow;
  /** False for an existing message with the same `remote_id`. */
  readonly created: boolean;
}

/** What is known about a message besides its request. */
export interface MessageFacts {
  readonly now: string;
  /** Whether an agent answers in this shop. */
  readonly agentListens: boolean;
  /** The network of a message whose sender nothing confirms, or `FAILS_POLICY`. */
  readonly unverifiedFrom?: string | undefined;
  /**
   * The gateway knows that the conversation has one person, and that these are the person's, too: a text
   * under any of their names is from one contact.
   */
  readonly samePerson?: readonly string[] | undefined;
  /** `UNSIGNED_SUBJECT` */
  readonly isSubjectUnsigned?: boolean | undefined;
}

/**
 * Create message (API §4.7): stores the contact, the conversation, the ticket and the message, or
 * returns the existing message with the same `remote_id`. Must run within one write.
 * @throws {ApiError} 400, 404
 */
export function createMessage(
  store: Store,
  shop: string,
  request: CreateMessageRequest,
  { now, agentListens, unverifiedFrom, samePerson, isSubjectUnsigned = false }: MessageFacts,
): Created {
  const { message } = request;
  // Messages with an empty id are never duplicates.
  const remoteId = message.remote_id === '' ? null : (message.remote_id ?? null);
  const first = remoteId === null ? undefined : store.messages.byDedupKey(shop, remoteId);
  if (first !== undefined) return { message: first, created: false };

  const known = findConversation(store, shop, request);
  const attachments = assertAttachments(store, shop, message.attachments ?? []);
  const type = known?.type ?? request.conversation.type ?? 'email';
  const { sender, agentContact } = addressesOf(type, request);
  const isUnverified =
    unverifiedFrom !== undefined &&
    (isSubjectUnsigned || !repliesToUs(store, shop, message, sender));
  const theirs = [known, ...(samePerson ?? []).map((id) => store.conversations.byId(shop, id))];
  const contact =
    (samePerson &&
      store.contacts.join(
        shop,
        theirs.flatMap((each) => each?.contact_id ?? []),
        request.contact,
        now,
      )) ??
    store.contacts.resolve(
      shop,
      type,
      { ...request.contact, isClaimed: isUnverified },
      now,
      known?.contact_id ?? undefined,
    );
  const conversation =
    known ?? startConversation(store, shop, request, { type, agentContact, contact }, now);
  if (known !== undefined) store.conversations.reopen({ ...linksOf(request), id: known.id, now });
  if (agentContact !== null) store.conversations.addAgentContact(shop, agentContact);
  if (type === 'email') {
    const mayCopyIn = known === undefined || refersToReply(store, known, message);
    const copied = mayCopyIn ? copiedIn(request) : [];
    store.conversations.addParticipants(conversation.id, sender ? [sender, ...copied] : copied);
  }

  const id = randomUUID();
  const text = plainText(message.content, message.format ?? 'TEXT');
  const writtenMs = Date.parse(message.timestamp ?? now);
  const createdAt = new Date(writtenMs).toISOString();
  const ticket = updateTicket(store, conversation, {
    ...{ messageId: id, contactId: contact.id, text, now },
    subject: message.email?.subject ?? '',
    // A time in the future, from a wrong clock, would hide later messages.
    spokenAt: writtenMs < Date.parse(now) ? createdAt : now,
  });
  const stored = store.messages.create(
    {
      ...{ id, shop, conversationId: conversation.id, ticketId: ticket.id },
      contactId: contact.id,
      agentId: null,
      content: message.content,
      text,
      format: message.format ?? 'TEXT',
      role: 'customer',
      status: 'DELIVERED',
      remoteId,
      email: message.email ? JSON.stringify(message.email) : null,
      createdAt,
      now,
      unanswered: agentListens,
      inReplyTo: null,
      ...{ sender, agentContact },
      ...(isUnverified && { unverifiedFrom }),
    },
    attachments,
  );
  return { message: stored, created: true };
}

export interface FirstMessage {
  readonly type: Channel;
  readonly agentContact: string | null;
  readonly contact: ContactRow;
}

/** Must run within a write. */
export function startConversation(
  store: Store,
  shop: string,
  request: CreateMessageRequest,
  { type, agentContact, contact }: FirstMessage,
  now: string,
): ConversationRow {
  const subject = request.message.email?.subject?.trim() ?? '';
  return store.conversations.create({
    shop,
    type,
    title: subject === '' ? null : titleOf(subject, ''),
    agentContact,
    agentId: store.shops.agentId(shop),
    contactId: contact.id,
    ...linksOf(request),
    now,
  });
}

/** The ids of other records to which a conversation can refer. */
function linksOf({ conversation }: CreateMessageRequest) {
  return {
    userId: conversation.user_id ?? null,
    topicId: conversation.topic_id ?? null,
    intentId: conversation.intent_id ?? null,
  };
}

/**
 * The addresses in Cc and Bcc, which may continue the thread. Used only for a message that starts the
 * thread or refers to a reply: the sender of any other message may be forged in order to read along.
 */
function copiedIn({ message }: CreateMessageRequest): string[] {
  const copied = [...(message.email?.cc ?? []), ...(message.email?.bcc ?? [])];
  return copied.flatMap(({ email }) => email ?? []).slice(0, LIMITS.participantsMax);
}

interface TicketMessage {
  /** Null if the shop begins the conversation. */
  readonly messageId: string | null;
  readonly contactId: string;
  readonly subject: string;
  readonly text: string;
  readonly spokenAt: string;
  readonly now: string;
}

/** Creates the conversation's ticket with its first message, and reopens it with each later one. */
export function updateTicket(
  store: Store,
  conversation: ConversationRow,
  message: TicketMessage,
): TicketRow {
  const excerpt = excerptOf(message.text);
  const { shop } = conversation;
  const ticket = store.tickets.byConversation(conversation.id);
  if (ticket === undefined) {
    return store.tickets.create({
      ...{ shop, contactId: message.contactId, conversationId: conversation.id },
      number: store.shops.nextTicketNumber(shop),
      name: titleOf(message.subject, message.text),
      excerpt,
      agentId: conversation.agent_id ?? store.shops.agentId(shop),
      messageId: message.messageId,
      spokenAt: message.spokenAt,
      now: message.now,
    });
  }
  // The agent does not answer a conversation that people have: a person of the shop has to.
  const status = isWithPeople(conversation) ? 'WaitingUser' : 'Open';
  // What is over belongs to nobody any more; the agent answers again.
  if (ticket.completed_at !== null) store.desk.assign({ id: ticket.id, assigneeId: null });
  store.tickets.recordMessage(ticket.id, status, excerpt, message.now, message.spokenAt);
  return ticket;
}

/** Checks the ids and removes duplicates. @throws {ApiError} 400 */
export function assertAttachments(store: Store, shop: string, given: readonly string[]): string[] {
  const field = 'message.attachments';
  if (given.length > LIMITS.attachmentsMax) {
    throw invalidRequest({
      [field]: `at most ${LIMITS.attachmentsMax}`,
    });
  }
  const missing = given.findIndex((id) => store.media.byId(shop, id) === undefined);
  if (missing < 0) return [...new Set(given)];
  throw invalidRequest({ [`${field}.${missing}`]: 'no such media' });
}

/**
 * The conversation that a message belongs to, or undefined for a new one: by id (API §4.7 rule 1),
 * and for email by In-Reply-To, then References from the last to the first (rule 3,
 * RFC 5322 §3.6.4).
 *
 * Message-ids are not secret: forwarded mail and list archives contain them. An email therefore joins
 * a conversation only when its sender takes part there, as an author or in Cc or Bcc; otherwise the
 * agent would tell a stranger who quotes an id what others wrote.
 * @throws {ApiError} 404 for an unknown id, 400 without id and type
 */
export function findConversation(
  store: Store,
  shop: string,
  { contact, conversation, message }: CreateMessageRequest,
): ConversationRow | undefined {
  if (conversation.id) {
    const found = store.conversations.byId(shop, conversation.id);
    if (found !== undefined) return found;
    throw new ApiError(404, 'there is no such conversation', { 'conversation.id': 'not found' });
  }
  if (conversation.type === undefined) {
    throw invalidRequest({
      'conversation.type': 'required when conversation.id is absent',
    });
  }
  if (conversation.type !== 'email' || message.email === undefined) return undefined;
  for (const id of idsReferredTo(message)) {
    const found = store.conversations.byMessageId(shop, id);
    if (found && store.conversations.hasParticipant(found.id, contact.email ?? '')) return found;
  }
  return undefined;
}

/**
 * Whether an email refers to a reply of this conversation, which its author must then have received.
 * The ids of customers' own messages are known to others too.
 */
function refersToReply(
  store: Store,
  { shop, id }: ConversationRow,
  message: CreateMessageRequest['message'],
): boolean {
  return idsReferredTo(message).some((known) => store.messages.isReply(shop, known, id));
}

/**
 * Whether an email refers to a reply that went to its sender. An id that others get to know lifts the
 * limit for this address alone.
 */
function repliesToUs(
  store: Store,
  shop: string,
  message: CreateMessageRequest['message'],
  sender: string | null,
): boolean {
  return idsReferredTo(message).some((id) => {
    const reply = store.messages.reply(shop, id);
    const recipient = reply && recipientOf(store, reply);
    return recipient !== undefined && normalAddress(recipient) === normalAddress(sender ?? '');
  });
}

/** In-Reply-To, then References from last to first, with and without angle brackets, without duplicates. */
function idsReferredTo({ email }: CreateMessageRequest['message']): string[] {
  const references = (email?.references ?? []).flatMap((text) => {
    const ids = messageIdsIn(text);
    return ids.length > 1 ? ids : [text];
  });
  const latestFirst = references.slice(-LIMITS.referencesMax).reverse();
  return [...new Set([email?.in_reply_to ?? '', ...latestFirst].flatMap(bracketForms))];
}

/** Clients differ in whether they send a message-id with angle brackets. */
function bracketForms(text: string): string[] {
  const id = text.trim();
  if (id === '') return [];
  return [id, /^<.*>$/.test(id) ? id.slice(1, -1) : `<${id}>`];
}
