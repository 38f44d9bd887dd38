import { createWriteStream } from 'node:fs';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AxiosResponse } from 'axios';
import type { Clock } from '../../../../runtime/clock.ts';
import { createPublicLookup } from '../../../../runtime/ip-addresses.ts';
import type { TwilioAccount } from '../../shop.ts';
import {
  type Credential,
  credentialsOf,
  failureOf,
  header,
  networkFailure,
  requestTwilio,
  TwilioFailed,
} from './transport.ts';

const MEDIA_SID = /^ME[0-9a-fA-F]{32}$/;
/** `api.twilio.com`, or with an edge and a region: `api.dublin.ie1.twilio.com`. */
const API_HOST = /^api(\.[a-z0-9-]{1,32}){0,2}\.twilio\.com$/;
const TWILIO_HOST = /^([a-z0-9-]{1,63}\.)*(twilio\.com|twiliocdn\.com)$/;
/** Bucket names are unique in all of S3, and this one belongs to Twilio. */
const BUCKET = 'media.twiliocdn.com';
/**
 * S3's own endpoints, and no other service of that domain: customers choose the beginning of a load
 * balancer's host name (Amazon S3 endpoints and quotas).
 */
const S3_HOST =
  /^s3(-external-1|[.-](dualstack\.)?[a-z]{2}(-[a-z]{2,12}){1,2}-\d{1,2})?\.amazonaws\.com$/;

/** An allowed target of a request. */
export interface MediaTarget {
  readonly url: URL;
  /** The host is configured, so its address may be private. */
  readonly trusted: boolean;
}

export interface MediaReference {
  readonly mediaSid: string;
  readonly target: MediaTarget;
}

/**
 * Parses a MediaUrl. Credentials are sent to it, so it must be a URL of Twilio's API for a medium
 * of this message: a path of another account or message, a query, another host or port returns
 * undefined. If a base URL is configured, the path is requested there instead.
 */
export function readMediaUrl(
  value: string,
  message: { readonly accountSid: string; readonly messageSid: string },
  account: Pick<TwilioAccount, 'apiBaseUrl'>,
): MediaReference | undefined {
  if (value.length > 2048 || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const base = proxyOf(account);
  if (url.origin !== base?.origin && !isTwilioApi(url)) return undefined;
  const folder = `/2010-04-01/Accounts/${message.accountSid}/Messages/${message.messageSid}/Media/`;
  const mediaSid = url.pathname.slice(folder.length);
  // Compares the raw URL rather than the parsed one: no userinfo, dot segments, query or fragment.
  if (!MEDIA_SID.test(mediaSid) || value !== `${url.origin}${folder}${mediaSid}`) return undefined;
  if (base === undefined) return { mediaSid, target: { url, trusted: false } };
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    mediaSid,
    target: { url: new URL(`${prefix}${folder}${mediaSid}`, base), trusted: true },
  };
}

const isTwilioApi = (url: URL): boolean =>
  url.protocol === 'https:' && url.port === '' && API_HOST.test(url.hostname);

/**
 * The configured base URL, if it replaces Twilio's API. If it is Twilio's own, as by default, each
 * MediaUrl is requested in its own region, and no address is trusted.
 */
function proxyOf({ apiBaseUrl }: Pick<TwilioAccount, 'apiBaseUrl'>): URL | undefined {
  if (apiBaseUrl === undefined) return undefined;
  const base = new URL(apiBaseUrl);
  return isTwilioApi(base) ? undefined : base;
}

/**
 * The target of a redirect: another host of Twilio, its storage, or the host of the configured base
 * URL; undefined for any other host.
 */
export function readRedirect(
  location: string,
  from: URL,
  account: Pick<TwilioAccount, 'apiBaseUrl'>,
): MediaTarget | undefined {
  if (location.length > 8192 || !URL.canParse(location, from.href)) return undefined;
  const url = new URL(location, from);
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.origin === proxyOf(account)?.origin) return { url, trusted: true };
  if (url.protocol !== 'https:' || url.port !== '') return undefined;
  const inBucket =
    (S3_HOST.test(url.hostname) && url.pathname.startsWith(`/${BUCKET}/`)) ||
    (url.hostname.startsWith(`${BUCKET}.s3`) &&
      S3_HOST.test(url.hostname.slice(BUCKET.length + 1)));
  return inBucket || TWILIO_HOST.test(url.hostname) ? { url, trusted: false } : undefined;
}

