import type { ShopId } from '../domain/ids.ts';

/** How much one sender may send before it counts as a flood, or as a loop of two machines. */
export interface RateLimits {
  /** The maximum number of messages of one person. */
  readonly per10min: number;
  readonly perHour: number;
  readonly perDay?: number;
  /** The maximum number of messages of one thread. */
  readonly perThreadPer10min?: number;
  /** The number of messages with the same body at which the limit is reached. */
  readonly sameBodyPerHour: number;
}

export type RateLimit = keyof RateLimits;

/**
 * The name under which possibly forged mail is counted, separately from mail that is known to come
 * from this sender.
 */
export function countedWhenForged(person: string): string {
  return `forged ${person}`;
}

/** One message to count. Only hashes of the texts are stored. */
export interface CountedMessage {
  readonly shopId: ShopId;
  /** Identifies the message: one that is counted again counts once. */
  readonly message: string;
  /** The sender's address or number; the same for all messages of one sender. */
  readonly person: string;
  /** Absent on channels without threads. */
  readonly thread?: string;
  /** Absent when the body is too common to indicate a machine. */
  readonly body?: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
}
