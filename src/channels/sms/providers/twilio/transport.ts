import https from 'node:https';
import type TwilioSDK from 'twilio';
import type RequestClient from 'twilio/lib/base/RequestClient.js';

/** Who calls, and where. */
export interface TwilioApiOptions {
  readonly accountSid: string;
  /** An API key's SID and secret, or the account's SID and an auth token. */
  readonly username: string;
  readonly password: string;
  /** In place of `https://api.twilio.com`, for regions, proxies and tests. */
  readonly baseUrl?: string;
  /** For a whole call, reading the answer included. */
  readonly timeoutMs: number;
}

/** A call without a usable answer. Carries no credentials: an axios error would. */
export class TwilioUnreachable extends Error {
  override name = 'TwilioUnreachable';
  /** ECONNREFUSED and its like, `timeout`, or `unexpected` for what is not Twilio's JSON. */
  readonly code: string;
  constructor(code: string) {
    super(`Twilio did not answer: ${code}`);
    this.code = code;
  }
}

/** The status with which Twilio refused a call; undefined for any other error. */
export function refusedStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : undefined;
}

/**
 * Twilio's own client of its REST API. It is loaded here and not at start: its root takes a third
 * of a second. Its calls reject with TwilioUnreachable, or with an error that has the `status` of
 * Twilio's refusal. The environment's TWILIO_REGION and such change nothing.
 */
export async function connectTwilio(options: TwilioApiOptions): Promise<TwilioSDK.Twilio> {
  const { default: sdk } = await import('twilio');
  const { accountSid, username, password, timeoutMs, baseUrl = API } = options;
  return sdk(username, password, {
    accountSid,
    edge: '',
    region: '',
    logLevel: '',
    httpClient: requestClient(sdk, baseUrl, timeoutMs),
  });
}

const API = 'https://api.twilio.com';
/** A page of 1000 numbers has some 1.5 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

function requestClient(sdk: typeof TwilioSDK, baseUrl: string, timeoutMs: number): RequestClient {
  class Redirected extends sdk.RequestClient {
    override async request<Data>(call: RequestClient.RequestOptions<Data>) {
      const sent = super.request<Data>({ ...call, uri: rebase(call.uri, baseUrl) });
      const answer = await within(sent, timeoutMs);
      // A captive portal's page with status 200 must not look like an empty list.
      const isJson = typeof answer.body === 'object' && answer.body !== null;
      if (answer.statusCode < 300 && !isJson) throw new TwilioUnreachable('unexpected');
      return answer;
    }
  }
  const client = new Redirected({ timeout: timeoutMs, keepAlive: false });
  // As everywhere else: no proxy of the environment is handed the credentials, and an answer ends.
  client.axios.defaults.httpsAgent = new https.Agent();
  client.axios.defaults.maxContentLength = MAX_ANSWER_BYTES;
  return client;
}

/**
 * The URL of a call on another base: `api.dublin.ie1.twilio.com` has a `messaging.dublin.ie1`
 * beside it; any other base serves all of Twilio's hosts, whose paths are apart.
 */
export function rebase(uri: string, baseUrl: string): string {
  const url = new URL(uri);
  const base = new URL(baseUrl);
  const [, place] = /^api((?:[.][a-z0-9-]+)*[.]twilio[.]com)$/.exec(base.hostname) ?? [];
  const [product = ''] = url.hostname.split('.', 1);
  const origin = place === undefined ? base.origin : `${base.protocol}//${product}${place}`;
  return origin + base.pathname.replace(/\/+$/, '') + url.pathname + url.search;
}

/** axios counts from byte to byte, so that a trickle would never end. */
async function within<T>(call: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TwilioUnreachable('timeout')), ms);
  });
  try {
    return await Promise.race([call, late]);
  } catch (error) {
    if (error instanceof TwilioUnreachable) throw error;
    // Not kept as the cause: an axios error carries the credentials.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'network';
    throw new TwilioUnreachable(code === 'ECONNABORTED' ? 'timeout' : code);
  } finally {
    clearTimeout(timer);
  }
}
