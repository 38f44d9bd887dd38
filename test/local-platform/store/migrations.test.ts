import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '@jest/globals';
import { LocalPlatformUnusable } from '../../../src/local-platform/store/database.ts';
import { MIGRATIONS } from '../../../src/local-platform/store/migrations.ts';
import type { Contact, Message, Page, Ticket } from '../../../src/platform-api/resources.ts';
import { UNVERIFIED_HEADER } from '../../../src/platform-api/schemas.ts';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { anEmail, call, create, newFolder, SHOP, startPlatform } from '../harness.ts';

const AT = '2026-04-01T08:00:00.000Z';
const LATER = '2026-04-02T08:00:00.000Z';
const uuid = (n: number) => `0b6c9c2e-7b1f-4a55-9f6e-${String(n).padStart(12, '0')}`;
const [ANN, CONVERSATION, TICKET, QUESTION, REPLY, PENDING] = [1, 2, 3, 4, 5, 6].map(uuid);

/** As the first version left it: a question, its answer, and one more that has yet to go out. */
function firstVersion(folder: string): void {
  const db = new Database(join(folder, 'platform.sqlite'));
  db.pragma('journal_mode = WAL');
  db.exec(MIGRATIONS[0] ?? '');
  db.pragma('user_version = 1');
  const insert = (table: string, row: Record<string, unknown>) => {
    const columns = Object.keys(row);
    db.prepare(
      `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map((name) => `@${name}`).join()})`,
    ).run(row);
  };
  const shop = SHOP.shopId;
  insert('shops', { shop, agent_id: uuid(9), tickets: 7 });
  const made = { shop, created_at: AT, updated_at: AT };
  insert('contacts', {
    ...made,
    id: ANN,
    name: 'Ann Lee',
    email: 'ann@example.com',
    phone: '+1 (555) 000-2222',
  });
  insert('conversations', {
    ...made,
    ...{ id: CONVERSATION, type: 'email', direction: 'inbound', status: 'pending' },
    ...{ title: 'Order 7', agent_contact: 'support@acme.example', contact_id: ANN },
    agent_id: uuid(9),
  });
  insert('tickets', {
    ...made,
    ...{ id: TICKET, number: 7, name: 'Order 7', status: 'WaitingContact', priority: 0 },
    ...{ agent_id: uuid(9), contact_id: ANN, conversation_id: CONVERSATION, message_id: QUESTION },
  });
  const said = {
    conversation_id: CONVERSATION,
    ticket_id: TICKET,
    contact_id: ANN,
    format: 'TEXT',
  };
  const message = { ...said, type: 'External', updated_at: LATER, shop };
  const cc = [{ email: 'Bob@Example.com', name: 'Bob' }];
  insert('messages', {
    ...{ ...message, id: QUESTION, content: 'Where?', text: 'Where?', role: 'customer' },
    ...{ status: 'DELIVERED', remote_id: '<one@x>', created_at: AT, email: JSON.stringify({ cc }) },
  });
  insert('messages', {
    ...{ ...message, id: REPLY, content: 'There.', text: 'There.', role: 'agent' },
    ...{ status: 'DELIVERED', remote_id: '<two@acme.example>', created_at: LATER },
  });
  insert('messages', {
    ...{ ...message, id: PENDING, content: 'And?', text: 'And?', role: 'agent' },
    ...{ status: 'PENDING', remote_id: '<three@acme.example>', created_at: LATER },
    in_reply_to: QUESTION,
  });
  db.close();
}

