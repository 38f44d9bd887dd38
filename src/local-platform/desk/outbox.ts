import { randomUUID } from 'node:crypto';
import { DeskRefused, type DeskStep } from '../../domain/desk.ts';
import type { OtherChannel, OutboxReply, ReplyAction } from '../../domain/outbox.ts';
import { nextMessageId, remoteIdOf } from '../outbound/address-reply.ts';
import { type FindTextRoute, isOptedOut } from '../outbound/text-route.ts';
import { excerptOf, withoutMarkup } from '../plain-text.ts';
import { type ConversationRow, type MessageRow, personOf } from '../store/rows.ts';
import {
  type CustomersPlace,
  type OtherChannelParts,
  otherChannelsOf,
  wayBy,
} from './other-channels.ts';
import { OPTED_OUT } from './new-message.ts';
import { customerOf } from './shown.ts';

interface OutboxParts extends OtherChannelParts {
  readonly now: () => number;
  readonly findTextRoute: FindTextRoute | undefined;
  /** Called once a reply is to be sent. */
  readonly onReply: (conversationId: string) => void;
  /** Called after each change of a conversation's ticket. */
  readonly onChanged: (conversationId: string) => void;
}

/** A reply with what it belongs to. */
interface FoundReply extends CustomersPlace {
  readonly reply: MessageRow;
}

/** The replies that have not arrived, and what people do about them. */
export class Outbox {
  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** The number of failures that nobody has dealt with. */
  countFailed(shopId: string): number {
    return this.#parts.store.fates.countOpen(shopId.toLowerCase());
  }

