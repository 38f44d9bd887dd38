import { randomUUID } from 'node:crypto';
import { normalAddress } from '../addresses.ts';
import { type Db, required } from './database.ts';
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

export class ConversationTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      byId: db.prepare<[string, string], ConversationRow>(
        `SELECT * FROM conversations WHERE shop = ? AND id = ?`,
      ),
      anyShop: db.prepare<[string], ConversationRow>(`SELECT * FROM conversations WHERE id = ?`),
      // One subquery per role, because each role has its own index.
      byMessage: db.prepare<string[], ConversationRow>(
        `SELECT * FROM conversations WHERE type = 'email' AND id = coalesce(
           (SELECT conversation_id FROM messages
            WHERE shop = ? AND remote_id = ? AND role = 'agent' ORDER BY seq DESC LIMIT 1),
           (SELECT conversation_id FROM messages
            WHERE shop = ? AND remote_id = ? AND role = 'customer'))`,
      ),
      addParticipant: db.prepare(
        `INSERT INTO participants (conversation_id, email) VALUES (?, ?) ON CONFLICT DO NOTHING`,
      ),
      participant: db.prepare<[string, string], { one: number }>(
        `SELECT 1 AS one FROM participants WHERE conversation_id = ? AND email = ?`,
      ),
      addAgentContact: db.prepare(
        `INSERT INTO agent_contacts (shop, address) VALUES (?, ?) ON CONFLICT DO NOTHING`,
      ),
      isAgentContact: db.prepare<[string, string], { one: number }>(
        `SELECT 1 AS one FROM agent_contacts WHERE shop = ? AND address = ?`,
      ),
      insert: db.prepare<unknown[], ConversationRow>(
        `INSERT INTO conversations (id, shop, type, direction, status, title, agent_contact,
           agent_id, contact_id, user_id, topic_id, intent_id, created_at, updated_at)
         VALUES (@id, @shop, @type, 'inbound', 'new', @title, @agentContact,
           @agentId, @contactId, @userId, @topicId, @intentId, @now, @now) RETURNING *`,
      ),
      reopen: db.prepare(
        `UPDATE conversations SET status = 'open', user_id = coalesce(user_id, @userId),
           topic_id = coalesce(topic_id, @topicId), intent_id = coalesce(intent_id, @intentId),
           resolution = iif(resolution IN ('soft', 'hard'), NULL, resolution), updated_at = @now
         WHERE id = @id`,
      ),
      setStatus: db.prepare(`UPDATE conversations SET status = ?, updated_at = ? WHERE id = ?`),
      setResolution: db.prepare(
        `UPDATE conversations SET resolution = ?, updated_at = ? WHERE id = ?`,
      ),
    };
  }

  byId(shop: string, id: string): ConversationRow | undefined {
    return this.#sql.byId.get(shop, id);
  }

  /** Of any shop, for the agent. */
  get(id: string): ConversationRow | undefined {
    return this.#sql.anyShop.get(id);
  }

  /** The email conversation of the customer's message or reply with this message-id. */
  byMessageId(shop: string, id: string): ConversationRow | undefined {
    return this.#sql.byMessage.get(shop, id, shop, id);
  }

  /** Adds addresses, in any case, that may continue an email conversation. */
  addParticipants(id: string, emails: readonly string[]): void {
    for (const email of emails) this.#sql.addParticipant.run(id, email.trim().toLowerCase());
  }

  hasParticipant(id: string, email: string): boolean {
    return this.#sql.participant.get(id, email.trim().toLowerCase()) !== undefined;
  }

  /** Records an address or number of the shop, to which a customer has written. */
  addAgentContact(shop: string, address: string): void {
    this.#sql.addAgentContact.run(shop, normalAddress(address));
  }

  /** Whether this address or number, in any notation, belongs to the shop. */
  isAgentContact(shop: string, address: string): boolean {
    return this.#sql.isAgentContact.get(shop, normalAddress(address)) !== undefined;
  }

  create(conversation: NewConversation): ConversationRow {
    return required(
      this.#sql.insert.get({ ...conversation, id: randomUUID() }),
      'the conversation',
    );
  }

  /** Reopens the conversation for a new message, and fills in missing links. */
  reopen(
    id: string,
    links: Pick<NewConversation, 'userId' | 'topicId' | 'intentId'>,
    now: string,
  ): void {
    this.#sql.reopen.run({ ...links, id, now });
  }

  setStatus(id: string, status: 'open' | 'pending', now: string): void {
    this.#sql.setStatus.run(status, now, id);
  }

  setResolution(id: string, resolution: 'escalated', now: string): void {
    this.#sql.setResolution.run(resolution, now, id);
  }
}
