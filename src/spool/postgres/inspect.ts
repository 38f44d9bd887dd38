import type { DatabaseStatus } from '../../observability/status.ts';
import { Database } from './connection.ts';

interface Row extends Omit<DatabaseStatus, 'clockAheadMs'> {
  readonly now: number;
}

/**
 * Reads the settings of a store's database.
 * @throws {SpoolUnavailable} it cannot be reached; the cause has the reason
 */
export async function inspectDatabase(url: string): Promise<DatabaseStatus> {
  const database = new Database(url);
  try {
    const begunAt = Date.now();
    const [row] = await database.query<Row>(
      `SELECT current_setting('server_version') AS version,
         current_setting('server_version_num')::int / 10000 AS major,
         pg_is_in_recovery() AS "isStandby",
         current_setting('fsync')::boolean AS fsync,
         current_setting('full_page_writes')::boolean AS "fullPageWrites",
         current_setting('synchronous_commit') AS "synchronousCommit",
         current_setting('synchronous_standby_names') AS "synchronousStandbys",
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
         coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) * 1000
           FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND xact_start IS NOT NULL), 0)::bigint
           AS "oldestTransactionMs"`,
    );
    if (row === undefined) throw new Error('a SELECT without FROM has one row');
    const { now, ...status } = row;
    // Half of the round trip is the expected difference.
    return { ...status, clockAheadMs: Math.round(now - (begunAt + Date.now()) / 2) };
  } finally {
    await database.close();
  }
}
