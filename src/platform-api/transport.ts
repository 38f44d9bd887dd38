import type { Readable } from 'node:stream';
import { Axios, type AxiosResponse } from 'axios';
import { Agent } from 'undici';
import { codeOf } from '../runtime/error-code.ts';
import { parseRetryAfter } from '../runtime/retry-after.ts';
import { PlatformError, TransportFailure } from './errors.ts';
import { AnswerTooLarge, undiciAdapter } from './undici-adapter.ts';
import { withoutEnd } from '../runtime/without-end.ts';

const SOCKETS = 32;
/** Shorter than that of common servers, unless they say theirs (`Keep-Alive: timeout=`). */
const KEEP_ALIVE_MS = 30_000;
/** A page of 200 long emails has several megabytes; a created resource is one object. */
const MAX_ANSWER_BYTES = { GET: 64 * 1024 * 1024, POST: 1024 * 1024 } as const;

/** Lists of long messages are several megabytes; answers to posts are short. */
const READS = { 'accept-encoding': 'gzip' };

/** Called once per request with the operation, its status or error code, and its duration. */
export type RequestObserver = (operation: string, status: string, seconds: number) => void;

export interface Call {
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  /** Relative to the base URL, without the query. */
  readonly path: string;
  readonly query?: string;
  readonly body?: string | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of any status, with its whole body. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/** Keep-alive sockets, which several clients can share. */
export class ConnectionPool {
  readonly agent: Agent;

  /** @param maxSockets per server */
  constructor(maxSockets = SOCKETS) {
    this.agent = new Agent({
      connections: maxSockets === Infinity ? null : maxSockets,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  close(): void {
    // It rejects the requests in flight, each of which has a caller.
    void this.agent.destroy();
  }
}

/** Makes one HTTP request and returns the response, whatever its status; may reject with any error. */
export type Send = (call: Call, signal: AbortSignal) => Promise<SentAnswer>;

interface SentAnswer {
  readonly status: number;
  readonly text: string;
  /** The raw `Retry-After` header. */
  readonly retryAfter?: string | undefined;
}

/** Makes requests with axios. */
export function axiosSender(options: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly shopId: string;
  readonly maxAnswerBytes?: number | undefined;
  readonly pool: ConnectionPool;
}): Send {
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = withoutEnd(pathname, /\//);
  const headers = {
    accept: 'application/json',
    'user-agent': 'sluice',
    authorization: `Bearer ${options.apiKey}`,
    'x-shop-id': options.shopId,
  };
  // Without axios's defaults, which each request would be merged with and none needs.
  const client = new Axios({ adapter: undiciAdapter(options.pool.agent, origin, headers) });
  return async (call, signal) => {
    const response = await client.request<string>({
      method: call.method,
      url: `${basePath}${call.path}${call.query ? `?${call.query}` : ''}`,
      data: call.body,
      headers: call.headers ?? READS,
      maxContentLength: options.maxAnswerBytes ?? MAX_ANSWER_BYTES[call.method],
      signal,
    });
    return { status: response.status, text: response.data, retryAfter: retryAfterHeader(response) };
  };
}

/** Makes calls with a deadline, and turns their errors into `PlatformError`. */
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
   * Resolves with an answer of any status. One deadline covers the whole call.
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
    const code = deadline.cause ?? (error instanceof AnswerTooLarge ? 'too_large' : 'network');
    return new PlatformError(
      { code, method: call.method, path: call.path },
      { cause: this.#withoutRequest(error) },
    );
  }

  #withoutRequest(error: unknown): TransportFailure {
    if (!(error instanceof Error)) return new TransportFailure('UNKNOWN', 'unknown failure');
    const code = codeOf(error) || error.name;
    // undici's own word for it.
    if (code === 'UND_ERR_SOCKET') {
      return new TransportFailure('ECONNRESET', 'the connection was closed');
    }
    const message = error.message.replaceAll(this.#apiKey, '[key]').slice(0, 200);
    return new TransportFailure(code, message);
  }
}

function retryAfterHeader(response: AxiosResponse): string | undefined {
  const value: unknown = response.headers['retry-after'];
  return typeof value === 'string' ? value : undefined;
}

/** A timer that fires later than this was delayed because the process was suspended. */
const LATE_TIMER_MS = 1000;
/** The answer may then be in the socket already; this is the time to read it. */
const READ_GRACE_MS = 2000;

/**
 * A time limit combined with the caller's signal. `clear` removes its timer and listener;
 * `AbortSignal.any` would add a dependent to a long-lived signal with every request.
 *
 * After a suspension of the process (SIGSTOP, a frozen container) timers fire before sockets are read:
 * without the grace period, all requests in flight would time out and be repeated.
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
      if (performance.now() - dueAt < LATE_TIMER_MS) this.#abort('timeout');
      else this.#timer = setTimeout(() => this.#abort('timeout'), READ_GRACE_MS);
    }, timeoutMs);
    this.#outer = outer;
    if (outer?.aborted) this.#abort('aborted');
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call was aborted, if it was. */
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
