import { z } from 'zod';
import type { EntryMeta, MovedNotes } from '../spool/entry.ts';
import { RUNGS } from './compose.ts';

/** The maximum number of create-message requests per entry; probes not included. */
export const POST_BUDGET = 40;

const formSchema = z.array(z.enum(RUNGS)).readonly();
const notesSchema = z.object({
  /** Create-message requests so far; probes not included. */
  posts: z.number().default(0),
  /** A request may have arrived, also if the message was not listed since. */
  unanswered: z.boolean().default(false),
  /** It is not known whether the platform has the message: it is looked for before it is sent again. */
  lookFirst: z.boolean().default(false),
  /** An answer with nothing of a message but its id, which could not be read yet. */
  unread: z.object({ id: z.string(), form: z.string() }).optional(),
  /** Looks or reads in a row that failed. */
  looksFailed: z.number().default(0),
  /** The form of the ladder that an attempt did not finish because the platform failed. */
  form: formSchema.optional(),
  /** The forms that were refused, and the fields that refusals named. */
  forms: z.array(formSchema).default([]),
  named: z.array(z.string()).default([]),
  /** No form of the ladder is left to try. */
  climbed: z.boolean().default(false),
  /** By endpoint: how often the entry was forbidden (401, 403, …) while others were delivered. */
  forbidden: z
    .object({ messages: z.number(), media: z.number() })
    .default({ messages: 0, media: 0 }),
  /** How often its raw bytes were damaged when they were read. */
  damaged: z.number().default(0),
  /** Attempts that ended without evidence that the platform has the message. */
  unclear: z.number().default(0),
  /** The platform has the message; its conversation id is not known yet. */
  submitted: z.object({ id: z.string().optional(), late: z.array(z.string()) }).optional(),
  learning: z.number().default(0),
  /** The same payload was submitted again to learn its conversation id. */
  resubmitted: z.boolean().default(false),
  /** Number of 429 answers. */
  throttled: z.number().default(0),
  /** The entry has waited in a group of entries that were refused alike. */
  waitedAlike: z.boolean().default(false),
  /** What the entry's channel noted (`NotYet`). */
  channel: z.record(z.string(), z.unknown()).optional(),
  restarted: z.boolean().optional(),
  unended: z.boolean().optional(),
});
type Noted = Omit<z.output<typeof notesSchema>, keyof MovedNotes>;

/** An operator's retry forgets what was tried, but not what the platform has or may have. */
const begunAnew = ({ unanswered, lookFirst, unread, submitted, resubmitted }: Noted): Noted =>
  notesSchema.parse({ unanswered, lookFirst, unread, submitted, resubmitted });

/** State that one attempt stores for the next. Contains no text or addresses of the message. */
export class Notes {
  #value: Noted;
  #changed = false;

  constructor(stored: EntryMeta, isUnended = false) {
    const read = notesSchema.safeParse(stored);
    // Notes in another version's format are discarded; the entry itself is not affected.
    const { restarted, unended, ...noted } = read.success ? read.data : notesSchema.parse({});
    this.#value = restarted === true ? begunAnew(noted) : noted;
    if (isUnended || unended === true) this.set({ unanswered: true, lookFirst: true });
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

  /** Undefined when this attempt changed nothing. */
  get changed(): EntryMeta | undefined {
    return this.#changed ? this.#value : undefined;
  }
}
