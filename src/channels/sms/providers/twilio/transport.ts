import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import type TwilioSDK from 'twilio';
import type RequestClient from 'twilio/lib/base/RequestClient.js';
import type { Clock } from '../../../../runtime/clock.ts';
import { PrivateAddress } from '../../../../runtime/ip-addresses.ts';
import { parseRetryAfter } from '../../../../runtime/retry-after.ts';
import type { TwilioAccount } from '../../shop.ts';

/**
 * All calls of Twilio: media, reconciliation, doctor checks and replies. The client of the `twilio`
 * package builds the requests of the REST API and parses the responses; `requestTwilio` transfers
 * the bytes. The package's own transport would use HTTP_PROXY from the environment, does not limit
 * a response's size, and has credentials in its errors.
 */

/** A credential, by its name in the configuration. */
export interface Credential {
  readonly name: 'apiKeySid' | `authTokens[${number}]`;
  /** User name and password of Basic authentication. */
  readonly username: string;
  readonly password: string;
}

/**
 * All configured credentials; calls use the first. An API key comes before the auth tokens; without
 * one, the current token works as well (Twilio, "Authentication").
 */
export function credentialsOf(account: TwilioAccount): Credential[] {
  const { accountSid, apiKeySid, apiKeySecret } = account;
  const tokens = account.authTokens.map((token, index) => ({
    name: `authTokens[${index}]` as const,
    username: accountSid,
    password: token,
  }));
  if (apiKeySid === undefined || apiKeySecret === undefined) return tokens;
  return [{ name: 'apiKeySid', username: apiKeySid, password: apiKeySecret }, ...tokens];
}

/**
 * A failed request to Twilio. `message` is a short reason that may be logged. There is no cause,
 * because an axios error contains the credentials.
 */
