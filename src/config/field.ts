import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';

/** What a report says about a field that is wrong. */
export interface FieldDescription {
  readonly expected: string;
  /** A value that would be right, as it is written in the file. */
  readonly example: string;
  /** The value is never shown. */
  readonly secret?: boolean;
  /** What may be told of a secret. */
  readonly shown?: (text: string) => string | undefined;
  /** What was probably meant. */
  readonly hint?: (text: string) => string | undefined;
}

/** The description of every scalar of the schema. */
export const descriptions = z.registry<FieldDescription>();

/** A scalar: text in, a value out; `undefined` from `parse` is a mistake. */
export function field<T>(
  description: FieldDescription,
  parse: (text: string) => T | undefined,
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  return z
    .string()
    .transform((text, context): T => {
      const value = parse(text);
      if (value !== undefined) return value;
      context.issues.push({ code: 'custom', input: undefined, message: description.expected });
      return z.NEVER;
    })
    .register(descriptions, description);
}

/** The option that was probably meant: at most a third of its letters are wrong. */
export function nearest(value: string, options: readonly string[]): string | undefined {
  if (options.length === 0) return undefined;
  const candidate = closest(
    value.toLowerCase(),
    options.map((option) => option.toLowerCase()),
  );
  const found = options.find((option) => option.toLowerCase() === candidate);
  const limit = Math.max(2, Math.ceil((found?.length ?? 0) / 3));
  return found !== undefined && distance(value.toLowerCase(), candidate) <= limit
    ? found
    : undefined;
}
