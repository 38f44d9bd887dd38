import { describe, expect, it } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import type { Contact, Message, Page, Ticket } from '../../src/platform-api/resources.ts';
import { anEmail, call, create, OTHER, startPlatform } from './harness.ts';

const get = async <T>(platform: LocalPlatform, path: string) =>
  (await call<T>(platform, 'GET', path)).body;

async function fill(platform: LocalPlatform, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  for (let n = 0; n < count; n++) {
    const { body } = await create(
      platform,
      anEmail({ contact: { email: `c${n}@example.com` }, message: { content: `m${n}` } }),
    );
    messages.push(body);
  }
  return messages;
}

const contents = ({ results }: Page<Message>) => results.map(({ content }) => content);

describe('pages (API §2.6)', () => {
  it('go forward and back, newest first, and stay correct while rows are added', async () => {
    const platform = await startPlatform();
    await fill(platform, 5);
    const first = await get<Page<Message>>(platform, '/messages/?limit=2');
    expect(contents(first)).toEqual(['m4', 'm3']);
    expect(first.previous).toBeNull();

    await create(platform, anEmail({ message: { content: 'new' } }));
    const second = await get<Page<Message>>(platform, String(first.next));
    expect(contents(second)).toEqual(['m2', 'm1']);
    const third = await get<Page<Message>>(platform, String(second.next));
    expect(contents(third)).toEqual(['m0']);
    expect(third.next).toBeNull();

    expect(contents(await get(platform, String(third.previous)))).toEqual(['m2', 'm1']);
    const back = await get<Page<Message>>(platform, String(second.previous));
    expect(contents(back)).toEqual(['m4', 'm3']);
    expect(contents(await get(platform, String(back.previous)))).toEqual(['new']);
  });

  it('keep the filters in their links, and name the platform itself', async () => {
    const platform = await startPlatform();
    const [message] = await fill(platform, 1);
    await create(platform, anEmail({ conversation: { id: message?.conversation_id ?? null } }));
    const page = await get<Page<Message>>(
      platform,
      `/messages/?conversation_id=${String(message?.conversation_id)}&limit=1`,
    );
    const next = new URL(String(page.next));
    expect(next.origin).toBe(platform.url);
    expect(next.searchParams.get('conversation_id')).toBe(message?.conversation_id);
    expect(next.searchParams.get('limit')).toBe('1');
    expect(contents(await get(platform, next.href))).toEqual(['m0']);
  });

  it('have 50 results by default, and 200 at most', async () => {
    const platform = await startPlatform();
    await Promise.all(Array.from({ length: 210 }, () => create(platform, anEmail())));
    expect((await get<Page<Message>>(platform, '/messages/')).results).toHaveLength(50);
    expect((await get<Page<Message>>(platform, '/messages/?limit=1000')).results).toHaveLength(200);
  });
});