export class TwilioFailed extends Error {
  override name = 'TwilioFailed';
  /**
   * `later`: a retry may succeed. `credentials`: Twilio refused ours. `never`: the same request
   * cannot succeed.
   */
  readonly kind: 'later' | 'credentials' | 'never';
  /** Of Twilio's response; undefined without a usable one. */
  readonly status: number | undefined;
  /**
   * Twilio's own error code. Without a response: ECONNREFUSED or similar, `timeout`, or `not_json`
   * if the response is not from Twilio's API.
   */
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(
    kind: TwilioFailed['kind'],
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
 * The meaning of an unsuccessful status (Twilio, "Twilio's response" and "REST API: errors").
 * Undefined for a success with a body.
 */
export function failureOf(
  status: number,
  retryAfter: string | undefined,
  now: number,
  code?: string,
): TwilioFailed | undefined {
  if (status >= 200 && status <= 202) return undefined;
  const reason = `http_${status}`;
  if (status === 401 || status === 403) {
    return new TwilioFailed('credentials', reason, { status, code });
  }
  const mayPass = status < 400 || [408, 425, 429].includes(status) || status >= 500;
  if (!mayPass) return new TwilioFailed('never', reason, { status, code });
  const retryAfterMs = parseRetryAfter(retryAfter, now);
  return new TwilioFailed('later', reason, { status, code, retryAfterMs });
}

export interface TwilioRequest {
  readonly method: string;
  readonly url: string;
  readonly credential?: Pick<Credential, 'username' | 'password'> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly params?: object | undefined;
  /** The form of a POST. */
  readonly form?: URLSearchParams | undefined;
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
 * @throws {TwilioFailed} there was no response
 */
export async function requestTwilio<Body>(request: TwilioRequest): Promise<AxiosResponse<Body>> {
  const { method, url, headers, params, form, signal, credential, responseType } = request;
  try {
    return await axios.request<Body>({
      ...{ method, url, headers, params, data: form, signal },
      ...AGENTS,
      ...(request.httpsAgent && { httpsAgent: request.httpsAgent }),
      ...(credential && { auth: { ...credential } }),
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

/** The failure of a connection or of a stream. */
export function networkFailure(error: unknown): TwilioFailed {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof PrivateAddress) return new TwilioFailed('never', 'private_address');
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'network';
  return new TwilioFailed('later', code, { code });
}

export function header(response: AxiosResponse, name: string): string | undefined {
  const value: unknown = response.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The part of the package's request options that REST API calls use. */
export type ApiCall = Pick<
  RequestClient.RequestOptions<unknown>,
  'method' | 'uri' | 'username' | 'password' | 'headers' | 'params' | 'data'
>;

export interface ApiAnswer {
  readonly statusCode: number;
  readonly body: unknown;
  readonly headers: object;
}

/** One call of the REST API. @throws {TwilioFailed} */
export type CallApi = (call: ApiCall) => Promise<ApiAnswer>;

export interface ApiOptions {
  /** Replaces `https://api.twilio.com`, for regions, proxies and tests. */
  readonly baseUrl?: string | undefined;
  /** For a whole call, including reading the response. */
  readonly timeoutMs: number;
  readonly clock?: Clock;
  /** Ends calls in progress, which reject with its reason. */
  readonly signal?: AbortSignal;
  /** Called with the `Date` of each response. */
  readonly onDate?: (date: string | undefined) => void;
}

const API = 'https://api.twilio.com';

export function apiCalls(options: ApiOptions): CallApi {
  const { baseUrl = API, timeoutMs, clock = Date.now, signal, onDate } = options;
  return async ({ method, uri, username, password, headers, params, data }) => {
    // axios's own timeout restarts with every byte, so a slow response would never end.
    const timeout = AbortSignal.timeout(timeoutMs);
    let response: AxiosResponse<unknown>;
    try {
      response = await requestTwilio<unknown>({
        method,
        url: rebase(uri, baseUrl),
        credential: { username: username ?? '', password: password ?? '' },
        headers: { ...(headers as Record<string, string>) },
        params,
        form: typeof data === 'object' && data !== null ? formOf(data) : undefined,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new TwilioFailed('later', 'timeout', { code: 'timeout' });
      throw error;
    }
    onDate?.(header(response, 'date'));
    const { status, data: body } = response;
    const failure = failureOf(status, header(response, 'retry-after'), clock(), codeIn(body));
    if (failure !== undefined) throw failure;
    // A captive portal's page with status 200 must not look like an empty list.
    if (typeof body !== 'object' || body === null) {
      throw new TwilioFailed('later', 'not_json', { code: 'not_json' });
    }
    return { statusCode: status, body, headers: {} };
  };
}

/** Twilio's error code, which is in the body of a refusal. */
function codeIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('code' in body)) return undefined;
  const { code } = body;
  return typeof code === 'number' || typeof code === 'string' ? String(code) : undefined;
}

function formOf(data: object): URLSearchParams {
  const pairs = Object.entries(data).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
}

/**
 * The URL of a call at another base: `api.dublin.ie1.twilio.com` has a corresponding
 * `messaging.dublin.ie1`; any other base serves all of Twilio's hosts, whose paths do not overlap.
 */
export function rebase(uri: string, baseUrl: string): string {
  const url = new URL(uri);
  const base = new URL(baseUrl);
  const [, place] = /^api((?:[.][a-z0-9-]+)*[.]twilio[.]com)$/.exec(base.hostname) ?? [];
  const [product = ''] = url.hostname.split('.', 1);
  const origin = place === undefined ? base.origin : `${base.protocol}//${product}${place}`;
  return origin + base.pathname.replace(/\/+$/, '') + url.pathname + url.search;
}

/**
 * Twilio's own client of its REST API. It is loaded here rather than at the start, because its root
 * takes a third of a second. Its calls reject with the errors of `call`. Environment variables such
 * as TWILIO_REGION have no effect.
 */
export async function connectTwilio(
  accountSid: string,
  { username, password }: Credential,
  call: CallApi,
): Promise<TwilioSDK.Twilio> {
  const { default: sdk } = await import('twilio');
  // The client uses no other member of it (BaseTwilio.request, Version.request).
  const httpClient = { request: call } as unknown as RequestClient;
  return sdk(username, password, { accountSid, edge: '', region: '', logLevel: '', httpClient });
}
