import type TwilioSDK from 'twilio';
import type RequestClient from 'twilio/lib/base/RequestClient.js';
import { type ApiOptions, callProvider } from '../requests.ts';
import type { TwilioAccount } from './account.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

/**
 * All calls of Twilio's REST API: reconciliation, doctor checks and replies. The client of the
 * `twilio` package builds the requests and parses the responses; `callProvider` transfers the
 * bytes. The package's own transport would use HTTP_PROXY from the environment, does not limit a
 * response's size, and has credentials in its errors.
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

/** The part of the package's request options that REST API calls use. */
type ApiCall = Pick<
  RequestClient.RequestOptions<unknown>,
  'method' | 'uri' | 'username' | 'password' | 'headers' | 'params' | 'data'
>;

interface ApiAnswer {
  readonly statusCode: number;
  readonly body: unknown;
  readonly headers: object;
}

/** One call of the REST API. @throws {ProviderFailed} */
export type CallApi = (call: ApiCall) => Promise<ApiAnswer>;

export interface ApiCalls extends ApiOptions {
  /** Replaces `https://api.twilio.com`, for regions, proxies and tests. */
  readonly baseUrl?: string | undefined;
}

const API = 'https://api.twilio.com';

export function apiCalls({ baseUrl = API, ...options }: ApiCalls): CallApi {
  return async ({ method, uri, username, password, headers, params, data }) => {
    const { status, body } = await callProvider(
      {
        method,
        url: rebase(uri, baseUrl),
        credential: { username: username ?? '', password: password ?? '' },
        headers: { ...(headers as Record<string, string>) },
        params,
        data: typeof data === 'object' && data !== null ? formOf(data) : undefined,
      },
      options,
      codeIn,
    );
    return { statusCode: status, body, headers: {} };
  };
}

/** Twilio's error code, which is in the body of a refusal. */
function codeIn(body: object): string | undefined {
  if (!('code' in body)) return undefined;
  const { code } = body;
  return typeof code === 'number' || typeof code === 'string' ? String(code) : undefined;
}

type Parameter = string | null | undefined;

function formOf(data: object): URLSearchParams {
  const form = new URLSearchParams();
  // What the library passes; `append` makes a text of it.
  for (const [name, value] of Object.entries(data) as [string, Parameter | Parameter[]][]) {
    // A list is the same parameter several times.
    for (const each of [value].flat()) {
      if (each !== undefined && each !== null) form.append(name, each);
    }
  }
  return form;
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
  return origin + withoutEnd(base.pathname, /\//) + url.pathname + url.search;
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
