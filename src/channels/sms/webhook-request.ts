import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A negative response. `reason` is its name in metrics, and the message is the body. */
export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
  }
}

/**
 * Reads a request's body into memory, up to `maxBytes`. A longer body is refused at once; express's
 * parsers would first read all of it, however long that takes.
 * @throws {WebhookRefused}
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new WebhookRefused(415, 'body', 'A compressed body is not accepted');
  }
  const tooLarge = (): WebhookRefused =>
    new WebhookRefused(413, 'body', `The body is larger than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', onData).pause();
      reject(tooLarge());
    };
    // 'close' is always the last event; before 'end' it means that the client disconnected.
    const onClose = (): void => reject(new WebhookRefused(400, 'body', 'The body broke off'));
    request
      .on('data', onData)
      .on('error', onClose)
      .on('close', onClose)
      .on('end', () => {
        request.off('close', onClose);
        resolve(Buffer.concat(chunks, size));
      });
  });
}

/** The request, or a listed message, has a member that the provider never sends so. */
export class BadParameter extends WebhookRefused {
  override name = 'BadParameter';
  readonly parameter: string;
  constructor(parameter: string, message: string) {
    super(400, 'parameter', message);
    this.parameter = parameter;
  }
}

/** The media type of a body, without its parameters. */
export const contentTypeOf = (headers: IncomingHttpHeaders): string | undefined =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();

/**
 * The URL in a form that may be logged: without user and password, and of limited length. Only the
 * names in its query are shown, because the client chooses the values, and a webhook that is set to
 * GET has the whole message in it.
 */
export function loggableUrl(url: string): string {
  return withoutUserinfo(url)
    .replace(/([?&][^=&#]{0,100})[^&#]*/g, (part, name: string) =>
      part === name ? name : `${name}=...`,
    )
    .slice(0, 500);
}

/** Without user and password. */
export const withoutUserinfo = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
