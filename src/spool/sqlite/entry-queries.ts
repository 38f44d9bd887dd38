import type { Channel } from '../../domain/channel.ts';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { EntryCount, KnownMessage } from '../spool.ts';
import type { StoredRecord } from '../delivery-record.ts';
import type { StoreContext } from './context.ts';
import type { Db } from './database.ts';
import { dedupHash } from '../hashes.ts';
import type { EntryRow } from './entry-row.ts';
import type { EntryTable } from './entry-table.ts';

/**
 * A detached entry that waits for its own time and never failed: a follow-up with the pictures of a
 * text that Twilio does not have yet. It is not overdue until that time.
 */
const PUT_OFF = `detached = 1 AND waits = 0 AND failures = 0`;
/** SQLite takes the index of what is not delivered only where this is said (Partial Indexes, §3). */
export const IN_OPEN_INDEX = `state <> 'delivered'`;

/**
 * The reads of the spool for metrics and normalizers. PostgreSQL has statements of its own: counts follow the
 * indexes of each store, and normalizers ask for many keys in one round trip.
 */
export class EntryQueries {
  readonly #context: StoreContext;
  readonly #entries: EntryTable;
  readonly #sql;

  constructor(context: StoreContext, entries: EntryTable) {
    this.#context = context;
    this.#entries = entries;
    this.#sql = prepare(context.db);
  }

  record(id: EntryId): StoredRecord | undefined {
    return this.#sql.record.get(id)?.body;
  }

  backlogBytes(): ReadonlyMap<ShopId, number> {
    return new Map(this.#sql.backlogBytes.all().map(({ shopId, bytes }) => [shopId, bytes]));
  }

  counts(): EntryCount[] {
    return this.#sql.counts.all();
  }

  knownEmailIds(shopId: ShopId, ids: readonly string[]): ReadonlySet<string> {
    return new Set(ids.filter((id) => this.#entries.hasRemoteId(shopId, id)));
  }

  knownKeys(shopId: ShopId, channel: Channel, dedupKeys: readonly string[]): ReadonlySet<string> {
    const isKnown = (dedupKey: string) =>
      this.#entries.firstOf({ shopId, channel, dedupKey }) !== undefined;
    return new Set(dedupKeys.filter(isKnown));
  }

  laneOf({ shopId, channel, dedupKey, conversationId }: KnownMessage): string | undefined {
    const hash = dedupKey === undefined ? undefined : dedupHash({ shopId, channel, dedupKey });
    const fresh = hash && this.#context.fresh.idOf(hash);
    const entry = fresh ? this.#sql.byId.get(fresh) : hash && this.#sql.laneByKey.get(hash);
    return entry?.lane ?? this.#sql.laneOfConversation.get(shopId, conversationId, channel)?.lane;
  }

  ownPlatformMessages(shopId: ShopId, ids: readonly string[]): ReadonlySet<string> {
    return new Set(ids.filter((id) => this.#sql.platformMessage.get(id, shopId) !== undefined));
  }
}

function prepare(db: Db) {
  const queued = `FROM entries WHERE state = 'queued' AND counted.state = 'queued' AND ${IN_OPEN_INDEX}
    AND shop = counted.shop AND channel = counted.channel`;
  return {
    record: db.prepare<[string], { body: StoredRecord }>(
      `SELECT body FROM records WHERE seq = (SELECT seq FROM entries WHERE id = ?)`,
    ),
    byId: db.prepare<[string], EntryRow>(`SELECT * FROM entries WHERE id = ?`),
    // Delivered entries are the majority; they are counted when they settle.
    backlogBytes: db.prepare<[], { shopId: ShopId; bytes: number }>(
      `SELECT shop AS shopId, sum(raw_size) AS bytes FROM entries
       WHERE state IN ('queued', 'delivering', 'held') AND ${IN_OPEN_INDEX} GROUP BY shop`,
    ),
    // The oldest queued one is the first in the index of the counts that was not postponed.
    counts: db.prepare<[], EntryCount>(
      `SELECT shop AS shopId, channel, state, count, coalesce(
         (SELECT received_at ${queued} AND NOT (${PUT_OFF}) ORDER BY received_at LIMIT 1),
         (SELECT min(next_attempt_at) ${queued} AND ${PUT_OFF}), oldest) AS oldestAt
       FROM (SELECT shop, channel, state, count(*) AS count, min(received_at) AS oldest
         FROM entries WHERE ${IN_OPEN_INDEX} GROUP BY state, shop, channel) AS counted`,
    ),
    laneByKey: db.prepare<[Uint8Array], { lane: string }>(
      `SELECT lane FROM entries WHERE dedup_hash = ? AND filed = 1`,
    ),
    laneOfConversation: db.prepare<[string, string, string], { lane: string }>(
      `SELECT lane FROM conversations WHERE shop = ? AND conversation_id = ? AND channel = ?`,
    ),
    platformMessage: db.prepare<[string, string]>(
      `SELECT 1 FROM entries
       WHERE platform_message_id = ? AND channel = 'web_chat' AND shop = ? LIMIT 1`,
    ),
  };
}
