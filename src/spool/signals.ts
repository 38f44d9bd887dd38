import * as z from 'zod/mini';
import { asShopId, asVisitorId } from '../domain/ids.ts';

const visitor = {
  shopId: z.pipe(z.string(), z.transform(asShopId)),
  visitorId: z.pipe(z.string(), z.transform(asVisitorId)),
};
export const hintSchema = z.discriminatedUnion('what', [
  /** `seq`: the number of the newest line. */
  z.object({ ...visitor, what: z.literal('line'), seq: z.number() }),
  /** `rev`: the number of the newest change to a line. */
  z.object({ ...visitor, what: z.literal('revised'), rev: z.number() }),
  z.object({
    ...{ ...visitor, what: z.literal('tick'), messageId: z.string() },
    state: z.enum(['failed', 'delivered', 'seen']),
  }),
  /** An identity was verified: this visitor is now another, or a guest no more. */
  z.object({ ...visitor, what: z.literal('identified') }),
  /** Tokens of this visitor that were issued before are invalid. */
  z.object({ ...visitor, what: z.literal('logged_out') }),
]);

/** Something of a visitor was stored. It is committed: whoever needs the rest reads the store. */
export type Hint = Readonly<z.output<typeof hintSchema>>;

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
