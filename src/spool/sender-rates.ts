import type { ShopId } from '../domain/ids.ts';

/** How much one person may send before it is taken for a flood, or a loop of two machines. */
export interface RateLimits {
  /** More messages than this. */
  readonly per10min: number;
  readonly perHour: number;
  readonly perDay?: number;
  /** More messages of one thread than this. */
  readonly perThreadPer10min?: number;
  /** The same body so often: the last of them is one too many. */
  readonly sameBodyPerHour: number;
}

export type RateLimit = keyof RateLimits;

/**
 * The name under which mail counts that may be forged in a person's name: apart from what the person
 * is known to have sent.
 */
export function countedWhenForged(person: string): string {
  return `forged ${person}`;
}

/** One message, as it counts. Of the texts only hashes are stored. */
export interface CountedMessage {
  readonly shopId: ShopId;
  /** The same whenever this message is counted again: it counts once. */
  readonly message: string;
  /** An address, a number: whatever is the same for all that one person sends. */
  readonly person: string;
  /** Absent on channels without threads. */
  readonly thread?: string;
  /** Absent when the body is too common to tell a machine. */
  readonly body?: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
}
