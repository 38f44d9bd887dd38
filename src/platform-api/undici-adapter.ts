import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { AxiosAdapter } from 'axios';
import type { Dispatcher } from 'undici';

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/**
 * Makes the requests of an axios instance with undici. A request of 2 KB costs a fifth of the processor
 * time of axios's own adapter (0.05 to 0.3 ms, `bench -- cost`), which joins several streams for each.
 *
 * Redirects and proxies are not followed, because either would send the key to another server. There
 * is no time limit but the request's signal.
 * @param origin where all requests go; their URLs are paths
 * @param headers sent with each request
 */
export function undiciAdapter(
  dispatcher: Dispatcher,
  origin: string,
  headers: Readonly<Record<string, string>>,
): AxiosAdapter {
  return async (config) => {
    const { method = 'GET', url = '/', maxContentLength = Infinity } = config;
    const answer = await dispatcher.request({
      ...{ origin, path: url, method: method.toUpperCase() },
      headers: { ...headers, ...config.headers.toJSON() },
      body: config.data as string | Readable,
      signal: config.signal,
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    });
    return {
      status: answer.statusCode,
      statusText: '',
      headers: answer.headers,
      data: await textOf(answer, maxContentLength),
      config,
    };
  };
}

/** @throws {AnswerTooLarge} its text has more bytes than that */
async function textOf(
  { body, headers }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<string> {
  const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
    const collected: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new AnswerTooLarge(`more than ${maxBytes} bytes`);
      collected.push(chunk);
    }
    return Buffer.concat(collected, size).toString();
  };
  if (headers['content-encoding'] === 'gzip') return pipeline(body, createGunzip(), collect);
  // The parser allows no more bytes than that.
  if (Number(headers['content-length']) <= maxBytes) return body.text();
  return collect(body);
}
