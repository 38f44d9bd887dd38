import type Database from 'better-sqlite3';
import type { SqliteSchema } from '../../runtime/sqlite-schema.ts';

/** A subquery for the facet of the ticket `row`. */
const TICKET_FACET = (row: string) => `
  SELECT facet FROM ticket_facets f WHERE f.shop = ${row}.shop
    AND f.agent_id = coalesce(${row}.agent_id, '')
    AND f.assignee_id = coalesce(${row}.assignee_id, '')
    AND f.label_id = coalesce(${row}.label_id, '') AND f.priority = ${row}.priority`;

/** For triggers: creates the new row's facet if it is missing, sets it and counts the row. */
const ADD_TO_TICKET_FACET = `
  INSERT INTO ticket_facets
      (shop, agent_id, assignee_id, label_id, priority, tickets, first_at, last_at)
    VALUES (new.shop, coalesce(new.agent_id, ''), coalesce(new.assignee_id, ''),
      coalesce(new.label_id, ''), new.priority, 1, new.created_at, new.created_at)
    ON CONFLICT DO UPDATE SET tickets = tickets + 1,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at);
  UPDATE tickets SET facet = (${TICKET_FACET('new')}) WHERE seq = new.seq;`;

const REMOVE_FROM_TICKET_FACET = `
  UPDATE ticket_facets SET tickets = tickets - 1 WHERE facet = old.facet;`;

const REMOVE_FROM_TICKET_DAY = `
  UPDATE ticket_days SET tickets = tickets - 1
    WHERE shop = old.shop AND day = substr(old.created_at, 1, 10);`;

/** For triggers: counts the new row for its day. */
const ADD_TO_TICKET_DAY = `
  INSERT INTO ticket_days (shop, day, tickets, first_at, last_at, first_seq, last_seq)
    VALUES (new.shop, substr(new.created_at, 1, 10), 1, new.created_at, new.created_at,
      new.seq, new.seq)
    ON CONFLICT DO UPDATE SET tickets = tickets + 1,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at),
      first_seq = min(first_seq, excluded.first_seq), last_seq = max(last_seq, excluded.last_seq);`;

const CONTACT_FACET = (row: string) => `
  SELECT facet FROM contact_facets f WHERE f.shop = ${row}.shop
    AND f.is_archived = ${row}.is_archived
    AND f.is_child = (${row}.parent_contact_id IS NOT NULL)
    AND f.remote_platform = coalesce(${row}.remote_platform, '')`;

const SET_CONTACT_FACET = `
  INSERT INTO contact_facets (shop, is_archived, is_child, remote_platform)
    VALUES (new.shop, new.is_archived, new.parent_contact_id IS NOT NULL,
      coalesce(new.remote_platform, ''))
    ON CONFLICT DO NOTHING;
  UPDATE contacts SET facet = (${CONTACT_FACET('new')}) WHERE seq = new.seq;`;

/**
 * `seq` is the order of arrival, to which a list's cursor refers. A conversation has one ticket: the
 * messages of a ticket are found by the conversation. Customers' messages are found by `messages_dedup`.
 *
 * Counts and facets spare lists and counts with any filter reading all rows of a shop
 * (docs/decisions/0011-list-queries-of-the-local-platform.md).
 */
