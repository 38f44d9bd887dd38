import type { z } from 'zod';
import { PlatformError } from './errors.ts';
import { type CreatedMessage, createdMessageSchema } from './resources.ts';
import type { Answer, Call } from './transport.ts';

const MAX_FORM_KEYS = 8;
/** A field name. Any other key may be personal data or a unique id. */
const FORM_KEY = /^[a-z][a-z_]{0,30}$/i;

/**
 * The JSON of a 2xx answer; undefined when there is no body. Any JSON without a sign of an error
 * counts as success, because the answer to a new message is not documented.
 * @throws {PlatformError} `http` for another status; `not_json` when the body is not JSON;
 *   `unexpected` when the answer to a POST reports an error
 */
export function accepted(call: Call, answer: Answer): unknown {
  if (answer.status < 200 || answer.status > 299) throw failure('http', call, answer);
  if (answer.text.trim() === '') return undefined;
  const body = json(answer.text);
  if (body === undefined) throw failure('not_json', call, answer);
  if (call.method === 'POST' && bodiesIn(body).some(reportsError)) {
    throw failure('unexpected', call, answer);
  }
  return body;
}

/** The body of an answer, and what it contains if it is an envelope. */
const bodiesIn = (body: unknown): readonly unknown[] =>
  typeof body === 'object' && body !== null
    ? [body, member(body, 'data'), member(body, 'message')]
    : [body];

/** Whether a body reports an error, whatever its status. A message has a `status` of its own. */
function reportsError(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const isSet = (value: unknown) =>
    typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : Boolean(value);
  return (
    ['error', 'errors'].some((name) => isSet(member(body, name))) ||
    ['ok', 'success'].some((name) => member(body, name) === false)
  );
}

/** The message in a 2xx answer, or the form of an answer without one. */
export function createdOf(body: unknown): { message: CreatedMessage } | { form: string } {
  if (body === undefined || body === null) return { form: 'empty' };
  if (typeof body !== 'object') return { form: typeof body };
  if (Array.isArray(body)) return { form: 'array' };
  for (const candidate of bodiesIn(body)) {
    const message = createdMessageSchema.safeParse(candidate).data;
    if (message?.id !== undefined) return { message };
  }
  const keys = Object.keys(body).filter((key) => FORM_KEY.test(key));
  return { form: keys.toSorted().slice(0, MAX_FORM_KEYS).join(' ') || 'object' };
}

const member = (body: object, name: string): unknown =>
  Object.entries(body).find(([key]) => key === name)?.[1];

/** The body of a 409 that contains the existing message, rather than an error with an id. */
export function existingMessage(call: Call, answer: Answer): object {
  const body = json(answer.text);
  const bodies = bodiesIn(body);
  if (typeof body === 'object' && body !== null && !bodies.some(reportsError)) {
    if (bodies.some(isMessage)) return body;
  }
  throw failure('http', call, answer);
}

function isMessage(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    'id' in body &&
    typeof body.id === 'string' &&
    ('conversation_id' in body || 'updated_at' in body)
  );
}

/** The resource in a 2xx answer. */
export function parsed<Schema extends z.ZodType>(
  call: Call,
  answer: Answer,
  schema: Schema,
): z.output<Schema> {
  const result = schema.safeParse(accepted(call, answer));
  if (!result.success) throw failure('unexpected', call, answer);
  return result.data;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failure(
  code: 'http' | 'not_json' | 'unexpected',
  { method, path }: Call,
  { status, text, retryAfterMs }: Answer,
): PlatformError {
  return new PlatformError({ code, method, path, status, retryAfterMs, answer: text });
}
