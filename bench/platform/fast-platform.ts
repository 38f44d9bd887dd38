import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { timeOfDay, waitUntil } from '../support/wait-until.ts';

interface StoredMedia {
  readonly sha256: string;
  readonly bytes: number;
}

interface Submission {
  readonly conversation?: { readonly id?: string | null; readonly type?: string };
  readonly message?: { readonly remote_id?: string; readonly attachments?: readonly string[] };
}

/** A submitted message with its uploads. */
export interface Submitted {
  readonly remoteId: string;
  /** The time of day at which it came. */
  readonly at: number;
  readonly media: readonly StoredMedia[];
}

/**
 * A minimal platform (API §4.7 and §4.8), so that its own cost does not dominate the measurement.
 * It counts messages by `remote_id` and stores nothing else of them. Uploads are read completely;
 * with `hashMedia` they are parsed and their content is hashed.
 */
export async function start(options: { readonly hashMedia: boolean }) {
  const platform = new FastPlatform(options.hashMedia);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    platform.answer(request, response).catch((error: unknown) => {
      // A client that disconnected is not an error.
      if (!request.destroyed) console.error('platform:', error);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: () => `http://127.0.0.1:${port}`,
    count: () => platform.count,
    forget: () => platform.forget(),
    submitted: () => platform.submitted(),
    /** Resolves with the time of day at which the last of `count` messages arrived. */
    whenCount: async (count: number, withinMs: number) => {
      await waitUntil(`${count} messages at the platform`, withinMs, () =>
        platform.count >= count ? true : undefined,
      ).catch((error: unknown) => {
        throw new Error(`${platform.count} of ${count} came`, { cause: error });
      });
      return platform.lastAt;
    },
  };
}

class FastPlatform {
  readonly #hashMedia: boolean;
  #messages = new Map<
    string,
    { id: string; at: number; conversation: string; attachments: string[] }
  >();
  #media = new Map<string, StoredMedia>();
  lastAt = 0;

  constructor(hashMedia: boolean) {
    this.#hashMedia = hashMedia;
  }

  get count(): number {
    return this.#messages.size;
  }

  forget(): void {
    this.#messages = new Map();
    this.#media = new Map();
  }

  submitted(): Submitted[] {
    return [...this.#messages].map(([remoteId, { at, attachments }]) => ({
      ...{ remoteId, at },
      media: attachments.flatMap((id) => this.#media.get(id) ?? []),
    }));
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    if (method === 'POST' && url === '/v2026-04/messages/') {
      reply(response, 201, this.#create(await buffer(request)));
    } else if (method === 'POST' && url === '/v2026-04/media/') {
      reply(response, 201, await this.#upload(request));
    } else {
      request.resume();
      // Lists are empty; a benchmark makes no other requests.
      reply(response, 200, { results: [], next: null, previous: null });
    }
  }

  #create(body: Buffer): object {
    // The benchmark's clients follow the API.
    const { conversation, message } = JSON.parse(body.toString()) as Submission;
    const remoteId = message?.remote_id ?? randomUUID();
    let stored = this.#messages.get(remoteId);
    if (stored === undefined) {
      this.lastAt = timeOfDay();
      stored = {
        id: randomUUID(),
        at: this.lastAt,
        conversation: conversation?.id ?? randomUUID(),
        attachments: [...(message?.attachments ?? [])],
      };
      this.#messages.set(remoteId, stored);
    }
    return {
      id: stored.id,
      conversation_id: stored.conversation,
      ticket_id: null,
      contact_id: null,
      agent_id: null,
      user_id: null,
      remote_id: remoteId,
      updated_at: '2026-01-01T00:00:00.000Z',
    };
  }

  async #upload(request: IncomingMessage): Promise<object> {
    const id = randomUUID();
    if (this.#hashMedia) {
      this.#media.set(id, await hashFile(request));
    } else {
      request.resume();
      await finished(request, { writable: false });
    }
    return {
      id,
      type: 'application/octet-stream',
      url: `http://127.0.0.1/${id}`,
      created_at: '2026-01-01T00:00:00.000Z',
    };
  }
}

async function hashFile(request: IncomingMessage): Promise<StoredMedia> {
  const type = request.headers['content-type'];
  if (type === undefined) throw new Error('an upload without a type');
  const parser = new Busboy({ headers: { ...request.headers, 'content-type': type } });
  const hash = createHash('sha256');
  let bytes = 0;
  parser.on('file', (_field, file) => {
    file.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
  });
  await pipeline(request, parser);
  return { sha256: hash.digest('hex'), bytes };
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}
