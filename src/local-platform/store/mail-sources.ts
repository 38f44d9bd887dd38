import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A network that brings most of a shop's email whose sender nothing confirms. */
export interface MailSource {
  readonly shopId: string;
  readonly network: string;
}

const MESSAGES_READ = 5000;
const MESSAGES_NEEDED = 20;

/**
 * Looks for servers that have forwarded a shop's mail in the last day: what they bring counts as theirs. Reads the platform's
 * database without changing it.
 * @param dir the platform's folder
 * @returns nothing if there is no database, or one of another version
 */
export function findMailSources(dir: string): readonly MailSource[] {
  let db: Database.Database | undefined;
  try {
    db = new Database(join(dir, 'platform.sqlite'), { readonly: true, fileMustExist: true });
    return db
      .prepare<[object], MailSource>(
        `SELECT shop AS shopId, network FROM (
           SELECT shop, unverified_from AS network, count(*) AS n,
             sum(count(*)) OVER (PARTITION BY shop) AS inAll
           FROM (SELECT shop, role, sender, unverified_from, updated_at FROM messages
             ORDER BY seq DESC LIMIT @read)
           WHERE role = 'customer' AND sender LIKE '%@%' AND unverified_from IS NOT NULL
             AND updated_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')
           GROUP BY shop, unverified_from)
         WHERE n >= @needed AND 2 * n > inAll AND network LIKE '%/%'`,
      )
      .all({ read: MESSAGES_READ, needed: MESSAGES_NEEDED });
  } catch {
    return [];
  } finally {
    db?.close();
  }
}
