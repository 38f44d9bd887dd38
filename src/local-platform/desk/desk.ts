import {
  type CannedText,
  type ChangedTicket,
  type DeskFile,
  DeskRefused,
  ANSWER_LIMITS,
  type ReachedLimit,
  type DeskStep,
  type DeskTicket,
  type NewDeskMessage,
  type OverLimits,
  type TicketAsSeen,
  type WaitingCount,
  type WaitingTicket,
} from '../../domain/desk.ts';
import { languageOf } from '../agent/language.ts';
import type { KnowledgeFolder } from '../agent/knowledge-folder.ts';
import { senderOf } from '../outbound/address-reply.ts';
import { isTooLong } from '../outbound/sms.ts';
import { type FindTextRoute, isOptedOut } from '../outbound/text-route.ts';
import { excerptOf } from '../plain-text.ts';
import type { MediaFolder } from '../store/media.ts';
import { mainNetwork } from '../store/mail-sources.ts';
import { around, total } from '../store/message-table.ts';
import {
  type ContactRow,
  type ConversationRow,
  isWithPeople,
  type MessageRow,
  type TicketRow,
} from '../store/rows.ts';
import { DeskFiles, type UploadedFile } from './files.ts';
import { type Authoring, OPTED_OUT, storeMessage } from './new-message.ts';
import { type OtherChannelParts, otherChannelsOf } from './other-channels.ts';
import { changesSince, versionOf } from './ticket-version.ts';
import { shownMessage, shownStep, shownTicket } from './shown.ts';

const HOUR_MS = 3_600_000;
const MESSAGES_MAX = 100;
const STEPS_MAX = 200;
const TEXTS_MAX = 20;
/** Of a contact: somebody has one of the newest open. */
const TICKETS_MAX = 20;
const FIRST = Number.MAX_SAFE_INTEGER;

export interface DeskParts extends OtherChannelParts {
  readonly media: MediaFolder;
  readonly now: () => number;
  /** Whether an agent answers in the shop. */
  readonly agentListens: (shop: string) => boolean;
  /** Tells whether a number has opted out; undefined: none has. */
  readonly findTextRoute: FindTextRoute | undefined;
  /** The limit for one part of a text of a shop. */
  readonly textMaxChars: (shop: string, text: string) => number;
  /** The shop's own texts; undefined without a folder of them. */
  readonly texts: KnowledgeFolder | undefined;
  /** Whether customers can follow links to files of replies. */
  readonly canLink: () => boolean;
  /** Called after each change of a ticket. */
  readonly onChanged: ((ticket: ChangedTicket) => void) | undefined;
  /** Called once a reply is stored and can be sent. */
  readonly onReply: (conversationId: string) => void;
  /** Called when a person has a chat visitor's message before them. */
  readonly onSeen: ((message: SeenNotice) => void) | undefined;
  /** Called once the agent has a message to answer again. */
  readonly onHandedBack: (conversationId: string) => void;
}

/** A message of a chat visitor that a person has before them. */
export interface SeenNotice {
  readonly shop: string;
  /** The sender's own name for it. */
  readonly remoteId: string;
}

/** A change in progress, within a write. */
interface Changing extends Authoring {
  readonly addStep: (what: DeskStep['what'], assigneeId?: string) => void;
}

/**
 * The desk: people who answer what the agent cannot. The API has no operation for it.
 *
 * | whose turn | the ticket |
 * | --- | --- |
 * | a person has replied | WaitingContact |
 * | the customer has written to a conversation that people have | WaitingUser |
 * | a person has taken it | WaitingUser, if the customer waits |
 * | completed | Completed; the customer's next message reopens it as Open, for the agent |
 *
 * People have a conversation from its escalation, assignment or first reply by a person, until it is
 * completed or handed back; the agent is silent then (`isWithPeople`). A change is refused when the
 * ticket is no longer as the person saw it (`ticket-version.ts`), so that nobody answers or completes
 * what they have not read.
 */
