import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

interface CreateBody {
  readonly message: Readonly<Record<string, unknown>> & { readonly content: string };
  readonly conversation: { readonly id?: string };
}

/** A whole answer, or what to do with the connection instead. */
export type Answer =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | 'reset'
  | 'hang';

export type Script = (seen: Seen, nth: number) => Answer | undefined;

/** A platform that answers what the test says; without a say, 201 and a new message. */
export class ScriptedPlatform {
  readonly seen: Seen[] = [];
  script: Script = () => undefined;
  #server = createServer((req, res) => void this.#handle(req, res));
  #created = 0;

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The create-message bodies that reached us, in order. */
  get messages(): CreateBody[] {
    // What the client under test sends; a body of another shape fails the test that reads it.
    return this.of('POST /messages/').map(({ body }) => JSON.parse(body) as CreateBody);
  }

  of(call: string): Seen[] {
    return this.seen.filter(({ method, path }) => `${method} ${path}`.startsWith(call));
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? '').replace('/v2026-04', '');
    const seen = { method: req.method ?? '', path, body: await text(req) };
    this.seen.push(seen);
    const nth = this.of(`${seen.method} ${path.split('?')[0] ?? ''}`).length;
    const answer = this.script(seen, nth) ?? this.#usual(seen);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      res.destroy();
      return;
    }
    res.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    res.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}));
  }

  #usual({ method, path }: Seen): Answer {
    const [, conversation] = /^\/conversations\/([^/]+)\/$/.exec(path) ?? [];
    if (conversation !== undefined) return { status: 200, body: aConversation(conversation) };
    if (method === 'GET') return { status: 200, body: { results: [] } };
    this.#created += 1;
    const id = uuid('a', this.#created);
    if (path.startsWith('/media/')) {
      return {
        status: 201,
        body: { id, type: 'file', url: 'http://x/', created_at: '2026-01-01T00:00:00Z' },
      };
    }
    return {
      status: 201,
      body: {
        id,
        conversation_id: uuid('c', this.#created),
        contact_id: null,
        updated_at: '2026-01-01T00:00:00Z',
      },
    };
  }
}

const aConversation = (id: string) => ({
  ...{ id, type: 'sms', agent_id: null, contact_id: null, user_id: null },
  ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
});

/** A message as the platform lists it. */
export const aListedMessage = (n: number, remoteId: string) => ({
  ...{ id: uuid('a', n), conversation_id: uuid('c', n), remote_id: remoteId },
  ...{ ticket_id: null, contact_id: null, agent_id: null, user_id: null },
  updated_at: '2026-01-01T00:00:00Z',
});

export const uuid = (kind: string, n: number): string =>
  `${kind.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`;
