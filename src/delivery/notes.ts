import { z } from 'zod';
import type { EntryMeta } from '../spool/entry.ts';
import { RUNGS } from './ladder.ts';

/** Create-message requests for one entry in its life, probes aside. */
export const POST_BUDGET = 40;

const notesSchema = z.object({
  /** Create-message requests, probes aside. */
  posts: z.number().default(0),
  /** A request was not answered: the platform may have the message. */
  unanswered: z.boolean().default(false),
  /** An answer did not say that the message was taken, and it could not be looked for yet. */
  lookFirst: z.boolean().default(false),
  /** The rung of the ladder that has not been decided: the platform failed meanwhile. */
  rung: z.enum(RUNGS).optional(),
  /** The rungs that were tried in vain, and the fields that refusals named. */
  rungs: z.array(z.enum(RUNGS)).default([]),
  named: z.array(z.string()).default([]),
  /** The ladder has been climbed to its end. */
  climbed: z.boolean().default(false),
  /** Refusals of its text (401, 403, …) while others were delivered, by endpoint. */
  forbidden: z
    .object({ messages: z.number(), media: z.number() })
    .default({ messages: 0, media: 0 }),
  /** Tries that ended without evidence that the message was taken. */
  unclear: z.number().default(0),
  /** The platform has the message; where it went is still to be learned. */
  submitted: z.object({ id: z.string().optional(), late: z.array(z.string()) }).optional(),
  learning: z.number().default(0),
  /** The same payload was submitted once more, to learn its conversation. */
  resubmitted: z.boolean().default(false),
  /** How many answers were 429. */
  throttled: z.number().default(0),
  /** It has waited among others that were refused alike. */
  waitedAlike: z.boolean().default(false),
});
type Noted = z.output<typeof notesSchema>;

/** What one attempt notes for the next. Never a word of the message or of its sender. */
export class Notes {
  #value: Noted;
  #changed = false;

  constructor(stored: EntryMeta) {
    const read = notesSchema.safeParse(stored);
    // Notes of another version are lost; the entry is not.
    this.#value = read.success ? read.data : notesSchema.parse({});
  }

  get value(): Readonly<Noted> {
    return this.#value;
  }

  set(change: Partial<Noted>): void {
    this.#value = { ...this.#value, ...change };
    this.#changed = true;
  }

  get isSpent(): boolean {
    return this.#value.posts >= POST_BUDGET;
  }

  /** Undefined when nothing was noted in this attempt. */
  get changed(): EntryMeta | undefined {
    return this.#changed ? this.#value : undefined;
  }
}
