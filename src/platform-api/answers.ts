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
 *   `reports_error` when the answer to a POST reports an error
 */
export function accepted(call: Call, answer: Answer): unknown {
  if (answer.status < 200 || answer.status > 299) throw failure('http', call, answer);
  if (answer.text.trim() === '') return undefined;
  const body = json(answer.text);
  if (body === undefined) throw failure('not_json', call, answer);
  if (call.method === 'POST' && bodiesIn(body).some(reportsError)) {
    throw failure('reports_error', call, answer);
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

/** What an answer to create message says. */
export interface Created {
  /** Set if the answer has an id, in an object or in one inside an envelope. */
  readonly message?: CreatedMessage;
  /**
   * The form of an answer that does not confirm the message, because it has no id or nothing of a
   * message but that: `empty`, a JSON type, or its keys (`ok`).
   */
  readonly form?: string;
}

/** One of them is in every message (API §2.2). */
const ALWAYS_GIVEN = ['conversation_id', 'ticket_id', 'contact_id', 'updated_at'];

/** Reads the body of a 2xx answer. */
export function createdOf(body: unknown): Created {
  if (body === undefined || body === null) return { form: 'empty' };
  if (typeof body !== 'object') return { form: typeof body };
  if (Array.isArray(body)) return { form: 'array' };
  const withId = bodiesIn(body).find(hasId);
  const message = withId && createdMessageSchema.parse(withId);
  if (message && isMessage(withId)) return { message };
  const keys = Object.keys(body).filter((key) => FORM_KEY.test(key));
  const form = keys.toSorted().slice(0, MAX_FORM_KEYS).join(' ') || 'object';
  return { form, ...(message && { message }) };
}

const member = (body: object, name: string): unknown =>
  Object.entries(body).find(([key]) => key === name)?.[1];

/**
 * The message in the body of a 409, and the answer as an error, which counts unless the message is ours.
 * @throws {PlatformError} there is none: an error may have an id, too
 */
export function existingMessage(
  call: Call,
  answer: Answer,
): { message: CreatedMessage; refusal: PlatformError } {
  const refusal = failure('http', call, answer);
  const bodies = bodiesIn(json(answer.text));
  const message = bodies.some(reportsError) ? undefined : bodies.find(isMessage);
  if (message === undefined) throw refusal;
  return { message: createdMessageSchema.parse(message), refusal };
}

const hasId = (body: unknown): body is { id: string | number } =>
  typeof body === 'object' &&
  body !== null &&
  'id' in body &&
  (typeof body.id === 'number' || (typeof body.id === 'string' && body.id !== ''));

const isMessage = (body: unknown): body is { id: string | number } =>
  hasId(body) && ALWAYS_GIVEN.some((name) => name in body);

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
  code: 'http' | 'not_json' | 'unexpected' | 'reports_error',
  { method, path }: Call,
  { status, text, retryAfterMs }: Answer,
): PlatformError {
  return new PlatformError({ code, method, path, status, retryAfterMs, answer: text });
}
