import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import type FormData from 'form-data';
import { parseRetryAfter } from '../runtime/retry-after.ts';
import { PlatformError, TransportFailure } from './errors.ts';

const SOCKETS = 32;

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

/**
 * One HTTP call by axios, and the only place that sees an axios error.
 * Redirects and proxies are off: either would hand the key to someone else.
 */
export class Transport {
  readonly #axios: AxiosInstance;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #observe: RequestObserver;

  constructor(options: {
    baseUrl: string;
    apiKey: string;
    shopId: string;
    maxAnswerBytes: number;
    pool: ConnectionPool;
    observe: RequestObserver;
  }) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
    this.#observe = options.observe;
    this.#axios = axios.create({
      adapter: 'http',
      httpAgent: options.pool.http,
      httpsAgent: options.pool.https,
      maxRedirects: 0,
      proxy: false,
      maxContentLength: options.maxAnswerBytes,
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
      const response = await this.#send(call, deadline.signal);
      outcome = String(response.status);
      return {
        status: response.status,
        text: response.data,
        retryAfterMs: parseRetryAfter(retryAfterHeader(response), Date.now()),
      };
    } catch (error) {
      const failure = this.#toPlatformError(call, error, deadline);
      outcome = failure.code;
      throw failure;
    } finally {
      deadline.clear();
      this.#observe(call.operation, outcome, (performance.now() - started) / 1000);
    }
  }

  async #send(call: Call, signal: AbortSignal): Promise<AxiosResponse<string>> {
    signal.throwIfAborted();
    const response = await this.#axios.request<string>({
      method: call.method,
      url: `${this.#baseUrl}${call.path}${call.query ? `?${call.query}` : ''}`,
      data: call.body,
      headers: { ...call.headers },
      signal,
    });
    // An answer that came before the body was sent (413) leaves the request open: nobody would
    // ever end it, and its socket can carry no other.
    const request: unknown = response.request;
    if (request instanceof http.ClientRequest && !request.writableFinished) request.destroy();
    return response;
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

/**
 * A time limit joined with the caller's signal. Its timer and listener are gone after `clear`:
 * `AbortSignal.any` would leave something on a caller's long-lived signal with every request.
 */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = () => this.#abort('aborted');
  #cause: 'timeout' | 'aborted' | undefined;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#abort('timeout'), timeoutMs);
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
