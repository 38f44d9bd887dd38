import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A bare HTTP server whose answer each test chooses. */
export class BadServer {
  readonly received: Received[] = [];
  /** Connections that were opened. */
  connections = 0;
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    void response.end();
  /** Set to see the request before its body is read. */
  raw: RequestListener | undefined;
  readonly #server: http.Server;

  constructor() {
    this.#server = http.createServer((request, response) => {
      response.on('error', () => undefined);
      if (this.raw) {
        this.raw(request, response);
        return;
      }
      buffer(request).then(
        (body) => {
          const { method = '', url = '', headers } = request;
          this.received.push({ method, url, headers, body });
          this.answer(response, request);
        },
        () => response.destroy(),
      );
    });
    this.#server.on('connection', () => (this.connections += 1));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    // A listening TCP server's address is never a string.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Writes a byte every 20 ms for as long as someone listens. */
export function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drip = async () => {
    while (!response.destroyed) {
      response.write(' ');
      await delay(20);
    }
  };
  drip().catch(() => undefined);
}
