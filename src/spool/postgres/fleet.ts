import type { DatabaseStatus, InstanceReport } from '../../observability/status.ts';
import type { BlobName, EntryId } from '../../domain/ids.ts';
import type { Fleet } from '../fleet.ts';
import type { SharedBlobs } from './blobs.ts';
import { Database } from './connection.ts';
import { NOW, sqlFunction } from './schema.ts';

const BLOBS_PER_CALL = 200;
const SHOWN_MS = 24 * 60 * 60 * 1000;

/** The lock decides which of two gateways is the first one. */
const ADMIT_KEYS = sqlFunction(
  'admit_keys',
  `(fingerprints text[]) RETURNS boolean LANGUAGE plpgsql AS $$
   BEGIN
     LOCK TABLE known_key IN SHARE ROW EXCLUSIVE MODE;
     IF EXISTS (SELECT FROM known_key) AND
       NOT EXISTS (SELECT FROM known_key WHERE fingerprint = ANY (fingerprints)) THEN
       RETURN false;
     END IF;
     INSERT INTO known_key SELECT unnest(fingerprints) ON CONFLICT DO NOTHING;
     RETURN true;
   END $$`,
);

interface InstanceRow {
  readonly name: string;
  readonly report: InstanceReport;
  readonly seen_ago: number;
}

interface NamedBlobRow {
  readonly blob: BlobName;
  readonly entry: EntryId | null;
  readonly size: number;
  readonly checksum: number | null;
}

interface FleetParts {
  readonly database: Database;
  readonly blobs: Pick<SharedBlobs, 'check'>;
  /** The name of this gateway. */
  readonly instance: string;
}

export const fleetTable = ({ database, blobs, instance }: FleetParts): Fleet => ({
  report: async (own) => {
    const rows = await database.query<InstanceRow>(
      `WITH own AS (
         INSERT INTO instance (name, report, seen_at) VALUES ($1, $2, ${NOW.name}())
         ON CONFLICT (name) DO UPDATE SET report = EXCLUDED.report, seen_at = EXCLUDED.seen_at
         RETURNING name, report, 0::bigint AS seen_ago)
       SELECT name, report::json, seen_ago FROM own
       UNION ALL SELECT name, report::json, greatest(0, ${NOW.name}() - seen_at) FROM instance
         WHERE name <> $1 AND seen_at > ${NOW.name}() - ${SHOWN_MS}
       LIMIT 100`,
      [instance, JSON.stringify(own)],
    );
    return rows
      .map(({ name, report, seen_ago: seenAgoMs }) => ({
        ...{ ...report, name, isOwn: name === instance, seenAgoMs },
      }))
      .toSorted((a, b) => a.host.localeCompare(b.host) || a.name.localeCompare(b.name));
  },
  leave: async () => {
    await database.query('DELETE FROM instance WHERE name = $1', [instance]);
  },
  inspectDatabase: () => statusOf(database),
  checkBlobs: () => blobs.check(),
  countBlobs: async () => {
    const count = await database.value<number>(
      `SELECT (SELECT count(*) FROM entry WHERE blob IS NOT NULL) + (SELECT count(*) FROM upload)`,
    );
    return count ?? 0;
  },
  blobsAfter: async (blob) => {
    const rows = await database.query<NamedBlobRow>(
      `SELECT * FROM (
         (SELECT blob, id AS entry, raw_size AS size, raw_checksum AS checksum
           FROM entry WHERE blob > $1 ORDER BY blob LIMIT ${BLOBS_PER_CALL})
         UNION ALL
         (SELECT blob, entry, size, checksum
           FROM upload WHERE blob > $1 ORDER BY blob LIMIT ${BLOBS_PER_CALL})
       ) AS named ORDER BY blob LIMIT ${BLOBS_PER_CALL}`,
      [blob ?? ''],
    );
    return rows.map(({ entry, checksum, ...named }) => ({
      ...named,
      ...(entry !== null && { entry }),
      ...(checksum !== null && { checksum }),
    }));
  },
});

/**
 * Reads the settings of a store's database.
 * @throws {SpoolUnavailable} it cannot be reached; the cause has the reason
 */
export async function inspectDatabase(url: string): Promise<DatabaseStatus> {
  const database = new Database(url);
  try {
    return await statusOf(database);
  } finally {
    await database.close();
  }
}

/** Reads only what any user may read. */
async function statusOf(database: Database): Promise<DatabaseStatus> {
  const begunAt = Date.now();
  const [row] = await database.query<
    Omit<DatabaseStatus, 'clockAheadMs' | 'hosts'> & { now: number }
  >(
    `SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::int / 10000 AS major,
       pg_is_in_recovery() AS "isStandby",
       current_setting('fsync')::boolean AS fsync,
       current_setting('full_page_writes')::boolean AS "fullPageWrites",
       current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('synchronous_standby_names') AS "synchronousStandbys",
       (SELECT count(*) FROM pg_stat_replication) AS receivers,
       coalesce((SELECT max(pg_wal_lsn_diff(
           CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
           restart_lsn)) FROM pg_replication_slots), 0)::bigint AS "keptLogBytes",
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) * 1000
         FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND xact_start IS NOT NULL), 0)::bigint
         AS "oldestTransactionMs"`,
  );
  if (row === undefined) throw new Error('a SELECT without FROM has one row');
  const { now, ...status } = row;
  // Half of the round trip is the expected difference.
  const clockAheadMs = Math.round(now - (begunAt + Date.now()) / 2);
  return { ...status, clockAheadMs, hosts: database.hosts };
}

/**
 * Whether a gateway with these keys may use the database: the first one may, and each one that
 * has a key of another. Then its other keys count, too, so keys can be replaced one after the
 * other.
 */
export async function admitKeys(
  database: Database,
  fingerprints: readonly string[],
): Promise<boolean> {
  return (await database.value(`SELECT ${ADMIT_KEYS.name}($1)`, [fingerprints])) === true;
}
