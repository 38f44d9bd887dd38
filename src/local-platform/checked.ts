import type { z } from 'zod';
import { ApiError } from './api-error.ts';

/**
 * The input, checked.
 * @throws {ApiError} 400 with every field that is wrong, and what was expected of it
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const result = schema.safeParse(input, { error: expectation });
  if (result.success) return result.data;
  const fields = new Map<string, string>();
  for (const { path, message } of result.error.issues) {
    const field = path.join('.') || 'body';
    // The first mistake of a field; others often follow from it.
    if (!fields.has(field)) fields.set(field, message);
  }
  throw new ApiError(400, 'the request is not valid', Object.fromEntries(fields));
}

/** What was expected, in words. A schema's own words come before these. */
function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'required';
  if (issue.code === 'invalid_type') {
    return `expected ${ofType(issue.expected)}, not ${kindOf(issue.input)}`;
  }
  if (issue.code === 'invalid_format') return FORMATS[issue.format];
  if (issue.code === 'invalid_value') return `expected ${issue.values.map(String).join(' or ')}`;
  if (issue.code === 'too_big') {
    return `expected at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
  }
  if (issue.code === 'too_small' && issue.origin === 'string') return 'must not be empty';
  return undefined;
}

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'expected a uuid',
  datetime: 'expected an ISO 8601 date-time with Z or an offset, like 2026-04-21T09:30:00Z',
};

const ofType = (expected: string) =>
  /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${TYPES[expected] ?? expected}`;

const TYPES: Readonly<Record<string, string>> = { record: 'map' };

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'an array' : ofType(typeof input);
}

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };
