import type { RememberedConversation } from '../entry.ts';
import type { EntryLane, LaneKey } from '../spool.ts';
import type { StoreContext } from './context.ts';

/**
 * The platform conversation of each lane. Lanes that were joined share one: that of the lane which new
 * messages go to, or of the first that has one.
 */
export class ConversationTable {
  readonly #context: StoreContext;
  readonly #sql;

  constructor(context: StoreContext) {
    const { db } = context;
    this.#context = context;
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
      use: db.prepare(
        `UPDATE conversations SET used_at = ?
         WHERE shop = ? AND channel = ? AND lane = ? AND conversation_id = ?`,
      ),
      forget: db.prepare(`DELETE FROM conversations WHERE shop = ? AND channel = ? AND lane = ?`),
    };
  }

  conversation({ shopId, channel, lane }: LaneKey): RememberedConversation | undefined {
    for (const each of this.#context.names.lanesOf(shopId, lane)) {
      const found = this.#sql.get.get(shopId, channel, each);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Nothing is stored for an entry erased during delivery: its lane names the person. */
  rememberConversation({ shopId, channel, lane, id }: EntryLane, conversationId: string): boolean {
    if (
      id !== undefined &&
      !this.#context.erased.isEmpty &&
      this.#sql.entry.get(id) === undefined
    ) {
      return false;
    }
    const owner = this.#sql.owner.get(shopId, conversationId);
    const lanes = this.#context.names.lanesOf(shopId, lane);
    if (owner !== undefined) {
      const isOwn = owner.channel === channel && lanes.includes(owner.lane);
      if (isOwn) this.useConversation({ shopId, channel, lane }, conversationId);
      return isOwn;
    }
    const [into] = lanes;
    // A message of a joined lane was on its way: the conversation goes on that there is.
    if (lane !== into && this.conversation({ shopId, channel, lane })) return true;
    this.#sql.put.run(shopId, channel, into, conversationId, this.#context.clock());
    return true;
  }

  /** Notes that a lane has used its conversation; no other lane's. */
  useConversation({ shopId, channel, lane }: LaneKey, conversationId: string): void {
    for (const each of this.#context.names.lanesOf(shopId, lane)) {
      this.#sql.use.run(this.#context.clock(), shopId, channel, each, conversationId);
    }
  }

  forgetConversation({ shopId, channel, lane }: LaneKey): void {
    for (const each of this.#context.names.lanesOf(shopId, lane)) {
      this.#sql.forget.run(shopId, channel, each);
    }
  }
}
