import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { ends } from '../../support/ends.ts';
import type { ConsoleClient } from './console-client.ts';

/** `GET /api/stream` as a browser's EventSource reads it. */
export class EventStream {
  readonly events: { readonly event: string; readonly data: unknown }[] = [];
  ended = false;
  status: number | undefined;
  headers: IncomingMessage['headers'] = {};
  readonly #request: ClientRequest;
  #text = '';

  constructor(client: ConsoleClient, headers: Readonly<Record<string, string>> = {}) {
    this.#request = request(`${client.url}/api/stream`, {
      headers: { ...(client.cookie !== '' && { cookie: client.cookie }), ...headers },
      agent: false,
    });
    this.#request.on('error', () => (this.ended = true));
    this.#request.on('response', (response) => {
      this.status = response.statusCode;
      this.headers = response.headers;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => this.#take(chunk));
      response.on('error', () => undefined);
      response.on('close', () => (this.ended = true));
    });
    this.#request.end();
    ends(() => this.close());
  }

  // What an event carries stands in the contract; this gateway's own tests check it.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its caller says which
  of<Data>(event: string): readonly Data[] {
    return this.events.filter((each) => each.event === event).map(({ data }) => data as Data);
  }

  close(): void {
    this.#request.destroy();
  }

  #take(chunk: string): void {
    this.#text += chunk;
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) return;
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(this.#text.slice(0, end)) ?? [];
      this.#text = this.#text.slice(end + 2);
      if (event !== undefined && data !== undefined) {
        this.events.push({ event, data: JSON.parse(data) as unknown });
      }
    }
  }
}
