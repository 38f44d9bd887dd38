import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { Hint, SignalListener } from '../../spool/signals.ts';
import type { PresentVisitor, Visitors } from './visitors.ts';

export interface SignalReaderParts {
  readonly store: Pick<ChatStore, 'visitorsAmong'>;
  readonly visitors: Visitors;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Another person may have this guest's token, which is not valid any more. */
  readonly onSuperseded: (shopId: ShopId, guest: VisitorId) => void;
}

/** A handshake that began before a logout has ended by then. */
const LONGEST_HANDSHAKE_MS = 60_000;
/** Visitors of one call of the store. */
const MOST_AT_ONCE = 1_000;

/**
 * Brings to the tabs of this gateway what any gateway stored for their visitors: by hints, and by looking at the
 * visitors' rows when hints may have been lost. A tab reads its lines from the journal, so it misses none.
 */
export class SignalReader implements SignalListener {
  readonly #parts: SignalReaderParts;
  #looking: Promise<void> | undefined;
  #loggedOutAt = -Infinity;

  constructor(parts: SignalReaderParts) {
    this.#parts = parts;
  }

  onHint(hint: Hint): void {
    const { visitors, clock } = this.#parts;
    const { shopId, visitorId, what } = hint;
    if (what === 'logged_out') this.#loggedOutAt = clock();
    const visitor = visitors.find(shopId, visitorId);
    if (visitor === undefined) return;
    if (what === 'identified' || what === 'logged_out') {
      void this.#look([visitor]);
      return;
    }
    if (hint.what === 'line') {
      for (const tab of visitor.tabs) tab.announce(hint.seq);
      return;
    }
    if (hint.what === 'revised') {
      for (const tab of visitor.tabs) tab.announceRevision(hint.rev);
      return;
    }
    visitors.active(shopId, visitorId, clock());
    const { messageId: id, state } = hint;
    for (const tab of visitor.tabs) tab.status({ id, state });
  }

  /** A tab was opened: during its handshake, the visitor may have logged out. */
  entered(visitor: PresentVisitor): void {
    if (this.#parts.clock() - this.#loggedOutAt < LONGEST_HANDSHAKE_MS) void this.#look([visitor]);
  }

  onPoll(): void {
    // A poll while the store is slow would only add to its work.
    this.#looking ??= this.#look(this.#parts.visitors.present()).finally(
      () => (this.#looking = undefined),
    );
  }

  /** Whatever fails is looked at again by the next poll. */
  async #look(present: Iterable<PresentVisitor>): Promise<void> {
    const { store, logger } = this.#parts;
    const byShop = new Map<ShopId, VisitorId[]>();
    for (const { shopId, visitorId } of present) {
      const ids = byShop.get(shopId);
      if (ids === undefined) byShop.set(shopId, [visitorId]);
      else ids.push(visitorId);
    }
    try {
      for (const [shopId, ids] of byShop) {
        for (let from = 0; from < ids.length; from += MOST_AT_ONCE) {
          const some = ids.slice(from, from + MOST_AT_ONCE);
          for (const record of await store.visitorsAmong(shopId, some)) this.#read(record);
        }
      }
    } catch (error) {
      logger.warn('chat.poll_failed', errorFields(error));
    }
  }

  #read(record: VisitorRecord): void {
    const { visitors, onSuperseded } = this.#parts;
    const visitor = visitors.find(record.shopId, record.id);
    if (visitor === undefined) return;
    const wasGuest = visitor.record?.subject === undefined;
    if (record.joined !== undefined || (wasGuest && record.subject !== undefined)) {
      onSuperseded(record.shopId, record.id);
      return;
    }
    visitors.remember(record);
    for (const tab of [...visitor.tabs]) {
      if (tab.logouts < record.logouts) {
        tab.close();
        continue;
      }
      tab.announce(record.lastSeq);
      tab.announceRevision(record.lastRev);
    }
  }
}