test('a database of the first version keeps its data, and works like a new one', async () => {
  const dir = newFolder();
  firstVersion(dir);
  const platform = await startPlatform({ dir, clock: () => Date.parse('2026-04-05T00:00:00Z') });
  const get = async <T>(path: string) => (await call<T>(platform, 'GET', path)).body;

  const messages = await get<Page<Message>>(`/messages/?ticket_id=${TICKET ?? ''}`);
  expect(messages.results.map(({ id }) => id)).toEqual([PENDING, REPLY, QUESTION]);
  expect(messages.results[2]).toMatchObject({ content: 'Where?', remote_id: '<one@x>' });
  const tickets = await get<Page<Ticket>>('/tickets/?priority=0&created_at__range=relative:-7d,');
  expect(tickets.results).toMatchObject([{ id: TICKET, number: 7, status: 'WaitingContact' }]);
  expect(Object.keys(tickets.results[0] ?? {})).not.toContain('facet');
  for (const query of ['', `?agent_id=${uuid(9)}`, '?created_at__range=relative:-7d,']) {
    expect(await get(`/tickets/count/${query}`)).toEqual({ count: 1 });
  }
  // The one that had yet to go out goes out, to whom the question came from.
  const pending = await waitFor('the reply', async () => {
    const reply = await get<Message>(`/messages/${PENDING ?? ''}/`);
    return reply.status === 'PENDING' ? undefined : reply;
  });
  expect(pending.status).toBe('DELIVERED');
  const eml = readFileSync(join(dir, 'outbox', `${PENDING ?? ''}.eml`), 'utf8');
  expect(eml).toMatch(/^From: .*<support@acme\.example>\r$/m);
  expect(eml).toMatch(/^To: .*<ann@example\.com>\r$/m);

  // Numbers are looked up in one form.
  const callers = await get<Page<Contact>>('/contacts/?phone=%2B15550002222');
  expect(callers.results).toMatchObject([{ id: ANN, phone: '+15550002222' }]);
  const contacts = await get<Page<Contact>>('/contacts/?parent_contact_id__isnull=true');
  expect(contacts.results).toMatchObject([{ id: ANN, name: 'Ann Lee' }]);
  expect(Object.keys(contacts.results[0] ?? {})).not.toContain('facet');

  // Ann, and Bob whom she had copied in, go on with the thread; the next ticket is number 8.
  for (const email of ['ann@example.com', 'bob@example.com']) {
    const answer = anEmail({
      contact: { email },
      message: { email: { in_reply_to: '<two@acme.example>' } },
    });
    expect((await create(platform, answer)).body.conversation_id).toBe(CONVERSATION);
  }
  const repeated = await create(platform, anEmail({ message: { remote_id: '<one@x>' } }));
  expect([repeated.status, repeated.body.id]).toEqual([200, QUESTION]);
  const other = await create(platform, anEmail());
  const ticket = await get<Ticket>(`/tickets/${String(other.body.ticket_id)}/`);
  expect(ticket.number).toBe(8);
  expect(await get('/tickets/count/')).toEqual({ count: 2 });
});

test('names that only unconfirmed senders gave before the upgrade, or that are addresses, are not used', async () => {
  const dir = newFolder();
  const before = await startPlatform({ dir });
  const post = (email: string, name: string, headers?: Record<string, string>) =>
    call(before, 'POST', '/messages/', {
      body: anEmail({ contact: { email, name } }),
      ...(headers && { headers }),
    });
  const forged = { [UNVERIFIED_HEADER]: '203.0.113.0/24' };
  await post('ann@example.com', 'Forged', forged);
  await post('bob@example.com', 'Bob', forged);
  await post('bob@example.com', 'Bob');
  for (const name of ['cy', 'di', 'eve']) await post(`${name}@example.com`, name);
  await before.stop();

  const db = new Database(join(dir, 'platform.sqlite'));
  db.exec(`
    DROP INDEX messages_answers; DROP INDEX messages_person; DROP INDEX messages_by_people;
    DROP INDEX messages_limited; ALTER TABLE messages DROP COLUMN person;
    ALTER TABLE messages DROP COLUMN limit_reached;
    ALTER TABLE contacts DROP COLUMN is_name_claimed;
    CREATE INDEX messages_unverified ON messages(shop, created_at)
      WHERE role = 'agent' AND unverified_from IS NOT NULL;
    UPDATE contacts SET name = 'ceo@bank.example' WHERE name = 'cy';
    UPDATE contacts SET name = 'Di@example.com' WHERE name = 'di';
    UPDATE contacts SET name = 'Eve @ Acme' WHERE name = 'eve';`);
  db.pragma(`user_version = ${MIGRATIONS.length - 1}`);
  db.close();

  const after = await startPlatform({ dir });
  await after.stop();
  const read = new Database(join(dir, 'platform.sqlite'), { readonly: true });
  ends(() => read.close());
  const sql = 'SELECT name, is_name_claimed FROM contacts ORDER BY seq';
  expect(read.prepare(sql).raw().all()).toEqual([
    ['Forged', 1],
    ['Bob', 0],
    [null, 0],
    ['Di@example.com', 0],
    ['Eve @ Acme', 0],
  ]);
});

test('a database of a newer version is refused, in words that name the file and both versions', async () => {
  const dir = newFolder();
  const file = join(dir, 'platform.sqlite');
  const db = new Database(file);
  db.pragma(`user_version = ${MIGRATIONS.length + 1}`);
  db.close();
  const starting = startPlatform({ dir });
  await expect(starting).rejects.toThrow(LocalPlatformUnusable);
  await expect(starting).rejects.toThrow(
    `${file} was written by a newer version (schema ${MIGRATIONS.length + 1}; this program knows ${MIGRATIONS.length})`,
  );
});
