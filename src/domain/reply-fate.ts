/** How far a reply has come. `queued`: it is still to be sent, or to be sent again. */
export const REPLY_STATES = ['queued', 'sent', 'delivered', 'read', 'failed'] as const;
export type ReplyState = (typeof REPLY_STATES)[number];

/** The way of a reply to the customer, as far as the other side has told. */
export interface ReplyFate {
  readonly state: ReplyState;
  /** Milliseconds since the epoch; absent while nothing has happened. */
  readonly at?: number;
  /** Of a failure: the code of the relay, of the recipient's server or of the provider. */
  readonly code?: string;
  /** What the code means, in words. */
  readonly reason?: string;
  /** Of a failure that nobody has dealt with. */
  readonly isOpen?: boolean;
}

/** What the other side says about a reply that it has accepted. */
export interface ReplyReport extends Pick<ReplyFate, 'code' | 'reason'> {
  readonly state: Exclude<ReplyState, 'queued'>;
}

/**
 * Reports arrive in any order, and a failure may be reported for a message that arrived in the end:
 * what is known to have arrived stays so.
 */
const RANKS: Readonly<Record<ReplyState, number>> = {
  queued: 0,
  sent: 1,
  failed: 2,
  delivered: 3,
  read: 4,
};

/** Whether a report says more than what is known. */
export const isNews = (known: ReplyState, reported: ReplyState): boolean =>
  RANKS[reported] > RANKS[known];

/** The state of a reply in several parts: it has come as far as its last part, and fails with any. */
export const stateOfParts = <State extends ReplyState>(
  states: readonly State[],
): State | undefined =>
  states.find((state) => state === 'failed') ?? states.toSorted((a, b) => RANKS[a] - RANKS[b])[0];
