import { z } from 'zod';

/**
 * What went wrong with a call.
 *
 * | code | meaning |
 * | --- | --- |
 * | `network` | no answer: refused, reset, cut off half-way, name not found, TLS |
 * | `timeout` | the whole call took longer than allowed, however busily it trickled |
 * | `aborted` | the caller's signal |
 * | `not_json` | 2xx, and the body is not JSON (a maintenance page, a captive portal) |
 * | `unexpected` | 2xx, and the JSON is not what the document says |
 * | `too_large` | the answer is over the limit |
 * | `http` | any other status; see `status` |
 * | `invalid` | no request was made: what is asked for by its id has none |
 */
export type PlatformErrorCode =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'not_json'
  | 'unexpected'
  | 'too_large'
  | 'http'
  | 'invalid';

const ANSWER_MAX_CHARS = 500;
/** Statuses that say "not now" rather than "not this". */
const RETRYABLE_4XX: readonly number[] = [408, 425, 429];

interface PlatformErrorDetails {
  readonly code: PlatformErrorCode;
  readonly method: string;
  /** Without the query, which may hold an address. */
  readonly path: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly answer?: string | undefined;
}

/**
 * The one error that leaves the client. It never carries the key: an axios error, which prints
 * the Authorization header, is taken apart where it is caught.
 */
export class PlatformError extends Error {
  override name = 'PlatformError';
  readonly code: PlatformErrorCode;
  readonly path: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** True when the same request may succeed later; false when it is refused as it stands. */
  readonly retryable: boolean;
  readonly #answer: string | undefined;
  readonly #problem: Problem | undefined;

  constructor(details: PlatformErrorDetails, options?: ErrorOptions) {
    const { code, method, path, status, retryAfterMs, answer } = details;
    const what = code === 'http' ? '' : ` (${code})`;
    super(`${method} ${path}: ${status ?? 'no answer'}${what}`, options);
    this.code = code;
    this.path = path;
    if (status !== undefined) this.status = status;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    this.retryable =
      code !== 'invalid' &&
      (code !== 'http' || status === undefined || status >= 500 || RETRYABLE_4XX.includes(status));
    this.#answer = answer?.slice(0, ANSWER_MAX_CHARS);
    this.#problem = problemOf(answer);
  }

  /**
   * The beginning of the platform's own answer, for the operator's eyes. A getter over a private
   * field, so that printing or serializing the error leaves it out: it may quote the message.
   */
  get answer(): string | undefined {
    return this.#answer;
  }

  /** What it says is wrong with the request, when that could be read. Kept private likewise. */
  get problem(): Problem | undefined {
    return this.#problem;
  }
}

/** What the network said, without the request it was said about. */
export class TransportFailure extends Error {
  override name = 'TransportFailure';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The file to upload could not be read to its end: no fault of the platform's. */
export class MediaSourceError extends Error {
  override name = 'MediaSourceError';
}

/** What the platform says is wrong with a request. */
export interface Problem {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** The request's fields that it names, by their paths: `contact.email`. In this order, each once. */
  readonly named: readonly RequestField[];
  /** By the path of the field, `message.attachments.0`: what is wrong with it, where that is told. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields of create message (API §4.7) that an answer may name. */
const REQUEST_FIELDS = [
  'contact.email',
  'contact.name',
  'contact.phone',
  'conversation.id',
  'conversation.type',
  'conversation.agent_contact',
  'message.content',
  'message.format',
  'message.attachments',
  'message.remote_id',
  'message.timestamp',
  'message.email.subject',
  'message.email.in_reply_to',
  'message.email.references',
  'message.email.cc',
  'message.email.bcc',
] as const;
export type RequestField = (typeof REQUEST_FIELDS)[number];

/** More than any list of mistakes; a page of some proxy's is not worth parsing. */
const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 8;
const MAX_NODES = 2000;
const MAX_CODE_CHARS = 60;

/** Members whose value is the path of a field, in the error formats that are in use. */
const NAMING: readonly string[] = [
  'field',
  'path',
  'pointer',
  'loc',
  'param',
  'parameter',
  'property',
];
/** Tokens of a path that say where the request is, not what of it. */
const PLACES: readonly string[] = ['', 'body', 'request', 'data', 'attributes', '#'];

const ownSchema = z.object({
  error: z.object({
    code: z.string().optional(),
    message: z.string().optional(),
    fields: z.record(z.string(), z.string()).default({}),
  }),
});

/**
 * Reads the body of an error answer. Its form is not documented (API §7): the local platform's is
 * known (`{error: {code, message, fields}}`); of any other JSON, the fields of the request that it
 * names are looked for, as members (`{"contact": {"email": ["…"]}}`) and as paths (`field`,
 * `pointer`, `loc`). Undefined for what is no JSON object or array.
 */
export function problemOf(answer: string | undefined): Problem | undefined {
  if (answer === undefined || answer.length > MAX_CHARS || !/^\s*[[{]/.test(answer))
    return undefined;
  let body: unknown;
  try {
    body = JSON.parse(answer);
  } catch {
    return undefined;
  }
  const own = ownSchema.safeParse(body).data?.error;
  const code = wordOf(own?.code) ?? codeOf(body);
  return {
    ...(code !== undefined && { code }),
    ...(own?.message !== undefined && { message: own.message }),
    named: namedFields(body),
    fields: own?.fields ?? {},
  };
}

/** A short word, never a sentence: sentences may quote the message. */
function codeOf(body: unknown): string | undefined {
  const { code, type } = z
    .object({ code: z.unknown(), type: z.unknown() })
    .partial()
    .safeParse(body).data ?? { code: undefined, type: undefined };
  const found = [code, type].find(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  return found === undefined ? undefined : wordOf(String(found));
}

const wordOf = (text = ''): string | undefined =>
  text.length <= MAX_CODE_CHARS && /^[\w.:/-]+$/.test(text) ? text : undefined;

function namedFields(body: unknown): RequestField[] {
  const found = new Set<RequestField>();
  let nodes = 0;
  const name = (tokens: readonly string[]) => {
    const field = fieldAt(tokens);
    if (field !== undefined) found.add(field);
  };
  const walk = (node: unknown, at: readonly string[]): void => {
    nodes += 1;
    if (nodes > MAX_NODES || at.length > MAX_DEPTH || typeof node !== 'object' || node === null) {
      return;
    }
    for (const [key, value] of Object.entries(node)) {
      if (NAMING.includes(key)) name(tokensOf(value));
      const here = [...at, ...tokensOf(key)];
      // A lone `type` or `timestamp` is the error's own (RFC 9457), unless mistakes are listed there.
      if (here.length > 1 || (typeof value === 'object' && value !== null)) name(here);
      walk(value, here);
    }
  };
  walk(body, []);
  return [...found];
}

/** `contact.email`, `/contact/email`, `message[attachments][0]`, `["body", "contact", "email"]`. */
function tokensOf(path: unknown): string[] {
  const text = Array.isArray(path) ? path.join('.') : typeof path === 'string' ? path : '';
  if (text.length > 200) return [];
  return text
    .split(/[./[\]'"]+/)
    .filter((token) => !PLACES.includes(token) && !/^\d+$/.test(token));
}

/** The field that a path ends at or goes below; the last part alone is enough where it is clear. */
function fieldAt(tokens: readonly string[]): RequestField | undefined {
  const path = tokens.join('.');
  return (
    REQUEST_FIELDS.find((field) => `.${path}.`.includes(`.${field}.`)) ??
    (tokens.length === 1
      ? REQUEST_FIELDS.find((field) => field.endsWith(`.${path}`) && path !== 'id')
      : undefined)
  );
}
