import { hash } from 'node:crypto';
import type { Logger } from '../../../observability/logger.ts';
import type { Message } from '../../../platform-api/resources.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ChatStore, StoredReply, WatchedConversation } from '../../../spool/chat-store.ts';
import { REMOTE_ID_PREFIX } from '../stored.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { ShopId, VisitorId } from '../../../domain/ids.ts';
import { batchesOf } from './schedule.ts';
import { ConversationLists, type ReadOptions, type Listed } from './conversation-lists.ts';
import { PageTooLarge, type ReaderParts } from './message-reader.ts';
import { createdAt, inOrder, isReply, isUnsigned, shownText, timeOf } from './platform-message.ts';

export interface ShopRepliesParts extends ReaderParts {
  readonly chatStore: ChatStore;
  readonly spool: Pick<Spool, 'ownPlatformMessages'>;
  /** Called for each new line and each new text of one, in order: `ChatServer.publish`. */
  readonly onReply: (shopId: ShopId, reply: StoredReply) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a message without an author waits for delivery to identify it as the visitor's. */
  readonly unsignedWaitMs: number;
  /** How long the text of a PENDING reply must have been the same before it is shown. */
  readonly pendingWaitMs: number;
}

/** The number of a visitor's newest conversations that are read; more when the visitor returns. */
const WATCHED = { usual: 3, thorough: 20 };

/**
 * The maximum number of visitors per turn whose conversations are read alone, since others wait for
 * them.
 */
const MAX_READ_ALONE = 3;
/** After this many failed lists in a row, the platform counts as down. */
const FAILURES_IN_A_ROW = 2;

/** The outcome of a turn. Visitors in none of these sets were read to the end. */
export interface Collected {
  /** Visitors with more to read soon. */
  readonly unfinished: ReadonlySet<VisitorId>;
  readonly failed: ReadonlySet<VisitorId>;
  /** Visitors of this turn who had to be left for the next one. */
  readonly left: ReadonlySet<VisitorId>;
  /** The first failure; absent without one. */
  readonly error?: unknown;
}

/** The decisions about the messages of one conversation, kept while its visitor is present. */
interface Decided {
  /** In the journal, with a hash of the text there; undefined: known not to belong there. */
  readonly settled: Map<string, string | undefined>;
  /** Read but not a reply in its current form; checked again whenever it is listed. */
  readonly read: Set<string>;
  readonly unsignedSince: Map<string, number>;
  /** PENDING replies, with a hash of the text and when it was first read. */
  readonly pending: Map<string, { readonly text: string | undefined; readonly since: number }>;
}

/** Stores the replies of one shop in the journals of its visitors. */
export class ShopReplies {
  readonly #shopId: ShopId;
  readonly #parts: ShopRepliesParts;
  readonly #decided = new Map<VisitorId, Map<string, Decided>>();
  readonly #lists: ConversationLists;

  constructor(shopId: ShopId, parts: ShopRepliesParts) {
    this.#shopId = shopId;
    this.#parts = parts;
    this.#lists = new ConversationLists(shopId, parts);
  }

  /** Decisions for a visitor who has left are dropped; the journal has the replies. */
  forget(visitorId: VisitorId): void {
    this.#decided.delete(visitorId);
    this.#lists.forget(visitorId);
  }

