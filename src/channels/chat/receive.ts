import * as z from 'zod/mini';
import { cleanName } from './visible-text.ts';
import type { HistoryRequest, MessageRequest, ProfileRequest, SeenRequest } from './events.ts';

/** What clients send is checked against these before anything is done with it. */

/** The size of `text` is checked apart: too much of it is `too_large`, not `invalid`. */
export const messageRequestSchema: Schema<MessageRequest> = z.object({
  id: z.guid(),
  text: z.string(),
  uploads: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(64)))),
});

const seq = z.int().check(z.nonnegative());

export const historyRequestSchema: Schema<HistoryRequest> = z.object({
  before: z.optional(seq),
  limit: z.optional(z.int().check(z.positive())),
});

export const seenRequestSchema: Schema<SeenRequest> = z.object({ seq });

export const profileRequestSchema: Schema<ProfileRequest> = z.object({
  name: z.optional(z.string().check(z.overwrite(cleanName), z.minLength(1), z.maxLength(200))),
  email: z.optional(
    z.string().check(z.trim(), z.maxLength(254), z.regex(/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/)),
  ),
});

/** A schema whose output is exactly what events.ts says. */
type Schema<Output> = z.ZodMiniType<Output>;
