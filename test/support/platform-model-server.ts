import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Busboy } from '@fastify/busboy';
import type { PlatformAnswer } from '../simulation/platform-answers.ts';
import {
  createPlatformModel,
  type PlatformModel,
  type PlatformModelOptions,
  type PlatformRequest,
} from '../simulation/platform-model.ts';
import { createRandom } from '../simulation/random.ts';

/** One request as it reached the server. */
export interface Received {
  /** Milliseconds of the clock. */
  readonly at: number;
  /** `POST /messages/`: without the version and the query. */
  readonly call: string;
  readonly shopId: string;
  /** Of a create-message request: `message.remote_id`. */
  readonly remoteId: string | undefined;
  readonly body: unknown;
  /** What it was answered with; undefined while, and when, there is no answer. */
  status?: number;
  /** The body of an answer that is no 2xx. */
  refusal?: string;
  /** The answer was written, or the connection has ended without one. */
  isOver: boolean;
}

/**
 * What stands between the client and the platform. It answers by itself, or lets the platform
 * answer, whose word it may replace.
 */
export type Gate = (
  received: Received,
  platform: () => PlatformAnswer,
) => PlatformAnswer | OwnAnswer;

/** An answer that a gate writes by itself, in bytes that no server would write. */
export interface OwnAnswer {
  readonly kind: 'own';
  readonly write: (response: ServerResponse) => void;
}

export interface ModelServerOptions extends Pick<PlatformModelOptions, 'shops' | 'traits'> {
  /** Of everything that the model leaves to chance. */
  readonly seed?: number;
}

/** Longer than any test: a connection that ends while it is used would be a fault nobody asked for. */
const KEEP_ALIVE_MS = 600_000;

/** The model of the platform behind a real socket, on the real clock. */
export class PlatformModelServer {
  readonly model: PlatformModel;
  /** Every request, in the order in which they came. */
  readonly received: Received[] = [];
  gate: Gate = (_received, platform) => platform();
  readonly #stopped = new AbortController();
  readonly #server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    (request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    },
  );

  private constructor({ shops, traits, seed = 1 }: ModelServerOptions) {
    // Every answer that takes its time listens.
    setMaxListeners(0, this.#stopped.signal);
    this.model = createPlatformModel({
      ...{ random: createRandom(seed), now: Date.now, shops },
      ...(traits && { traits }),
    });
  }

  static async start(options: ModelServerOptions): Promise<PlatformModelServer> {
    const server = new PlatformModelServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  /** What a shop is configured with. */
  get url(): string {
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Serves a connection that another server has accepted. */
  accept(connection: Duplex): void {
    this.#server.emit('connection', connection);
  }

  /** The requests of one kind: `POST /messages/`. */
  of(call: string): readonly Received[] {
    return this.received.filter((each) => each.call === call);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    const call = `${request.method} ${(request.path.split('?', 1)[0] ?? '').replace('/v2026-04', '')}`;
    const { body, headers } = request;
    const received: Received = {
      ...{ at: Date.now(), call, shopId: headers['x-shop-id'] ?? '', body, isOver: false },
      remoteId: remoteIdOf(body),
    };
    this.received.push(received);
    response.once('close', () => (received.isOver = true));
    const answer = this.gate(received, () => this.model.handle(request));
    if (answer.kind === 'silence') return;
    if (answer.kind === 'own') {
      answer.write(response);
      return;
    }
    if (answer.kind !== 'refused' && answer.afterMs > 0) {
      await delay(answer.afterMs, undefined, { signal: this.#stopped.signal });
    }
    if (answer.kind !== 'answer') {
      incoming.socket.resetAndDestroy();
      return;
    }
    received.status = answer.status;
    if (answer.status >= 300) received.refusal = answer.body;
    response.writeHead(answer.status, {
      ...answer.headers,
      'content-length': Buffer.byteLength(answer.body),
    });
    response.end(answer.body);
  }
}

/** The gate of a platform whose connections stay open and say nothing. */
export const blackHole: Gate = () => ({ kind: 'silence' });

/** An answer that the platform had no part in. */
export const answered = (
  status: number,
  body = '',
  contentType = 'application/json',
): PlatformAnswer => ({
  ...{ kind: 'answer', status, body, afterMs: 0 },
  headers: body === '' ? {} : { 'content-type': contentType },
});

async function readRequest(incoming: IncomingMessage): Promise<PlatformRequest> {
  const { method, url = '', headers } = incoming;
  const isForm = headers['content-type']?.startsWith('multipart/form-data') === true;
  const body = isForm ? await readForm(incoming) : parsed(await text(incoming));
  return {
    // The model knows these two; its paths refuse what they do not take.
    method: method === 'GET' ? 'GET' : 'POST',
    path: url,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
    ),
    ...(body !== undefined && { body }),
  };
}

/** What the model wants to know of an upload (API §4.8). */
async function readForm(incoming: IncomingMessage): Promise<object> {
  const form: Record<string, unknown> = {};
  // Known to be there: it says that this is a form.
  const type = incoming.headers['content-type'] ?? '';
  const parser = new Busboy({ headers: { ...incoming.headers, 'content-type': type } });
  parser.on('field', (name, value) => (form[name] = value));
  parser.on('file', (name, file, filename, _encoding, mimeType) => {
    let size = 0;
    file.on('data', (chunk: Buffer) => (size += chunk.length));
    file.on('end', () => (form[name] = { name: filename, type: mimeType, size }));
  });
  await pipeline(incoming, parser);
  return form;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function remoteIdOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('message' in body)) return undefined;
  const { message } = body;
  if (typeof message !== 'object' || message === null || !('remote_id' in message))
    return undefined;
  return typeof message.remote_id === 'string' ? message.remote_id : undefined;
}
