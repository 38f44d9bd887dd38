import type { ShopId } from '../../domain/ids.ts';
import { dedupHash, remoteKey, uuidOf } from '../hashes.ts';
import type { Spool } from '../spool.ts';
import type { Database, Param } from './connection.ts';
import { dedupKeyHash, remoteIdHash } from './erased-keys.ts';
import { storable } from './rows.ts';

/**
 * The state of a job's entry, its detachment and whether it was put off: a detached entry that waits
 * for its own time and never failed, such as a follow-up with the pictures of a text that
 * Twilio does not have yet. It is not overdue until that time.
 */
const PUT_OFF = `job.lane < 0 AND job.waits = 0 AND job.failures = 0`;

type Queries = Pick<
  Spool,
  'backlogBytes' | 'counts' | 'knownEmailIds' | 'knownKeys' | 'laneOf' | 'ownPlatformMessages'
>;

/** The reads of the spool for metrics and normalizers. */
export const entryQueries = (database: Database): Queries => ({
  backlogBytes: async () => {
    const rows = await database.query<{ shop: ShopId; bytes: number }>(
      `SELECT shop, sum(raw_size)::bigint AS bytes FROM entry JOIN (
         SELECT seq FROM job UNION ALL SELECT seq FROM outcome WHERE state = 'held' AND state <> 'delivered'
       ) AS waiting USING (seq) GROUP BY shop`,
    );
    return new Map(rows.map(({ shop, bytes }) => [shop, bytes]));
  },
  counts: () =>
    database.query(
      `SELECT shop AS "shopId", channel, state, count(*) AS count,
         coalesce(min(received_at) FILTER (WHERE NOT put_off), min(next_at), min(received_at)) AS "oldestAt"
       FROM entry JOIN (
         SELECT job.seq, CASE WHEN owning.key IS NULL THEN 'queued' ELSE 'delivering' END AS state,
           ${PUT_OFF} AS put_off, CASE WHEN ${PUT_OFF} THEN job.next_at END AS next_at
         FROM job LEFT JOIN lane AS owning
           ON owning.key = job.lane AND owning.head = job.seq AND owning.owned
         UNION ALL
         SELECT seq, state, false, NULL FROM outcome WHERE state <> 'delivered'
       ) AS now USING (seq) GROUP BY shop, channel, state`,
    ),
  knownEmailIds: (shopId, ids) =>
    known(
      database,
      `SELECT hash FROM remote WHERE hash = ANY ($1::uuid[])
       UNION ALL SELECT hash FROM unnest($1::uuid[], $2::text[]) AS asked (hash, id)
       WHERE EXISTS (SELECT FROM erased_key)
         AND EXISTS (SELECT FROM erased_key WHERE hash = ${remoteIdHash('$3::uuid', 'asked.id')})`,
      new Map(ids.map((id) => [uuidOf(remoteKey(shopId, id)), id])),
      [ids.map(storable), shopId],
    ),
  knownKeys: (shopId, channel, dedupKeys) =>
    known(
      database,
      `SELECT dedup AS hash FROM entry WHERE dedup = ANY ($1::uuid[])
       UNION ALL SELECT asked FROM unnest($1::uuid[]) AS asked
       WHERE EXISTS (SELECT FROM erased_key)
         AND EXISTS (SELECT FROM erased_key WHERE hash = ${dedupKeyHash('asked')})`,
      new Map(
        dedupKeys.map((dedupKey) => [uuidOf(dedupHash({ shopId, channel, dedupKey })), dedupKey]),
      ),
    ),
  laneOf: ({ shopId, channel, dedupKey, conversationId }) => {
    const hash = dedupKey === undefined ? null : uuidOf(dedupHash({ shopId, channel, dedupKey }));
    return database.value(
      `SELECT lane, 1 AS place FROM entry WHERE dedup = $1
       UNION ALL
       SELECT lane, 2 FROM conversation WHERE shop = $2 AND conversation_id = $3 AND channel = $4
       ORDER BY place LIMIT 1`,
      [hash, shopId, conversationId, channel],
    );
  },
  ownPlatformMessages: async (shopId, ids) => {
    const rows = await database.query<{ id: string }>(
      `SELECT platform_message_id AS id FROM outcome JOIN entry USING (seq)
       WHERE platform_message_id = ANY ($1) AND channel = 'web_chat' AND shop = $2`,
      [ids, shopId],
    );
    return new Set(rows.map(({ id }) => id));
  },
});

/** Which of these dedup keys or remote ids are known: both are looked up by their hashes. */
async function known(
  database: Database,
  sql: string,
  hashes: ReadonlyMap<string, string>,
  values: readonly Param[] = [],
): Promise<ReadonlySet<string>> {
  if (hashes.size === 0) return new Set();
  const rows = await database.query<{ hash: string }>(sql, [[...hashes.keys()], ...values]);
  return new Set(rows.flatMap(({ hash }) => hashes.get(hash) ?? []));
}
