import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Slice } from '../../../src/local-platform/store/listing.ts';
import type { ContactRow, MessageRow, TicketRow } from '../../../src/local-platform/store/rows.ts';
import type {
  ListContactsQuery,
  ListMessagesQuery,
  ListTicketsQuery,
} from '../../../src/platform-api/schemas.ts';
import { runCount } from '../../support/run-count.ts';
import { SHOP } from '../harness.ts';
import { AGENTS, type FilledStore, filledStore, LABELS, NOW, TEAMMATES } from './filled-store.ts';

interface Row {
  readonly seq: number;
  readonly shop: string;
}

interface Paging {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** All pages from the first to the last, and back again. */
function walk(list: (page: Paging) => Slice<Row>, limit: number): [number[], number[]] {
  const forth: number[] = [];
  const back: number[] = [];
  let page = list({ limit });
  for (;;) {
    forth.push(...page.rows.map(({ seq }) => seq));
    if (page.next === undefined) break;
    page = list({ limit, cursor: page.next });
  }
  for (;;) {
    back.unshift(...page.rows.map(({ seq }) => seq));
    if (page.previous === undefined) return [forth, back];
    page = list({ limit, cursor: page.previous });
  }
}

function seqsOf<R extends Row>(rows: readonly R[], matches: (row: R) => boolean): number[] {
  return rows.filter((row) => row.shop === SHOP.shopId && matches(row)).map(({ seq }) => seq);
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const some = <T>(values: readonly T[]) =>
  fc.subarray([...values], { maxLength: Math.min(values.length, 6) });
const present = <T>(values: readonly (T | null)[]) =>
  values.filter((value): value is T & {} => value !== null);
const limits = fc.integer({ min: 1, max: 60 });
const fits = <T>(wanted: T | undefined, value: T) => wanted === undefined || wanted === value;
const among = <T>(wanted: readonly T[] | undefined, value: T) =>
  wanted === undefined || wanted.includes(value);

function ticketQueries({ allTickets }: FilledStore): fc.Arbitrary<ListTicketsQuery> {
  const times = fc.constantFrom(...allTickets.map((row) => row.created_at));
  const conversations = present(allTickets.map((row) => row.conversation_id));
  return fc.record({
    id: fc.option(fc.constantFrom(...allTickets.map((row) => row.id)), {
      nil: undefined,
      freq: 20,
    }),
    agent_id: maybe(fc.constantFrom(...AGENTS)),
    assignee_id: maybe(fc.constantFrom(...present(TEAMMATES))),
    label_id: maybe(fc.constantFrom(...present(LABELS))),
    conversation_id: fc.option(fc.constantFrom(...conversations), { nil: undefined, freq: 20 }),
    conversation_id__in: fc.option(some(conversations), { nil: undefined, freq: 5 }),
    priority: maybe(fc.integer({ min: 0, max: 5 })),
    priority__in: maybe(some([0, 1, 2, 3, 4, 5])),
    created_at__range: maybe(fc.tuple(times, times).map((ends) => ends.toSorted().join(','))),
  });
}

function isWanted(query: ListTicketsQuery) {
  const [from = '', to = '9'] = query.created_at__range?.split(',') ?? [];
  return (row: TicketRow): boolean =>
    fits(query.id, row.id) &&
    fits<string | null>(query.agent_id, row.agent_id) &&
    fits<string | null>(query.assignee_id, row.assignee_id) &&
    fits<string | null>(query.label_id, row.label_id) &&
    fits<string | null>(query.conversation_id, row.conversation_id) &&
    among<string | null>(query.conversation_id__in, row.conversation_id) &&
    fits(query.priority, row.priority) &&
    among(query.priority__in, row.priority) &&
    row.created_at >= from &&
    row.created_at <= to;
}

test('tickets: combined filters list and count the same as a scan of all rows', () => {
  const store = filledStore();
  const rows = store.allTickets;
  fc.assert(
    fc.property(ticketQueries(store), limits, (query, limit) => {
      const expected = seqsOf(rows, isWanted(query));
      const list = (page: Paging) => store.tickets.list(SHOP.shopId, { ...query, ...page }, NOW);
      expect(walk(list, limit)).toEqual([expected, expected]);
      expect(store.tickets.count(SHOP.shopId, query, NOW)).toBe(expected.length);
    }),
    { numRuns: runCount(200) },
  );
});

test('changed tickets are listed and counted with their current values', () => {
  const store = filledStore(30);
  const label = present(LABELS)[0] ?? '';
  const count = (query: ListTicketsQuery) => store.tickets.count(SHOP.shopId, query, NOW);
  store.db.exec(`UPDATE tickets SET priority = 9 WHERE number % 2 = 0`);
  store.db.prepare(`UPDATE tickets SET label_id = ? WHERE priority = 9`).run(label);
  store.db.exec(`DELETE FROM tickets WHERE number = 4`);
  const rows = store.allTickets;
  for (const query of [
    {},
    { priority: 9 },
    { label_id: label },
    { priority: 9, label_id: label },
  ]) {
    const expected = seqsOf(rows, isWanted(query));
    expect(count(query)).toBe(expected.length);
    expect(count({ ...query, created_at__range: 'relative:-30d,' })).toBe(expected.length);
    const { rows: listed } = store.tickets.list(SHOP.shopId, { ...query, limit: 200 }, NOW);
    expect(listed.map(({ seq }) => seq)).toEqual(expected);
  }
});

test('messages: combined filters list the same as a scan of all rows', () => {
  const store = filledStore(60);
  const rows = store.allMessages;
  const conversations = rows.map((row) => row.conversation_id);
  const queries: fc.Arbitrary<ListMessagesQuery> = fc.record({
    conversation_id: maybe(fc.constantFrom(...conversations)),
    conversation_id__in: maybe(fc.subarray(conversations, { maxLength: 40 })),
    ticket_id: fc.option(fc.constantFrom(...rows.map((row) => row.ticket_id)), {
      nil: undefined,
      freq: 4,
    }),
  });
  fc.assert(
    fc.property(queries, limits, (query, limit) => {
      const expected = seqsOf<MessageRow>(
        rows,
        (row) =>
          fits(query.conversation_id, row.conversation_id) &&
          among(query.conversation_id__in, row.conversation_id) &&
          fits(query.ticket_id, row.ticket_id),
      );
      const list = (page: Paging) => store.messages.list(SHOP.shopId, { ...query, ...page });
      expect(walk(list, limit)).toEqual([expected, expected]);
    }),
    { numRuns: runCount(150) },
  );
});

test('contacts: combined filters list the same as a scan of all rows', () => {
  const store = filledStore();
  const rows = store.allContacts;
  const rare = <T>(values: readonly T[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 8 });
  const parents = present(rows.map((row) => row.parent_contact_id));
  const queries: fc.Arbitrary<ListContactsQuery> = fc.record({
    id: rare(rows.map((row) => row.id)),
    id__in: fc.option(some(rows.map((row) => row.id)), { nil: undefined, freq: 8 }),
    email: rare(present(rows.map((row) => row.email))),
    phone: rare(present(rows.map((row) => row.phone))),
    is_archived: maybe(fc.boolean()),
    parent_contact_id: rare(parents),
    parent_contact_id__in: fc.option(some(parents), { nil: undefined, freq: 8 }),
    parent_contact_id__isnull: maybe(fc.boolean()),
    remote_platform: maybe(fc.constantFrom('shopware', 'other', 'none')),
    remote_platform__in: maybe(some(['shopware', 'other', 'none'])),
  });
  fc.assert(
    fc.property(queries, limits, (query, limit) => {
      const expected = seqsOf<ContactRow>(
        rows,
        (row) =>
          fits(query.id, row.id) &&
          among(query.id__in, row.id) &&
          fits<string | null>(query.email, row.email) &&
          fits<string | null>(query.phone, row.phone) &&
          fits(query.is_archived, row.is_archived === 1) &&
          fits<string | null>(query.parent_contact_id, row.parent_contact_id) &&
          among<string | null>(query.parent_contact_id__in, row.parent_contact_id) &&
          fits(query.parent_contact_id__isnull, row.parent_contact_id === null) &&
          fits<string | null>(query.remote_platform, row.remote_platform) &&
          among<string | null>(query.remote_platform__in, row.remote_platform),
      );
      const list = (page: Paging) => store.contacts.list(SHOP.shopId, { ...query, ...page });
      expect(walk(list, limit)).toEqual([expected, expected]);
    }),
    { numRuns: runCount(200) },
  );
});
