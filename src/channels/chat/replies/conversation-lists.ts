import { setLatest } from '../../../runtime/keep-latest.ts';
import { errorFields, type Logger } from '../../../observability/logger.ts';
import type { Message } from '../../../platform-api/resources.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { WatchedConversation } from '../../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../../domain/ids.ts';
import {
  continueReading,
  CursorRefused,
  type ReaderParts,
  type Reading,
  readMessages,
} from './message-reader.ts';
import type { Urgency } from './pacer.ts';
import { type ListPosition, ListPositions } from './list-position.ts';
import { listTimes, ListDirection } from './platform-message.ts';
import type { Batch, Depth } from './schedule.ts';

export interface ConversationListsParts extends ReaderParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How far and how urgently one turn reads. */
export interface ReadOptions extends Pick<Reading, 'isKnown'> {
  readonly depth: Depth;
  readonly urgency: Urgency;
}

/** The listed messages, and what to do after they are stored. */
export interface Listed {
  readonly messages: readonly Message[];
  /**
   * @param held conversations with messages that could not all be stored yet; they are read again
   */
  readonly taken: (held: ReadonlySet<string>) => void;
  /**
   * How far visitors were read whose oldest-first lists are unfinished, by the platform's clock.
   * Newer messages in their other conversations wait until the rest is read.
   */
  readonly readTo: ReadonlyMap<VisitorId, number>;
}

/** The combined result of several list requests. */
interface Part extends Omit<Listed, 'readTo'> {
  /** The positions in unfinished lists, and in those that were continued. */
  readonly unfinished: readonly { readonly visitorId: VisitorId; readonly place: ListPosition }[];
}

/** A conversation whose messages make pages too large. */
interface Heavy {
  /** The maximum number of messages per page. */
  readonly limit: number;
  readonly isRead: boolean;
}

/** Beyond this number the oldest are dropped, and detected again. */
const MAX_HEAVY = 1_000;

/** A message may become visible this much later than newer ones and must still be found. */
const LATE_MS = 60_000;

/** Reads the conversations of one shop, and keeps how far each was read. */
export class ConversationLists {
  readonly #shopId: ShopId;
  readonly #parts: ConversationListsParts;
  /**
   * The creation time of the newest message that was listed, which the platform's clock has
   * therefore passed. Times in the future are ignored.
   */
  #newestAt = 0;
  /**
   * Until when each conversation was read, by that clock; everything before was read completely.
   */
  readonly #readTo = new Map<VisitorId, Map<string, number>>();
  /** Positions in conversations that are longer than one read. */
  readonly #positions = new ListPositions();
  readonly #direction = new ListDirection();
  readonly #heavy = new Map<string, Heavy>();

  constructor(shopId: ShopId, parts: ConversationListsParts) {
    this.#shopId = shopId;
    this.#parts = parts;
  }

  /** The visitor has left; the positions in their long conversations are kept. */
  forget(visitorId: VisitorId): void {
    this.#readTo.delete(visitorId);
  }

  /**
   * Whether it is longer than one read, or its pages are too large, so that no other conversation
   * should wait for it.
   */
  isReadAlone({ conversationId }: WatchedConversation): boolean {
    return this.#positions.get(conversationId) !== undefined || this.#heavy.has(conversationId);
  }

  /** Whether it has more messages than were read. */
  isUnfinished({ conversationId }: WatchedConversation): boolean {
    const isLeftOut = this.#heavy.get(conversationId)?.isRead === false;
    return isLeftOut || this.#positions.get(conversationId)?.isAtEnd === false;
  }

