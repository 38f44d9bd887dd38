import { FACETS_AND_PARTICIPANTS } from './facets-and-participants.ts';

/**
 * The schema, one step per entry; `user_version` counts the steps taken. A step that has been
 * released is never edited. `normal_phone` and
 * `normal_address` are our functions of those names. `seq` is the order of arrival and what a list's cursor points at.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE shops (
    shop TEXT PRIMARY KEY, agent_id TEXT NOT NULL, tickets INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE contacts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    name TEXT, email TEXT, phone TEXT, remote_id TEXT, remote_platform TEXT,
    parent_contact_id TEXT, is_archived INTEGER NOT NULL DEFAULT 0,
    last_activity_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX contacts_shop ON contacts(shop, seq);
  CREATE INDEX contacts_email ON contacts(shop, email) WHERE email IS NOT NULL;
  CREATE INDEX contacts_phone ON contacts(shop, phone) WHERE phone IS NOT NULL;
  CREATE INDEX contacts_remote ON contacts(shop, remote_id) WHERE remote_id IS NOT NULL;

  CREATE TABLE conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    type TEXT NOT NULL, direction TEXT NOT NULL, status TEXT NOT NULL, resolution TEXT,
    title TEXT, agent_contact TEXT, agent_id TEXT, contact_id TEXT, user_id TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX conversations_agent_contact ON conversations(shop, agent_contact)
    WHERE agent_contact IS NOT NULL;

  CREATE TABLE tickets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    number INTEGER NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0, summary TEXT,
    agent_id TEXT, assignee_id TEXT, contact_id TEXT, conversation_id TEXT, message_id TEXT,
    label_id TEXT, sublabel_id TEXT, completed_at TEXT,
    last_message_at TEXT, last_message_content TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX tickets_number ON tickets(shop, number);
  CREATE INDEX tickets_shop ON tickets(shop, seq);
  CREATE INDEX tickets_conversation ON tickets(conversation_id, seq);

  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL,
    conversation_id TEXT NOT NULL, ticket_id TEXT NOT NULL, contact_id TEXT,
    agent_id TEXT, user_id TEXT,
    content TEXT NOT NULL, text TEXT NOT NULL, format TEXT NOT NULL,
    role TEXT NOT NULL, status TEXT NOT NULL, type TEXT NOT NULL,
    remote_id TEXT, email TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    unanswered INTEGER NOT NULL DEFAULT 0, in_reply_to TEXT
  ) STRICT;
  CREATE INDEX messages_shop ON messages(shop, seq);
  CREATE INDEX messages_conversation ON messages(conversation_id, seq);
  CREATE INDEX messages_ticket ON messages(ticket_id, seq);
  CREATE UNIQUE INDEX messages_dedup ON messages(shop, remote_id)
    WHERE role = 'customer' AND remote_id IS NOT NULL;
  CREATE INDEX messages_remote ON messages(shop, remote_id) WHERE remote_id IS NOT NULL;
  CREATE INDEX messages_unanswered ON messages(conversation_id, seq) WHERE unanswered = 1;
  CREATE INDEX messages_unsent ON messages(conversation_id, seq)
    WHERE role = 'agent' AND status = 'PENDING';

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

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, shop TEXT NOT NULL, contact_id TEXT,
    name TEXT NOT NULL, description TEXT, event_time TEXT NOT NULL,
    metric TEXT, metric_name TEXT, deduping_key TEXT, created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_contact ON events(contact_id, seq) WHERE contact_id IS NOT NULL;
  CREATE UNIQUE INDEX events_dedup ON events(shop, metric_name, deduping_key)
    WHERE deduping_key IS NOT NULL;
  `,
  // Replies that have yet to leave, each with its own schedule.
  `
  CREATE TABLE departures (
    message_id TEXT PRIMARY KEY, shop TEXT NOT NULL, conversation_id TEXT NOT NULL,
    seq INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL,
    begun_at INTEGER, parts_sent INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX departures_due ON departures(next_at);
  CREATE INDEX departures_conversation ON departures(conversation_id, seq);
  `,
  FACETS_AND_PARTICIPANTS,
  // What the agent may look up: the tickets of whoever writes.
  `CREATE INDEX tickets_contact ON tickets(contact_id, seq) WHERE contact_id IS NOT NULL;`,
  // Both ends of each message, by which a reply is addressed; the shop's own addresses, each once;
  // numbers as they are looked up; the replies of a conversation by time; the events
  // of a deduping key by contact.
  `
  ALTER TABLE messages ADD COLUMN sender TEXT;
  ALTER TABLE messages ADD COLUMN agent_contact TEXT;
  UPDATE contacts SET phone = normal_phone(phone)
    WHERE phone IS NOT NULL AND phone <> normal_phone(phone);
  UPDATE conversations SET agent_contact = normal_phone(agent_contact)
    WHERE type = 'sms' AND agent_contact IS NOT NULL
      AND agent_contact <> normal_phone(agent_contact);
  CREATE TABLE agent_contacts (
    shop TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (shop, address)
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO agent_contacts (shop, address)
    SELECT DISTINCT shop, normal_address(agent_contact) FROM conversations
    WHERE agent_contact IS NOT NULL AND type IN ('email', 'sms');
  DROP INDEX conversations_agent_contact;
  DROP INDEX events_dedup;
  CREATE UNIQUE INDEX events_dedup
    ON events(shop, metric_name, deduping_key, coalesce(contact_id, ''))
    WHERE deduping_key IS NOT NULL;
  CREATE INDEX messages_replies ON messages(conversation_id, created_at) WHERE role = 'agent';
  `,
  // Says that nothing was ever deleted here without its bytes being overwritten.
  `
  CREATE TABLE marks (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO marks (name, at) SELECT 'secure_deletion', 0
    WHERE NOT EXISTS (SELECT 1 FROM contacts) AND NOT EXISTS (SELECT 1 FROM messages)
      AND NOT EXISTS (SELECT 1 FROM pragma_freelist_count WHERE freelist_count > 0);
  `,
];
