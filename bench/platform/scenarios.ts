import { randomUUID } from 'node:crypto';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import { type Sample, uuidOf } from './fill.ts';

export const GROUPS = ['list', 'count', 'create'] as const;
export type Group = (typeof GROUPS)[number];

/** A request and the expected status. */
export interface Asked {
  readonly path: string;
  readonly status: number;
  readonly body?: CreateMessageRequest;
}

export interface Scenario {
  readonly name: string;
  readonly group: Group;
  /** The nth request; each uses other rows. */
  readonly ask: (n: number) => Asked;
}

type Draw = (n: number) => Sample;
/** The cursor of a page of messages beside this row. */
type CursorAt = (side: 'older' | 'newer', seq: number) => string;

/** Every kind of request that must stay fast, on a shop with this many messages. */
export function scenarios(
  samples: readonly Sample[],
  messages: number,
  cursorAt: CursorAt,
): Scenario[] {
  const draw: Draw = (n) => {
    // A prime, so that consecutive requests use distant rows.
    const sample = samples[(n * 911) % samples.length];
    if (sample === undefined) throw new Error('nothing was stored');
    return sample;
  };
  return [
    ...messageLists(draw, messages, cursorAt),
    ...ticketRequests(draw),
    ...contactLists(draw),
    ...creates(draw),
  ];
}

const list = (name: string, path: (n: number) => string): Scenario => ({
  name: `list ${name}`,
  group: 'list',
  ask: (n) => ({ path: path(n), status: 200 }),
});

const someOf = (draw: Draw, n: number, count: number) =>
  Array.from({ length: count }, (_, k) => draw(n * count + k).conversationId).join();

function messageLists(draw: Draw, messages: number, cursorAt: CursorAt): Scenario[] {
  // In the middle of the table, at a different place each time.
  const deep = (side: 'older' | 'newer', n: number) => cursorAt(side, Math.floor(messages / 2) + n);
  return [
    list('messages', () => '/messages/'),
    list('messages, 200 a page', () => '/messages/?limit=200'),
    list('messages, deep', (n) => `/messages/?cursor=${deep('older', n)}`),
    list('messages, deep and back', (n) => {
      return `/messages/?cursor=${deep('newer', n)}`;
    }),
    list('messages by conversation_id', (n) => {
      return `/messages/?conversation_id=${draw(n).conversationId}`;
    }),
    list('messages by conversation_id__in (100)', (n) => {
      return `/messages/?conversation_id__in=${someOf(draw, n, 100)}`;
    }),
    list('messages by ticket_id', (n) => `/messages/?ticket_id=${draw(n).ticketId}`),
  ];
}

/** Ticket filters that match many rows, few rows or none. */
function ticketFilters(
  draw: Draw,
): readonly (readonly [name: string, query: (n: number) => string])[] {
  const month = (from: number) => `created_at__range=${daysAgo(from)},${daysAgo(from - 29.5)}`;
  return [
    ['all', () => ''],
    ['by agent_id', () => `agent_id=${uuidOf('a', 0)}`],
    ['by assignee_id', (n) => `assignee_id=${uuidOf('b', n % 12)}`],
    ['by label_id', (n) => `label_id=${uuidOf('c', n % 8)}`],
    ['by priority', (n) => `priority=${n % 5}`],
    ['by priority__in', (n) => `priority__in=${n % 5},${(n + 1) % 5},7`],
    ['by conversation_id', (n) => `conversation_id=${draw(n).conversationId}`],
    ['by conversation_id__in (100)', (n) => `conversation_id__in=${someOf(draw, n, 100)}`],
    ['by created_at__range, 7 days', () => 'created_at__range=relative:-7d,'],
    ['by created_at__range, 30 days', () => 'created_at__range=relative:-30d,'],
    ['by created_at__range, a month long ago', (n) => month(60 + (n % 200))],
    [
      'by agent, assignee, label and priority',
      (n) =>
        `agent_id=${uuidOf('a', 0)}&assignee_id=${uuidOf('b', n % 12)}` +
        `&label_id=${uuidOf('c', n % 8)}&priority=${n % 5}`,
    ],
    [
      'by agent, priority and a month',
      (n) => `agent_id=${uuidOf('a', 0)}&priority=1&${month(60 + (n % 200))}`,
    ],
    ['by a label that none has', () => `label_id=${uuidOf('d', 0)}`],
  ];
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

function ticketRequests(draw: Draw): Scenario[] {
  const filters = ticketFilters(draw);
  return [
    ...filters.map(([name, query]) => list(`tickets ${name}`, (n) => `/tickets/?${query(n)}`)),
    ...filters.map(([name, query]): Scenario => ({
      name: `count tickets ${name}`,
      group: 'count',
      ask: (n) => ({ path: `/tickets/count/?${query(n)}`, status: 200 }),
    })),
  ];
}

function contactLists(draw: Draw): Scenario[] {
  const phone = (n: number) => encodeURIComponent(draw(n).phone);
  return [
    list('contacts', () => '/contacts/'),
    list('contacts by email', (n) => `/contacts/?email=${draw(n).email.toUpperCase()}`),
    list('contacts by phone', (n) => `/contacts/?phone=${phone(n)}`),
    list('contacts by id__in (100)', (n) => {
      const ids = Array.from({ length: 100 }, (_, k) => draw(n * 100 + k).contactId);
      return `/contacts/?id__in=${ids.join()}`;
    }),
    list('contacts by is_archived', (n) => `/contacts/?is_archived=${n % 2 === 0}`),
    list('contacts by parent_contact_id__isnull', (n) => {
      return `/contacts/?parent_contact_id__isnull=${n % 2 === 0}`;
    }),
    list('contacts by remote_platform and is_archived', () => {
      return '/contacts/?remote_platform=shopware&is_archived=true';
    }),
  ];
}

function creates(draw: Draw): Scenario[] {
  const create = (
    name: string,
    body: (n: number) => CreateMessageRequest,
    status = 201,
  ): Scenario => ({
    name: `create ${name}`,
    group: 'create',
    ask: (n) => ({ path: '/messages/', status, body: body(n) }),
  });
  return [
    create('message of someone new', () => anEmail(`${randomUUID()}@example.com`, {})),
    create('message in a new conversation', (n) => anEmail(draw(n).email, {})),
    create('message appended by conversation.id', (n) => ({
      contact: { phone: draw(n).phone },
      conversation: { direction: 'inbound', id: draw(n).conversationId },
      message: { content: 'And where is the other pair?', remote_id: randomUUID() },
    })),
    create('message threaded by In-Reply-To', (n) =>
      anEmail(draw(n).email, { email: { in_reply_to: draw(n).replyMessageId } }),
    ),
    create('message threaded by the first of 20 References', (n) => {
      const unknown = Array.from({ length: 19 }, () => `<${randomUUID()}@example.com>`);
      const references = [draw(n).customerMessageId, ...unknown];
      return anEmail(draw(n).email, { email: { references } });
    }),
    create(
      'message that is there already',
      (n) => anEmail(draw(n).email, { remote_id: draw(n).customerMessageId }),
      200,
    ),
  ];
}

function anEmail(
  email: string,
  message: Partial<CreateMessageRequest['message']>,
): CreateMessageRequest {
  return {
    contact: { email, name: 'Ann Lee' },
    conversation: { direction: 'inbound', type: 'email', agent_contact: 'support@acme.example' },
    message: {
      content: 'Where is my order? '.repeat(10),
      remote_id: `<${randomUUID()}@example.com>`,
      ...message,
    },
  };
}
