import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf } from '../../runtime/error-code.ts';
import { type NetworkCount, total } from './message-table.ts';

/** A network that brings most of a shop's email whose sender nothing confirms. */
export interface MailSource {
  readonly shopId: string;
  readonly network: string;
}

const MESSAGES_READ = 5000;
const MESSAGES_NEEDED = 20;

/** The network that brought more than half of these messages, and at least 20; it may be a forwarder's. */
export function mainNetwork(counts: readonly NetworkCount[]): string | undefined {
  const all = total(counts);
  const isMain = ({ network, n }: NetworkCount) =>
    network?.includes('/') === true && n >= MESSAGES_NEEDED && 2 * n > all;
  return counts.find(isMain)?.network ?? undefined;
}

/**
 * Finds networks that delivered most of a shop's unconfirmed email in the last day. They may be
 * forwarders, whose mail counts as one sender's. Reads the platform's database without changing it.
 * @param dir the platform's folder
 * @returns nothing if there is no database, or one with another schema
 * @throws the database cannot be read
 */
export function findMailSources(dir: string): readonly MailSource[] {
  const file = join(dir, 'platform.sqlite');
  if (!existsSync(file)) return [];
  const db = new Database(file, { readonly: true });
  try {
    const counts = db
      .prepare<[number], NetworkCount & { readonly shopId: string }>(
        `SELECT shop AS shopId, unverified_from AS network, count(*) AS n
         FROM (SELECT shop, role, sender, unverified_from, updated_at FROM messages
           ORDER BY seq DESC LIMIT ?)
         WHERE role = 'customer' AND sender LIKE '%@%' AND unverified_from IS NOT NULL
           AND updated_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')
         GROUP BY 1, 2`,
      )
      .all(MESSAGES_READ);
    return [...new Set(counts.map(({ shopId }) => shopId))].flatMap((shopId) => {
      const network = mainNetwork(counts.filter((each) => each.shopId === shopId));
      return network === undefined ? [] : [{ shopId, network }];
    });
  } catch (error) {
    // A table or a column is missing.
    if (codeOf(error) === 'SQLITE_ERROR') return [];
    throw error;
  } finally {
    db.close();
  }
}
