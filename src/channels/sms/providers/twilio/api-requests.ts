import { setTimeout as delay } from 'node:timers/promises';
import axios, { type AxiosResponse } from 'axios';
import pRetry from 'p-retry';
import type { Clock } from '../../../../runtime/clock.ts';
import { ApiFailed, failureOf } from './api-failed.ts';

const TWILIO = 'https://api.twilio.com';
const TIMEOUT_MS = 30_000;
/** A page of 1000 messages has some 1 to 6 MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A longer Retry-After ends the run; the next one waits for it. */
const LONGEST_WAIT_MS = 60_000;

/** How gently the API is asked; the defaults are for production. */
export interface ApiPace {
  /** Between two requests: four a second by default. */
  readonly gapMs?: number;
  /** One request is tried again so often, after 1, 2, 4 s or up to twice that. */
  readonly retries?: number;
  readonly minTimeoutMs?: number;
}

export interface ApiRequestsOptions extends ApiPace {
  /** In place of `https://api.twilio.com`; the only host that is ever asked. */
  readonly baseUrl?: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The part of `twilio`'s request options that a list uses. */
export interface ListRequest {
  readonly uri: string;
  readonly username?: string;
  readonly password?: string;
  readonly params?: object;
}

export interface ListAnswer {
  readonly statusCode: number;
  readonly body: unknown;
  readonly headers: object;
}

/**
 * The transport under `twilio`'s client, one request after the other. The package's own takes
 * HTTP_PROXY from the environment, has no cap, retries without regard to Retry-After, and its
 * errors carry the credentials.
 */
export class ApiRequests {
  readonly #options: ApiRequestsOptions;
  #earliest = 0;
  #clockAheadMs = 0;

  constructor(options: ApiRequestsOptions) {
    this.#options = options;
  }

  /** How far this machine's clock was ahead of Twilio's at most, by the answers' Date. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  /** @throws {ApiFailed} */
  async get(request: ListRequest): Promise<ListAnswer> {
    const { retries = 3, minTimeoutMs = 1000, signal } = this.#options;
    return pRetry(() => this.#try(request), {
      retries,
      minTimeout: minTimeoutMs,
      randomize: true,
      signal,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!isPassing(error) || retriesLeft === 0) return;
        await delay(error.retryAfterMs ?? 0, undefined, { signal });
      },
      shouldRetry: ({ error }) => isPassing(error),
    });
  }

  async #try({ uri, params = {}, username = '', password = '' }: ListRequest): Promise<ListAnswer> {
    const { clock, signal, gapMs = 250 } = this.#options;
    await delay(Math.max(this.#earliest - clock(), 0), undefined, { signal });
    this.#earliest = clock() + gapMs;
    let response: AxiosResponse<unknown>;
    try {
      response = await axios.get(this.#target(uri), {
        params,
        auth: { username, password },
        headers: { Accept: 'application/json' },
        maxRedirects: 0,
        proxy: false,
        maxContentLength: MAX_ANSWER_BYTES,
        validateStatus: () => true,
        // axios's own timeout does not fire on an answer that trickles.
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      // Not kept as the cause: an axios error carries the credentials.
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'network';
      throw new ApiFailed('later', code);
    }
    this.#readClock(header(response, 'date'), clock());
    const failure = failureOf(response.status, header(response, 'retry-after'), clock());
    if (failure !== undefined) throw failure;
    if (typeof response.data !== 'object') throw new ApiFailed('later', 'not-json');
    return { statusCode: response.status, body: response.data, headers: {} };
  }

  /** The path of what the client asks for, on the one host that may have the credentials. */
  #target(uri: string): string {
    const base = new URL(this.#options.baseUrl ?? TWILIO);
    const { pathname, search } = new URL(uri);
    return `${base.origin}${base.pathname.replace(/\/+$/, '')}${pathname}${search}`;
  }

  #readClock(date: string | undefined, now: number): void {
    const theirs = Date.parse(date ?? '');
    if (!Number.isNaN(theirs)) this.#clockAheadMs = Math.max(this.#clockAheadMs, now - theirs);
  }
}

const isPassing = (error: Error): error is ApiFailed =>
  error instanceof ApiFailed &&
  error.kind === 'later' &&
  (error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS;

function header(response: AxiosResponse, name: string): string | undefined {
  const value: unknown = response.headers[name];
  return typeof value === 'string' ? value : undefined;
}
