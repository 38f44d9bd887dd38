import { createWriteStream } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import axios, { type AxiosResponse } from 'axios';
import type { Clock } from '../../../../runtime/clock.ts';
import { parseRetryAfter } from '../../../../runtime/retry-after.ts';
import type { TwilioAccount } from '../../shop.ts';
import { type MediaTarget, readRedirect } from './media-url.ts';
import { createPublicLookup, PrivateAddress } from '../../../../runtime/public-address.ts';

const MAX_REDIRECTS = 3;

/** A download that failed. `message` is a short reason that may stand in a log. */
export class DownloadFailed extends Error {
  override name = 'DownloadFailed';
  /**
   * `later`: it may work another time. `credentials`: Twilio refused ours.
   * `never`: not the same request again.
   */
  readonly kind: 'later' | 'credentials' | 'never';
  readonly retryAfterMs: number | undefined;
  constructor(kind: DownloadFailed['kind'], reason: string, retryAfterMs?: number) {
    super(reason);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

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
  /** The resolver behind the check for private addresses; the system's by default. */
  readonly lookup?: LookupFunction;
}

/** Fetches one medium into a file that does not exist yet. @throws {DownloadFailed} */
export type Downloader = (
  target: MediaTarget,
  account: TwilioAccount,
  path: string,
  signal: AbortSignal,
) => Promise<Download>;

/**
 * One try at a medium. Redirects are followed by hand: credentials go to the first hop alone,
 * and every further host is looked at first.
 */
export function createDownloader(options: DownloaderOptions): Downloader {
  // Without keep-alive no socket outlives its request, so there is nothing to close.
  const trusted = { httpAgent: new http.Agent(), httpsAgent: new https.Agent() };
  const lookup = createPublicLookup(options.lookup);
  const guarded = { httpsAgent: new https.Agent({ lookup }) };

  const get = async (target: MediaTarget, auth: BasicAuth | undefined, signal: AbortSignal) => {
    try {
      return await axios.get<Readable>(target.url.href, {
        responseType: 'stream',
        maxRedirects: 0,
        proxy: false,
        decompress: false, // the cap counts what arrives, and media are not compressed
        headers: { Accept: '*/*', 'Accept-Encoding': 'identity' },
        validateStatus: () => true,
        signal,
        ...(auth && { auth }),
        ...(target.trusted ? trusted : guarded),
      });
    } catch (error) {
      // Not kept as the cause: an axios error carries the credentials.
      throw networkFailure(error);
    }
  };

  return async (start, account, path, outer) => {
    const timeout = AbortSignal.timeout(options.tryTimeoutMs);
    const signal = AbortSignal.any([outer, timeout]);
    let target = start;
    let auth: BasicAuth | undefined = credentialsOf(account);
    for (let redirects = 0; ; redirects += 1) {
      const response = await get(target, auth, signal);
      const location = redirectLocation(response);
      if (response.status !== 200 && location === undefined) {
        response.data.destroy();
        throw refusal(response, auth !== undefined, options.clock());
      }
      if (location === undefined) return save(response, path, options.maxBytes, signal);
      response.data.destroy();
      const next = readRedirect(location, target.url, account);
      if (next === undefined) throw new DownloadFailed('never', 'redirect-refused');
      if (redirects === MAX_REDIRECTS) throw new DownloadFailed('never', 'too-many-redirects');
      target = next;
      auth = undefined;
    }
  };
}

interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

function credentialsOf(account: TwilioAccount): BasicAuth | undefined {
  const { apiKeySid, apiKeySecret, accountSid } = account;
  if (apiKeySid !== undefined && apiKeySecret !== undefined) {
    return { username: apiKeySid, password: apiKeySecret };
  }
  const [token] = account.authTokens;
  return token === undefined ? undefined : { username: accountSid, password: token };
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
    throw new DownloadFailed('never', 'too-large');
  }
  const cap = new ByteCap(maxBytes);
  try {
    // 'wx': a path that exists would be another attachment's.
    await pipeline(response.data, cap, createWriteStream(path, { flags: 'wx', mode: 0o600 }), {
      signal,
    });
  } catch (error) {
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed('later', reasonOf(error));
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
    if (this.size > this.#maxBytes) done(new DownloadFailed('never', 'too-large'));
    else done(null, chunk);
  }
}

/** @param asked whether this request had credentials: the storage's 403 says that its link is old */
function refusal(response: AxiosResponse<Readable>, asked: boolean, now: number): DownloadFailed {
  const { status } = response;
  const reason = `http-${status}`;
  if (status === 401 || status === 403) {
    return new DownloadFailed(asked ? 'credentials' : 'later', reason);
  }
  // 404: Twilio calls the webhook before it has stored the media.
  if (status === 404 || status === 408 || status === 425 || status === 429 || status >= 500) {
    return new DownloadFailed(
      'later',
      reason,
      parseRetryAfter(header(response, 'retry-after'), now),
    );
  }
  // Any other 2xx or 3xx is nothing Twilio documents, so it may pass; another 4xx is final.
  return new DownloadFailed(status >= 400 ? 'never' : 'later', reason);
}

function networkFailure(error: unknown): DownloadFailed {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof PrivateAddress) return new DownloadFailed('never', 'private-address');
  return new DownloadFailed('later', reasonOf(error));
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'network';
}

function header(response: AxiosResponse, name: string): string | undefined {
  const value: unknown = response.headers[name];
  return typeof value === 'string' ? value : undefined;
}