  /** Whether continuing it has just failed. */
  isPaused({ conversationId }: WatchedConversation): boolean {
    return (this.#positions.get(conversationId)?.pausedUntil ?? 0) > this.#parts.clock();
  }

  /**
   * If a conversation that is read alone fails, the others are still read.
   * @throws {unknown} the error, if nothing could be read
   */
  async read({ together, alone }: Batch, how: ReadOptions, signal: AbortSignal): Promise<Listed> {
    const lists: Part[] = [];
    let failure: { readonly error: unknown } | undefined;
    if (together.length > 0) lists.push(await this.#readTogether(together, how, signal));
    for (const conversation of alone) {
      try {
        lists.push(await this.#readAlone(conversation, how, signal));
      } catch (error) {
        if (signal.aborted) throw error;
        this.#noteFailure(conversation, error);
        failure = { error };
      }
    }
    if (lists.length === 0 && failure !== undefined) throw failure.error;
    const messages = lists.flatMap((list) => this.#direction.oldestFirst(list.messages));
    const now = this.#parts.clock();
    for (const at of listTimes(messages)) {
      if (at !== undefined && at <= now) this.#newestAt = Math.max(this.#newestAt, at);
    }
    return {
      messages,
      readTo: earliest(lists.flatMap(({ unfinished }) => unfinished)),
      taken: (held) => {
        for (const { taken } of lists) taken(held);
      },
    };
  }

  async #readTogether(
    conversations: readonly WatchedConversation[],
    { depth, urgency, isKnown }: ReadOptions,
    signal: AbortSignal,
  ): Promise<Part> {
    const readTo = this.#newestAt;
    const known = conversations.flatMap((each) => this.#readToOf(each) ?? []);
    // Each conversation was read up to a different time; a shared list has to be read back to the
    // earliest.
    const since = known.length === 0 ? 0 : Math.min(...known);
    const common: Omit<Reading, 'conversationIds'> = {
      shopId: this.#shopId,
      isKnown,
      urgency,
      thorough: depth === 'end',
      backTo: depth === 'back' ? since - LATE_MS : since,
      // Heavy conversations are read alone.
      limit: conversations.length === 1 ? this.#limitOf(conversations[0]) : undefined,
    };
    const reading = { ...common, conversationIds: conversations.map(idOf) };
    const reads = [await readMessages(reading, this.#parts, signal)];
    const fresh = conversations.filter((each) => this.#readToOf(each) === undefined).map(idOf);
    if (fresh.length > 0 && known.length > 0 && !reads[0]?.isWhole) {
      // Their messages may be anywhere beyond the point up to which the others were read.
      const theirs = { ...common, conversationIds: fresh, backTo: -Infinity };
      reads.push(await readMessages(theirs, this.#parts, signal));
    }
    const unfinished = new Map(reads.flatMap((read) => [...read.unfinished]));
    const leftOut = new Set(reads.flatMap((read) => [...read.leftOut]));
    for (const [conversationId, limit] of reads.flatMap((read) => [...read.heavy])) {
      this.#foundHeavy(conversationId, { limit, isRead: !leftOut.has(conversationId) });
    }
    const messages = reads.flatMap((read) => [...read.messages]);
    const wasKnown = idsOf(messages.filter(isKnown));
    return {
      messages,
      unfinished: conversations.flatMap(({ conversationId, visitorId }) => {
        const place = unfinished.get(conversationId);
        return place === undefined ? [] : [{ visitorId, place }];
      }),
      taken: (held) => {
        for (const conversation of conversations) {
          const { conversationId } = conversation;
          if (held.has(conversationId) || leftOut.has(conversationId)) continue;
          const place = unfinished.get(conversationId);
          const own = messages.filter(({ conversation_id: id }) => id === conversationId);
          // It was read completely before, perhaps for another tab, and has no new messages.
          const isRead = place?.isNewestFirst === true && own.every(({ id }) => wasKnown.has(id));
          if (this.#positions.get(conversationId)?.isNewestFirst) continue;
          if (place === undefined || isRead) this.#noteReadTo(conversation, readTo);
          else this.#foundLong(conversation, place);
        }
      },
    };
  }

  /** Continues a list that is longer than one read; one that is only heavy is read normally. */
  async #readAlone(
    conversation: WatchedConversation,
    how: ReadOptions,
    signal: AbortSignal,
  ): Promise<Part> {
    const { conversationId, visitorId } = conversation;
    const place = this.#positions.get(conversationId);
    if (place === undefined) return this.#readTogether([conversation], how, signal);
    if (place.isNewestFirst) return this.#readBack(conversation, place, how, signal);
    const { depth, urgency } = how;
    const isFurtherBack = depth !== 'known' && place.isAtEnd && place.before !== undefined;
    const from = isFurtherBack ? place.before : place.cursor;
    const limit = this.#limitOf(conversation);
    const reading = { shopId: this.#shopId, conversationIds: [conversationId], urgency, limit };
    const read = await continueReading(reading, { place, from }, this.#parts, signal);
    if (read.limit !== undefined) {
      this.#foundHeavy(conversationId, { limit: read.limit, isRead: true });
    }
    return {
      messages: read.messages,
      unfinished: [{ visitorId, place: read.place }],
      taken: (held) => {
        if (!held.has(conversationId)) this.#positions.set(conversationId, read.place);
      },
    };
  }

  /** Continues a newest-first list towards its end; newer messages are read first. */
  async #readBack(
    conversation: WatchedConversation,
    place: ListPosition,
    { urgency, isKnown }: ReadOptions,
    signal: AbortSignal,
  ): Promise<Part> {
    const { conversationId } = conversation;
    const readTo = this.#newestAt;
    const limit = this.#limitOf(conversation);
    const reading = { shopId: this.#shopId, conversationIds: [conversationId], urgency, limit };
    const toKnown = { ...reading, isKnown, thorough: false, backTo: Infinity };
    const newest = await readMessages(toKnown, this.#parts, signal);
    // There are more new messages than one read covers: reading back starts again, past the earlier
    // position.
    const gap = newest.unfinished.get(conversationId);
    const back =
      gap === undefined
        ? await continueReading(reading, { place, from: place.cursor }, this.#parts, signal)
        : { messages: [], place: gap };
    return {
      messages: [...newest.messages, ...back.messages],
      unfinished: [],
      taken: (held) => {
        // The other queue may have finished it meanwhile.
        if (held.has(conversationId) || !this.#positions.get(conversationId)) return;
        if (!back.place.isAtEnd) {
          this.#positions.set(conversationId, back.place);
          return;
        }
        this.#positions.delete(conversationId);
        this.#noteReadTo(conversation, readTo);
      },
    };
  }

  #noteFailure({ conversationId }: WatchedConversation, error: unknown): void {
    this.#positions.failed(conversationId, error instanceof CursorRefused, this.#parts.clock());
    this.#parts.logger.warn('chat.replies_long_failed', {
      shop: this.#shopId,
      conversationId,
      ...errorFields(error),
    });
  }

  #limitOf(conversation: WatchedConversation | undefined): number | undefined {
    return conversation && this.#heavy.get(conversation.conversationId)?.limit;
  }

  #foundHeavy(conversationId: string, heavy: Heavy): void {
    const before = this.#heavy.get(conversationId);
    setLatest(this.#heavy, conversationId, heavy, MAX_HEAVY);
    if (before?.limit === heavy.limit) return;
    const { limit } = heavy;
    this.#parts.logger.warn('chat.replies_heavy', { shop: this.#shopId, conversationId, limit });
  }

  #foundLong({ conversationId }: WatchedConversation, place: ListPosition): void {
    this.#positions.set(conversationId, place);
    const { isOldestFirst, isNewestFirst } = place;
    this.#parts.logger.warn('chat.replies_long', {
      shop: this.#shopId,
      conversationId,
      isOldestFirst,
      isNewestFirst,
    });
  }

  #readToOf({ visitorId, conversationId }: WatchedConversation): number | undefined {
    return this.#readTo.get(visitorId)?.get(conversationId);
  }

  #noteReadTo(conversation: WatchedConversation, readTo: number): void {
    const { visitorId, conversationId } = conversation;
    const own = this.#readTo.get(visitorId) ?? new Map<string, number>();
    this.#readTo.set(visitorId, own);
    // Another read may have ended meanwhile and reached further.
    own.set(conversationId, Math.max(readTo, own.get(conversationId) ?? 0));
  }
}

function earliest(unfinished: Part['unfinished']): ReadonlyMap<VisitorId, number> {
  const earliestOf = new Map<VisitorId, number>();
  for (const { visitorId, place } of unfinished) {
    const readTo = place.isAtEnd ? undefined : place.readTo;
    if (readTo === undefined) continue;
    earliestOf.set(visitorId, Math.min(readTo, earliestOf.get(visitorId) ?? Infinity));
  }
  return earliestOf;
}

const idsOf = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(messages.map(({ id }) => id));

const idOf = ({ conversationId }: WatchedConversation): string => conversationId;
