import type { RememberedConversation } from '../entry.ts';
import type { EntryLane, Spool } from '../spool.ts';
import { Batches, numbered } from './batches.ts';
import type { Database } from './connection.ts';
import { LANES_OF } from './names.ts';
import { jsonOf, storable } from './rows.ts';
import { NOW, sqlFunction } from './schema.ts';

type Remembered = EntryLane & { readonly conversationId: string };

/**
 * Stores the conversations of lanes, unless another lane has the conversation. Returns their numbers. Nothing
 * is stored for an entry that was erased during delivery: its lane names the person. An erasure
 * waits for the lock of the entry, and finds the conversation afterwards.
 */
const REMEMBER = sqlFunction(
  'remember_conversations',
  `(items json) RETURNS SETOF int LANGUAGE plpgsql AS $$
   DECLARE
     each record;
     lanes text[];
   BEGIN
     FOR each IN
       SELECT * FROM json_to_recordset(items) AS item (
         number int, id uuid, shop uuid, channel text, lane text, conversation_id text)
       ORDER BY shop, conversation_id
     LOOP
       IF each.id IS NOT NULL AND EXISTS (SELECT FROM erasure_key) THEN
         PERFORM 1 FROM entry WHERE id = each.id FOR KEY SHARE;
         CONTINUE WHEN NOT FOUND;
       END IF;
       lanes := ${LANES_OF.name}(each.shop, each.lane);
       -- A message of a joined lane was on its way: the conversation goes on that there is.
       IF each.lane <> lanes[1] AND EXISTS (SELECT FROM conversation
           WHERE shop = each.shop AND channel = each.channel AND lane = ANY (lanes)) THEN
         RETURN NEXT each.number;
         CONTINUE;
       END IF;
       UPDATE conversation SET used_at = ${NOW.name}()
         WHERE shop = each.shop AND conversation_id = each.conversation_id AND channel = each.channel
           AND lane = ANY (lanes) AND lane <> lanes[1];
       IF FOUND THEN
         RETURN NEXT each.number;
         CONTINUE;
       END IF;
       BEGIN
         INSERT INTO conversation AS old (shop, channel, lane, conversation_id, used_at)
           VALUES (each.shop, each.channel, lanes[1], each.conversation_id, ${NOW.name}())
           ON CONFLICT (shop, channel, lane) DO UPDATE
             SET conversation_id = EXCLUDED.conversation_id, used_at = EXCLUDED.used_at;
         RETURN NEXT each.number;
       EXCEPTION WHEN unique_violation THEN
         NULL;
       END;
     END LOOP;
   END $$`,
);

type Table = Pick<Spool, 'conversation' | 'rememberConversation' | 'forgetConversation'>;

/** The platform conversation of each lane. `Conversations` documents the methods. */
export function conversationTable(database: Database): Table {
  const remembers = new Batches<Remembered, boolean>(async (lanes) => {
    const items = lanes.map(({ id, shopId, channel, lane, conversationId }, number) => ({
      ...{ number, id, shop: shopId, channel, lane, conversation_id: conversationId },
    }));
    const kept = await database.query<{ number: number }>(
      `SELECT number FROM ${REMEMBER.name}($1) AS number`,
      [jsonOf(items)],
    );
    return numbered(lanes, kept).map((row) => row !== undefined);
  });
  return {
    conversation: async ({ shopId, channel, lane }) => {
      const [row] = await database.query<RememberedConversation>(
        `SELECT conversation_id AS id, used_at AS "usedAt" FROM conversation
         JOIN unnest(${LANES_OF.name}($1, $3)) WITH ORDINALITY AS theirs (lane, place) USING (lane)
         WHERE shop = $1 AND channel = $2 ORDER BY place LIMIT 1`,
        [shopId, channel, storable(lane)],
      );
      return row;
    },
    rememberConversation: (lane, conversationId) => remembers.add({ ...lane, conversationId }),
    forgetConversation: async ({ shopId, channel, lane }) => {
      await database.query(
        `DELETE FROM conversation WHERE shop = $1 AND channel = $2 AND lane = ANY (${LANES_OF.name}($1, $3))`,
        [shopId, channel, storable(lane)],
      );
    },
  };
}
