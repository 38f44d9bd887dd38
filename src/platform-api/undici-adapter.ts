import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import type { AxiosAdapter } from 'axios';
import type { Dispatcher } from 'undici';
import { codeOf } from '../runtime/error-code.ts';
import { unlessAborted } from '../runtime/unless-aborted.ts';

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/**
 * Makes the requests of an axios instance with undici. A POST of 1.5 KB costs 0.055 ms of processor time
 * instead of 0.29 ms with axios's own adapter, which joins several streams for each request
 * (docs/decisions/0037).
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
    const request = dispatcher.request({
      ...{ origin, path: url, method: method.toUpperCase() },
      headers: { ...headers, ...config.headers.toJSON() },
      // What `Call` allows.
      body: config.data as string | Readable,
      signal: config.signal,
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    });
    // undici hears the signal only once the request has a connection.
    const answer = await unlessAborted(request, config.signal);
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
  const isCompressed = /^(?:x-)?gzip$/i.test(String(headers['content-encoding']));
  // The parser allows no more bytes than it announces.
  if (!isCompressed && Number(headers['content-length']) <= maxBytes) return body.text();
  const bytes = await bytesOf(body, maxBytes);
  return UTF_8.decode(isCompressed ? await inflate(bytes, maxBytes) : bytes);
}

/** Without a byte order mark. */
const UTF_8 = new TextDecoder();

async function bytesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new AnswerTooLarge(`more than ${maxBytes} bytes`);
    collected.push(chunk);
  }
  return Buffer.concat(collected, size);
}

const gunzipped = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

async function inflate(compressed: Buffer, maxBytes: number): Promise<Buffer> {
  // Of an answer without a body.
  if (compressed.length === 0) return compressed;
  try {
    return await gunzipped(compressed, { maxOutputLength: maxBytes });
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
      ? new AnswerTooLarge(`more than ${maxBytes} bytes`)
      : error;
  }
}
