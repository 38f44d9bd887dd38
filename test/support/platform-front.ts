import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import type { Shop } from '../../src/local-platform/authenticate.ts';
import type { Faults } from '../../src/local-platform/respond.ts';
import type { Inspection } from '../../src/local-platform/store/store.ts';
import { createLocalPlatform } from '../../src/local-platform/local-platform.ts';
import type { MessageRow } from '../../src/local-platform/store/rows.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import { ACME } from './gateway-config.ts';

/** One request as it reached the platform. */
export interface SeenCall {
  readonly call: string;
  /** When it arrived, in Unix milliseconds. */
  readonly at: number;
  /** At which it arrived: one of the front's. */
  readonly address: string;
  /** The answer's status; undefined while there is none, and when the connection was cut. */
  status?: number;
  /** Of a create-message request. */
  readonly payload?: CreateMessageRequest;
}

/** What the front does with a request before the platform sees it; it may take its time. */
export type Gate = (
  call: string,
  response: ServerResponse,
) => Promise<'pass' | 'taken'> | undefined;

export interface PlatformFrontOptions {
  /** Everything is kept below this folder. */
  readonly dir: string;
  readonly agent?: Agent;
  /** ACME by default. */
  readonly shop?: Shop;
  /** Loopback addresses on which it listens as well, with the same port. */
  readonly addresses?: readonly string[];
}

/**
 * A local platform behind a door that writes down what the gateway sends, byte by byte what no
 * list of the API tells. Its faults can be changed while it runs.
 */
export class PlatformFront {
  readonly calls: SeenCall[] = [];
  /** The platform's own faults. */
  faults: Faults = () => undefined;
  /** The front's. */
  gate: Gate = () => undefined;
  /**
   * Changes a list of messages on its way to the gateway: what this platform's agent never writes.
   * @param address at which the front was asked, one of `addresses` perhaps
   */
  rewriteMessages: ((list: unknown, address: string) => unknown) | undefined;
  /** The folder with the agent's emails, and `sms.log`. */
  readonly outbox: string;
  readonly #platform;
  readonly #shop: Shop;
  // The same as the platform's: its Keep-Alive header is passed on to the gateway.
  readonly #server = http.createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    this.#handle(request, response).catch(() => response.destroy());
  });

  readonly #addresses: readonly string[];
  readonly #more: Server[] = [];

  constructor({ dir, agent, shop = ACME, addresses = [] }: PlatformFrontOptions) {
    const folder = join(dir, 'platform');
    this.#addresses = addresses;
    this.outbox = join(folder, 'outbox');
    this.#shop = shop;
    this.#platform = createLocalPlatform({
      dir: folder,
      host: '127.0.0.1',
      port: 0,
      shops: [shop],
      logger: silentLogger,
      agent: agent === undefined ? { kind: 'off' } : { kind: 'custom', agent },
      faults: (request) => this.faults(request),
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  async start(): Promise<void> {
    await this.#platform.start();
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    for (const address of this.#addresses) {
      const server = createServer((socket) => this.#server.emit('connection', socket));
      this.#more.push(server.listen(this.port, address));
      await once(server, 'listening');
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    for (const server of this.#more) server.close();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
    await this.#platform.stop();
  }

  /** What the gateway is configured with. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return (this.#server.address() as AddressInfo).port;
  }

  get inspect(): Inspection {
    return this.#platform.inspect;
  }

  /** Customers' messages that the platform has, in the order in which they were created. */
  get messages(): readonly MessageRow[] {
    return this.inspect.messages(this.#shop.shopId).filter(({ role }) => role === 'customer');
  }

  /** Events that the platform has. */
  get events(): ReturnType<Inspection['events']> {
    return this.inspect.events(this.#shop.shopId);
  }

  /** Every POST in the order of arrival; what the gateway reads meanwhile is left out. */
  get posts(): readonly string[] {
    return this.calls.flatMap(({ call }) => (call.startsWith('POST ') ? [call] : []));
  }

  /** Every create-message request, repetitions included. */
  get payloads(): readonly CreateMessageRequest[] {
    return this.calls.flatMap(({ payload }) => payload ?? []);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace('/v2026-04', '').split('?', 1)[0] ?? '';
    const call = `${request.method ?? ''} ${path}`;
    const at = Date.now();
    const isMessage = call === 'POST /messages/';
    const body = isMessage ? await buffer(request) : undefined;
    // As it came, not as a schema would tidy it: the assertions that follow check it.
    const payload = body && (JSON.parse(body.toString()) as CreateMessageRequest);
    const { localAddress: address = '' } = request.socket;
    const seen: SeenCall = { call, at, address, ...(payload && { payload }) };
    this.calls.push(seen);
    if ((await this.gate(call, response)) === 'taken') return;

    const onward = http.request(`${this.#platform.url}${request.url ?? ''}`, {
      method: request.method ?? 'GET',
      headers: request.headers,
    });
    const answered = once(onward, 'response');
    if (body === undefined) pipeline(request, onward).catch(() => onward.destroy());
    else onward.end(body);
    try {
      const [answer] = (await answered) as [IncomingMessage];
      seen.status = answer.statusCode ?? 0;
      if (call === 'GET /messages/' && this.rewriteMessages !== undefined) {
        const list: unknown = JSON.parse(await text(answer));
        response.writeHead(seen.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(this.rewriteMessages(list, address)));
        return;
      }
      response.writeHead(seen.status, answer.headers);
      await pipeline(answer, response);
    } catch {
      // A reset stays a reset on this side.
      response.socket?.resetAndDestroy();
    }
  }
}
