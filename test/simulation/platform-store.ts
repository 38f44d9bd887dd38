import type { EventPayload, MediaForm, MessagePayload } from './platform-validation.ts';
import type { PlatformTraits } from './platform-traits.ts';
import type { Random } from './random.ts';

/** A message as reads return it: a customer's, or an agent's reply. */
export interface ReadableMessage {
  readonly id: string;
  /** Its index among all messages of the shop. */
  readonly seq: number;
  readonly at: number;
  readonly remoteId: string | null;
  readonly conversationId: string;
  readonly ticketId: string;
  readonly contactId: string;
  /** The agent that replied. */
  readonly agentId: string | null;
  readonly role: 'contact' | 'agent';
  readonly content: string;
  readonly format: string;
}

/** A customer's message that Create message stored. */
export interface StoredMessage extends ReadableMessage {
  readonly contact: MessagePayload['contact'];
  readonly attachments: readonly string[];
  /** The whole body of the request. */
  readonly payload: MessagePayload;
}

export interface StoredConversation {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly contactId: string;
  readonly agentContact: string | null;
  /** Oldest first, with the agent's replies. */
  readonly messages: readonly ReadableMessage[];
  readonly ticketId: string;
}

export interface StoredContact {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly email: string | null;
  readonly phone: string | null;
  readonly name: string | null;
  readonly remoteId: string | null;
}

export interface StoredMedia {
  readonly id: string;
  readonly at: number;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly permission: 'private' | 'public';
}

export interface StoredEvent {
  readonly at: number;
  readonly contactId: string | null;
  readonly payload: EventPayload;
}

interface Person {
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly name?: string;
  readonly remote_id?: string;
}

interface OpenConversation extends StoredConversation {
  readonly messages: ReadableMessage[];
}

const CONTENT_DEDUP_MS = 5 * 60_000;

/** Everything that the platform stores for one shop, separate from other shops. */
export class ShopStore {
  readonly messages: StoredMessage[] = [];
  /** The customers' messages and the agent's replies, oldest first. */
  readonly readable: ReadableMessage[] = [];
  readonly conversations: StoredConversation[] = [];
  readonly contacts: StoredContact[] = [];
  readonly uploads: StoredMedia[] = [];
  readonly events: StoredEvent[] = [];

  readonly #traits: PlatformTraits;
  readonly #ids: Random;
  readonly #agentId: string;
  readonly #messageById = new Map<string, ReadableMessage>();
  readonly #conversationById = new Map<string, OpenConversation>();
  readonly #contactById = new Map<string, StoredContact>();
  readonly #contactByAddress = new Map<string, string>();
  readonly #mediaById = new Map<string, StoredMedia>();
  /** Message-IDs of a conversation's emails and of the emails that they refer to. */
  readonly #threads = new Map<string, OpenConversation>();
  readonly #byDedupKey = new Map<string, StoredMessage>();
  #otherMessage: ReadableMessage | undefined;

  constructor(traits: PlatformTraits, ids: Random) {
    this.#traits = traits;
    this.#ids = ids;
    this.#agentId = ids.uuid();
  }

  message(id: string): ReadableMessage | undefined {
    return this.#messageById.get(id);
  }

  conversation(id: string): StoredConversation | undefined {
    return this.#conversationById.get(id);
  }

  contact(id: string): StoredContact | undefined {
    return this.#contactById.get(id);
  }

