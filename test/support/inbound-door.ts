import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  createInboundRoute,
  type InboundOptions,
  type InboundParts,
} from '../../src/channels/email/door-http.ts';
import { createPublicApp } from '../../src/gateway/public-http.ts';
import { createIntake, type Intake } from '../../src/intake/intake.ts';
import { createAddressDirectory } from '../../src/channels/email/routing.ts';
import { createReadiness } from '../../src/observability/readiness.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createHttpListener } from '../../src/runtime/http-listener.ts';
import type { Entry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from './store.ts';
import { ACME, OTHER, SHOPS } from './email-door.ts';
import { tempDir } from './temp-dir.ts';

export const ACME_TOKEN = 'token-of-acme-0001';
export const ACME_NEXT_TOKEN = 'token-of-acme-0002';
export const OTHER_TOKEN = 'token-of-other-0001';

export interface InboundRequest {
  readonly token?: string;
  readonly query?: string;
  readonly type?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface InboundAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { ok: boolean; entries?: string[]; error?: string };
}

export interface InboundDoor {
  readonly url: string;
  readonly port: number;
  readonly spool: Spool;
  readonly intake: Intake;
  send(body: string | Uint8Array, request?: InboundRequest): Promise<InboundAnswer>;
  /** Writes bytes as they are and resolves with all that comes until the connection closes. */
  raw(bytes: string): Promise<string>;
  entries(): Promise<readonly Entry[]>;
  /** Files of the blob folder, unfinished ones included. */
  files(): readonly string[];
  close(): Promise<void>;
}

export type InboundChange = Partial<InboundOptions> & {
  readonly parts?: (parts: InboundParts) => Partial<InboundParts>;
};

export const QUERY = 'from=ann@example.com&to=support@acme.example';

/** The public listener with `POST /email/inbound` before a real store, in a folder of its own. */
export async function openInbound({
  parts: change,
  ...options
}: InboundChange = {}): Promise<InboundDoor> {
  const dir = tempDir();
  const store = await openStore(dir.path, 1024);
  const { spool } = store;
  const metrics = createMetrics();
  const intake = createIntake({
    ...{ spool, chat: store.chat, metrics, clock: Date.now },
    onAccepted: () => undefined,
  });
  const parts: InboundParts = {
    intake,
    blobs: spool.blobs,
    directory: createAddressDirectory(SHOPS),
    clientIp: (request) => request.socket.remoteAddress ?? '',
    logger: silentLogger,
    metrics,
    clock: Date.now,
  };
  const route = createInboundRoute(
    {
      shops: [
        { shopId: ACME, tokens: [ACME_TOKEN, ACME_NEXT_TOKEN] },
        { shopId: OTHER, tokens: [OTHER_TOKEN] },
      ],
      hostname: 'mx.acme.example',
      maxMessageBytes: 1_000_000,
      maxRecipients: 100,
      maxInProgress: 64,
      messageRate: { messages: 1000, perMs: 60_000 },
      trustedRelays: [],
      dataPace: { minBytesPerSecond: 500, windowMs: 30_000, totalMs: 600_000 },
      answerWithinMs: 60_000,
      checkEveryMs: 20,
      ...options,
    },
    { ...parts, ...change?.(parts) },
  );
  const app = createPublicApp({
    routers: [route],
    readiness: createReadiness(),
    logger: silentLogger,
  });
  const listener = createHttpListener(app);
  const port = await listener.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}/email/inbound`;
  return {
    ...{ url, port, spool, intake },
    async send(body, { token = ACME_TOKEN, query = QUERY, type, method, headers } = {}) {
      const response = await fetch(`${url}?${query}`, {
        method: method ?? 'POST',
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          'content-type': type ?? 'message/rfc822',
          ...headers,
        },
        ...(method !== 'GET' && { body }),
      });
      // The route answers with JSON of this shape only; the test looks at it.
      const answer = (await response.json()) as InboundAnswer['body'];
      return { status: response.status, headers: response.headers, body: answer };
    },
    raw: (bytes) =>
      new Promise((resolve) => {
        let received = '';
        const socket = connect({ port, host: '127.0.0.1' });
        socket.on('data', (chunk) => (received += chunk.toString('latin1')));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(received));
        socket.write(bytes);
      }),
    entries: () => spool.list({ limit: 1000 }),
    files: () => readdirSync(join(dir.path, 'blobs')),
    async close() {
      await listener.stop(0);
      await spool.close();
      dir.remove();
    },
  };
}