export class Desk {
  readonly #parts: DeskParts;
  readonly #files: DeskFiles;

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#files = new DeskFiles(parts);
  }

  /** Called when a conversation has changed. */
  changed(conversationId: string): void {
    const { store, onChanged } = this.#parts;
    const ticket = onChanged && store.tickets.byConversation(conversationId);
    if (ticket !== undefined) onChanged?.({ shopId: ticket.shop, id: ticket.id });
  }

  /** Called when a contact has an event: an opt-out by SMS is one, and no message. */
  hasEvent({ id: contactId, shop }: ContactRow): void {
    const { store, onChanged } = this.#parts;
    for (const { id } of store.tickets.byContact(contactId, shop, TICKETS_MAX)) {
      onChanged?.({ shopId: shop, id });
    }
  }

  /**
   * Called when shops are served. Where an agent begins, what waits for people goes on waiting for
   * them: the agent has never been given it, and answers in other conversations.
   */
  served(shops: Iterable<string>): void {
    const { store, agentListens } = this.#parts;
    const now = new Date(this.#parts.now()).toISOString();
    for (const shop of shops) {
      const hasAgent = agentListens(shop);
      // First, so that it is made up for after a crash.
      if (hasAgent && store.shops.isOnlyPeople(shop)) store.desk.leaveToPeople({ shop, now });
      store.shops.setOnlyPeople(shop, !hasAgent);
    }
  }

  count(shopId: string): WaitingCount {
    const shop = shopId.toLowerCase();
    const counts = this.#waitingStatuses(shop).map((status) =>
      this.#parts.store.desk.countWaiting(shop, status),
    );
    const since = counts.flatMap((each) => each.since ?? []).sort()[0];
    const overLimits = this.#overLimits(shop);
    return {
      waiting: total(counts),
      ...(since !== undefined && { oldestAt: Date.parse(since) }),
      ...(overLimits && { overLimits }),
    };
  }

  /** The tickets that wait for a person, the longest waiting first. */
  queue(shopId: string, limit: number): WaitingTicket[] {
    const shop = shopId.toLowerCase();
    const { store } = this.#parts;
    return this.#waitingStatuses(shop)
      .flatMap((status) => store.desk.waiting(shop, status, limit))
      .map((row) => ({
        ...shownTicket(store, row),
        waitingSince: Date.parse(row.waits_since ?? ''),
      }))
      .sort((a, b) => a.waitingSince - b.waitingSince)
      .slice(0, limit);
  }

  has(shopId: string, id: string): boolean {
    return this.#parts.store.tickets.byId(shopId.toLowerCase(), id) !== undefined;
  }

  /**
   * A ticket with its newest messages, or with those before a message.
   * @throws {DeskRefused} there is no such ticket or message
   */
  ticket(shopId: string, id: string, before?: string): DeskTicket {
    const { store } = this.#parts;
    const { ticket, conversation } = this.#found(shopId.toLowerCase(), id);
    const seq = before === undefined ? FIRST : this.#messageOf(ticket, before).seq;
    const { messages, hasEarlier } = store.desk.messagesBefore(conversation.id, seq, MESSAGES_MAX);
    const last = store.messages.lastOfCustomer(conversation.id);
    const replyTo = last && senderOf(store, conversation, last);
    const { waits_since: since, completed_at: completedAt } = ticket;
    return {
      ...shownTicket(store, ticket),
      version: versionOf(store, ticket),
      conversationId: conversation.id,
      ...(ticket.contact_id !== null && { contactId: ticket.contact_id }),
      ...(replyTo !== undefined && { replyTo }),
      ...(since !== null && { waitingSince: Date.parse(since) }),
      ...(completedAt !== null && { completedAt: Date.parse(completedAt) }),
      agent: this.#agentIn(ticket, conversation),
      ...(last && since !== null && this.#limitReached(last)),
      messages: messages.map((row) => shownMessage(store, row)),
      otherChannels: otherChannelsOf(this.#parts, {
        ...{ ticket, conversation, contactId: last?.contact_id ?? ticket.contact_id },
      }),
      hasEarlier,
      steps: store.desk.lastSteps(ticket.id, STEPS_MAX).map((row) => shownStep(store, row)),
    };
  }

  /**
   * A person has the conversation before them, up to this message of the customer. Only the visitor
   * of a chat is told.
   * @throws {DeskRefused} there is no such ticket, or no such message of its customer
   */
  seen(shopId: string, id: string, messageId: string): void {
    const { ticket, conversation } = this.#found(shopId.toLowerCase(), id);
    const { shop, role, remote_id: remoteId } = this.#messageOf(ticket, messageId);
    if (role !== 'customer') throw new DeskRefused('not_found', 'Message not found');
    if (conversation.type !== 'web_chat' || remoteId === null) return;
    this.#parts.onSeen?.({ shop, remoteId });
  }

  /** Whether nothing may be sent to the number of a ticket until it texts START. @throws {DeskRefused} */
  isOptedOut(shopId: string, id: string): Promise<boolean> {
    const { store, findTextRoute } = this.#parts;
    const { conversation } = this.#found(shopId.toLowerCase(), id);
    return isOptedOut(store, conversation, findTextRoute);
  }

  /** Sends a reply to the customer, by the channel of their last message. @throws {DeskRefused} */
  async reply(seen: TicketAsSeen, message: NewDeskMessage): Promise<void> {
    const { store, now, canLink, onReply } = this.#parts;
    if (await this.isOptedOut(seen.shopId, seen.id)) {
      throw new DeskRefused(...OPTED_OUT);
    }
    const reply = await this.#change(seen, (changing) => {
      const { ticket, conversation } = changing;
      const stored = storeMessage(store, changing, message, {
        ...{ isInternal: false, canLink: canLink() },
      });
      if (conversation.type === 'sms' && this.#isTooLong(stored)) {
        throw new DeskRefused('invalid', 'The text is too long for SMS: it would be cut off');
      }
      const at = { id: conversation.id, now: changing.now };
      store.tickets.recordMessage(
        ticket.id,
        'WaitingContact',
        excerptOf(stored.text),
        changing.now,
      );
      store.conversations.setStatus({ ...at, status: 'pending' });
      store.conversations.setResolution({ ...at, resolution: 'human' });
      store.desk.takeFromAgent(conversation.id);
      store.outgoing.add(stored, now());
      return stored;
    });
    onReply(reply.conversation_id);
  }

  /** Adds a note that only people see. @throws {DeskRefused} */
  async note(seen: TicketAsSeen, message: NewDeskMessage): Promise<void> {
    const { store } = this.#parts;
    await this.#change(
      seen,
      (changing) =>
        void storeMessage(store, changing, message, {
          ...{ isInternal: true, canLink: false },
        }),
    );
  }

  /** @param to a person's name; null: nobody has it any more @throws {DeskRefused} */
  async assign(seen: TicketAsSeen, to: string | null): Promise<void> {
    const { store } = this.#parts;
    await this.#change(seen, ({ ticket, conversation, addStep, now }) => {
      if (ticket.status === 'Completed') {
        throw new DeskRefused('conflict', 'The ticket is completed: reopen it first');
      }
      const assigneeId = to === null ? null : store.desk.personId(to);
      store.desk.assign({ id: ticket.id, assigneeId });
      addStep(assigneeId === null ? 'unassigned' : 'assigned', assigneeId ?? undefined);
      if (assigneeId === null) return;
      this.#take(conversation, now);
      if (ticket.status === 'New' || ticket.status === 'Open') {
        store.desk.setTurn({ id: ticket.id, status: 'WaitingUser', now });
      }
    });
  }

  /** @throws {DeskRefused} */
  async complete(seen: TicketAsSeen): Promise<void> {
    const { store } = this.#parts;
    await this.#change(seen, ({ ticket, conversation, addStep, now }) => {
      if (ticket.status === 'Completed') {
        throw new DeskRefused('conflict', 'The ticket is completed already');
      }
      store.desk.setTurn({ id: ticket.id, status: 'Completed', now });
      // The customer's next message clears it, and the agent answers again.
      store.conversations.setResolution({ id: conversation.id, resolution: 'hard', now });
      store.desk.takeFromAgent(conversation.id);
      addStep('completed');
    });
  }

  /** @throws {DeskRefused} */
  async reopen(seen: TicketAsSeen): Promise<void> {
    const { store } = this.#parts;
    await this.#change(seen, ({ ticket, conversation, addStep, now }) => {
      if (ticket.status !== 'Completed') {
        throw new DeskRefused('conflict', 'The ticket is not completed');
      }
      store.desk.setTurn({ id: ticket.id, status: 'WaitingUser', now });
      this.#take(conversation, now);
      addStep('reopened');
    });
  }

  /**
   * The agent answers again, at once if the customer waits, also what a limit has left to people.
   * @throws {DeskRefused}
   */
  async handBack(seen: TicketAsSeen): Promise<void> {
    const { store, agentListens, onHandedBack } = this.#parts;
    const conversationId = await this.#change(seen, ({ ticket, conversation, addStep, now }) => {
      if (!agentListens(ticket.shop)) {
        throw new DeskRefused('conflict', 'The shop has no agent');
      }
      if (ticket.status === 'Completed') {
        throw new DeskRefused('conflict', 'The ticket is completed: reopen it first');
      }
      const last = store.messages.lastOfCustomer(conversation.id);
      // A reopened ticket waits for people, who may have answered what the customer wrote.
      const waits =
        ticket.waits_since !== null && last !== undefined && !store.desk.isAnswered(last);
      if (waits) store.desk.giveToAgent(last.id);
      store.desk.assign({ id: ticket.id, assigneeId: null });
      store.desk.setTurn({ id: ticket.id, status: waits ? 'Open' : 'WaitingContact', now });
      store.conversations.setResolution({ id: conversation.id, resolution: null, now });
      addStep('handed_back');
      return conversation.id;
    });
    onHandedBack(conversationId);
  }

  /** Stores a file for a message. @throws {DeskRefused} it is too large, or there are too many */
  upload(shopId: string, file: UploadedFile): Promise<DeskFile> {
    return this.#files.upload(shopId, file);
  }

  file(shopId: string, id: string): ReturnType<DeskFiles['file']> {
    return this.#files.file(shopId, id);
  }

  removeUnsentFiles(): Promise<void> {
    return this.#files.removeUnsent();
  }

  /** The shop's texts that match words, best first; without words, the first ones. */
  async texts(words: string): Promise<CannedText[]> {
    const knowledge = await this.#parts.texts?.current();
    if (knowledge === undefined) return [];
    const found =
      words.trim() === ''
        ? knowledge.sections
        : knowledge.search(words, languageOf(words), TEXTS_MAX).map(({ section }) => section);
    return found.slice(0, TEXTS_MAX).map(({ title, heading, text }) => ({ title, heading, text }));
  }

  #waitingStatuses(shop: string): readonly string[] {
    return this.#parts.agentListens(shop) ? ['WaitingUser'] : ['WaitingUser', 'New', 'Open'];
  }

  #agentIn(ticket: TicketRow, conversation: ConversationRow): DeskTicket['agent'] {
    if (!this.#parts.agentListens(ticket.shop)) return 'off';
    return isWithPeople(conversation) ? 'silent' : 'answers';
  }

  #overLimits(shop: string): OverLimits | undefined {
    const { store, now } = this.#parts;
    const left = (limit: ReachedLimit) =>
      store.messages.leftAtLimit({ shop, limit, ...around(now(), HOUR_MS) });
    const ofStrangers = left('unverified');
    const unverified = total(ofStrangers);
    const shopBudget = total([...left('shop_budget'), ...left('domain_budget')]);
    const network = mainNetwork(ofStrangers);
    return unverified + shopBudget > 0
      ? { unverified, shopBudget, ...(network !== undefined && { network }) }
      : undefined;
  }

  #limitReached(last: MessageRow): Pick<DeskTicket, 'limitReached'> {
    const limitReached = ANSWER_LIMITS.find((limit) => limit === last.limit_reached);
    const isOpen = limitReached !== undefined && !this.#parts.store.desk.isAnswered(last);
    return isOpen && this.#parts.agentListens(last.shop) ? { limitReached } : {};
  }

  #found(shop: string, id: string) {
    const { store } = this.#parts;
    const ticket = store.tickets.byId(shop, id.toLowerCase());
    const conversation = ticket && store.conversations.get(ticket.conversation_id ?? '');
    if (ticket === undefined || conversation === undefined) {
      throw new DeskRefused('not_found', 'Ticket not found');
    }
    return { ticket, conversation };
  }

  #messageOf({ shop, conversation_id: id }: TicketRow, messageId: string): MessageRow {
    const row = this.#parts.store.messages.byId(shop, messageId.toLowerCase());
    if (row?.conversation_id === id) return row;
    throw new DeskRefused('not_found', 'Message not found');
  }

  /** @throws {DeskRefused} the ticket is not as the person saw it, or does not allow the change */
  async #change<T>(
    { shopId, id, version, who }: TicketAsSeen,
    work: (changing: Changing) => T,
  ): Promise<T> {
    const { store } = this.#parts;
    const shop = shopId.toLowerCase();
    const { conversation } = this.#found(shop, id);
    const result = await store.write(() => {
      // Read within the write, so that nothing can come in between.
      const { ticket, conversation: current } = this.#found(shop, id);
      const changes = changesSince(store, ticket, version);
      if (changes.length > 0) {
        throw new DeskRefused('conflict', 'The ticket has changed since you read it', changes);
      }
      const userId = store.desk.personId(who);
      const now = new Date(this.#parts.now()).toISOString();
      return work({
        ...{ ticket, conversation: current, userId, now },
        addStep: (what, assigneeId) =>
          void store.desk.addStep({
            ...{ ticket_id: ticket.id, user_id: userId, what, at: now },
            assignee_id: assigneeId ?? null,
          }),
      });
    });
    this.changed(conversation.id);
    return result;
  }

  #isTooLong({ shop, content }: MessageRow): boolean {
    return isTooLong(content, this.#parts.textMaxChars(shop, content));
  }

  /** From now on, people have the conversation. */
  #take({ id }: ConversationRow, now: string): void {
    const { store } = this.#parts;
    store.conversations.setResolution({ id, resolution: 'human', now });
    store.desk.takeFromAgent(id);
  }
}
