import type { IncomingMessage } from 'node:http';

/** The body was not read. `status` is the HTTP status that says why. */
export class BodyRefused extends Error {
  override name = 'BodyRefused';
  readonly status: 400 | 413 | 415;
  constructor(status: BodyRefused['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a request's body into memory, up to `maxBytes`. One that is longer is refused at once;
 * express's parsers first read all of what comes, however long it takes.
 * @throws {BodyRefused}
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new BodyRefused(415, 'A compressed body is not accepted');
  }
  const tooLarge = (): BodyRefused =>
    new BodyRefused(413, `The body is larger than ${maxBytes} bytes`);
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
    // 'close' comes last in every case; before 'end' it means that the client went away.
    const onClose = (): void => reject(new BodyRefused(400, 'The body broke off'));
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
