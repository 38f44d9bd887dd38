import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import type { z } from 'zod';
import { ApiError, invalidRequest, unreadableBody, unsupportedBody } from '../api-error.ts';
import { LIMITS } from '../open-points.ts';

/** Carries an `ApiError` through Express's parser, which adds properties to thrown errors. */
class Refused extends Error {
  readonly answer: ApiError;
  constructor(answer: ApiError) {
    super(answer.message);
    this.answer = answer;
  }
}

const parse = express.json({
  limit: LIMITS.jsonMaxBytes,
  type: 'application/json',
  // JSON that is not an object is reported by the schema.
  strict: false,
  verify: (_request, _response, bytes, charset) => {
    // RFC 8259 §8.1. Decoding would silently replace invalid bytes by U+FFFD.
    if (charset !== 'utf-8') throw new Refused(unsupportedBody('expected the charset UTF-8'));
    if (!isUtf8(bytes)) throw new Refused(unreadableBody('expected UTF-8'));
  },
});

/** Reads a JSON body; 415 for another type, 413 above the limit, 400 for invalid JSON. */
export const jsonBody: readonly RequestHandler[] = [
  (request, _response, next) => {
    if (request.is('application/json') === 'application/json') {
      // Many programs write `utf8`; the parser accepts only the registered name.
      const type = request.headers['content-type'] ?? '';
      request.headers['content-type'] = type.replace(/(charset\s*=\s*"?)utf8\b/i, '$1utf-8');
      next();
    } else throw unsupportedBody('expected a body of type application/json');
  },
  parse,
];

/** The answer to an error of Express's parser; undefined for other errors. */
export function parserError(error: unknown): ApiError | undefined {
  if (error instanceof Refused) return error.answer;
  if (!(error instanceof Error) || !('type' in error)) return undefined;
  switch (error.type) {
    case 'entity.parse.failed':
      return unreadableBody(`expected JSON: ${error.message}`);
    case 'entity.too.large':
      return new ApiError(413, 'the body is too large', {
        body: `expected at most ${LIMITS.jsonMaxBytes} bytes`,
      });
    case 'charset.unsupported':
      return unsupportedBody('expected the charset UTF-8');
    case 'encoding.unsupported':
      return unsupportedBody('expected no content encoding, or gzip, deflate or br');
    case 'request.aborted':
    case 'request.size.invalid':
      return unreadableBody('broke off');
    default:
      return undefined;
  }
}

/**
 * Validates the input.
 * @throws {ApiError} 400 with every wrong field and what was expected of it
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const result = schema.safeParse(input, { error: expectation });
  if (result.success) return wellFormed(result.data);
  const fields = new Map<string, string>();
  for (const { path, message } of result.error.issues) {
    const field = path.join('.') || 'body';
    // Only the first error of a field; the others often follow from it.
    if (!fields.has(field)) fields.set(field, message);
  }
  throw invalidRequest(Object.fromEntries(fields));
}

/** The same with U+FFFD for each lone surrogate, for which the store would write three. */
function wellFormed<Value>(value: Value): Value {
  const read = (each: unknown): unknown => {
    if (typeof each === 'string') return each.toWellFormed();
    if (Array.isArray(each)) return each.map(read);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.entries(each).map(([key, field]) => [key.toWellFormed(), read(field)]),
    );
  };
  // Its strings alone differ.
  return read(value) as Value;
}

/** The message for an issue. A schema's own message takes precedence. */
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
};

const ofType = (expected: string) =>
  /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${TYPES[expected] ?? expected}`;

const TYPES: Readonly<Record<string, string>> = { record: 'map' };

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'an array' : ofType(typeof input);
}

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };
