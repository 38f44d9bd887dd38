import { z } from 'zod';

/**
 * The kind of a failed call.
 *
 * | code | meaning |
 * | --- | --- |
 * | `network` | no complete answer: connection refused or reset, unknown host, TLS failure |
 * | `timeout` | the whole call exceeded its time limit |
 * | `aborted` | the caller's signal was aborted |
 * | `not_json` | 2xx, but the body is not JSON (a maintenance page, a captive portal) |
 * | `unexpected` | 2xx, but the JSON does not match the documentation |
 * | `reports_error` | 2xx, but the JSON reports an error |
 * | `too_large` | the answer exceeds the limit |
 * | `http` | any other status; see `status` |
 * | `invalid` | no request was made, because the id is empty or not usable in a path |
 */
export type PlatformErrorCode =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'not_json'
  | 'unexpected'
  | 'reports_error'
  | 'too_large'
  | 'http'
  | 'invalid';

const ANSWER_MAX_CHARS = 500;
/** 4xx statuses that are temporary. */
const RETRYABLE_4XX: readonly number[] = [408, 425, 429];

interface PlatformErrorDetails {
  readonly code: PlatformErrorCode;
  readonly method: string;
  /** Without the query, which may contain an address. */
  readonly path: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly answer?: string | undefined;
}

/**
 * The error of all calls. It never contains the key: axios errors, which include the Authorization
 * header, are reduced to their code and message.
 */
export class PlatformError extends Error {
  override name = 'PlatformError';
  readonly code: PlatformErrorCode;
  readonly path: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Whether the same request may succeed later. */
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
    this.#answer = answer?.slice(0, ANSWER_MAX_CHARS);
    this.#problem = problemOf(answer);
    this.retryable = isRetryable(code, status, this.#problem);
  }

  /**
   * The beginning of the platform's answer, for operators. It may quote the message, so it is a getter
   * over a private field, which printing or serializing the error leaves out.
   */
  get answer(): string | undefined {
    return this.#answer;
  }

  /** The problem that the answer describes, if it could be parsed. Private for the same reason. */
  get problem(): Problem | undefined {
    return this.#problem;
  }
}

function isRetryable(
  code: PlatformErrorCode,
  status: number | undefined,
  problem: Problem | undefined,
): boolean {
  switch (code) {
    case 'invalid':
      return false;
    case 'reports_error':
      // As a 422 if it names fields of the request.
      return problem === undefined || problem.named.length === 0;
    case 'http':
      return status === undefined || status >= 500 || RETRYABLE_4XX.includes(status);
    case 'network':
    case 'timeout':
    case 'aborted':
    case 'not_json':
    case 'unexpected':
    case 'too_large':
      return true;
  }
}

/** The error of the network or of axios, without the request. */
export class TransportFailure extends Error {
  override name = 'TransportFailure';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The file to upload could not be read completely. */
export class MediaSourceError extends Error {
  override name = 'MediaSourceError';
}

/** A problem with a request, as described by the platform. */
export interface Problem {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** The paths of the request's fields that it names, such as `contact.email`, without duplicates. */
  readonly named: readonly RequestField[];
  /** The errors by the path of the field, such as `message.attachments.0`. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields of create message (API §4.7) that are looked for in an answer. */
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

/** Longer than any list of errors; a proxy's error page is not parsed. */
const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 8;
const MAX_NODES = 2000;
const MAX_CODE_CHARS = 60;

/** Members whose value is the path of a field, in common error formats. */
const PATH_MEMBERS: readonly string[] = [
  'field',
  'path',
  'pointer',
  'loc',
  'param',
  'parameter',
  'property',
];
/** Tokens of a path that refer to the request as a whole. */
const IGNORED_TOKENS: readonly string[] = ['', 'body', 'request', 'data', 'attributes', '#'];

const ownSchema = z.object({
  error: z.object({
    code: z.string().optional(),
    message: z.string().optional(),
    fields: z.record(z.string(), z.string()).default({}),
  }),
});

/**
 * Parses the body of an error answer. Its format is not documented (API §7). The local platform sends
 * `{error: {code, message, fields}}`; other JSON is searched for fields of the request, as members
 * (`{"contact": {"email": ["…"]}}`) and as paths (`field`, `pointer`, `loc`).
 * @returns undefined when the body is not a JSON object or array
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
  const code = tokenOf(own?.code) ?? codeOf(body);
  return {
    ...(code !== undefined && { code }),
    ...(own?.message !== undefined && { message: own.message }),
    named: namedFields(body),
    fields: own?.fields ?? {},
  };
}

/** The error's code, if it is a short token; a sentence may quote the message. */
function codeOf(body: unknown): string | undefined {
  const { code, type } = z
    .object({ code: z.unknown(), type: z.unknown() })
    .partial()
    .safeParse(body).data ?? { code: undefined, type: undefined };
  const found = [code, type].find(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  return found === undefined ? undefined : tokenOf(String(found));
}

const tokenOf = (text = ''): string | undefined =>
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
      if (PATH_MEMBERS.includes(key)) name(tokensOf(value));
      const here = [...at, ...tokensOf(key)];
      // A top-level `type` or `timestamp` with a plain value belongs to the error (RFC 9457).
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
    .filter((token) => !IGNORED_TOKENS.includes(token) && !/^\d+$/.test(token));
}

/** The field that a path contains; a single token also matches the last part of a field's path. */
function fieldAt(tokens: readonly string[]): RequestField | undefined {
  const path = tokens.join('.');
  return (
    REQUEST_FIELDS.find((field) => `.${path}.`.includes(`.${field}.`)) ??
    (tokens.length === 1
      ? REQUEST_FIELDS.find((field) => field.endsWith(`.${path}`) && path !== 'id')
      : undefined)
  );
}
