import { randomUUID } from 'node:crypto';
import type { Leases } from '../../runtime/leases.ts';
import type { Database } from './connection.ts';
import { NOW } from './schema.ts';

/** The leases of one process: after a restart they are those of another. */
export function leaseTable(database: Database): Leases {
  const owner = randomUUID();
  return {
    take: async (name, ttlMs) => {
      const rows = await database.query(
        `INSERT INTO lease AS held (name, owner, until) VALUES ($1, $2, ${NOW.name}() + $3)
         ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, until = EXCLUDED.until
           WHERE held.owner = EXCLUDED.owner OR held.until <= ${NOW.name}()
         RETURNING name`,
        [name, owner, Math.ceil(ttlMs)],
      );
      return rows.length > 0;
    },
    release: async (name) => {
      await database.query('DELETE FROM lease WHERE name = $1 AND owner = $2', [name, owner]);
    },
  };
}
