import type { ShopId, VisitorId } from '../domain/ids.ts';
import type { MarkedState } from './chat-store.ts';

/** Something of a visitor was stored. It is committed: whoever needs the rest reads the store. */
export type Hint = { readonly shopId: ShopId; readonly visitorId: VisitorId } & (
  | {
      readonly what: 'line';
      /** The number of the newest line. */
      readonly seq: number;
    }
  | {
      readonly what: 'revised';
      /** The number of the newest change to a line. */
      readonly rev: number;
    }
  | {
      readonly what: 'tick';
      readonly messageId: string;
      readonly state: MarkedState;
    }
  /** An identity was verified: this visitor is now another, or a guest no more. */
  | { readonly what: 'identified' }
  /** Tokens of this visitor that were issued before are invalid. */
  | { readonly what: 'logged_out' }
);

export interface SignalListener {
  /** A hint may come late, twice, or not at all. */
  onHint(hint: Hint): void;
  /** Time to look at the store: other gateways' hints may have been lost. */
  onPoll(): void;
}

/**
 * Tells all gateways that share a store what one of them has stored, so that they need not look all
 * the time. Nothing depends on a hint: who listens also looks when told to poll.
 */
export interface Signals {
  /** To this process's listeners at once, to other gateways' soon. Call it after the commit. */
  publish(hint: Hint): void;
  /** The returned function ends the subscription. */
  subscribe(listener: SignalListener): () => void;
}

/** The signals of a store that one process has to itself: no hint is lost, so nobody has to poll. */
export class LocalSignals implements Signals {
  readonly #listeners = new Set<SignalListener>();

  publish(hint: Hint): void {
    for (const listener of this.#listeners) listener.onHint(hint);
  }

  poll(): void {
    for (const listener of this.#listeners) listener.onPoll();
  }

  subscribe(listener: SignalListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
