import { randomBytes, randomUUID } from 'node:crypto';
import type { Db } from './database.ts';

/** What the platform keeps about a shop itself: its AI agent's id and its ticket numbers. */
export class ShopTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      add: db.prepare(`INSERT INTO shops (shop, agent_id) VALUES (?, ?) ON CONFLICT DO NOTHING`),
      agent: db.prepare<[string], { agent_id: string }>(
        `SELECT agent_id FROM shops WHERE shop = ?`,
      ),
      nextTicket: db.prepare<[string], { tickets: number }>(
        `UPDATE shops SET tickets = tickets + 1 WHERE shop = ? RETURNING tickets`,
      ),
      addSecret: db.prepare(
        `INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
      ),
      secret: db.prepare<[string], { value: Buffer }>(`SELECT value FROM secrets WHERE name = ?`),
    };
  }

  /** Makes the shop known; one that is known keeps its agent. */
  add(shop: string): void {
    this.#sql.add.run(shop, randomUUID());
  }

  agentId(shop: string): string {
    const row = this.#sql.agent.get(shop);
    if (row === undefined) throw new Error('a shop that was never added');
    return row.agent_id;
  }

  nextTicketNumber(shop: string): number {
    const row = this.#sql.nextTicket.get(shop);
    if (row === undefined) throw new Error('a shop that was never added');
    return row.tickets;
  }

  /** 32 random bytes that stay the same for as long as the database does. */
  secret(name: string): Buffer {
    this.#sql.addSecret.run(name, randomBytes(32));
    const row = this.#sql.secret.get(name);
    if (row === undefined) throw new Error('a secret that was not stored');
    return row.value;
  }
}
