import type { Clock } from '../../runtime/clock.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { LaneKey, RememberedConversation } from '../spool.ts';
import type { Db } from './database.ts';
import type { ErasedKeys } from './erased-keys.ts';

/** A lane, and the entry whose delivery revealed its conversation. */
type EntryLane = LaneKey & { readonly id?: EntryId };

/** The platform conversation of each lane. */
export class ConversationTable {
  readonly #clock: Clock;
  readonly #erased: ErasedKeys;
  readonly #sql;

  constructor(db: Db, clock: Clock, erased: ErasedKeys) {
    this.#clock = clock;
    this.#erased = erased;
    this.#sql = {
      get: db.prepare<[string, string, string], RememberedConversation>(
        `SELECT conversation_id AS id, used_at AS usedAt FROM conversations
         WHERE shop = ? AND channel = ? AND lane = ?`,
      ),
      owner: db.prepare<[string, string], { channel: string; lane: string }>(
        `SELECT channel, lane FROM conversations WHERE shop = ? AND conversation_id = ?`,
      ),
      put: db.prepare(
        `INSERT INTO conversations (shop, channel, lane, conversation_id, used_at)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (shop, channel, lane)
         DO UPDATE SET conversation_id = excluded.conversation_id, used_at = excluded.used_at`,
      ),
      entry: db.prepare<[string]>(`SELECT 1 FROM entries WHERE id = ?`),
      forget: db.prepare(`DELETE FROM conversations WHERE shop = ? AND channel = ? AND lane = ?`),
    };
  }

  conversation({ shopId, channel, lane }: LaneKey): RememberedConversation | undefined {
    return this.#sql.get.get(shopId, channel, lane);
  }

  /** Nothing is stored for an entry erased during delivery: its lane names the person. */
  rememberConversation({ shopId, channel, lane, id }: EntryLane, conversationId: string): boolean {
    if (id !== undefined && !this.#erased.isEmpty && this.#sql.entry.get(id) === undefined) {
      return false;
    }
    const owner = this.#sql.owner.get(shopId, conversationId);
    if (owner !== undefined && (owner.channel !== channel || owner.lane !== lane)) return false;
    this.#sql.put.run(shopId, channel, lane, conversationId, this.#clock());
    return true;
  }

  forgetConversation({ shopId, channel, lane }: LaneKey): void {
    this.#sql.forget.run(shopId, channel, lane);
  }
}
