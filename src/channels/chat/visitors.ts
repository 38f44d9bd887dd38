import type { Clock } from '../../runtime/clock.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { ChatShop } from './shop.ts';
import type { MessageEvent, StatusEvent } from './events.ts';
import type { ChatLimits, Limited } from './limits.ts';

/** One open tab of a visitor. */
export interface Tab {
  offer(line: MessageEvent): void;
  status(status: StatusEvent): void;
  /** Several lines were stored at once. */
  catchUp(): void;
  /** Closes the connection; the client reconnects with its newest token. */
  close(): void;
}

/** A visitor with open tabs, all of which get the same lines. */
export interface Visitor {
  readonly shop: ChatShop;
  readonly id: VisitorId;
  /** Undefined until there is something to store: a page view stores nothing. */
  record: VisitorRecord | undefined;
  readonly tabs: Set<Tab>;
}

export type Labels = Partial<Pick<VisitorRecord, 'name' | 'email' | 'subject'>>;

/** Too many new visitors from one network. */
export class TooManyVisitors extends Error {
  override name = 'TooManyVisitors';
  readonly limited: Limited;
  constructor(limited: Limited) {
    super('too many new visitors from one network');
    this.limited = limited;
  }
}

export interface VisitorsParts {
  readonly store: ChatStore;
  readonly clock: Clock;
  readonly limits: (shop: ChatShop) => ChatLimits;
}

/** The visitors with open tabs, and the only place where a visitor is first stored. */
export class Visitors {
  readonly #parts: VisitorsParts;
  readonly #present = new Map<string, Visitor>();
  readonly #storing = new Map<string, Promise<VisitorRecord>>();

  constructor(parts: VisitorsParts) {
    this.#parts = parts;
  }

  find(shopId: string, id: VisitorId): Visitor | undefined {
    return this.#present.get(keyOf(shopId, id));
  }

  enter(shop: ChatShop, id: VisitorId, record: VisitorRecord | undefined, tab: Tab): Visitor {
    const key = keyOf(shop.shopId, id);
    const visitor = this.#present.get(key) ?? { shop, id, record, tabs: new Set<Tab>() };
    visitor.tabs.add(tab);
    this.#present.set(key, visitor);
    if (record !== undefined) this.remember(record);
    return visitor;
  }