  /** Failures that nobody has dealt with, the latest first. */
  failed(shopId: string, limit: number): OutboxReply[] {
    const { store } = this.#parts;
    const shop = shopId.toLowerCase();
    return store.fates.open(shop, limit).flatMap((row) => this.#shown(shop, row.message_id) ?? []);
  }

  /** Replies that are tried again, the next one first. */
  deferred(shopId: string, limit: number): OutboxReply[] {
    const { store } = this.#parts;
    const shop = shopId.toLowerCase();
    return store.outgoing.deferred(shop, limit).flatMap(({ message_id: id, ...row }) => {
      const shown = this.#shown(shop, id);
      return shown === undefined ? [] : { ...shown, nextAt: row.next_at, attempts: row.attempts };
    });
  }

  /**
   * Sends a reply that failed again, by the same channel. Of a reply in several parts, those before
   * the one that failed are not sent again.
   * @throws {DeskRefused}
   */
  async sendAgain(action: ReplyAction): Promise<void> {
    const { store, now, onReply } = this.#parts;
    await this.#assertNotOptedOut(this.#place(action)?.conversation);
    const { conversation } = await this.#change(action, 'sent_again', ({ reply, conversation }) => {
      const parts = store.fates.parts(reply.id);
      const lost = parts.findIndex(({ state }) => state === 'failed');
      const arrived = lost < 0 ? parts.length : lost;
      store.fates.dropParts(reply.id, arrived);
      const at = new Date(now()).toISOString();
      store.messages.settle({ id: reply.id, status: 'PENDING', now: at });
      if (conversation.type === 'email' && reply.remote_id !== null)
        store.messages.renameReply({ id: reply.id, remoteId: nextMessageId(reply.remote_id) });
      store.outgoing.addAgain(reply, now(), arrived);
      store.fates.set(reply, { state: 'queued' }, now());
    });
    onReply(conversation.id);
  }

  /** Sends the text of a reply that failed by another channel. @throws {DeskRefused} */
  async sendBy(channel: OtherChannel, action: ReplyAction): Promise<void> {
    const { store, onReply, onChanged } = this.#parts;
    const contactId = this.#place(action)?.contactId ?? null;
    if (channel === 'sms' && contactId !== null) {
      const shop = action.shopId.toLowerCase();
      await this.#assertNotOptedOut(store.conversations.lastOf(contactId, shop, 'sms'));
    }
    let sent: MessageRow | undefined;
    await this.#change(action, `sent_by_${channel}`, (found, userId, now) => {
      sent = this.#sendElsewhere(channel, found, userId, now);
      this.#close(found.reply);
    });
    if (sent === undefined) return;
    onReply(sent.conversation_id);
    onChanged(sent.conversation_id);
  }

  /** The sender asks again: this tells the person at once. @throws {DeskRefused} */
  async #assertNotOptedOut(conversation: ConversationRow | undefined): Promise<void> {
    const { store, findTextRoute } = this.#parts;
    if (conversation === undefined) return;
    if (await isOptedOut(store, conversation, findTextRoute)) throw new DeskRefused(...OPTED_OUT);
  }

  #place({ shopId, id }: ReplyAction): FoundReply | undefined {
    return this.#found(shopId.toLowerCase(), id.toLowerCase());
  }

  /** Takes a failure from the list: somebody has reached the customer otherwise. @throws {DeskRefused} */
  async dismiss(action: ReplyAction): Promise<void> {
    await this.#change(action, undefined, ({ reply }) => this.#close(reply));
  }

  #close(reply: MessageRow): void {
    const { store, now } = this.#parts;
    const fate = store.fates.of(reply);
    store.fates.set(reply, { ...fate, isOpen: false }, fate.at ?? now());
  }

  /**
   * The customer's turn comes with a reply that is sent, unless the ticket is completed or they have
   * asked something else since.
   * @param step what the ticket's page says about it
   */
  async #change(
    { shopId, id, who }: ReplyAction,
    step: DeskStep['what'] | undefined,
    work: (found: FoundReply, userId: string, now: string) => void,
  ): Promise<FoundReply> {
    const { store, now, onChanged } = this.#parts;
    const found = await store.write(() => {
      const current = this.#place({ shopId, id, who });
      if (current === undefined) throw new DeskRefused('not_found', 'Reply not found');
      const { reply, ticket } = current;
      if (reply.status !== 'FAILED') {
        throw new DeskRefused('conflict', 'The reply has not failed, or is being sent again');
      }
      // Two people may have it before them; the customer gets it once more, not twice.
      if (store.fates.of(reply).isOpen !== true) {
        throw new DeskRefused('conflict', 'Somebody has dealt with the reply');
      }
      const at = new Date(now()).toISOString();
      const userId = store.desk.personId(who);
      work(current, userId, at);
      if (step === undefined) return current;
      store.desk.addStep({
        ...{ ticket_id: ticket.id, user_id: userId, what: step, at, assignee_id: null },
      });
      if (ticket.status !== 'Completed' && !this.#isAskedSince(reply)) {
        store.desk.setTurn({ id: ticket.id, status: 'WaitingContact', now: at });
      }
      return current;
    });
    onChanged(found.conversation.id);
    return found;
  }

  /** Whether the customer has written after this reply, and no person has answered it. */
  #isAskedSince(reply: MessageRow): boolean {
    const { store } = this.#parts;
    const last = store.messages.lastOfCustomer(reply.conversation_id);
    return last !== undefined && last.seq > reply.seq && !store.desk.isAnswered(last);
  }

  /** @throws {DeskRefused} the customer cannot be reached so */
  #sendElsewhere(
    channel: OtherChannel,
    { reply, ...place }: FoundReply,
    userId: string,
    now: string,
  ): MessageRow {
    const { store } = this.#parts;
    const way = wayBy(channel, this.#parts, place, now);
    const files = store.media.ofMessage(reply.id).map((file) => file.id);
    if (files.length > 0 && channel !== 'email') {
      throw new DeskRefused('invalid', 'It has files: attach them to a reply of your own');
    }
    const question = store.messages.lastOfCustomer(way.conversation.id);
    const id = randomUUID();
    const isPlain = channel === 'sms' && reply.format === 'MARKDOWN';
    const stored = store.messages.create(
      {
        ...{ id, shop: reply.shop, conversationId: way.conversation.id, ticketId: way.ticket.id },
        ...{ contactId: place.contactId, agentId: null, userId, role: 'agent', status: 'PENDING' },
        content: isPlain ? withoutMarkup(reply.content) : reply.content,
        ...{ text: reply.text, format: isPlain ? 'TEXT' : reply.format },
        remoteId: remoteIdOf(id, way.conversation, question),
        ...{ email: null, createdAt: now, now, unanswered: false },
        ...{ inReplyTo: question?.id ?? null, sender: null, agentContact: null },
        person: personOf(way.conversation, { contact_id: place.contactId, remote_id: null }),
      },
      files,
    );
    // It does not answer what the customer has asked there, which is a person's from now on.
    const isAsked = question !== undefined && way.ticket.waits_since !== null;
    const turn = isAsked ? 'WaitingUser' : 'WaitingContact';
    store.tickets.recordMessage(way.ticket.id, turn, excerptOf(stored.text), now);
    store.conversations.setResolution({ id: way.conversation.id, resolution: 'human', now });
    store.desk.takeFromAgent(way.conversation.id);
    store.outgoing.add(stored, this.#parts.now());
    return stored;
  }

  #found(shop: string, id: string): FoundReply | undefined {
    const { store } = this.#parts;
    const reply = store.messages.byId(shop, id);
    if (reply?.role !== 'agent' || reply.type !== 'External') return undefined;
    const conversation = store.conversations.get(reply.conversation_id);
    const ticket = store.tickets.byId(shop, reply.ticket_id);
    const contactId = reply.contact_id ?? ticket?.contact_id ?? null;
    return conversation && ticket && { reply, ticket, conversation, contactId };
  }

  #shown(shop: string, id: string): OutboxReply | undefined {
    const { store } = this.#parts;
    const found = this.#found(shop, id);
    if (found === undefined) return undefined;
    const { reply, ticket, conversation } = found;
    return {
      ...{ id: reply.id, ticketId: ticket.id, number: ticket.number, name: ticket.name },
      channel: conversation.type,
      customer: customerOf(store, ticket),
      excerpt: excerptOf(reply.text),
      fate: store.fates.of(reply),
      otherChannels: otherChannelsOf(this.#parts, found),
    };
  }
}
