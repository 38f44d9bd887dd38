import { expect, test } from '@jest/globals';
import { type Condition, merged, type Streams } from '../../../src/local-platform/store/listing.ts';
import { contactStreams, contactTable } from '../../../src/local-platform/store/contact-table.ts';
import { conversationTable } from '../../../src/local-platform/store/conversation-table.ts';
import { deskTable } from '../../../src/local-platform/store/desk-table.ts';
import { fateTable } from '../../../src/local-platform/store/fate-table.ts';
import { outgoingTable } from '../../../src/local-platform/store/outgoing-table.ts';
import { eventTable } from '../../../src/local-platform/store/event-table.ts';
import { mediaTable } from '../../../src/local-platform/store/media.ts';
import { shopTable } from '../../../src/local-platform/store/store.ts';
import { TicketFinder, ticketTable } from '../../../src/local-platform/store/ticket-table.ts';
import type { Db } from '../../../src/local-platform/store/database.ts';
import { messageStreams, messageTable } from '../../../src/local-platform/store/message-table.ts';
import type {
  ListContactsQuery,
  ListMessagesQuery,
  TicketFilters,
} from '../../../src/platform-api/schemas.ts';
import { SHOP } from '../harness.ts';
import { filledStore, NOW } from './filled-store.ts';

const ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c99';
const TICKETS: Required<TicketFilters> = {
  id: ID,
  agent_id: ID,
  assignee_id: ID,
  conversation_id: ID,
  conversation_id__in: [ID],
  label_id: ID,
  priority: 1,
  priority__in: [1, 2],
  created_at__range: 'relative:-7d,',
};
const MESSAGES: Required<Omit<ListMessagesQuery, 'cursor' | 'limit'>> = {
  conversation_id: ID,
  conversation_id__in: [ID],
  ticket_id: ID,
};
const CONTACTS: Required<Omit<ListContactsQuery, 'cursor' | 'limit'>> = {
  id: ID,
  id__in: [ID],
  email: 'a@example.com',
  phone: '+12025551000',
  is_archived: true,
  parent_contact_id: ID,
  parent_contact_id__in: [ID],
  parent_contact_id__isnull: true,
  remote_platform: 'shopware',
  remote_platform__in: ['shopware'],
};

/** None, each alone, any two, and all. */
function combinations<T extends object>(all: T): Partial<T>[] {
  const names = Object.keys(all);
  const sets = names.reduce<string[][]>(
    (found, name) => [
      ...found,
      ...found.filter((set) => set.length < 2).map((set) => [...set, name]),
    ],
    [[]],
  );
  return [...sets, names].map((set) => {
    const chosen = Object.entries(all).filter(([name]) => set.includes(name));
    // Of the entries of T, some.
    return Object.fromEntries(chosen) as Partial<T>;
  });
}

/** What is read from beginning to end, or sorted. What was asked for may be: it is bounded. */
function expensive(db: Db, { sql, values }: Condition): string[] {
  return db
    .prepare<(string | number)[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map(({ detail }) => detail)
    .filter(
      (detail) =>
        /TEMP B-TREE|AUTOMATIC/.test(detail) ||
        (detail.startsWith('SCAN') &&
          !/^SCAN (?:stream|heads|CONSTANT ROW|json_each)\b/.test(detail)),
    );
}

const TABLES = [
  ...[contactTable, conversationTable, ticketTable, messageTable, mediaTable, eventTable],
  ...[shopTable, outgoingTable, deskTable, fateTable],
];
const BIG = /^SCAN (?:\w|messages|tickets|contacts|conversations|events|media|attachments)\b/;
/** Indexes that have nothing else in them. */
const OF_THOSE_WAITING = /messages_(?:unanswered|unsent)/;

const SIDES = [undefined, { side: 'older', seq: 50 }, { side: 'newer', seq: 50 }] as const;

function listsOf(streams: Streams): Condition[] {
  return SIDES.map((from) => merged(streams, from, 51));
}

const cases: [string, () => Condition[]][] = [
  [
    'messages',
    () => combinations(MESSAGES).flatMap((query) => listsOf(messageStreams(SHOP.shopId, query))),
  ],
  [
    'contacts',
    () => combinations(CONTACTS).flatMap((query) => listsOf(contactStreams(SHOP.shopId, query))),
  ],
];

test.each(cases)(
  'no list of %s reads a whole table or sorts rows, whatever the filters',
  (_name, all) => {
    const { db } = filledStore(6);
    for (const query of all()) expect([query.sql, expensive(db, query)]).toEqual([query.sql, []]);
  },
);

test('no list or count of tickets reads a whole table or sorts rows, whatever the filters', () => {
  const { db } = filledStore(6);
  for (const filters of combinations(TICKETS)) {
    const finder = new TicketFinder(db, SHOP.shopId, filters, NOW);
    for (const query of [...listsOf(finder.streams()), finder.counting()]) {
      expect([filters, expensive(db, query)]).toEqual([filters, []]);
    }
  }
});

test('no other statement reads a table of customers’ data from beginning to end', () => {
  const { db, cursors } = filledStore(6);
  const statements: string[] = [];
  const prepare = db.prepare.bind(db);
  // Each table prepares what it needs when it is made.
  db.prepare = (sql: string) => {
    statements.push(sql);
    return prepare(sql);
  };
  for (const table of TABLES) table(db, cursors);
  expect(statements.length).toBeGreaterThan(30);
  for (const sql of statements) {
    // Compiled and not run, so that any value will do.
    const plan = prepare<[], { detail: string }>(
      `EXPLAIN QUERY PLAN ${sql.replace(/@\w+|\?/g, "'x'")}`,
    ).all();
    const whole = plan
      .map(({ detail }) => detail)
      .filter((detail) => BIG.test(detail) && !OF_THOSE_WAITING.test(detail));
    expect([sql, whole]).toEqual([sql, []]);
  }
});

test('the replies of a conversation are counted by time, without reading its messages', () => {
  const { db } = filledStore(6);
  const plan = db
    .prepare<[], { detail: string }>(
      `EXPLAIN QUERY PLAN SELECT count(*) AS n FROM messages
       WHERE conversation_id = 'x' AND role = 'agent' AND created_at > 'x'`,
    )
    .all();
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH messages USING COVERING INDEX messages_replies (conversation_id=? AND created_at>?)',
  ]);
});
