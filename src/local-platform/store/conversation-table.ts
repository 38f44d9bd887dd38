import { randomUUID } from 'node:crypto';
import type { Db } from './database.ts';
import type { ConversationRow } from './rows.ts';

export interface NewConversation {
  readonly shop: string;
  readonly type: string;
  readonly title: string | null;
  readonly agentContact: string | null;
  readonly agentId: string;
  readonly contactId: string;
  readonly userId: string | null;
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
      byMessage: db.prepare<[string, string], ConversationRow>(
        `SELECT c.* FROM messages m JOIN conversations c ON c.id = m.conversation_id
         WHERE m.shop = ? AND m.remote_id = ? AND c.type = 'email' ORDER BY m.seq DESC LIMIT 1`,
      ),
      isAgentContact: db.prepare<[string, string], { one: number }>(
        `SELECT 1 AS one FROM conversations WHERE shop = ? AND agent_contact = ? LIMIT 1`,
      ),
      insert: db.prepare<unknown[], ConversationRow>(
        `INSERT INTO conversations (id, shop, type, direction, status, title, agent_contact,
           agent_id, contact_id, user_id, created_at, updated_at)
         VALUES (@id, @shop, @type, 'inbound', 'new', @title, @agentContact,
           @agentId, @contactId, @userId, @now, @now) RETURNING *`,
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

  /** For the agent, which serves all shops. */
  get(id: string): ConversationRow | undefined {
    return this.#sql.anyShop.get(id);
  }

  /** The email conversation that one of these message-ids belongs to; the first that does wins. */
  byMessageIds(shop: string, ids: readonly string[]): ConversationRow | undefined {
    for (const id of ids) {
      const row = this.#sql.byMessage.get(shop, id);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** Whether customers of this shop write to this address: it is the shop's own. */
  isAgentContact(shop: string, address: string): boolean {
    return this.#sql.isAgentContact.get(shop, address.toLowerCase()) !== undefined;
  }

  create(conversation: NewConversation): ConversationRow {
    const agentContact = conversation.agentContact?.toLowerCase() ?? null;
    const row = this.#sql.insert.get({ ...conversation, agentContact, id: randomUUID() });
    if (row === undefined) throw new Error('a conversation that was not stored');
    return row;
  }

  setStatus(id: string, status: 'open' | 'pending', now: string): void {
    this.#sql.setStatus.run(status, now, id);
  }

  setResolution(id: string, resolution: 'escalated', now: string): void {
    this.#sql.setResolution.run(resolution, now, id);
  }
}
