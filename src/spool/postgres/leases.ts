import { randomUUID } from 'node:crypto';
import type { Leases } from '../../runtime/leases.ts';
import type { Database } from './connection.ts';
import { NOW } from './schema.ts';

/** The leases of one process: after a restart they are those of another. */
export class LeaseTable implements Leases {
  readonly #database: Database;
  readonly #owner = randomUUID();

  constructor(database: Database) {
    this.#database = database;
  }

  async take(name: string, ttlMs: number): Promise<boolean> {
    const rows = await this.#database.query(
      `INSERT INTO lease AS held (name, owner, until) VALUES ($1, $2, ${NOW.name}() + $3)
       ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, until = EXCLUDED.until
         WHERE held.owner = EXCLUDED.owner OR held.until <= ${NOW.name}()
       RETURNING name`,
      [name, this.#owner, Math.ceil(ttlMs)],
    );
    return rows.length > 0;
  }

  async release(name: string): Promise<void> {
    await this.#database.query('DELETE FROM lease WHERE name = $1 AND owner = $2', [
      name,
      this.#owner,
    ]);
  }
}