  /**
   * Reads these visitors' conversations and stores new replies. A visitor who cannot be read does
   * not delay the others; if two lists fail in a row, no more are requested.
   * @param visitors the longest due come first
   * @throws {unknown} the error, if nobody could be read
   */
  async collect(
    visitors: readonly VisitorId[],
    how: Omit<ReadOptions, 'isKnown'>,
    signal: AbortSignal,
  ): Promise<Collected> {
    const all = await this.#parts.chatStore.conversationsOf(this.#shopId, visitors);
    const perVisitor = how.depth === 'end' ? WATCHED.thorough : WATCHED.usual;
    const place = new Map(visitors.map((visitorId, index) => [visitorId, index]));
    const watched = newest(all, perVisitor, (each) => this.#lists.isUnfinished(each))
      .filter((each) => !this.#lists.isPaused(each))
      .sort((one, other) => (place.get(one.visitorId) ?? 0) - (place.get(other.visitorId) ?? 0));
    const visitorOf = new Map(
      watched.map(({ conversationId, visitorId }) => [conversationId, visitorId]),
    );
    const isKnown = (message: Message): boolean => this.#isKnown(message, visitorOf);
    const outcome = { unfinished: new Set<VisitorId>(), failed: new Set<VisitorId>() };
    const left = new Set<VisitorId>();
    let failure: { readonly error: unknown } | undefined;
    let [isAnyRead, failuresInARow, alone] = [false, 0, 0];
    for (const batch of batchesOf(watched, (each) => this.#lists.isReadAlone(each))) {
      const own = [...batch.together, ...batch.alone].map(({ visitorId }) => visitorId);
      if (
        failuresInARow >= FAILURES_IN_A_ROW ||
        (batch.alone.length > 0 && alone >= MAX_READ_ALONE)
      ) {
        for (const visitorId of own) left.add(visitorId);
        continue;
      }
      alone += batch.alone.length;
      try {
        const listed = await this.#lists.read(batch, { ...how, isKnown }, signal);
        const stored = await this.#store(listed, visitorOf);
        listed.taken(stored.held);
        for (const id of stored.behind) outcome.unfinished.add(id);
        [isAnyRead, failuresInARow] = [true, 0];
      } catch (error) {
        if (signal.aborted) throw error;
        failure ??= { error };
        for (const visitorId of own) outcome.failed.add(visitorId);
        // The platform responded, so the problem is limited to this conversation.
        if (error instanceof PageTooLarge) isAnyRead = true;
        else failuresInARow += 1;
      }
    }
    if (failure !== undefined && !isAnyRead) throw failure.error;
    for (const each of watched) {
      if (this.#lists.isUnfinished(each) && !this.#lists.isPaused(each)) {
        outcome.unfinished.add(each.visitorId);
      }
    }
    return { ...outcome, left, ...(failure !== undefined && { error: failure.error }) };
  }

  #isKnown(message: Message, visitorOf: ReadonlyMap<string, VisitorId>): boolean {
    const decided = this.#decidedOf(message, visitorOf);
    if (decided === undefined) return true;
    return decided.settled.has(message.id) || decided.read.has(message.id);
  }

  /** If a message has to wait, it and the visitor's later messages are left for a later read. */
  async #store(
    { messages, readTo }: Pick<Listed, 'messages' | 'readTo'>,
    visitorOf: ReadonlyMap<string, VisitorId>,
  ): Promise<{ readonly held: ReadonlySet<string>; readonly behind: ReadonlySet<VisitorId> }> {
    const waiting = new Set<VisitorId>();
    const behind = new Set<VisitorId>();
    const held = new Set<string>();
    const outcome = { held, behind };
    const open = messages.filter((message) => {
      const decided = this.#decidedOf(message, visitorOf);
      if (decided === undefined) return false;
      if (decided.settled.has(message.id)) return isChanged(message, decided);
      if (isReply(message)) return true;
      // A reply that is still being written may be on any page when it is complete.
      const isUnfinished = message.status === 'PENDING' && shownText(message) === undefined;
      if (!isUnfinished) decided.read.add(message.id);
      return false;
    });
    if (open.length === 0) return outcome;
    const own = await this.#ownOf(open);
    for (const message of inOrder(open)) {
      const conversationId = message.conversation_id ?? '';
      const visitorId = visitorOf.get(conversationId);
      const decided = this.#decidedOf(message, visitorOf);
      if (visitorId === undefined || decided === undefined) continue;
      // Two lists that were read one after the other may both contain it.
      if (decided.settled.has(message.id) && !isChanged(message, decided)) continue;
      if (!own.has(message.id)) {
        const isAhead = (createdAt(message) ?? -Infinity) > (readTo.get(visitorId) ?? Infinity);
        if (isAhead) behind.add(visitorId);
        else if (this.#isBeingWritten(message, decided)) {
          waiting.add(visitorId);
          behind.add(visitorId);
        } else if (this.#mustWait(message, decided)) waiting.add(visitorId);
        if (isAhead || waiting.has(visitorId)) {
          held.add(conversationId);
          continue;
        }
        await this.#storeReply(message, visitorId);
      }
      decided.settled.set(message.id, own.has(message.id) ? undefined : textHash(message));
      decided.unsignedSince.delete(message.id);
      decided.pending.delete(message.id);
    }
    return outcome;
  }

  async #storeReply(message: Message, visitorId: VisitorId): Promise<void> {
    const shown = shownText(message);
    if (shown === undefined) return;
    const { chatStore, clock, logger, onReply } = this.#parts;
    const { agent_id: agentId, user_id: userId } = message;
    const updatedAt = timeOf(message.updated_at);
    const author = { ...(agentId !== null && { agentId }), ...(userId !== null && { userId }) };
    const stored = await chatStore.storeReply({
      shopId: this.#shopId,
      visitorId,
      platformMessageId: message.id,
      at: createdAt(message) ?? clock(),
      ...shown,
      ...((agentId ?? userId) !== null && { author }),
      ...(updatedAt !== undefined && { updatedAt }),
      ...(message.choices && { choices: message.choices }),
    });
    // Undefined: the visitor already has it, from before a restart.
    if (stored === undefined) return;
    // It belongs to another visitor if the requested one has been merged meanwhile.
    const { visitorId: owner, line } = stored;
    const { seq, rev } = line;
    logger.debug('chat.reply', { platformMessage: message.id, visitor: owner, seq, rev });
    onReply(this.#shopId, stored);
  }

  /** Which of these this gateway submitted itself. */
  async #ownOf(messages: readonly Message[]): Promise<ReadonlySet<string>> {
    const { spool } = this.#parts;
    const created = await spool.ownPlatformMessages(
      this.#shopId,
      messages.map(({ id }) => id),
    );
    const own = messages.filter(
      ({ id, remote_id: remoteId }) => created.has(id) || remoteId?.startsWith(REMOTE_ID_PREFIX),
    );
    return new Set(own.map(({ id }) => id));
  }

  /**
   * Whether the platform is still writing a reply that is not shown yet. Some platforms leave complete
   * replies PENDING, so a text that stays the same is shown too.
   */
  #isBeingWritten(message: Message, { settled, pending }: Decided): boolean {
    if (message.status !== 'PENDING' || settled.has(message.id)) return false;
    const now = this.#parts.clock();
    const text = textHash(message);
    const known = pending.get(message.id);
    const since = known !== undefined && known.text === text ? known.since : now;
    pending.set(message.id, { text, since });
    return now - since < this.#parts.pendingWaitMs;
  }