const BASELINE = `
  CREATE TABLE shops (
    shop TEXT PRIMARY KEY, agent_id TEXT NOT NULL, tickets INTEGER NOT NULL DEFAULT 0,
    -- Whether only people answered when the shop was last served.
    only_people INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE contacts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    name TEXT, email TEXT, phone TEXT, remote_id TEXT, remote_platform TEXT,
    parent_contact_id TEXT, is_archived INTEGER NOT NULL DEFAULT 0,
    last_activity_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, facet INTEGER
  ) STRICT;
  CREATE INDEX contacts_facet ON contacts(facet, seq);
  CREATE INDEX contacts_parent ON contacts(parent_contact_id, seq)
    WHERE parent_contact_id IS NOT NULL;
  CREATE INDEX contacts_email ON contacts(shop, email) WHERE email IS NOT NULL;
  CREATE INDEX contacts_phone ON contacts(shop, phone) WHERE phone IS NOT NULL;
  CREATE INDEX contacts_remote ON contacts(shop, remote_id) WHERE remote_id IS NOT NULL;

  CREATE TABLE conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    type TEXT NOT NULL, direction TEXT NOT NULL, status TEXT NOT NULL, resolution TEXT,
    title TEXT, agent_contact TEXT, agent_id TEXT, contact_id TEXT, user_id TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, topic_id TEXT, intent_id TEXT
  ) STRICT;
  -- The participants of email threads.
  CREATE TABLE participants (
    conversation_id TEXT NOT NULL, email TEXT NOT NULL, PRIMARY KEY (conversation_id, email)
  ) STRICT, WITHOUT ROWID;
  -- The shop's own addresses.
  CREATE TABLE agent_contacts (
    shop TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (shop, address)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tickets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    number INTEGER NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0, summary TEXT,
    agent_id TEXT, assignee_id TEXT, contact_id TEXT, conversation_id TEXT, message_id TEXT,
    label_id TEXT, sublabel_id TEXT, completed_at TEXT,
    last_message_at TEXT, last_message_content TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, facet INTEGER, waits_since TEXT
  ) STRICT;
  CREATE UNIQUE INDEX tickets_number ON tickets(shop, number);
  CREATE INDEX tickets_conversation ON tickets(conversation_id, seq);
  CREATE INDEX tickets_facet ON tickets(facet, seq, created_at);
  CREATE INDEX tickets_arrival ON tickets(shop, seq, created_at);
  -- For the agent: the tickets of the contact who writes.
  CREATE INDEX tickets_contact ON tickets(contact_id, seq) WHERE contact_id IS NOT NULL;
  CREATE INDEX tickets_waiting ON tickets(shop, status, waits_since)
    WHERE waits_since IS NOT NULL;
  -- What people did to a ticket.
  CREATE TABLE people (
    user_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ticket_steps (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, ticket_id TEXT NOT NULL, user_id TEXT NOT NULL,
    what TEXT NOT NULL, assignee_id TEXT, at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ticket_steps_ticket ON ticket_steps(ticket_id, seq);

  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    conversation_id TEXT NOT NULL, ticket_id TEXT NOT NULL, contact_id TEXT,
    agent_id TEXT, user_id TEXT,
    content TEXT NOT NULL, text TEXT NOT NULL, format TEXT NOT NULL,
    role TEXT NOT NULL, status TEXT NOT NULL, type TEXT NOT NULL,
    remote_id TEXT, email TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    unanswered INTEGER NOT NULL DEFAULT 0, in_reply_to TEXT,
    -- Its sender and recipient, for the address of a reply.
    sender TEXT, agent_contact TEXT
  ) STRICT;
  CREATE INDEX messages_shop ON messages(shop, seq);
  CREATE INDEX messages_conversation ON messages(conversation_id, seq);
  CREATE UNIQUE INDEX messages_dedup ON messages(shop, remote_id)
    WHERE role = 'customer' AND remote_id IS NOT NULL;
  CREATE INDEX messages_sent ON messages(shop, remote_id)
    WHERE role = 'agent' AND remote_id IS NOT NULL;
  CREATE INDEX messages_unanswered ON messages(conversation_id, seq) WHERE unanswered = 1;
  CREATE INDEX messages_unsent ON messages(conversation_id, seq)
    WHERE role = 'agent' AND status = 'PENDING';
  CREATE INDEX messages_replies ON messages(conversation_id, created_at) WHERE role = 'agent';

  CREATE TABLE media (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    type TEXT NOT NULL, original_name TEXT NOT NULL, permission TEXT NOT NULL,
    size INTEGER NOT NULL, created_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE attachments (
    message_id TEXT NOT NULL, position INTEGER NOT NULL, media_id TEXT NOT NULL,
    PRIMARY KEY (message_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attachments_media ON attachments(media_id);
  -- People's files without a message.
  CREATE TABLE unsent_files (media_id TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL, contact_id TEXT,
    name TEXT NOT NULL, description TEXT, event_time TEXT NOT NULL,
    metric TEXT, metric_name TEXT, deduping_key TEXT, created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_contact ON events(contact_id, seq) WHERE contact_id IS NOT NULL;
  CREATE INDEX events_shop ON events(shop, seq);
  CREATE UNIQUE INDEX events_dedup
    ON events(shop, metric_name, deduping_key, coalesce(contact_id, ''))
    WHERE deduping_key IS NOT NULL;

  -- Replies that are still to be sent, each with its own schedule. queued_at: since when a reply is
  -- queued, which may be sent again.
  CREATE TABLE departures (
    message_id TEXT PRIMARY KEY, shop TEXT NOT NULL, conversation_id TEXT NOT NULL,
    seq INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL,
    begun_at INTEGER, parts_sent INTEGER NOT NULL DEFAULT 0, queued_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX departures_due ON departures(next_at);
  CREATE INDEX departures_conversation ON departures(conversation_id, seq);
  -- How far replies have come.
  CREATE TABLE fates (
    message_id TEXT PRIMARY KEY, shop TEXT NOT NULL, state TEXT NOT NULL,
    code TEXT, reason TEXT, at INTEGER NOT NULL, is_open INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fates_open ON fates(shop, at) WHERE is_open = 1;
  CREATE TABLE sent_parts (
    remote_id TEXT PRIMARY KEY, message_id TEXT NOT NULL, part INTEGER NOT NULL,
    state TEXT NOT NULL, code TEXT, reason TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sent_parts_message ON sent_parts(message_id, part);
  -- Addresses that chat visitors have left for replies, and what is mailed to them.
  CREATE TABLE left_addresses (
    id TEXT PRIMARY KEY, shop TEXT NOT NULL, remote_prefix TEXT NOT NULL,
    email TEXT NOT NULL, address_key TEXT NOT NULL, network_key TEXT NOT NULL,
    language TEXT NOT NULL,
    asked_at INTEGER NOT NULL, confirmed_at INTEGER, replaced_at INTEGER, stopped_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, thread_id TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX left_addresses_current ON left_addresses(shop, remote_prefix)
    WHERE replaced_at IS NULL;
  CREATE INDEX left_addresses_visitor ON left_addresses(shop, remote_prefix, asked_at);
  CREATE INDEX left_addresses_key ON left_addresses(shop, address_key, asked_at);
  CREATE INDEX left_addresses_network ON left_addresses(shop, network_key, asked_at);
  CREATE INDEX left_addresses_shop ON left_addresses(shop, asked_at);
  CREATE INDEX left_addresses_due ON left_addresses(next_at)
    WHERE next_at IS NOT NULL AND replaced_at IS NULL;
  CREATE INDEX left_addresses_unconfirmed ON left_addresses(asked_at) WHERE confirmed_at IS NULL;
  CREATE INDEX left_addresses_thread ON left_addresses(thread_id) WHERE thread_id IS NOT NULL;
  CREATE TABLE reply_mails (
    message_id TEXT PRIMARY KEY, address_id TEXT NOT NULL, sent_at INTEGER NOT NULL,
    due_at INTEGER, mailed_at INTEGER, mail_id TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reply_mails_due ON reply_mails(due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX reply_mails_address ON reply_mails(address_id, mailed_at);
  CREATE TABLE stopped_addresses (
    shop TEXT NOT NULL, address_key TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (shop, address_key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE marks (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- Nothing was erased from this file (spool/sqlite/vacuum.ts).
  INSERT INTO marks (name, at) VALUES ('secure_deletion', 0);

  -- A facet is one combination of the values that many rows of a shop share; '' stands for null.
  -- Its tickets are of the time between first_at and last_at, or of a part of it.
  CREATE TABLE ticket_facets (
    facet INTEGER PRIMARY KEY, shop TEXT NOT NULL, agent_id TEXT NOT NULL,
    assignee_id TEXT NOT NULL, label_id TEXT NOT NULL, priority INTEGER NOT NULL,
    tickets INTEGER NOT NULL, first_at TEXT NOT NULL, last_at TEXT NOT NULL,
    UNIQUE (shop, agent_id, assignee_id, label_id, priority)
  ) STRICT;
  CREATE TABLE ticket_days (
    shop TEXT NOT NULL, day TEXT NOT NULL, tickets INTEGER NOT NULL,
    first_at TEXT NOT NULL, last_at TEXT NOT NULL,
    first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, PRIMARY KEY (shop, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER tickets_added AFTER INSERT ON tickets
    BEGIN ${ADD_TO_TICKET_FACET} ${ADD_TO_TICKET_DAY} END;
  CREATE TRIGGER tickets_removed AFTER DELETE ON tickets
    BEGIN ${REMOVE_FROM_TICKET_FACET} ${REMOVE_FROM_TICKET_DAY} END;
  CREATE TRIGGER tickets_refiled AFTER UPDATE OF agent_id, assignee_id, label_id, priority
    ON tickets BEGIN ${REMOVE_FROM_TICKET_FACET} ${ADD_TO_TICKET_FACET} END;

  CREATE TABLE contact_facets (
    facet INTEGER PRIMARY KEY, shop TEXT NOT NULL, is_archived INTEGER NOT NULL,
    is_child INTEGER NOT NULL, remote_platform TEXT NOT NULL,
    UNIQUE (shop, is_archived, is_child, remote_platform)
  ) STRICT;
  CREATE TRIGGER contacts_added AFTER INSERT ON contacts BEGIN ${SET_CONTACT_FACET} END;
  CREATE TRIGGER contacts_refiled AFTER UPDATE OF is_archived, parent_contact_id, remote_platform
    ON contacts BEGIN ${SET_CONTACT_FACET} END;
`;

