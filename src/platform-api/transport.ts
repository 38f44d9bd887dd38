import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import type FormData from 'form-data';
import { parseRetryAfter } from '../runtime/retry-after.ts';
import { PlatformError, TransportFailure } from './errors.ts';

const SOCKETS = 32;
/** A page of 200 long emails has some megabytes; what is made is answered with itself alone. */
const MAX_ANSWER_BYTES = { GET: 64 * 1024 * 1024, POST: 1024 * 1024 } as const;

/** Called once per request with the operation's name, its status or error code, and its seconds. */
export type RequestObserver = (operation: string, status: string, seconds: number) => void;

export interface Call {
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  /** Below the base URL, without a query. */
  readonly path: string;
  readonly query?: string;
  readonly body?: string | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of any status, its body read whole. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/** The keep-alive sockets that any number of clients may share. */
export class ConnectionPool {
  readonly http: http.Agent;
  readonly https: https.Agent;

  constructor(maxSockets = SOCKETS) {
    const options = { keepAlive: true, maxSockets, scheduling: 'lifo' } as const;
    this.http = new http.Agent(options);
    this.https = new https.Agent(options);
  }

  close(): void {
    this.http.destroy();
    this.https.destroy();
  }
}

/** One HTTP request and its whole answer, of any status. Rejects with whatever went wrong. */
export type Send = (call: Call, signal: AbortSignal) => Promise<SentAnswer>;

interface SentAnswer {
  readonly status: number;
  readonly text: string;
  /** The `Retry-After` header as it came. */
  readonly retryAfter?: string | undefined;
}

/**
 * Requests by axios; with `Transport`, the only place that sees an axios error.
 * Redirects and proxies are off: either would hand the key to someone else.
 */
export function axiosSender(options: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly shopId: string;
  readonly maxAnswerBytes?: number | undefined;
  readonly pool: ConnectionPool;
}): Send {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const client = axios.create({
    adapter: 'http',
    httpAgent: options.pool.http,
    httpsAgent: options.pool.https,
    maxRedirects: 0,
    proxy: false,
    responseType: 'text',
    validateStatus: () => true,
    transformRequest: [(data: unknown) => data],
    transformResponse: [(data: unknown) => data],
    headers: {
      Accept: 'application/json',
      Authorization: `Bearer ${options.apiKey}`,
      'X-Shop-Id': options.shopId,
    },
  });
  return async (call, signal) => {
    const response = await client.request<string>({
      method: call.method,
      url: `${baseUrl}${call.path}${call.query ? `?${call.query}` : ''}`,
      data: call.body,
      headers: { ...call.headers },
      maxContentLength: options.maxAnswerBytes ?? MAX_ANSWER_BYTES[call.method],
      signal,
    });
    // An answer that came before the body was sent (413) leaves the request open: nobody would
    // ever end it, and its socket can carry no other.
    const request: unknown = response.request;
    if (request instanceof http.ClientRequest && !request.writableFinished) request.destroy();
    return { status: response.status, text: response.data, retryAfter: retryAfterHeader(response) };
  };
}

/** Calls with one deadline each, and one kind of error. */
export class Transport {
  readonly #send: Send;
  readonly #apiKey: string;
  readonly #observe: RequestObserver;

  constructor(options: { send: Send; apiKey: string; observe: RequestObserver }) {
    this.#send = options.send;
    this.#apiKey = options.apiKey;
    this.#observe = options.observe;
  }

  /**
   * Answers with any status. One deadline spans the whole call, because axios's own `timeout` is
   * reset by every byte that trickles in.
   * @throws {PlatformError} `network`, `timeout`, `aborted` or `too_large`
   */
  async call(call: Call): Promise<Answer> {
    const deadline = new Deadline(call.timeoutMs, call.signal);
    const started = performance.now();
    let outcome = 'network';
    try {
      deadline.signal.throwIfAborted();
      const { status, text, retryAfter } = await this.#send(call, deadline.signal);
      outcome = String(status);
      return { status, text, retryAfterMs: parseRetryAfter(retryAfter, Date.now()) };
    } catch (error) {
      const failure = this.#toPlatformError(call, error, deadline);
      outcome = failure.code;
      throw failure;
    } finally {
      deadline.clear();
      this.#observe(call.operation, outcome, (performance.now() - started) / 1000);
    }
  }

  #toPlatformError(call: Call, error: unknown, deadline: Deadline): PlatformError {
    const code = deadline.cause ?? (isTooLarge(error) ? 'too_large' : 'network');
    return new PlatformError(
      { code, method: call.method, path: call.path },
      { cause: this.#withoutRequest(error) },
    );
  }

  #withoutRequest(error: unknown): TransportFailure {
    if (!(error instanceof Error)) return new TransportFailure('UNKNOWN', 'unknown failure');
    const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
    const message = error.message.replaceAll(this.#apiKey, '[key]').slice(0, 200);
    return new TransportFailure(code, message);
  }
}

/** axios has one code for both: an answer cut off half-way has a response, one too large has not. */
function isTooLarge(error: unknown): boolean {
  return (
    axios.isAxiosError(error) && error.code === 'ERR_BAD_RESPONSE' && error.response === undefined
  );
}

function retryAfterHeader(response: AxiosResponse): string | undefined {
  const value: unknown = response.headers['retry-after'];
  return typeof value === 'string' ? value : undefined;
}

/** A timer that fires later than this was held up with the whole process. */
const HELD_UP_MS = 1000;
/** Then the answer may be waiting in the socket, and gets a moment to be read. */
const MOMENT_MS = 2000;

/**
 * A time limit joined with the caller's signal. Its timer and listener are gone after `clear`:
 * `AbortSignal.any` would leave something on a caller's long-lived signal with every request.
 *
 * After a pause of the whole process (SIGSTOP, a frozen container) timers fire before sockets are
 * read: without the moment that follows, everything in flight would be requested again.
 */
class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = () => this.#abort('aborted');
  #timer: NodeJS.Timeout;
  #cause: 'timeout' | 'aborted' | undefined;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    const dueAt = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => {
      if (performance.now() - dueAt < HELD_UP_MS) this.#abort('timeout');
      else this.#timer = setTimeout(() => this.#abort('timeout'), MOMENT_MS);
    }, timeoutMs);
    this.#outer = outer;
    if (outer?.aborted) this.#abort('aborted');
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call was cut short, if it was. */
  get cause(): 'timeout' | 'aborted' | undefined {
    return this.#cause;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuterAbort);
  }

  #abort(cause: 'timeout' | 'aborted'): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }
}
