import { randomUUID } from 'node:crypto';
import { normalAddress } from '../addresses.ts';
import { type Db, statements } from './database.ts';
import type { Channel, ConversationRow } from './rows.ts';

interface NewConversation {
  readonly shop: string;
  readonly type: Channel;
  readonly title: string | null;
  readonly agentContact: string | null;
  readonly agentId: string;
  readonly contactId: string;
  readonly userId: string | null;
  readonly topicId: string | null;
  readonly intentId: string | null;
  readonly now: string;
}

const TICKETS_COMPARED = 1000;
/** One stranger can write from more than one address. */
const CONTACTS_NEEDED = 3;

export function conversationTable(db: Db) {
  const { row, value, has, run, one } = statements(db);
  const insert = one<[NewConversation & { id: string }], ConversationRow>(
    `INSERT INTO conversations (id, shop, type, direction, status, title, agent_contact,
       agent_id, contact_id, user_id, topic_id, intent_id, created_at, updated_at)
     VALUES (@id, @shop, @type, 'inbound', 'new', @title, @agentContact,
       @agentId, @contactId, @userId, @topicId, @intentId, @now, @now) RETURNING *`,
  );
  // One subquery per role, because each role has its own index.
  const byMessage = row<[shop: string, id: string, shop: string, id: string], ConversationRow>(
    `SELECT * FROM conversations WHERE type = 'email' AND id = coalesce(
       (SELECT conversation_id FROM messages
        WHERE shop = ? AND remote_id = ? AND role = 'agent' ORDER BY seq DESC LIMIT 1),
       (SELECT conversation_id FROM messages
        WHERE shop = ? AND remote_id = ? AND role = 'customer'))`,
  );
  const addParticipant = run<[id: string, email: string]>(
    `INSERT INTO participants (conversation_id, email) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  );
  const hasParticipant = has<[id: string, email: string]>(
    `SELECT 1 FROM participants WHERE conversation_id = ? AND email = ?`,
  );
  const addAgentContact = run<[shop: string, address: string]>(
    `INSERT INTO agent_contacts (shop, address) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  );
  const isAgentContact = has<[shop: string, address: string]>(
    `SELECT 1 FROM agent_contacts WHERE shop = ? AND address = ?`,
  );
  return {
    create: (conversation: NewConversation) => insert({ ...conversation, id: randomUUID() }),
    byId: row<[shop: string, id: string], ConversationRow>(
      `SELECT * FROM conversations WHERE shop = ? AND id = ?`,
    ),
    /** Of any shop, for the agent. */
    get: row<[id: string], ConversationRow>(`SELECT * FROM conversations WHERE id = ?`),
    /** The email conversation of the customer's message or reply with this message-id. */
    byMessageId: (shop: string, id: string) => byMessage(shop, id, shop, id),
    /** Adds addresses, in any case, that may continue an email conversation. */
    addParticipants(id: string, emails: readonly string[]): void {
      for (const email of emails) addParticipant(id, email.trim().toLowerCase());
    },
    hasParticipant: (id: string, email: string): boolean =>
      hasParticipant(id, email.trim().toLowerCase()),
    /** Records an address or number of the shop, to which a customer has written. */
    addAgentContact: (shop: string, address: string) =>
      addAgentContact(shop, normalAddress(address)),
    /** The contact's latest conversation of this type, which is found by its ticket. */
    lastOf: row<[contactId: string, shop: string, type: Channel], ConversationRow>(
      `SELECT c.* FROM tickets t JOIN conversations c ON c.id = t.conversation_id
       WHERE t.contact_id = ? AND t.shop = ? AND c.type = ? ORDER BY t.seq DESC LIMIT 1`,
    ),
    /**
     * The email address of the shop to which most contacts have written lately. Only one to which
     * several have: with a domain of which the shop takes all mail, a stranger can make up addresses.
     */
    knownEmailOfShop: value<[shop: string], string>(
      // A ticket without a message is of a thread that the shop began.
      `SELECT address FROM (
         SELECT c.type, c.agent_contact AS address, c.contact_id, t.message_id
         FROM tickets t INDEXED BY tickets_arrival
         CROSS JOIN conversations c ON c.id = t.conversation_id
         WHERE t.shop = ? ORDER BY t.seq DESC LIMIT ${TICKETS_COMPARED})
       WHERE type = 'email' AND address IS NOT NULL AND message_id IS NOT NULL
       GROUP BY address HAVING count(DISTINCT contact_id) >= ${CONTACTS_NEEDED}
       ORDER BY count(DISTINCT contact_id) DESC, address LIMIT 1`,
    ),
    /** Whether this address or number, in any notation, belongs to the shop. */
    isAgentContact: (shop: string, address: string): boolean =>
      isAgentContact(shop, normalAddress(address)),
    /** Reopens the conversation for a new message, and fills in missing links. */
    reopen: run<
      [Pick<NewConversation, 'userId' | 'topicId' | 'intentId' | 'now'> & { readonly id: string }]
    >(
      `UPDATE conversations SET status = 'open', user_id = coalesce(user_id, @userId),
         topic_id = coalesce(topic_id, @topicId), intent_id = coalesce(intent_id, @intentId),
         resolution = iif(resolution IN ('soft', 'hard'), NULL, resolution), updated_at = @now
       WHERE id = @id`,
    ),
    setEchoed: run<[{ id: string; at: string }]>(
      `UPDATE conversations SET echoed_at = max(coalesce(echoed_at, ''), @at) WHERE id = @id`,
    ),
    setStatus: run<[{ id: string; status: 'open' | 'pending'; now: string }]>(
      `UPDATE conversations SET status = @status, updated_at = @now WHERE id = @id`,
    ),
    setResolution: run<
      [{ id: string; resolution: 'escalated' | 'human' | 'hard' | null; now: string }]
    >(`UPDATE conversations SET resolution = @resolution, updated_at = @now WHERE id = @id`),
  };
}
