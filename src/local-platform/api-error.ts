import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

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

const STATUS: Readonly<Record<string, [status: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'too_large',
    'the headers and the query are larger than 64 KiB',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'invalid',
    'the request did not arrive in time',
  ],
};

/**
 * Answers what Node cannot read as a request, in the form of any other error: above all a query
 * that is too long, such as a filter with a thousand ids.
 */
export function refuseUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, code, message] = STATUS[error.code ?? ''] ?? [
      '400 Bad Request',
      'invalid',
      'the request is not HTTP',
    ];
    const body = JSON.stringify({ error: { code, message, fields: {} } });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
