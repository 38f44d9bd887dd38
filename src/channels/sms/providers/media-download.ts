import { createWriteStream } from 'node:fs';
import https from 'node:https';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AxiosResponse } from 'axios';
import { createPublicLookup } from '../../../runtime/ip-addresses.ts';
import type {
  Credential,
  Download,
  Downloader,
  DownloaderOptions,
  MediaTarget,
} from '../provider.ts';
import { failureOf, header, networkFailure, ProviderFailed, requestProvider } from './requests.ts';

const MAX_REDIRECTS = 3;

/**
 * Tries once to fetch a medium. Redirects are followed here: credentials are sent to the first hop
 * only, and every further host is checked first.
 */
export function createDownloader(options: DownloaderOptions): Downloader {
  const lookup = createPublicLookup(options.lookup);
  const guarded = new https.Agent({ lookup });

  const get = (target: MediaTarget, credential: Credential | undefined, signal: AbortSignal) =>
    requestProvider<Readable>({
      method: 'GET',
      url: target.url.href,
      credential,
      headers: { Accept: '*/*', 'Accept-Encoding': 'identity' },
      responseType: 'stream',
      ...(!target.trusted && { httpsAgent: guarded }),
      signal,
    });

  return async (source, path, outer) => {
    const timeout = AbortSignal.timeout(options.tryTimeoutMs);
    const signal = AbortSignal.any([outer, timeout]);
    let { credential } = source;
    let target = typeof source.target === 'function' ? await source.target(signal) : source.target;
    for (let redirects = 0; ; redirects += 1) {
      const response = await get(target, credential, signal);
      const location = redirectLocation(response);
      if (response.status === 200) return save(response, path, options.maxBytes, signal);
      response.data.destroy();
      if (location === undefined) {
        throw refusal(response, credential !== undefined, options.clock());
      }
      const next = source.redirect(location, target.url);
      if (next === undefined) throw new ProviderFailed('never', 'redirect_refused');
      if (redirects === MAX_REDIRECTS) throw new ProviderFailed('never', 'too_many_redirects');
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
    throw new ProviderFailed('never', 'too_large');
  }
  const cap = new ByteCap(maxBytes);
  try {
    // 'wx': an existing path would belong to another attachment.
    await pipeline(response.data, cap, createWriteStream(path, { flags: 'wx', mode: 0o600 }), {
      signal,
    });
  } catch (error) {
    if (error instanceof ProviderFailed) throw error;
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
    if (this.size > this.#maxBytes) done(new ProviderFailed('never', 'too_large'));
    else done(null, chunk);
  }
}

/**
 * @param asked whether this request had credentials: a 403 of the storage means that its link has
 * expired
 */
function refusal(response: AxiosResponse<Readable>, asked: boolean, now: number): ProviderFailed {
  const { status } = response;
  // 404: a provider may call the webhook before it has stored the media.
  const like = status === 404 || (!asked && (status === 401 || status === 403)) ? 503 : status;
  const failure = failureOf(like, header(response, 'retry-after'), now);
  const { kind, retryAfterMs } = failure ?? { kind: 'later' };
  return new ProviderFailed(kind, `http_${status}`, { status, retryAfterMs });
}
