import { z } from 'zod';

/** What the platform says is wrong with a request. */
export interface Problem {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** By the path of the field, `message.attachments.0`: what is wrong with it. */
  readonly fields: Readonly<Record<string, string>>;
}

/** More than any list of mistakes; a page of some proxy's is not worth parsing. */
const MAX_CHARS = 64 * 1024;

const bodySchema = z.object({
  error: z.object({
    code: z.string().optional(),
    message: z.string().optional(),
    fields: z.record(z.string(), z.string()).default({}),
  }),
});

/**
 * Reads the body of an error answer. Its form is not documented (API §7); the one known is the
 * local platform's, `{error: {code, message, fields}}`. Undefined for any other.
 */
export function problemOf(answer: string | undefined): Problem | undefined {
  if (answer === undefined || answer.length > MAX_CHARS || !answer.startsWith('{'))
    return undefined;
  try {
    return bodySchema.safeParse(JSON.parse(answer)).data?.error;
  } catch {
    return undefined;
  }
}