  /** Whether a file can be attached: it was uploaded, and not too long ago. */
  hasMedia(id: string, at: number): boolean {
    const media = this.#mediaById.get(id);
    return media !== undefined && at - media.at < (this.#traits.mediaLifetimeMs ?? Infinity);
  }

  /** The stored message that this one repeats, by the dedup trait (§4.7 rule 5). */
  duplicateOf(payload: MessagePayload, at: number): StoredMessage | undefined {
    const key = this.#dedupKey(payload, this.#joined(payload));
    const earlier = key === undefined ? undefined : this.#byDedupKey.get(key);
    if (earlier === undefined || this.#traits.dedup !== 'content') return earlier;
    return at - earlier.at <= CONTENT_DEDUP_MS ? earlier : undefined;
  }

  /** Stores a valid message in the conversation it names or threads into, or a new one (§4.7). */
  addMessage(payload: MessagePayload, at: number): StoredMessage {
    const { contact, message } = payload;
    const joined = this.#joined(payload);
    const person = addressesOf(contact).length > 0 ? this.#resolveContact(contact, at) : undefined;
    const conversation =
      joined ?? this.#newConversation(payload, person ?? this.#resolveContact(contact, at), at);
    const stored: StoredMessage = {
      id: this.#ids.uuid(),
      seq: this.readable.length,
      at,
      remoteId: message.remote_id ?? null,
      conversationId: conversation.id,
      ticketId: conversation.ticketId,
      contactId: person?.id ?? conversation.contactId,
      agentId: null,
      role: 'contact',
      content: message.content,
      format: message.format ?? 'TEXT',
      contact,
      attachments: message.attachments ?? [],
      payload,
    };
    // A repetition may name the conversation that the first message created.
    for (const place of [joined, conversation]) {
      const key = this.#dedupKey(payload, place);
      if (key !== undefined) this.#byDedupKey.set(key, stored);
    }
    this.messages.push(stored);
    this.#keep(stored, conversation);
    this.#thread(payload, conversation);
    if (this.#traits.agentReplies) this.#reply(stored, conversation);
    return stored;
  }

  /** Another sender's message: single reads return it, but it is in no list. */
  otherMessage(at: number): ReadableMessage {
    if (this.#otherMessage !== undefined) return this.#otherMessage;
    const day = 24 * 3_600_000;
    const contactId = this.#ids.uuid();
    const conversation: OpenConversation = {
      id: this.#ids.uuid(),
      seq: -1,
      at: at - day,
      type: 'web_chat',
      contactId,
      agentContact: null,
      messages: [],
      ticketId: this.#ids.uuid(),
    };
    const other: ReadableMessage = {
      id: this.#ids.uuid(),
      seq: -1,
      at: at - day,
      remoteId: `other-${this.#ids.uuid()}`,
      conversationId: conversation.id,
      ticketId: conversation.ticketId,
      contactId,
      agentId: null,
      role: 'contact',
      content: 'What somebody else asked the day before',
      format: 'TEXT',
    };
    conversation.messages.push(other);
    this.#conversationById.set(conversation.id, conversation);
    this.#messageById.set(other.id, other);
    return (this.#otherMessage = other);
  }

  addMedia(form: MediaForm, at: number): StoredMedia {
    const { file, permission = 'public' } = form;
    const { name, type, size } = file;
    const media: StoredMedia = { id: this.#ids.uuid(), at, name, type, size, permission };
    this.uploads.push(media);
    this.#mediaById.set(media.id, media);
    return media;
  }

  /** Records an event, on the timeline of a contact when one is given (§4.1). */
  addEvent(payload: EventPayload, at: number): StoredContact | undefined {
    const contact = payload.contact && this.#resolveContact(payload.contact, at);
    this.events.push({ at, contactId: contact?.id ?? null, payload });
    return contact;
  }

  /** The existing conversation of a message: the one that it names, or its email thread. */
  #joined({ conversation, message }: MessagePayload): OpenConversation | undefined {
    const id = conversation.id ?? null;
    if (id !== null) return this.#conversationById.get(id.toLowerCase());
    if (conversation.type !== 'email' || message.email === undefined) return undefined;
    // The nearest ancestor decides: In-Reply-To, then References from its end (RFC 5322 §3.6.4).
    const { in_reply_to: parent, references = [] } = message.email;
    const ancestors = [...references, parent ?? ''].reverse();
    for (const ancestor of ancestors) {
      const known = this.#threads.get(bareMessageId(ancestor));
      if (known !== undefined) return known;
    }
    return undefined;
  }

  #thread({ message }: MessagePayload, conversation: OpenConversation): void {
    if (conversation.type !== 'email') return;
    const { in_reply_to: parent, references = [] } = message.email ?? {};
    for (const id of [message.remote_id, parent, ...references]) {
      const bare = bareMessageId(id ?? '');
      if (bare !== '' && !this.#threads.has(bare)) this.#threads.set(bare, conversation);
    }
  }

  #dedupKey(payload: MessagePayload, joined: StoredConversation | undefined): string | undefined {
    switch (this.#traits.dedup) {
      case 'none':
        return undefined;
      case 'remote_id':
        return payload.message.remote_id ?? undefined;
      case 'content': {
        const contactId = this.#knownContact(payload.contact)?.id ?? joined?.contactId;
        // Two visitors without an address are different people.
        if (contactId === undefined) return undefined;
        return `${contactId}\n${joined?.id ?? 'new'}\n${payload.message.content}`;
      }
    }
  }

  #newConversation(payload: MessagePayload, contact: StoredContact, at: number): OpenConversation {
    const conversation: OpenConversation = {
      id: this.#ids.uuid(),
      seq: this.conversations.length,
      at,
      type: payload.conversation.type ?? 'web_chat',
      contactId: contact.id,
      agentContact: payload.conversation.agent_contact ?? null,
      messages: [],
      ticketId: this.#ids.uuid(),
    };
    this.conversations.push(conversation);
    this.#conversationById.set(conversation.id, conversation);
    return conversation;
  }

  #keep(message: ReadableMessage, conversation: OpenConversation): void {
    this.readable.push(message);
    conversation.messages.push(message);
    this.#messageById.set(message.id, message);
  }

  #reply(message: StoredMessage, conversation: OpenConversation): void {
    const reply: ReadableMessage = {
      id: this.#ids.uuid(),
      seq: this.readable.length,
      at: message.at,
      remoteId: null,
      conversationId: conversation.id,
      ticketId: conversation.ticketId,
      contactId: message.contactId,
      agentId: this.#agentId,
      role: 'agent',
      content: `Thank you for writing: ${message.content}`,
      format: 'TEXT',
    };
    this.#keep(reply, conversation);
  }

  #knownContact(person: Person): StoredContact | undefined {
    for (const address of addressesOf(person)) {
      const id = this.#contactByAddress.get(address);
      if (id !== undefined) return this.#contactById.get(id);
    }
    return undefined;
  }

