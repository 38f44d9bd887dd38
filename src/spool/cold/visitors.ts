import type { ShopId, VisitorId } from '../../domain/ids.ts';
import { toVisitor, type VisitorRow } from '../chat-rows.ts';
import type { ChatParams, VisitorRecord, WatchedConversation } from '../chat-store.ts';
import { type Dialect, type Operation, rowsOf, statement } from './operation.ts';

/** Visitors. `ChatStore` documents the methods. */
export const visitorOperations = ({ tables: { visitors, conversations }, listed }: Dialect) => {
  const byId = `SELECT * FROM ${visitors} WHERE shop = $1 AND id = $2`;
  // A reserved id never had a conversation. '0' is the character after '/' (lanes are compared by bytes), so the
  // range contains every lane of the visitor. CROSS JOIN: SQLite takes its tables in this order.
  const watched = `WITH asked AS (
      SELECT id FROM ${visitors} AS visitor WHERE shop = $1 AND id IN ${listed('$2')} AND NOT EXISTS (
        SELECT 1 FROM ${visitors} AS known WHERE known.shop = $1 AND known.id = visitor.joined)),
    mine AS (
      SELECT id AS owner, id, NULL AS guest_no FROM asked UNION ALL
      SELECT asked.id, guest.id, guest.no FROM asked CROSS JOIN ${visitors} AS guest
      WHERE guest.shop = $1 AND guest.joined = asked.id AND NOT guest.reserved)
    SELECT owner AS "visitorId", conversation_id AS "conversationId", used_at AS "usedAt"
    FROM mine CROSS JOIN ${conversations}
    WHERE shop = $1 AND channel = 'web_chat' AND lane >= mine.id || '/' AND lane < mine.id || '0'
    ORDER BY guest_no DESC NULLS FIRST, used_at DESC`;

  return {
    *visitor(shopId: ShopId, id: VisitorId): Operation<VisitorRecord | undefined> {
      const [row] = yield* rowsOf<VisitorRow>(byId, shopId, id);
      return row && toVisitor(row);
    },

    *visitorsAmong(shopId: ShopId, ids: readonly VisitorId[]): Operation<VisitorRecord[]> {
      const sql = `SELECT * FROM ${visitors} WHERE shop = $1 AND id IN ${listed('$2')} ORDER BY no`;
      return (yield* rowsOf<VisitorRow>(sql, shopId, ids)).map(toVisitor);
    },

    *conversationsOf(
      shopId: ShopId,
      ids: readonly VisitorId[],
    ): Operation<readonly WatchedConversation[]> {
      return yield* rowsOf<WatchedConversation>(watched, shopId, ids);
    },

    *createVisitor(visitor: ChatParams<'createVisitor'>[0]): Operation<VisitorRecord> {
      const { shopId, id, name = null, email = null, subject = null, createdAt } = visitor;
      const [, own = [], first = []] = yield [
        `INSERT INTO ${visitors} (shop, id, name, email, subject, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
        byId,
        // Two devices of one verified visitor connected at the same time: the first one is kept.
        `SELECT * FROM ${visitors} WHERE shop = $1 AND subject = $5 AND subject IS NOT NULL`,
      ].map((sql) => statement(sql, shopId, id, name, email, subject, createdAt));
      // The columns of the table.
      const [stored] = [...own, ...first] as readonly VisitorRow[];
      if (stored === undefined) throw new Error('a visitor that was stored cannot be found');
      return toVisitor(stored);
    },

    *updateVisitor(...[shop, id, change]: ChatParams<'updateVisitor'>): Operation<void> {
      const { name = null, email = null, seenSeq = 0 } = change;
      // What a visitor states never replaces verified data, not even a statement that was in
      // transit when the visitor was verified.
      yield* rowsOf(
        `UPDATE ${visitors} SET name = coalesce($3, name),
           email = CASE WHEN subject IS NULL THEN coalesce($4, email) ELSE email END,
           seen_seq = CASE WHEN seen_seq < $5 THEN $5 ELSE seen_seq END
         WHERE shop = $1 AND id = $2`,
        ...[shop, id, name, email, seenSeq],
      );
    },

    *logOut(shopId: ShopId, id: VisitorId): Operation<void> {
      yield* rowsOf(
        `UPDATE ${visitors} SET logouts = logouts + 1 WHERE shop = $1 AND id = $2`,
        ...[shopId, id],
      );
    },

    *startConversation(
      shopId: ShopId,
      id: VisitorId,
    ): Operation<Pick<VisitorRecord, 'conversation' | 'lane'>> {
      const [, rows = []] = yield [
        `UPDATE ${visitors}
         SET conversation = conversation + 1, lane = NULL, conversation_from_seq = last_seq
         WHERE shop = $1 AND id = $2 AND last_seq > conversation_from_seq`,
        byId,
      ].map((sql) => statement(sql, shopId, id));
      // The columns of the table.
      const [row] = rows as readonly VisitorRow[];
      const { conversation, lane } = row ? toVisitor(row) : { conversation: 1, lane: `${id}/1` };
      return { conversation, lane };
    },
  };
};
