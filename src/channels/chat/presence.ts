import type { ShopId, VisitorId } from '../../domain/ids.ts';

/** A visitor with at least one open tab. */
export interface PresentVisitor {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  tabs: number;
  /** When a tab was last opened. */
  arrivedAt: number;
  /** When the visitor last wrote or was delivered; 0 before. */
  activeAt: number;
  /** When a reply last came for him; 0 before. */
  answeredAt: number;
}

export type PresenceChange = 'arrived' | 'left' | 'active';

/**
 * Who is there. The chat server writes it, the reply poller reads it: neither knows the other.
 */
export class Presence {
  readonly #visitors = new Map<string, PresentVisitor>();
  readonly #listeners = new Set<(visitor: PresentVisitor, change: PresenceChange) => void>();

  /** A tab was opened: what came in the meantime is wanted at once. */
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

  /** Something happened in the conversation, so that more is to be expected. */
  active(shopId: ShopId, visitorId: VisitorId, now: number): void {
    const visitor = this.#visitors.get(keyOf(shopId, visitorId));
    if (visitor === undefined) return;
    visitor.activeAt = now;
    this.#tell(visitor, 'active');
  }

  /** A reply was stored: he does not wait any more. */
  answered(shopId: ShopId, visitorId: VisitorId, now: number): void {
    const visitor = this.#visitors.get(keyOf(shopId, visitorId));
    if (visitor !== undefined) visitor.answeredAt = now;
  }

  present(): Iterable<PresentVisitor> {
    return this.#visitors.values();
  }

  /** Ends with the function that is returned. */
  subscribe(listener: (visitor: PresentVisitor, change: PresenceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(visitor: PresentVisitor, change: PresenceChange): void {
    for (const listener of this.#listeners) listener(visitor, change);
  }
}

const keyOf = (shopId: ShopId, visitorId: VisitorId): string => `${shopId}/${visitorId}`;