/** Names that only unconfirmed senders gave are marked; names that are addresses are removed. */
const UNCONFIRMED_NAMES = `
    UPDATE contacts SET is_name_claimed = 1 WHERE id IN (
      SELECT contact_id FROM messages WHERE role = 'customer'
      GROUP BY contact_id HAVING count(*) = count(unverified_from));
    UPDATE contacts SET name = NULL
      WHERE name GLOB '*[^ @]@[^ @]*' AND lower(trim(name)) IS NOT email;
`;

const MESSAGES_LIMITED = `
    CREATE INDEX messages_limited
      ON messages(shop, limit_reached, updated_at, sender, unverified_from)
      WHERE limit_reached IS NOT NULL;
`;

export const PLATFORM_SCHEMA: SqliteSchema = {
  baseline: { number: 12, sql: BASELINE },
  steps: [
    // Emails whose sender nothing confirms, and the automatic answers to them.
    `
    ALTER TABLE messages ADD COLUMN unverified_from TEXT;
    CREATE INDEX messages_unverified ON messages(shop, created_at)
      WHERE role = 'agent' AND unverified_from IS NOT NULL;
    `,
    // Whom replies went to, which automatic answers are counted by; why the agent left a message to
    // people; names that nothing confirms.
    `
    ALTER TABLE messages ADD COLUMN person TEXT;
    ALTER TABLE messages ADD COLUMN limit_reached TEXT;
    ALTER TABLE contacts ADD COLUMN is_name_claimed INTEGER NOT NULL DEFAULT 0;
    ${UNCONFIRMED_NAMES}
    UPDATE messages SET person = 'email:' || contact_id || ':unverified'
      WHERE role = 'agent' AND unverified_from IS NOT NULL AND contact_id IS NOT NULL;
    DROP INDEX messages_unverified;
    UPDATE messages INDEXED BY messages_replies SET person = 'email:' || contact_id
      WHERE role = 'agent' AND user_id IS NOT NULL AND type = 'External'
        AND contact_id IS NOT NULL AND remote_id LIKE '<%';
    CREATE INDEX messages_answers ON messages(shop, created_at, unverified_from, remote_id)
      WHERE person IS NOT NULL AND user_id IS NULL;
    CREATE INDEX messages_person ON messages(person, created_at)
      WHERE person IS NOT NULL AND user_id IS NULL;
    CREATE INDEX messages_by_people ON messages(person)
      WHERE person IS NOT NULL AND user_id IS NOT NULL;
    ${MESSAGES_LIMITED}
    `,
    // What the shop writes on its own phone: a note with the provider's id.
    `
    ALTER TABLE conversations ADD COLUMN echoed_at TEXT;
    CREATE INDEX messages_echoes ON messages(shop, created_at)
      WHERE type = 'Internal' AND remote_id IS NOT NULL;
    `,
  ],
};

/**
 * Builds from 06de3ca5 to the one before cf156e2a gave the number 14 to a schema in which `limit_reached` has
 * another name. Not for commands: a gateway of such a build may use the database meanwhile.
 */
export function renameLimitReached(db: Database.Database): void {
  const former = "SELECT 1 FROM pragma_table_info('messages') WHERE name = 'left_because'";
  if (db.prepare(former).get() === undefined) return;
  db.transaction(() => {
    db.exec(`
    ALTER TABLE messages RENAME COLUMN left_because TO limit_reached;
    DROP INDEX messages_left;
    ${MESSAGES_LIMITED}${UNCONFIRMED_NAMES}`);
  }).immediate();
}