  /** The contact with this email address or else this phone number; a new one if there is none. */
  #resolveContact(person: Person, at: number): StoredContact {
    const known = this.#knownContact(person);
    const contact: StoredContact = {
      id: known?.id ?? this.#ids.uuid(),
      seq: known?.seq ?? this.contacts.length,
      at: known?.at ?? at,
      email: known?.email ?? person.email ?? null,
      phone: known?.phone ?? person.phone ?? null,
      name: known?.name ?? person.name ?? null,
      remoteId: known?.remoteId ?? person.remote_id ?? null,
    };
    this.contacts[contact.seq] = contact;
    this.#contactById.set(contact.id, contact);
    for (const address of addressesOf(person)) {
      if (!this.#contactByAddress.has(address)) this.#contactByAddress.set(address, contact.id);
    }
    return contact;
  }
}

/** The identifiers of a person, the most reliable first. */
function addressesOf({ email, phone, remote_id: remoteId }: Person): readonly string[] {
  const addresses: string[] = [];
  if ((email ?? '') !== '') addresses.push(`email ${(email ?? '').toLowerCase()}`);
  if ((phone ?? '') !== '') addresses.push(`phone ${phone ?? ''}`);
  if ((remoteId ?? '') !== '') addresses.push(`remote ${remoteId ?? ''}`);
  return addresses;
}

const bareMessageId = (id: string): string => id.trim().replace(/^<(.*)>$/, '$1');
