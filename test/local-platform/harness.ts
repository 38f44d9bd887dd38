import { randomUUID } from 'node:crypto';
import { afterEach } from '@jest/globals';
import type { Message, Page, Ticket } from '../../src/platform-api/resources.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import {
  createLocalPlatform,
  type LocalPlatform,
  type LocalPlatformOptions,
} from '../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { tempDir } from '../support/temp-dir.ts';

export const SHOP = {
  shopId: '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11',
  apiKey: 'key-one',
  name: 'Acme Shoes',
};
export const OTHER = {
  shopId: '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c22',
  apiKey: 'key-two',
  name: 'Other',
};
export const KNOWLEDGE = new URL('../../config/knowledge/demo', import.meta.url).pathname;

/** Where requests go: a platform of this process or of another. */
type Reached = Pick<LocalPlatform, 'url'>;

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

export function newFolder(): string {
  const { path, remove } = tempDir();
  undo.push(remove);
  return path;
}

/** Starts a platform that ends with the test. */
export async function startPlatform(
  options: Partial<LocalPlatformOptions> = {},
): Promise<LocalPlatform> {
  const platform = createLocalPlatform({
    dir: options.dir ?? newFolder(),
    host: '127.0.0.1',
    port: 0,
    shops: [SHOP, OTHER],
    logger: silentLogger,
    agent: { kind: 'off' },
    ...options,
  });
  undo.push(() => platform.stop());
  await platform.start();
  return platform;
}

/** Makes one request like a client of the API. */
export async function call<Body>(
  platform: Reached,
  method: string,
  path: string,
  options: { body?: unknown; shop?: typeof SHOP; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> {
  const { body, shop = SHOP, headers } = options;
  const isForm = body instanceof FormData;
  const raw = isForm || typeof body === 'string' || body === undefined;
  const response = await fetch(path.startsWith('http') ? path : `${platform.url}/v2026-04${path}`, {
    method,
    headers: {
      authorization: `Bearer ${shop.apiKey}`,
      'x-shop-id': shop.shopId,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    // The caller states the expected type; the assertions check it.
    body: (text === '' ? undefined : JSON.parse(text)) as Body,
  };
}

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly fields: Record<string, string>;
  };
}

type Deep<T> = { [K in keyof T]?: T[K] extends object | undefined ? Deep<T[K]> : T[K] };

export function anEmail(change: Deep<CreateMessageRequest> = {}): CreateMessageRequest {
  return {
    contact: { email: 'ann@example.com', name: 'Ann Lee', ...change.contact },
    conversation: {
      direction: 'inbound',
      type: 'email',
      agent_contact: 'support@acme.example',
      ...change.conversation,
    },
    // A test that gives a part of message.email gives all that it needs.
    message: {
      content: 'Where is my order?',
      format: 'TEXT',
      remote_id: `<${randomUUID()}@example.com>`,
      ...change.message,
    } as CreateMessageRequest['message'],
  };
}

export const create = (platform: Reached, body: unknown, shop = SHOP) =>
  call<Message>(platform, 'POST', '/messages/', { body, shop });

export const messagesOf = async (platform: Reached, conversationId: string | null) =>
  (
    await call<Page<Message>>(
      platform,
      'GET',
      `/messages/?conversation_id=${String(conversationId)}`,
    )
  ).body.results;

export const ticketOf = async (platform: Reached, message: Message) =>
  (await call<Ticket>(platform, 'GET', `/tickets/${String(message.ticket_id)}/`)).body;
