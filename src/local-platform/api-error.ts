import { codeOf } from '../runtime/error-code.ts';

export type ApiStatus = 400 | 401 | 403 | 404 | 405 | 413 | 415 | 416 | 429 | 500 | 503;

const CODES: Readonly<Record<ApiStatus, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

export const ERROR_CODES = Object.values(CODES);

/** An error answer. Its body is `{error: {code, message, fields}}`. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: ApiStatus;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ApiStatus,
    message: string,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.fields = fields;
    this.headers = headers;
  }

  get body() {
    return {
      error: { code: CODES[this.status], message: this.message, fields: this.fields },
    };
  }
}

/** A 400 that names the wrong fields of the request, each with what was expected of it. */
export const invalidRequest = (fields: Readonly<Record<string, string>>) =>
  new ApiError(400, 'the request is not valid', fields);

/** A 400 for a body that cannot be read at all. */
export const unreadableBody = (reason: string) =>
  new ApiError(400, 'the body could not be read', { body: reason });

/** A 415. */
export const unsupportedBody = (expected: string) =>
  new ApiError(415, 'the type of the body is not supported', { body: expected });

/** Whether the operating system or SQLite reported the error ("ENOSPC", "SQLITE_FULL"). */
export const isSystemOrSqliteError = (error: unknown): boolean =>
  /^(?:E[A-Z]+$|SQLITE_)/.test(codeOf(error));