  #mustWait(message: Message, { unsignedSince }: Decided): boolean {
    if (!isUnsigned(message)) return false;
    const now = this.#parts.clock();
    const since = unsignedSince.get(message.id) ?? now;
    unsignedSince.set(message.id, since);
    return now - since < this.#parts.unsignedWaitMs;
  }

  #decidedOf(
    { conversation_id: conversationId }: Message,
    visitorOf: ReadonlyMap<string, VisitorId>,
  ): Decided | undefined {
    const visitorId = conversationId === null ? undefined : visitorOf.get(conversationId);
    // The message has no conversation, or one that was not requested for any visitor.
    if (conversationId === null || visitorId === undefined) return undefined;
    const conversations = this.#decided.get(visitorId) ?? new Map<string, Decided>();
    this.#decided.set(visitorId, conversations);
    const decided = conversations.get(conversationId) ?? {
      settled: new Map<string, string | undefined>(),
      read: new Set<string>(),
      unsignedSince: new Map<string, number>(),
      pending: new Map(),
    };
    conversations.set(conversationId, decided);
    return decided;
  }
}

/** Whether the text of a line has changed. A reply that became hidden stays as it was shown. */
function isChanged(message: Message, { settled }: Decided): boolean {
  const text = settled.get(message.id);
  return text !== undefined && isReply(message) && textHash(message) !== text;
}

/** Hashes are kept, because texts may be long and of many visitors. */
function textHash(message: Message): string | undefined {
  const shown = shownText(message);
  return shown && hash('sha1', `${shown.format} ${shown.text}`, 'base64');
}

/** The most recently used conversations of each visitor, and the unfinished ones. */
function newest(
  watched: readonly WatchedConversation[],
  perVisitor: number,
  goesOn: (conversation: WatchedConversation) => boolean,
) {
  const counts = new Map<VisitorId, number>();
  return [...watched]
    .sort((one, other) => other.usedAt - one.usedAt)
    .filter((conversation) => {
      const { visitorId } = conversation;
      const count = (counts.get(visitorId) ?? 0) + 1;
      counts.set(visitorId, count);
      return count <= perVisitor || goesOn(conversation);
    });
}
