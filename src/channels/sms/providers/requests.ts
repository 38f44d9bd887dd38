import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import type { z } from 'zod';
import type { Clock } from '../../../runtime/clock.ts';
import { PrivateAddress } from '../../../runtime/ip-addresses.ts';
import { parseRetryAfter } from '../../../runtime/retry-after.ts';
import type { Credential } from '../provider.ts';
import { withoutEnd } from '../../../runtime/without-end.ts';

/** The requests of all providers: one transport, and one meaning of a failure. */

/**
 * A failed request to a provider. `message` is a short reason that may be logged. There is no
 * cause, because an axios error contains the credentials.
 */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed';
  /**
   * `later`: a retry may succeed. `credentials`: the provider refused ours. `never`: the same
   * request cannot succeed.
   */
  readonly kind: 'later' | 'credentials' | 'never';
  /** Of the provider's response; undefined without a usable one. */
  readonly status: number | undefined;
  /**
   * The provider's own error code. Without a response: ECONNREFUSED or similar, `timeout`, or
   * `not_json` if the response is not from the provider's API.
   */
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(
    kind: ProviderFailed['kind'],
    reason: string,
    detail: { status?: number; code?: string | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(reason);
    this.kind = kind;
    this.status = detail.status;
    this.code = detail.code;
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/**
 * The meaning of an unsuccessful status (RFC 9110 §15; Twilio, "Twilio's response" and "REST API:
 * errors"; Telnyx, "API errors"). Undefined for a success with a body.
 */
export function failureOf(
  status: number,
  retryAfter: string | undefined,
  now: number,
  code?: string,
): ProviderFailed | undefined {
  if (status >= 200 && status <= 202) return undefined;
  const reason = `http_${status}`;
  if (status === 401 || status === 403) {
    return new ProviderFailed('credentials', reason, { status, code });
  }
  const mayPass = status < 400 || [408, 425, 429].includes(status) || status >= 500;
  if (!mayPass) return new ProviderFailed('never', reason, { status, code });
  const retryAfterMs = parseRetryAfter(retryAfter, now);
  return new ProviderFailed('later', reason, { status, code, retryAfterMs });
}

export interface ProviderRequest {
  readonly method: string;
  readonly url: string;
  readonly credential?: Credential | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly params?: object | undefined;
  /** A form, or the members of a JSON object. */
  readonly data?: URLSearchParams | object | undefined;
  readonly responseType?: 'stream';
  /** Replaces the agent that connects to any address. */
  readonly httpsAgent?: https.Agent | undefined;
  readonly signal: AbortSignal;
}

// Without keep-alive, no socket outlives its request, so there is nothing to close.
const AGENTS = { httpAgent: new http.Agent(), httpsAgent: new https.Agent() };
/** A page of 1000 messages has about 1 to 6 MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Makes one request without following redirects. Resolves with a response of any status.
 * @throws {ProviderFailed} there was no response
 */
export async function requestProvider<Body>(
  request: ProviderRequest,
): Promise<AxiosResponse<Body>> {
  const { method, url, headers, params, data, signal, credential, responseType } = request;
  try {
    return await axios.request<Body>({
      ...{ method, url, params, data, signal },
      headers: { ...headers, ...bearerIn(credential) },
      ...AGENTS,
      ...(request.httpsAgent && { httpsAgent: request.httpsAgent }),
      ...(credential && 'username' in credential && { auth: { ...credential } }),
      // The reader of a stream limits its size as it arrives, so nothing may be decompressed
      // before.
      ...(responseType === 'stream'
        ? { responseType, decompress: false }
        : { maxContentLength: MAX_ANSWER_BYTES }),
      maxRedirects: 0,
      proxy: false,
      validateStatus: () => true,
    });
  } catch (error) {
    throw networkFailure(error);
  }
}

const bearerIn = (credential: Credential | undefined): Record<string, string> =>
  credential !== undefined && 'token' in credential
    ? { Authorization: `Bearer ${credential.token}` }
    : {};

/** The failure of a connection or of a stream. */
export function networkFailure(error: unknown): ProviderFailed {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof PrivateAddress) return new ProviderFailed('never', 'private_address');
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'network';
  return new ProviderFailed('later', code, { code });
}

export function header(response: AxiosResponse, name: string): string | undefined {
  const value: unknown = response.headers[name];
  return typeof value === 'string' ? value : undefined;
}

export interface ApiOptions {
  /** For a whole call, including reading the response. */
  readonly timeoutMs: number;
  readonly clock?: Clock;
  /** Ends calls in progress, which reject with its reason. */
  readonly signal?: AbortSignal;
  /** Called with the `Date` of each response. */
  readonly onDate?: (date: string | undefined) => void;
}

/**
 * One call of a provider's API, whose responses are JSON.
 * @param codeIn the provider's own error code in the body of a refusal
 * @throws {ProviderFailed}
 */
export async function callProvider(
  request: Omit<ProviderRequest, 'signal' | 'responseType' | 'httpsAgent'>,
  { timeoutMs, clock = Date.now, signal, onDate }: ApiOptions,
  codeIn: (body: object) => string | undefined,
): Promise<{ readonly status: number; readonly body: object }> {
  // axios's own timeout restarts with every byte, so a slow response would never end.
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: AxiosResponse<unknown>;
  try {
    response = await requestProvider<unknown>({
      ...request,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw new ProviderFailed('later', 'timeout', { code: 'timeout' });
    throw error;
  }
  onDate?.(header(response, 'date'));
  const { status, data } = response;
  const body = typeof data === 'object' && data !== null ? data : undefined;
  const retryAfter = header(response, 'retry-after');
  const failure = failureOf(status, retryAfter, clock(), body && codeIn(body));
  if (failure !== undefined) throw failure;
  // A captive portal's page with status 200 must not look like an empty list.
  if (body === undefined) throw new ProviderFailed('later', 'not_json', { code: 'not_json' });
  return { status, body };
}

/** Checks an answer of a provider's API. @throws {ProviderFailed} it is not what is documented */
export function readAnswer<T>(schema: z.ZodType<T>, answer: object): T {
  const { data } = schema.safeParse(answer);
  if (data === undefined) throw new ProviderFailed('later', 'unreadable', { code: 'unreadable' });
  return data;
}

/** A call of an API with Bearer tokens: the members of a JSON object are sent. */
export interface JsonCall {
  readonly method: 'GET' | 'POST';
  /** Of all calls, with or without a slash at its end. */
  readonly baseUrl: string;
  readonly path: string;
  readonly token: string;
  readonly data?: object | undefined;
  readonly params?: object | undefined;
}

/**
 * Makes one call, and resolves with the body of its answer.
 * @param codeIn the provider's own error code in the body of a refusal
 * @throws {ProviderFailed}
 */
export async function callJsonApi(
  { baseUrl, path, token, ...request }: JsonCall,
  options: ApiOptions,
  codeIn: (body: object) => string | undefined,
): Promise<object> {
  const url = withoutEnd(baseUrl, /\//) + path;
  const headers = { Accept: 'application/json' };
  const { body } = await callProvider(
    { ...request, url, credential: { token }, headers },
    options,
    codeIn,
  );
  return body;
}
