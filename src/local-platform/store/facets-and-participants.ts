/** The facet of the ticket in `row`. */
const TICKET_FACET = (row: string) => `
  SELECT facet FROM ticket_facets f WHERE f.shop = ${row}.shop
    AND f.agent_id = coalesce(${row}.agent_id, '')
    AND f.assignee_id = coalesce(${row}.assignee_id, '')
    AND f.label_id = coalesce(${row}.label_id, '') AND f.priority = ${row}.priority`;

/** Within a trigger: the new row's facet is made if need be, set and counted. */
const FILE_TICKET = `
  INSERT INTO ticket_facets
      (shop, agent_id, assignee_id, label_id, priority, tickets, first_at, last_at)
    VALUES (new.shop, coalesce(new.agent_id, ''), coalesce(new.assignee_id, ''),
      coalesce(new.label_id, ''), new.priority, 1, new.created_at, new.created_at)
    ON CONFLICT DO UPDATE SET tickets = tickets + 1,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at);
  UPDATE tickets SET facet = (${TICKET_FACET('new')}) WHERE seq = new.seq;`;

const UNFILE_TICKET = `
  UPDATE ticket_facets SET tickets = tickets - 1 WHERE facet = old.facet;`;

const UNDATE_TICKET = `
  UPDATE ticket_days SET tickets = tickets - 1
    WHERE shop = old.shop AND day = substr(old.created_at, 1, 10);`;

/** Within a trigger: the new row is counted for its day. */
const DATE_TICKET = `
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

const FILE_CONTACT = `
  INSERT INTO contact_facets (shop, is_archived, is_child, remote_platform)
    VALUES (new.shop, new.is_archived, new.parent_contact_id IS NOT NULL,
      coalesce(new.remote_platform, ''))
    ON CONFLICT DO NOTHING;
  UPDATE contacts SET facet = (${CONTACT_FACET('new')}) WHERE seq = new.seq;`;

/**
 * The third step of the schema: what counts and lists of any filter need so as not to read a shop's
 * rows (docs/decisions/0011-lists-of-the-local-platform.md), who takes part in an email thread, and
 * what else a conversation may name. Released, and never edited.
 */
export const FACETS_AND_PARTICIPANTS = `
ALTER TABLE conversations ADD COLUMN topic_id TEXT;
ALTER TABLE conversations ADD COLUMN intent_id TEXT;

CREATE TABLE participants (
  conversation_id TEXT NOT NULL, email TEXT NOT NULL, PRIMARY KEY (conversation_id, email)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO participants (conversation_id, email)
  SELECT m.conversation_id, c.email FROM messages m
  JOIN conversations v ON v.id = m.conversation_id AND v.type = 'email'
  JOIN contacts c ON c.id = m.contact_id WHERE m.role = 'customer' AND c.email IS NOT NULL;
INSERT OR IGNORE INTO participants (conversation_id, email)
  SELECT m.conversation_id, lower(mailbox.value ->> 'email') FROM messages m
  JOIN conversations v ON v.id = m.conversation_id AND v.type = 'email',
  json_each(m.email, '$.cc') mailbox
  WHERE m.email IS NOT NULL AND mailbox.value ->> 'email' IS NOT NULL;
INSERT OR IGNORE INTO participants (conversation_id, email)
  SELECT m.conversation_id, lower(mailbox.value ->> 'email') FROM messages m
  JOIN conversations v ON v.id = m.conversation_id AND v.type = 'email',
  json_each(m.email, '$.bcc') mailbox
  WHERE m.email IS NOT NULL AND mailbox.value ->> 'email' IS NOT NULL;

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
ALTER TABLE tickets ADD COLUMN facet INTEGER;
INSERT INTO ticket_facets
    (shop, agent_id, assignee_id, label_id, priority, tickets, first_at, last_at)
  SELECT shop, coalesce(agent_id, ''), coalesce(assignee_id, ''), coalesce(label_id, ''),
    priority, count(*), min(created_at), max(created_at) FROM tickets GROUP BY 1, 2, 3, 4, 5;
UPDATE tickets SET facet = (${TICKET_FACET('tickets')});
INSERT INTO ticket_days (shop, day, tickets, first_at, last_at, first_seq, last_seq)
  SELECT shop, substr(created_at, 1, 10), count(*), min(created_at), max(created_at),
    min(seq), max(seq) FROM tickets GROUP BY 1, 2;
CREATE INDEX tickets_facet ON tickets(facet, seq, created_at);
DROP INDEX tickets_shop;
CREATE INDEX tickets_arrival ON tickets(shop, seq, created_at);
CREATE TRIGGER tickets_added AFTER INSERT ON tickets
  BEGIN ${FILE_TICKET} ${DATE_TICKET} END;
CREATE TRIGGER tickets_removed AFTER DELETE ON tickets
  BEGIN ${UNFILE_TICKET} ${UNDATE_TICKET} END;
CREATE TRIGGER tickets_refiled AFTER UPDATE OF agent_id, assignee_id, label_id, priority
  ON tickets BEGIN ${UNFILE_TICKET} ${FILE_TICKET} END;

CREATE TABLE contact_facets (
  facet INTEGER PRIMARY KEY, shop TEXT NOT NULL, is_archived INTEGER NOT NULL,
  is_child INTEGER NOT NULL, remote_platform TEXT NOT NULL,
  UNIQUE (shop, is_archived, is_child, remote_platform)
) STRICT;
ALTER TABLE contacts ADD COLUMN facet INTEGER;
INSERT INTO contact_facets (shop, is_archived, is_child, remote_platform)
  SELECT DISTINCT shop, is_archived, parent_contact_id IS NOT NULL,
    coalesce(remote_platform, '') FROM contacts;
UPDATE contacts SET facet = (${CONTACT_FACET('contacts')});
CREATE INDEX contacts_facet ON contacts(facet, seq);
CREATE INDEX contacts_parent ON contacts(parent_contact_id, seq)
  WHERE parent_contact_id IS NOT NULL;
DROP INDEX contacts_shop;
CREATE TRIGGER contacts_added AFTER INSERT ON contacts BEGIN ${FILE_CONTACT} END;
CREATE TRIGGER contacts_refiled AFTER UPDATE OF is_archived, parent_contact_id, remote_platform
  ON contacts BEGIN ${FILE_CONTACT} END;

-- A conversation has one ticket: the messages of a ticket are found by the conversation.
DROP INDEX messages_ticket;
-- Customers' messages are found by messages_dedup.
DROP INDEX messages_remote;
CREATE INDEX messages_sent ON messages(shop, remote_id)
  WHERE role = 'agent' AND remote_id IS NOT NULL;
CREATE INDEX events_shop ON events(shop, seq);
`;
