import type { Logger } from '../../../observability/logger.ts';
import type { Message } from '../../../platform-api/resources.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { WatchedConversation } from '../../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../../types/ids.ts';
import type { Batch } from './batches.ts';
import { type ReaderParts, type Reading, readMessages, readOn } from './message-reader.ts';
import type { Urgency } from './pacer.ts';
import { type Place, Places } from './place.ts';
import { createdAt } from './reply-order.ts';
import type { Depth } from './turn.ts';

export interface ConversationListsParts extends ReaderParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How a turn reads. */
export interface How extends Pick<Reading, 'isKnown'> {
  readonly depth: Depth;
  readonly urgency: Urgency;
}

/** What was listed, and what is to be done once it is stored. */
export interface Listed {
  readonly messages: readonly Message[];
  /** @param held whose messages could not all be stored yet: they are read again where they lie */
  readonly taken: (held: ReadonlySet<VisitorId>) => void;
}

/** A message may become visible later than newer ones by so much, and must still be found. */
const LATE_MS = 60_000;

/** Reads conversations of one shop, and keeps how far each of them was read. */
export class ConversationLists {
  readonly #shopId: ShopId;
  readonly #parts: ConversationListsParts;
  /**
   * When the newest message that was ever listed was created: what the platform's clock has passed.
   * Times to come say nothing of that.
   */
  #newestAt = 0;
  /** Until when each conversation was read, by that clock; nothing before it was read to its end. */
  readonly #readTo = new Map<VisitorId, Map<string, number>>();
  /** In conversations that are longer than one reading. */
  readonly #places = new Places();

  constructor(shopId: ShopId, parts: ConversationListsParts) {
    this.#shopId = shopId;
    this.#parts = parts;
  }

  /** He has gone; how far his long conversations were read stays known. */
  forget(visitorId: VisitorId): void {
    this.#readTo.delete(visitorId);
  }

  /** It is longer than one reading, and is read alone. */
  isLong({ conversationId }: WatchedConversation): boolean {
    return this.#places.get(conversationId) !== undefined;
  }

  /** There is more of it than was read. */
  isUnfinished({ conversationId }: WatchedConversation): boolean {
    return this.#places.get(conversationId)?.isAtEnd === false;
  }

  async read({ together, alone }: Batch, how: How, signal: AbortSignal): Promise<Listed> {
    const lists: Listed[] = [];
    if (together.length > 0) lists.push(await this.#readTogether(together, how, signal));
    for (const conversation of alone) lists.push(await this.#readOn(conversation, how, signal));
    const messages = lists.flatMap((list) => list.messages);
    const now = this.#parts.clock();
    for (const message of messages) {
      const at = createdAt(message) ?? 0;
      if (at <= now) this.#newestAt = Math.max(this.#newestAt, at);
    }
    return {
      messages,
      taken: (held) => {
        for (const { taken } of lists) taken(held);
      },
    };
  }

  async #readTogether(
    conversations: readonly WatchedConversation[],
    { depth, urgency, isKnown }: How,
    signal: AbortSignal,
  ): Promise<Listed> {
    const readTo = this.#newestAt;
    const known = conversations.flatMap((each) => this.#readToOf(each) ?? []);
    // What is known of one says nothing of another that was read less lately, behind it in the list.
    const since = known.length === 0 ? 0 : Math.min(...known);
    const common: Omit<Reading, 'conversationIds'> = {
      ...{ shopId: this.#shopId, isKnown, urgency },
      thorough: depth === 'end',
      backTo: depth === 'back' ? since - LATE_MS : since,
    };
    const reading = { ...common, conversationIds: conversations.map(idOf) };
    const reads = [await readMessages(reading, this.#parts, signal)];
    const fresh = conversations.filter((each) => this.#readToOf(each) === undefined).map(idOf);
    if (fresh.length > 0 && known.length > 0 && !reads[0]?.isWhole) {
      // Theirs may lie anywhere behind what the others were read back to.
      const theirs = { ...common, conversationIds: fresh, backTo: -Infinity };
      reads.push(await readMessages(theirs, this.#parts, signal));
    }
    const unfinished = new Map(reads.flatMap((read) => [...read.unfinished]));
    return {
      messages: reads.flatMap((read) => [...read.messages]),
      taken: (held) => {
        for (const conversation of conversations) {
          if (held.has(conversation.visitorId)) continue;
          const place = unfinished.get(conversation.conversationId);
          if (place === undefined) this.#noteReadTo(conversation, readTo);
          else this.#foundLong(conversation, place);
        }
      },
    };
  }

  /** Goes on in a list that is longer than one reading. */
  async #readOn(
    { conversationId, visitorId }: WatchedConversation,
    { depth, urgency }: How,
    signal: AbortSignal,
  ): Promise<Listed> {
    const place = this.#places.get(conversationId);
    if (place === undefined) return { messages: [], taken: () => undefined };
    const isFurtherBack = depth !== 'known' && place.isAtEnd && place.before !== undefined;
    const from = isFurtherBack ? place.before : place.cursor;
    const reading = { shopId: this.#shopId, conversationIds: [conversationId], urgency };
    try {
      const read = await readOn(reading, { place, from }, this.#parts, signal);
      const taken: Listed['taken'] = (held) => {
        if (!held.has(visitorId)) this.#places.set(conversationId, read.place);
      };
      return { messages: read.messages, taken };
    } catch (error) {
      if (!signal.aborted) this.#places.failed(conversationId);
      throw error;
    }
  }

  #foundLong({ conversationId }: WatchedConversation, place: Place): void {
    this.#places.set(conversationId, place);
    const { isOldestFirst } = place;
    this.#parts.logger.warn('chat.replies_long', {
      shop: this.#shopId,
      conversationId,
      isOldestFirst,
    });
  }

  #readToOf({ visitorId, conversationId }: WatchedConversation): number | undefined {
    return this.#readTo.get(visitorId)?.get(conversationId);
  }

  #noteReadTo(conversation: WatchedConversation, readTo: number): void {
    const { visitorId, conversationId } = conversation;
    const own = this.#readTo.get(visitorId) ?? new Map<string, number>();
    this.#readTo.set(visitorId, own);
    // Another reading may have ended meanwhile, and have come further.
    own.set(conversationId, Math.max(readTo, own.get(conversationId) ?? 0));
  }
}

const idOf = ({ conversationId }: WatchedConversation): string => conversationId;
