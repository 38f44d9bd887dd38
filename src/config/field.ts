import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';

/** How a mistake report describes a field. */
export interface FieldDescription {
  readonly expected: string;
  /** A correct value, as it would be written in the file. */
  readonly example: string;
  /** Never show the value. */
  readonly secret?: boolean;
  /** A value that is not one may be a secret in the wrong place: the other half of a pair. */
  readonly besideSecret?: boolean;
  /** The part of a secret that may be shown. */
  readonly shown?: (text: string) => string | undefined;
  /** The value that was probably meant. */
  readonly hint?: (text: string) => string | undefined;
  /** What to do instead of a value that is written into the field by mistake; it may be a secret. */
  readonly cure?: (text: string) => string | undefined;
}

export type Cures = readonly (readonly [of: RegExp, cure: string])[];

/** A value as it is written in a variable: without the quotes of YAML. */
export const unquoted = (text: string): string => text.replace(/^"(.*)"$/s, '$1');

/** An example for a variable; none for a secret, whose example is `${NAME}`. */
export const exampleInVariable = ({ example }: FieldDescription): string | undefined =>
  example.includes('${') ? undefined : unquoted(example);

/** The descriptions of all scalars of the schema. */
export const descriptions = z.registry<FieldDescription>();

/**
 * A scalar that is parsed from text; `parse` returns undefined for an invalid value.
 * @param cures of values that are not valid either, whatever `parse` returns
 */
export function field<T>(
  { cures = [], ...description }: FieldDescription & { readonly cures?: Cures },
  parse: (text: string) => T | undefined,
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  const cure = (text: string): string | undefined =>
    cures.find(([of]) => of.test(text.trim()))?.[1];
  return z
    .string()
    .transform((text, context): T => {
      const value = cure(text) === undefined ? parse(text) : undefined;
      if (value !== undefined) return value;
      context.issues.push({ code: 'custom', input: undefined, message: description.expected });
      return z.NEVER;
    })
    .register(descriptions, { ...description, cure });
}

/**
 * The option that was probably meant: the closest one with at most a third of its letters wrong.
 */
export function nearest(value: string, options: readonly string[]): string | undefined {
  if (options.length === 0) return undefined;
  const candidate = closest(
    value.toLowerCase(),
    options.map((option) => option.toLowerCase()),
  );
  const found = options.find((option) => option.toLowerCase() === candidate);
  const limit = Math.max(isReordered(value, candidate) ? 2 : 1, Math.round(candidate.length / 3));
  if (found !== undefined && distance(value.toLowerCase(), candidate) <= limit) return found;
  // One of its words: `privateKey`, `bottom-left`.
  const words = value.split(/[^A-Za-z0-9]+|(?=[A-Z])/).map((word) => word.toLowerCase());
  const named = options.find((option) => words.includes(option.toLowerCase()));
  if (named !== undefined) return named;
  // A longer or a shorter form of the same word.
  const begins = (long: string, short: string) => short.length > 2 && long.startsWith(short);
  return options.find(
    (option) =>
      begins(value.toLowerCase(), option.toLowerCase()) ||
      begins(option.toLowerCase(), value.toLowerCase()),
  );
}

const isReordered = (one: string, other: string): boolean =>
  Array.from(one.toLowerCase()).toSorted().join('') ===
  Array.from(other.toLowerCase()).toSorted().join('');
