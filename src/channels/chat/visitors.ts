import type { Clock } from '../../runtime/clock.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { ChatShop } from './shop.ts';
import type { MessageEvent, StatusEvent } from './events.ts';
import type { ChatLimits, Limited } from './limits.ts';

/** One open tab of a visitor. */
export interface Tab {
  /** Of its token (`VisitorRecord.logouts`). */
  readonly logouts: number;
  offer(line: MessageEvent): void;
  /** A line with this number was stored, perhaps by another gateway. */
  announce(seq: number): void;
  /** A change to a line with this number was stored, perhaps by another gateway. */
  announceRevision(rev: number): void;
  status(status: StatusEvent): void;
  /** Several lines were stored at once. */
  catchUp(): void;
  /** Closes the connection; the client reconnects with its newest token. */
  close(): void;
}

/** What the reply poller reads of a visitor with open tabs. */
export interface PresentVisitor {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  /** When a tab was last opened. */
  arrivedAt: number;
  /** When the visitor last wrote, or a message of theirs was last delivered; 0 if never. */
  activeAt: number;
  /** When the last reply arrived; 0 if never. */
  answeredAt: number;
}

export type PresenceChange = 'arrived' | 'left' | 'active';

/** A visitor with open tabs, all of which get the same lines. */
export interface Visitor extends PresentVisitor {
  readonly shop: ChatShop;
  /** Undefined until there is something to store: a page view stores nothing. */
  record: VisitorRecord | undefined;
  readonly tabs: Set<Tab>;
}

export type Labels = Partial<Pick<VisitorRecord, 'name' | 'email'>>;

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

/**
 * The visitors with open tabs, and the only place where a visitor is first stored. The reply poller
 * watches who is present.
 */
export class Visitors {
  readonly #parts: VisitorsParts;
  readonly #present = new Map<string, Visitor>();
  readonly #storing = new Map<string, Promise<VisitorRecord>>();
  readonly #listeners = new Set<(visitor: PresentVisitor, change: PresenceChange) => void>();

  constructor(parts: VisitorsParts) {
    this.#parts = parts;
  }

  find(shopId: string, id: VisitorId): Visitor | undefined {
    return this.#present.get(keyOf(shopId, id));
  }

  /** A tab was opened; replies that arrived meanwhile are read at once. */
  enter(shop: ChatShop, visitorId: VisitorId, record: Visitor['record'], tab: Tab): Visitor {
    const { shopId } = shop;
    const key = keyOf(shopId, visitorId);
    const visitor: Visitor = this.#present.get(key) ?? {
      ...{ shop, shopId, visitorId, record },
      tabs: new Set<Tab>(),
      ...{ arrivedAt: 0, activeAt: 0, answeredAt: 0 },
    };
    visitor.tabs.add(tab);
    visitor.arrivedAt = this.#parts.clock();
    this.#present.set(key, visitor);
    if (record !== undefined) this.remember(record);
    this.#tell(visitor, 'arrived');
    return visitor;
  }

  leave(visitor: Visitor, tab: Tab): void {
    if (!visitor.tabs.delete(tab) || visitor.tabs.size > 0) return;
    this.#present.delete(keyOf(visitor.shopId, visitor.visitorId));
    this.#tell(visitor, 'left');
  }

  /** The conversation is active, so a reply is expected soon. */
  active(shopId: ShopId, id: VisitorId, now: number): void {
    const visitor = this.find(shopId, id);
    if (visitor === undefined) return;
    visitor.activeAt = now;
    this.#tell(visitor, 'active');
  }

  present(): Iterable<PresentVisitor> {
    return this.#present.values();
  }

  /** The returned function ends the subscription. */
  subscribe(listener: (visitor: PresentVisitor, change: PresenceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
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
    // Another tab may have seen more since this row was read.
    const seenSeq = Math.max(visitor.record?.seenSeq ?? 0, record.seenSeq);
    visitor.record = { ...record, seenSeq };
  }

  #tell(visitor: PresentVisitor, change: PresenceChange): void {
    for (const listener of this.#listeners) listener(visitor, change);
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