describe('filters', () => {
  it('of messages: conversation, several conversations, ticket', async () => {
    const platform = await startPlatform();
    const [a, b, c] = await fill(platform, 3);
    const count = async (query: string) =>
      contents(await get<Page<Message>>(platform, `/messages/?${query}`));
    expect(await count(`conversation_id=${String(a?.conversation_id)}`)).toEqual(['m0']);
    expect(
      await count(
        `conversation_id__in=${String(a?.conversation_id)},${String(c?.conversation_id)}`,
      ),
    ).toEqual(['m2', 'm0']);
    expect(await count(`ticket_id=${String(b?.ticket_id)}`)).toEqual(['m1']);
    expect(await count(`ticket_id=${String(a?.conversation_id)}`)).toEqual([]);
  });

  it('of tickets, the same for the list and the count', async () => {
    let now = Date.parse('2026-04-01T00:00:00Z');
    const platform = await startPlatform({ clock: () => now });
    const [a] = await fill(platform, 1);
    now += 3 * 86_400_000;
    const [b] = await fill(platform, 1);
    const ticket = await get<Ticket>(platform, `/tickets/${String(a?.ticket_id)}/`);
    const both = [b?.ticket_id, a?.ticket_id];
    const cases: [string, unknown[]][] = [
      ['', both],
      [`id=${ticket.id}`, [ticket.id]],
      [`agent_id=${String(ticket.agent_id)}`, both],
      [`assignee_id=${ticket.id}`, []],
      [`label_id=${ticket.id}`, []],
      [`conversation_id=${String(b?.conversation_id)}`, [b?.ticket_id]],
      [`conversation_id__in=${String(a?.conversation_id)},${String(b?.conversation_id)}`, both],
      ['priority=0', both],
      ['priority=1', []],
      ['priority__in=0,1', both],
      ['created_at__range=relative:-1d,', [b?.ticket_id]],
      ['created_at__range=2026-04-01T00:00:00Z,2026-04-02T00:00:00Z', [a?.ticket_id]],
    ];
    for (const [query, expected] of cases) {
      const page = await get<Page<Ticket>>(platform, `/tickets/?${query}`);
      expect([query, page.results.map(({ id }) => id)]).toEqual([query, expected]);
      expect(await get(platform, `/tickets/count/?${query}`)).toEqual({ count: expected.length });
    }
    const refused = await call(platform, 'GET', '/tickets/count/?created_at__range=relative:-31d,');
    expect(refused.status).toBe(400);
  });

  it('of contacts', async () => {
    const platform = await startPlatform();
    const [a, b] = await fill(platform, 2);
    const sms = await create(platform, {
      contact: { phone: '+15551' },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: '+1' },
      message: { content: 'x' },
    });
    const all = [sms.body.contact_id, b?.contact_id, a?.contact_id];
    const cases: [string, unknown[]][] = [
      ['', all],
      [`id=${String(a?.contact_id)}`, [a?.contact_id]],
      [`id__in=${String(a?.contact_id)},${String(b?.contact_id)}`, [b?.contact_id, a?.contact_id]],
      ['email=C0@example.com', [a?.contact_id]],
      ['phone=%2B15551', [sms.body.contact_id]],
      ['is_archived=true', []],
      ['is_archived=false', all],
      [`parent_contact_id=${String(a?.contact_id)}`, []],
      [`parent_contact_id__in=${String(a?.contact_id)}`, []],
      ['parent_contact_id__isnull=true', all],
      ['parent_contact_id__isnull=false', []],
      ['remote_platform=shopware', []],
      ['remote_platform__in=shopware,other', []],
    ];
    for (const [query, expected] of cases) {
      const page = await get<Page<Contact>>(platform, `/contacts/?${query}`);
      expect([query, page.results.map(({ id }) => id)]).toEqual([query, expected]);
    }
  });
});

it('lists contain data of one shop only', async () => {
  const platform = await startPlatform();
  const request = anEmail();
  const mine = await create(platform, request);
  const theirs = await create(platform, request, OTHER);
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.body.contact_id).not.toBe(mine.body.contact_id);
  for (const path of [
    `/messages/${mine.body.id}/`,
    `/tickets/${String(mine.body.ticket_id)}/`,
    `/conversations/${String(mine.body.conversation_id)}/`,
    `/contacts/${String(mine.body.contact_id)}/`,
  ]) {
    expect((await call(platform, 'GET', path, { shop: OTHER })).status).toBe(404);
  }
  const listed = await call<Page<Message>>(platform, 'GET', '/messages/', { shop: OTHER });
  expect(listed.body.results.map(({ id }) => id)).toEqual([theirs.body.id]);
  const intruder = anEmail({ conversation: { id: mine.body.conversation_id } });
  expect((await create(platform, intruder, OTHER)).status).toBe(404);
  expect((await call(platform, 'GET', '/tickets/count/', { shop: OTHER })).body).toEqual({
    count: 1,
  });
});
