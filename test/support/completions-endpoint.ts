import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { ends } from './ends.ts';

interface Said {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string };
  }[];
  readonly tool_call_id?: string;
}

/** One request as it reached the endpoint. */
export interface Asked {
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly body: {
    readonly model: string;
    readonly stream: boolean;
    readonly messages: readonly Said[];
    readonly tools: readonly { readonly function: { readonly name: string } }[];
  };
}

/** What a request gets. A stream is written in pieces of `bytes`, wherever that cuts it. */
export type Given =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | {
      readonly events: readonly string[];
      readonly bytes?: number;
      /** `break` resets the connection, `stall` says nothing more, `close` ends without [DONE]. */
      readonly end?: 'done' | 'break' | 'stall' | 'close';
    }
  | 'hang'
  | 'reset'
  | 'endless words'
  | 'endless line';

/** A server of the chat completions protocol that answers what the test says. */
export class CompletionsEndpoint {
  readonly asked: Asked[] = [];
  readonly #script: (asked: Asked, nth: number) => Given;
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch(() => response.destroy());
  });

  private constructor(script: (asked: Asked, nth: number) => Given) {
    this.#script = script;
  }

  /** Ends with the test. */
  static async start(script: (asked: Asked, nth: number) => Given): Promise<CompletionsEndpoint> {
    const endpoint = new CompletionsEndpoint(script);
    await new Promise<void>((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve));
    ends(async () => {
      endpoint.#server.closeAllConnections();
      await new Promise((resolve) => endpoint.#server.close(resolve));
    });
    return endpoint;
  }

  get baseUrl(): string {
    // A listening TCP server has an AddressInfo.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The assertions of the tests check what the client sent.
    const body = JSON.parse(await text(request)) as Asked['body'];
    const key = request.headers.authorization?.replace(/^Bearer /, '');
    const asked = { key, headers: request.headers, path: request.url ?? '', body };
    this.asked.push(asked);
    assertTurns(body.messages);
    const given = this.#script(asked, this.asked.length);
    if (given === 'hang') return;
    if (given === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (typeof given === 'object' && 'status' in given) {
      response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
      response.end(
        given.body ?? JSON.stringify({ error: { message: 'no', type: 'x', code: null } }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (typeof given === 'string') return goOnForEver(response, given);
    await streamOut(response, given);
  }
}

async function streamOut(
  response: ServerResponse,
  { events, bytes = 7, end = 'done' }: Extract<Given, { events: unknown }>,
): Promise<void> {
  const lines = [...events, ...(end === 'done' ? ['[DONE]'] : [])];
  const all = Buffer.from(lines.map((data) => `data: ${data}\r\n\r\n`).join(''));
  for (let at = 0; at < all.length; at += bytes) {
    response.write(all.subarray(at, at + bytes));
    await nextTurn();
  }
  if (end === 'done' || end === 'close') response.end();
  if (end === 'break') response.socket?.resetAndDestroy();
}

async function goOnForEver(response: ServerResponse, what: string): Promise<void> {
  const piece =
    what === 'endless line'
      ? 'x'.repeat(65_536)
      : `data: ${delta({ content: 'word '.repeat(200) })}\n\n`;
  const closed = new Promise((resolve) => response.once('close', resolve));
  while (!response.destroyed) {
    if (response.write(piece)) await nextTurn();
    else await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
  }
}

/** What endpoints insist on: a system message first, then the sides in turn, each call answered. */
function assertTurns(messages: readonly Said[]): void {
  const open = new Set<string>();
  for (const [at, { role, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    const before = messages[at - 1]?.role;
    if ((role === 'system') !== (at === 0)) throw new Error('a system message out of place');
    if (role === before && role !== 'tool') throw new Error(`two ${role} messages in a row`);
    if (role === 'tool' && !open.delete(id ?? '')) throw new Error('a result without a call');
    if (role !== 'tool' && open.size > 0) throw new Error('a call without a result');
    for (const call of calls ?? []) open.add(call.id);
  }
}

/** A chunk of a stream. */
export const delta = (change: object, finish: string | null = null): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: change, finish_reason: finish }],
  });

/** A text, a few characters a chunk. */
export function words(content: string, finish = 'stop'): readonly string[] {
  const pieces = content.match(/[^]{1,5}/gu) ?? [];
  return [
    delta({ role: 'assistant', content: '' }),
    ...pieces.map((piece) => delta({ content: piece })),
    delta({}, finish),
  ];
}

/** Tool calls as endpoints stream them: the head of each, then its arguments in pieces, mixed. */
export function toolCalls(...calls: readonly (readonly [name: string, json: string])[]): string[] {
  const heads = calls.map(([name], index) =>
    delta({
      tool_calls: [
        { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } },
      ],
    }),
  );
  const pieces = calls.flatMap(([, json], index) =>
    (json.match(/[^]{1,3}/gu) ?? []).map((piece, at) => ({
      at,
      event: delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
    })),
  );
  const mixed = pieces.toSorted((a, b) => a.at - b.at).map(({ event }) => event);
  return [...heads, ...mixed, delta({}, 'tool_calls')];
}
