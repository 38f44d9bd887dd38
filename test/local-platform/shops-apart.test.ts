import { beforeEach, expect, test } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import type {
  CreatedEvent,
  MediaRecord,
  Message,
  Page,
  Ticket,
} from '../../src/platform-api/resources.ts';
import { anEmail, call, create, OTHER, SHOP, startPlatform } from './harness.ts';

const ATTACHED = '<mine@example.com>';

let platform: LocalPlatform;
/** A message of the first shop with its related resources. The other shop has no data. */
let mine: Message;
let ticket: Ticket;
let file: MediaRecord;

const asOther = <T>(method: string, path: string, body?: unknown) =>
  call<T>(platform, method, path, { shop: OTHER, ...(body !== undefined && { body }) });

beforeEach(async () => {
  platform = await startPlatform();
  const form = new FormData();
  form.set('file', new Blob(['mine']), 'mine.txt');
  file = (await call<MediaRecord>(platform, 'POST', '/media/', { body: form })).body;
  const message = { remote_id: ATTACHED, attachments: [file.id] };
  mine = (await create(platform, anEmail({ contact: { phone: '+15550002222' }, message }))).body;
  ticket = (await call<Ticket>(platform, 'GET', `/tickets/${String(mine.ticket_id)}/`)).body;
});

test('resources of another shop cannot be read by their ids', async () => {
  for (const path of [
    `/tickets/${ticket.id}/`,
    `/messages/${mine.id}/`,
    `/conversations/${String(mine.conversation_id)}/`,
    `/contacts/${String(mine.contact_id)}/`,
  ]) {
    expect([path, (await call(platform, 'GET', path)).status]).toEqual([path, 200]);
    expect([path, (await asOther('GET', path)).status]).toEqual([path, 404]);
  }
});

test('no filter of a list or a count matches data of another shop', async () => {
  const conversation = String(mine.conversation_id);
  const contact = String(mine.contact_id);
  const tickets = [
    '',
    `id=${ticket.id}`,
    `agent_id=${String(ticket.agent_id)}`,
    `conversation_id=${conversation}`,
    `conversation_id__in=${conversation}`,
    'priority=0',
    'priority__in=0,1',
    'created_at__range=relative:-7d,',
  ];
  const paths = [
    ...tickets.map((query) => `/tickets/?${query}`),
    '/messages/',
    `/messages/?conversation_id=${conversation}`,
    `/messages/?conversation_id__in=${conversation}`,
    `/messages/?ticket_id=${ticket.id}`,
    '/contacts/',
    `/contacts/?id=${contact}`,
    `/contacts/?id__in=${contact}`,
    '/contacts/?email=ann@example.com',
    '/contacts/?phone=%2B15550002222',
    '/contacts/?is_archived=false',
    '/contacts/?parent_contact_id__isnull=true',
  ];
  for (const path of paths) {
    const own = await call<Page<unknown>>(platform, 'GET', path);
    expect([path, own.body.results.length]).toEqual([path, 1]);
    expect([path, (await asOther<Page<unknown>>('GET', path)).body]).toEqual([
      path,
      { results: [], next: null, previous: null },
    ]);
  }
  for (const query of tickets) {
    const path = `/tickets/count/?${query}`;
    expect([path, (await asOther('GET', path)).body]).toEqual([path, { count: 0 }]);
  }
});

test('a cursor of another shop is refused', async () => {
  await create(platform, anEmail());
  const page = await call<Page<Message>>(platform, 'GET', '/messages/?limit=1');
  const { search } = new URL(String(page.body.next));
  expect((await asOther('GET', `/messages/${search}`)).status).toBe(400);
});

test('a message cannot be appended to another shop’s conversation or have its files', async () => {
  const appended = anEmail({ conversation: { id: mine.conversation_id } });
  expect((await create(platform, appended, OTHER)).status).toBe(404);
  const carrying = anEmail({ message: { attachments: [file.id] } });
  expect((await create(platform, carrying, OTHER)).status).toBe(400);
});

test('the same remote_id, person and thread are independent in another shop', async () => {
  const same = anEmail({
    contact: { phone: '+15550002222' },
    message: { remote_id: ATTACHED, email: { in_reply_to: ATTACHED, references: [ATTACHED] } },
  });
  const theirs = await create(platform, same, OTHER);
  expect(theirs.status).toBe(201);
  for (const field of ['id', 'conversation_id', 'ticket_id', 'contact_id'] as const) {
    expect(theirs.body[field]).not.toBe(mine[field]);
  }
  const { body } = await asOther<Ticket>('GET', `/tickets/${String(theirs.body.ticket_id)}/`);
  expect(body.number).toBe(1);
  expect(body.agent_id).not.toBe(ticket.agent_id);
  // When sent again, each is answered with its own message.
  expect((await create(platform, same, OTHER)).body.id).toBe(theirs.body.id);
  expect((await create(platform, anEmail({ message: { remote_id: ATTACHED } }))).body.id).toBe(
    mine.id,
  );
});

test('events find contacts of their own shop, and their deduping keys are their shop’s', async () => {
  const event = {
    name: 'order placed',
    contact: { email: 'ann@example.com', phone: '+15550002222' },
    metric: { metric_name: 'orders', value: 1, deduping_key: 'order-7' },
  };
  const own = await call<CreatedEvent>(platform, 'POST', '/events/', { body: event });
  const theirs = await asOther<CreatedEvent>('POST', '/events/', event);
  expect([own.status, theirs.status]).toEqual([201, 201]);
  expect(own.body.contact?.id).toBe(mine.contact_id);
  expect(theirs.body.contact?.id).not.toBe(mine.contact_id);
});

test('a key gives no access to another shop, on any path', async () => {
  const headers = { 'x-shop-id': SHOP.shopId };
  for (const [method, path] of [
    ['POST', '/events/'],
    ['GET', '/tickets/'],
    ['GET', '/tickets/count/'],
    ['GET', `/tickets/${ticket.id}/`],
    ['GET', '/messages/'],
    ['GET', `/messages/${mine.id}/`],
    ['POST', '/messages/'],
    ['POST', '/media/'],
    ['GET', `/conversations/${String(mine.conversation_id)}/`],
    ['GET', '/contacts/'],
    ['GET', `/contacts/${String(mine.contact_id)}/`],
  ] as const) {
    const options = { shop: OTHER, headers, ...(method === 'POST' && { body: {} }) };
    const answer = await call(platform, method, path, options);
    expect([path, answer.status]).toEqual([path, 403]);
  }
});
