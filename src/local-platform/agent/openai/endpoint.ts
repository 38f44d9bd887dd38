import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Logger } from '../../../observability/logger.ts';
import { AgentUnavailable } from '../agent.ts';
import { BrokenStream, type Completion, CompletionBuilder } from './completion.ts';
import { parseRetryAfter } from '../../../runtime/retry-after.ts';

/** An endpoint that speaks the chat completions API of OpenAI. */
export interface EndpointOptions {
  /** Including `/v1`, if the endpoint has it. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string;
  /** An attempt fails after this long without any data; milliseconds. */
  readonly stallTimeoutMs: number;
  /** The delay before the second attempt, doubled before the third; milliseconds. */
  readonly retryFirstMs?: number;
}

interface CompletionRequest {
  readonly messages: ChatCompletionMessageParam[];
  readonly tools: ChatCompletionFunctionTool[];
}

const ATTEMPTS = 3;
const RETRY_FIRST_MS = 500;
/** A longer Retry-After is left to the caller: the message stays unanswered until then. */
const WAIT_MAX_MS = 10_000;
const BODY_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Requests streamed completions and returns only whole ones. Attempts that fail for a temporary
 * reason are repeated twice; a Retry-After is honoured up to 10 s.
 */
export class Endpoint {
  readonly #options: EndpointOptions;
  readonly #logger: Logger;

  constructor(options: EndpointOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  /**
   * @throws {AgentUnavailable}
   * @throws {RequestRefused}
   * @throws the signal's reason
   */
  async complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion> {
    const { retryFirstMs = RETRY_FIRST_MS } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AgentUnavailable)) throw error;
        if (!error.isTemporary) {
          this.#logger.error('agent.endpoint_refuses', { code: error.code, hint: hintOf(error) });
          throw error;
        }
        const backoffMs = retryFirstMs * 2 ** (attempt - 1) * (1 + Math.random() / 4);
        const delayMs = Math.round(Math.max(backoffMs, error.retryAfterMs ?? 0));
        if (attempt === ATTEMPTS || delayMs > WAIT_MAX_MS) throw error;
        this.#logger.warn('agent.endpoint_retry', { code: error.code, attempt, delayMs });
        await sleep(delayMs, undefined, { signal });
      }
    }
  }

  async #attempt(request: CompletionRequest, signal: AbortSignal): Promise<Completion> {
    const cut = new AbortController();
    const stall = setTimeout(() => cut.abort('stalled'), this.#options.stallTimeoutMs);
    const builder = new CompletionBuilder();
    try {
      const stream = await this.#client(() => stall.refresh()).chat.completions.create(
        { model: this.#options.model, ...request, stream: true },
        { signal: AbortSignal.any([signal, cut.signal]) },
      );
      for await (const chunk of stream) {
        builder.add(chunk);
        // Returning from the loop closes the connection.
        if (builder.isTooLong) return builder.end();
      }
      // The package ends the loop without an error when the request is aborted.
      signal.throwIfAborted();
      cut.signal.throwIfAborted();
      return builder.end();
    } catch (error) {
      signal.throwIfAborted();
      if (cut.signal.aborted) throw new AgentUnavailable('stalled');
      if (isOverlong(error)) return { kind: 'cut' };
      throw failureOf(error, Date.now());
    } finally {
      clearTimeout(stall);
    }
  }

  /**
   * The package's own retries are off, because they honour any Retry-After and cannot be aborted. Its
   * log is off, because it quotes data that it cannot parse. Settings from the environment are ignored.
   */
  #client(onBytes: () => void): OpenAI {
    const { baseUrl, apiKey } = this.#options;
    return new OpenAI({
      baseURL: baseUrl,
      apiKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: (url, init) => boundedFetch(url, { ...init, headers: headersFor(apiKey) }, onBytes),
    });
  }
}

function hintOf({ code }: AgentUnavailable): string {
  const isKey = ['http_401', 'http_402', 'http_403'].includes(code);
  return isKey
    ? 'check localPlatform.agent.apiKey, and the account behind it'
    : 'check localPlatform.agent.baseUrl and model';
}

/**
 * All request headers. They replace the package's own, which describe this machine and include those
 * of OPENAI_CUSTOM_HEADERS, possibly with another key.
 */
const headersFor = (apiKey: string): Readonly<Record<string, string>> => ({
  Accept: 'application/json',
  Authorization: `Bearer ${apiKey}`,
  'Content-Type': 'application/json',
  'User-Agent': 'sluice',
});

/** Follows no redirect, which would send the customer's text elsewhere, and limits the body. */
async function boundedFetch(
  url: string | URL | Request,
  init: RequestInit,
  onBytes: () => void,
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  onBytes();
  if (response.body === null) return response;
  let total = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onBytes();
        total += chunk.byteLength;
        if (total > BODY_MAX_BYTES) controller.error(new OverlongAnswer());
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

const isOverlong = (error: unknown): boolean =>
  error instanceof OverlongAnswer ||
  (error instanceof Error && error.cause instanceof OverlongAnswer);

/** The endpoint refused this request; another request may succeed. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
  readonly code: string;

  constructor(status: number, cause: unknown) {
    super('the endpoint refused the request', { cause });
    this.code = `http_${status}`;
  }
}

/** The answer exceeded `BODY_MAX_BYTES`. */
class OverlongAnswer extends Error {
  override name = 'OverlongAnswer';
}

/**
 * Classifies a failed request:
 *
 * | the endpoint's answer | the error |
 * | --- | --- |
 * | no connection, a broken or stalled stream, 408, 409, 425, 429, 5xx | `AgentUnavailable`, temporary |
 * | 401, 402, 403, 404, 405, 3xx: key, account, URL or model are wrong | `AgentUnavailable`, permanent |
 * | other 4xx | `RequestRefused` |
 *
 * @param nowMs milliseconds since the epoch, for a Retry-After that is a date
 */
export function failureOf(error: unknown, nowMs: number): Error {
  if (error instanceof APIConnectionError)
    return new AgentUnavailable('no_connection', bare(error));
  if (error instanceof APIError) {
    // Both are undefined when the error is an event of the stream, which the class does not declare.
    const { status, headers } = error as Pick<APIError, 'status' | 'headers'>;
    if (status !== undefined) return statusFailure(status, headers, error, nowMs);
  }
  if (error instanceof BrokenStream) return new AgentUnavailable('broken_stream', { cause: error });
  // An error event in the stream, invalid JSON, or an incomplete body.
  return new AgentUnavailable('broken_stream', bare(error));
}

function statusFailure(
  status: number,
  headers: Headers | undefined,
  error: unknown,
  nowMs: number,
): Error {
  const code = `http_${status}`;
  if (status >= 500 || [408, 409, 425, 429].includes(status)) {
    const retryAfterMs = parseRetryAfter(headers?.get('retry-after'), nowMs);
    return new AgentUnavailable(code, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  if (status < 400 || [401, 402, 403, 404, 405].includes(status)) {
    return new AgentUnavailable(code, { isTemporary: false });
  }
  return new RequestRefused(status, bare(error).cause);
}

/** Keeps the name and code only: the package's errors carry the answer's headers and text. */
function bare(error: unknown): { cause: Error } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const kind = new Error('the request failed');
  kind.name = cause instanceof Error ? cause.name : typeof cause;
  return { cause: code === undefined ? kind : Object.assign(kind, { code }) };
}