const MAX_REDIRECTS = 3;

export interface Download {
  readonly size: number;
  /** The declared Content-Type, if any. */
  readonly contentType: string | undefined;
}

export interface DownloaderOptions {
  readonly maxBytes: number;
  /** For one try: all redirects and the whole body. */
  readonly tryTimeoutMs: number;
  readonly clock: Clock;
  /** The resolver used by the check for private addresses; the system's by default. */
  readonly lookup?: LookupFunction;
}

/** Fetches one medium into a file that must not exist. @throws {TwilioFailed} */
export type Downloader = (
  target: MediaTarget,
  account: TwilioAccount,
  path: string,
  signal: AbortSignal,
) => Promise<Download>;

/**
 * Tries once to fetch a medium. Redirects are followed here: credentials are sent to the first hop
 * only, and every further host is checked first.
 */
export function createDownloader(options: DownloaderOptions): Downloader {
  const lookup = createPublicLookup(options.lookup);
  const guarded = new https.Agent({ lookup });

  const get = (target: MediaTarget, credential: Credential | undefined, signal: AbortSignal) =>
    requestTwilio<Readable>({
      method: 'GET',
      url: target.url.href,
      credential,
      headers: { Accept: '*/*', 'Accept-Encoding': 'identity' },
      responseType: 'stream',
      ...(!target.trusted && { httpsAgent: guarded }),
      signal,
    });

  return async (start, account, path, outer) => {
    const timeout = AbortSignal.timeout(options.tryTimeoutMs);
    const signal = AbortSignal.any([outer, timeout]);
    let target = start;
    let [credential] = credentialsOf(account);
    for (let redirects = 0; ; redirects += 1) {
      const response = await get(target, credential, signal);
      const location = redirectLocation(response);
      if (response.status === 200) return save(response, path, options.maxBytes, signal);
      response.data.destroy();
      if (location === undefined) {
        throw refusal(response, credential !== undefined, options.clock());
      }
      const next = readRedirect(location, target.url, account);
      if (next === undefined) throw new TwilioFailed('never', 'redirect_refused');
      if (redirects === MAX_REDIRECTS) throw new TwilioFailed('never', 'too_many_redirects');
      target = next;
      credential = undefined;
    }
  };
}

function redirectLocation(response: AxiosResponse<Readable>): string | undefined {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  return header(response, 'location');
}

async function save(
  response: AxiosResponse<Readable>,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Download> {
  if (Number(header(response, 'content-length') ?? 0) > maxBytes) {
    response.data.destroy();
    throw new TwilioFailed('never', 'too_large');
  }
  const cap = new ByteCap(maxBytes);
  try {
    // 'wx': an existing path would belong to another attachment.
    await pipeline(response.data, cap, createWriteStream(path, { flags: 'wx', mode: 0o600 }), {
      signal,
    });
  } catch (error) {
    if (error instanceof TwilioFailed) throw error;
    throw networkFailure(error);
  }
  return { size: cap.size, contentType: header(response, 'content-type') };
}

class ByteCap extends Transform {
  size = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null, data?: Buffer) => void,
  ): void {
    this.size += chunk.length;
    if (this.size > this.#maxBytes) done(new TwilioFailed('never', 'too_large'));
    else done(null, chunk);
  }
}

/**
 * @param asked whether this request had credentials: a 403 of the storage means that its link has
 * expired
 */
function refusal(response: AxiosResponse<Readable>, asked: boolean, now: number): TwilioFailed {
  const { status } = response;
  // 404: Twilio calls the webhook before it has stored the media.
  const like = status === 404 || (!asked && (status === 401 || status === 403)) ? 503 : status;
  const failure = failureOf(like, header(response, 'retry-after'), now);
  const { kind, retryAfterMs } = failure ?? { kind: 'later' };
  return new TwilioFailed(kind, `http_${status}`, { status, retryAfterMs });
}
