import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

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

/** A webhook's parameters in their order. A name may occur more than once. */
export type FormPairs = readonly (readonly [name: string, value: string])[];

/** Twilio sends about 30 parameters, and about 70 with ten media and a Lookup add-on. */
const MAX_PAIRS = 1000;

/** The body cannot be parsed as parameters. */
const malformed = (text: string, options?: ErrorOptions): WebhookRefused =>
  new WebhookRefused(400, 'malformed', text, options);

/**
 * Parses `application/x-www-form-urlencoded` by the URL standard. Nothing is trimmed, folded or
 * dropped, because the signature covers every name and value.
 * @throws {WebhookRefused}
 */
export function parseUrlencoded(body: Buffer): FormPairs {
  // URLSearchParams removes a leading '?' from a string; the empty pair before '&' is skipped.
  const pairs = [...new URLSearchParams(`&${body.toString('utf8')}`)];
  if (pairs.length > MAX_PAIRS) throw malformed('Too many parameters');
  return pairs;
}

const jsonBody = z.record(z.string(), z.unknown());

/**
 * Parses a JSON body: one object whose members are the parameters. A nested value remains JSON
 * text, as Twilio sends such values in a form (`ChannelMetadata`).
 * @throws {WebhookRefused}
 */
export function parseJson(body: Buffer): FormPairs {
  try {
    const members = Object.entries(jsonBody.parse(JSON.parse(body.toString('utf8'))));
    if (members.length > MAX_PAIRS) throw malformed('Too many parameters');
    return members
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch (error) {
    // Not JSON, not an object, or nested deeper than the stack.
    throw malformed('Not a JSON object', { cause: error });
  }
}

/** Parameters by name. */
export class FormFields {
  readonly #values = new Map<string, string[]>();

  constructor(pairs: FormPairs) {
    for (const [name, value] of pairs) {
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** The first value, which may be empty. */
  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** In the form that the signature functions of `twilio` take: repeated names as arrays. */
  signed(): Record<string, string | string[]> {
    // Without a prototype, so that a parameter may have any name, even `__proto__`.
    const params = Object.create(null) as Record<string, string | string[]>;
    for (const [name, values] of this.#values) {
      const [only] = values;
      params[name] = values.length === 1 && only !== undefined ? only : values;
    }
    return params;
  }
}