  leave(visitor: Visitor, tab: Tab): void {
    visitor.tabs.delete(tab);
    const key = keyOf(visitor.shop.shopId, visitor.id);
    if (visitor.tabs.size === 0 && this.#present.get(key) === visitor) this.#present.delete(key);
  }

  /** Lines were stored that no tab has yet. */
  catchUp(shopId: string, id: VisitorId): void {
    for (const tab of this.find(shopId, id)?.tabs ?? []) tab.catchUp();
  }

  /** For a shop that was removed; its clients reconnect and are refused in the handshake. */
  closeShop(shopId: string): void {
    for (const { shop, tabs } of [...this.#present.values()]) {
      if (shop.shopId === shopId) for (const tab of [...tabs]) tab.close();
    }
  }

  closeTabs(shopId: string, id: VisitorId): void {
    for (const tab of [...(this.find(shopId, id)?.tabs ?? [])]) tab.close();
  }

  /**
   * The visitor's row, created on the first message, profile or upload.
   * @throws {TooManyVisitors} {SpoolUnavailable}
   */
  async stored(shop: ChatShop, id: VisitorId, network: string): Promise<VisitorRecord> {
    const key = keyOf(shop.shopId, id);
    const known = this.#present.get(key)?.record;
    if (known !== undefined) return known;
    // Two tabs that write at the same time count as one new visitor.
    const storing =
      this.#storing.get(key) ??
      this.#store(shop, id, network).finally(() => this.#storing.delete(key));
    this.#storing.set(key, storing);
    const record = await storing;
    const visitor = this.#present.get(key);
    if (visitor !== undefined) visitor.record ??= record;
    return visitor?.record ?? record;
  }

  /** Writes labels to the visitor's row and to the copy of open tabs. */
  async label(record: VisitorRecord, labels: Labels): Promise<VisitorRecord> {
    await this.#parts.store.updateVisitor(record.shopId, record.id, labels);
    // The visitor may have been identified during the write.
    const now = this.find(record.shopId, record.id)?.record ?? record;
    const labelled = { ...now, ...labels, ...(now.subject !== undefined && { email: now.email }) };
    this.remember(labelled);
    return labelled;
  }

  /** Copies a newer row to the open tabs. */
  remember(record: VisitorRecord): void {
    const visitor = this.find(record.shopId, record.id);
    if (visitor === undefined) return;
    const before = visitor.record ?? record;
    // Another tab may have started a new conversation, or seen more, since this row was read.
    const { conversation, lane } = before.conversation > record.conversation ? before : record;
    const seenSeq = Math.max(before.seenSeq, record.seenSeq);
    visitor.record = { ...record, conversation, lane, seenSeq };
  }

  async #store(shop: ChatShop, id: VisitorId, network: string): Promise<VisitorRecord> {
    const { store, limits, clock } = this.#parts;
    const known = await store.visitor(shop.shopId, id);
    if (known !== undefined) return known;
    const limited = await limits(shop).newVisitor(network);
    if (limited !== undefined) throw new TooManyVisitors(limited);
    return store.createVisitor({ shopId: shop.shopId, id, createdAt: clock() });
  }
}

const keyOf = (shopId: string, id: VisitorId): string => `${shopId}/${id}`;

/** A visitor with at least one open tab. */
export interface PresentVisitor {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  tabs: number;
  /** When a tab was last opened. */
  arrivedAt: number;
  /** When the visitor last wrote or was delivered; 0 if never. */
  activeAt: number;
  /** When the last reply arrived; 0 if never. */
  answeredAt: number;
}

export type PresenceChange = 'arrived' | 'left' | 'active';

/**
 * The visitors with open tabs. The chat server writes it and the reply poller reads it; neither
 * imports the other.
 */
export class Presence {
  readonly #visitors = new Map<string, PresentVisitor>();
  readonly #listeners = new Set<(visitor: PresentVisitor, change: PresenceChange) => void>();

  /** A tab was opened; replies from the meantime are wanted at once. */
  arrived(shopId: ShopId, visitorId: VisitorId, now: number): void {
    const key = keyOf(shopId, visitorId);
    const visitor = this.#visitors.get(key) ?? {
      shopId,
      visitorId,
      tabs: 0,
      arrivedAt: now,
      activeAt: 0,
      answeredAt: 0,
    };
    visitor.tabs += 1;
    visitor.arrivedAt = now;
    this.#visitors.set(key, visitor);
    this.#tell(visitor, 'arrived');
  }

  left(shopId: ShopId, visitorId: VisitorId): void {
    const key = keyOf(shopId, visitorId);
    const visitor = this.#visitors.get(key);
    if (visitor === undefined) return;
    visitor.tabs -= 1;
    if (visitor.tabs > 0) return;
    this.#visitors.delete(key);
    this.#tell(visitor, 'left');
  }

  /** The conversation is active, so a reply is expected soon. */
  active(shopId: ShopId, visitorId: VisitorId, now: number): void {
    const visitor = this.#visitors.get(keyOf(shopId, visitorId));
    if (visitor === undefined) return;
    visitor.activeAt = now;
    this.#tell(visitor, 'active');
  }

  /** A reply was stored, so the visitor no longer waits. */
  answered(shopId: ShopId, visitorId: VisitorId, now: number): void {
    const visitor = this.#visitors.get(keyOf(shopId, visitorId));
    if (visitor !== undefined) visitor.answeredAt = now;
  }

  present(): Iterable<PresentVisitor> {
    return this.#visitors.values();
  }

  /** The returned function ends the subscription. */
  subscribe(listener: (visitor: PresentVisitor, change: PresenceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(visitor: PresentVisitor, change: PresenceChange): void {
    for (const listener of this.#listeners) listener(visitor, change);
  }
}
