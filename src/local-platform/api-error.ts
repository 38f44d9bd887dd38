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

/** An answer that is an error, as the client gets it: `{error: {code, message, fields}}`. */
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

/**
 * The code of a system's or database's error ("ENOSPC", "SQLITE_FULL"), if it has one. Asked of
 * the property and not of the class: errors of native code need not be of this realm's `Error`.
 */
export function systemCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' && /^(?:E[A-Z]+$|SQLITE_)/.test(code) ? code : undefined;
}
