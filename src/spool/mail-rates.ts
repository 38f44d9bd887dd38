import type { ShopId } from '../types/ids.ts';

/** How much one person may send before it is taken for a loop of two machines. */
export interface MailLimits {
  /** More messages than this. */
  readonly per10min: number;
  readonly perHour: number;
  /** More messages of one thread than this. */
  readonly perThreadPer10min: number;
  /** The same body so often: the last of them is one too many. */
  readonly sameBodyPerHour: number;
}

export type MailLimit = keyof MailLimits;

/**
 * The name under which mail counts that may be forged in a person's name: apart from what the person
 * is known to have sent.
 */
export function countedWhenForged(person: string): string {
  return `forged ${person}`;
}

/** One message, as it counts. Of the texts only hashes are stored. */
export interface CountedMail {
  readonly shopId: ShopId;
  /** The same whenever this message is counted again: it counts once. */
  readonly message: string;
  readonly person: string;
  readonly thread: string;
  readonly body: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
}
