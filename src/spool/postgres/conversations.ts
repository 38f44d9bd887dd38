import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { LaneKey, RememberedConversation } from '../spool.ts';
import { Batches } from './batches.ts';
import type { Database } from './connection.ts';
import { jsonOf, storable } from './rows.ts';
import { NOW, sqlFunction } from './schema.ts';

type Remembered = LaneKey & { readonly id?: EntryId; readonly conversationId: string };

/** Stores the conversations of lanes, unless another lane has the conversation. Returns their numbers. */
const REMEMBER = sqlFunction(
  'remember_conversations',
  `(items json) RETURNS SETOF int LANGUAGE plpgsql AS $$
   DECLARE each record;
   BEGIN
     FOR each IN
       SELECT * FROM json_to_recordset(items) AS item (
         number int, shop uuid, channel text, lane text, conversation_id text)
       ORDER BY shop, conversation_id
     LOOP
       BEGIN
         INSERT INTO conversation AS old (shop, channel, lane, conversation_id, used_at)
           VALUES (each.shop, each.channel, each.lane, each.conversation_id, ${NOW.name}())
           ON CONFLICT (shop, channel, lane) DO UPDATE
             SET conversation_id = EXCLUDED.conversation_id, used_at = EXCLUDED.used_at;
         RETURN NEXT each.number;
       EXCEPTION WHEN unique_violation THEN
         NULL;
       END;
     END LOOP;
   END $$`,
);

export const CONVERSATION_FUNCTIONS = [REMEMBER];

/** The platform conversation of each lane. `Conversations` documents the methods. */
export class ConversationTable {
  readonly #database: Database;
  readonly #remembers = new Batches<Remembered, boolean>((lanes) => this.#remember(lanes));

  constructor(database: Database) {
    this.#database = database;
  }

  async conversation({
    shopId,
    channel,
    lane,
  }: LaneKey): Promise<RememberedConversation | undefined> {
    const [row] = await this.#database.query<RememberedConversation>(
      `SELECT conversation_id AS id, used_at AS "usedAt" FROM conversation
       WHERE shop = $1 AND channel = $2 AND lane = $3`,
      [shopId, channel, storable(lane)],
    );
    return row;
  }

  rememberConversation(
    lane: LaneKey & { readonly id?: EntryId },
    conversationId: string,
  ): Promise<boolean> {
    return this.#remembers.add({ ...lane, conversationId });
  }

  async #remember(lanes: readonly Remembered[]): Promise<boolean[]> {
    const items = lanes.map(({ shopId, channel, lane, conversationId }, number) => ({
      ...{ number, shop: shopId, channel, lane, conversation_id: conversationId },
    }));
    const kept = await this.#database.query<{ number: number }>(
      `SELECT number FROM ${REMEMBER.name}($1) AS number`,
      [jsonOf(items)],
    );
    const numbers = new Set(kept.map(({ number }) => number));
    return lanes.map((_, number) => numbers.has(number));
  }

  async forgetConversation({ shopId, channel, lane }: LaneKey): Promise<void> {
    await this.#database.query(
      'DELETE FROM conversation WHERE shop = $1 AND channel = $2 AND lane = $3',
      [shopId, channel, storable(lane)],
    );
  }
}

/** Opt-outs from text messages. `OptOutStore` documents the methods. */
export class OptOutTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async isOptedOut(shopId: ShopId, lane: string): Promise<boolean> {
    const [row] = await this.#database.query<{ opted_out: boolean }>(
      'SELECT opted_out FROM opt_out WHERE shop = $1 AND lane = $2',
      [shopId, storable(lane)],
    );
    return row?.opted_out === true;
  }

  async optOut(shopId: ShopId, lane: string, messageSid: string): Promise<void> {
    await this.#database.query(
      `INSERT INTO opt_out (shop, lane, at, opted_out, changed_by) VALUES ($1, $2, ${NOW.name}(), true, $3)
       ON CONFLICT (shop, lane) DO UPDATE
         SET at = EXCLUDED.at, opted_out = true, changed_by = EXCLUDED.changed_by`,
      [shopId, storable(lane), storable(messageSid)],
    );
  }

  async optIn(shopId: ShopId, lane: string, messageSid: string): Promise<boolean> {
    const changed = await this.#database.query(
      `UPDATE opt_out SET opted_out = false, changed_by = $3,
         at = CASE WHEN opted_out THEN ${NOW.name}() ELSE at END
       WHERE shop = $1 AND lane = $2 AND (opted_out OR changed_by = $3) RETURNING 1`,
      [shopId, storable(lane), storable(messageSid)],
    );
    return changed.length > 0;
  }
}
