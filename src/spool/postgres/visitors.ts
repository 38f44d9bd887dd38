import type { ShopId, VisitorId } from '../../domain/ids.ts';
import { toVisitor, type VisitorRow } from '../chat-rows.ts';
import type { ChatParams, VisitorRecord } from '../chat-store.ts';
import type { Database } from './connection.ts';
import { storable } from './rows.ts';
import { LOOPS_BY_INDEX, sqlFunction } from './schema.ts';

/** `laneOf` in SQL: the lane of a visitor's current conversation. */
export const LANE = `coalesce(lane, id || '/' || conversation)`;

/** The visitor with this id, or the one that it was merged into. */
export const OWNER = sqlFunction(
  'owner_of',
  `(in_shop uuid, in_id text) RETURNS SETOF visitor LANGUAGE sql STABLE AS $$
     SELECT owner.* FROM visitor AS asked
     LEFT JOIN visitor AS known ON known.shop = asked.shop AND known.id = asked.joined
     JOIN visitor AS owner ON owner.no = coalesce(known.no, asked.no)
     WHERE asked.shop = in_shop AND asked.id = in_id $$`,
);

const OWNERS = `DISTINCT owner.no FROM json_to_recordset(items) AS item (shop uuid, visitor text)
       CROSS JOIN LATERAL ${OWNER.name}(item.shop, item.visitor) AS owner`;

/**
 * Locks the owners of these visitors' data, in order of their numbers, before anything is numbered or
 * given to one of them. The caller reads them in a later statement. When a guest was merged while this
 * waited for its row, the call is tried once more without any locks: the visitor that it was merged into
 * comes at another place in the order.
 */
export const LOCK_OWNERS = sqlFunction(
  'lock_owners',
  `(items json) RETURNS void LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   DECLARE
     owners bigint[] := ARRAY(SELECT ${OWNERS});
   BEGIN
     PERFORM 1 FROM visitor WHERE no = ANY (owners) ORDER BY no FOR UPDATE;
     IF EXISTS (SELECT ${OWNERS} WHERE owner.no <> ALL (owners)) THEN
       RAISE serialization_failure USING MESSAGE = 'a guest was merged meanwhile';
     END IF;
   END $$`,
);

/** The second statement sees what another gateway committed while the first waited for it. */
const CREATE = sqlFunction(
  'create_visitor',
  `(in_shop uuid, in_id text, in_name text, in_email text, in_subject text, at bigint)
   RETURNS SETOF visitor LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO visitor (shop, id, name, email, subject, created_at)
       VALUES (in_shop, in_id, in_name, in_email, in_subject, at) ON CONFLICT DO NOTHING;
     RETURN QUERY SELECT * FROM visitor WHERE shop = in_shop AND id = in_id;
     IF NOT FOUND THEN
       -- Two devices of one verified visitor connected at the same time: the first one is kept.
       RETURN QUERY SELECT * FROM visitor WHERE shop = in_shop AND subject = in_subject;
     END IF;
   END $$`,
);

const START_CONVERSATION = sqlFunction(
  'start_conversation',
  `(in_shop uuid, in_id text) RETURNS SETOF visitor LANGUAGE plpgsql AS $$
   BEGIN
     UPDATE visitor
       SET conversation = conversation + 1, lane = NULL, conversation_from_seq = last_seq
       WHERE shop = in_shop AND id = in_id AND last_seq > conversation_from_seq;
     RETURN QUERY SELECT * FROM visitor WHERE shop = in_shop AND id = in_id;
   END $$`,
);

export const VISITOR_FUNCTIONS = [OWNER, LOCK_OWNERS, CREATE, START_CONVERSATION];

/**
 * Visitors. `ChatStore` documents the methods. Names, subjects and messages are texts of other people:
 * in a line, a label or an id, U+FFFD stands for each NUL and each lone surrogate, which PostgreSQL cannot
 * store. A message's entry keeps its text exactly, because its raw form is bytes.
 */
export class VisitorTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async visitor(shopId: ShopId, id: VisitorId): Promise<VisitorRecord | undefined> {
    const [row] = await this.#database.query<VisitorRow>(
      'SELECT * FROM visitor WHERE shop = $1 AND id = $2',
      [shopId, storable(id)],
    );
    return row && toVisitor(row);
  }

  async visitorsAmong(shopId: ShopId, ids: readonly VisitorId[]): Promise<VisitorRecord[]> {
    const rows = await this.#database.query<VisitorRow>(
      'SELECT * FROM visitor WHERE shop = $1 AND id = ANY ($2::text[])',
      [shopId, ids.map(storable)],
    );
    return rows.map(toVisitor);
  }

  async createVisitor(visitor: ChatParams<'createVisitor'>[0]): Promise<VisitorRecord> {
    const { shopId, id, name, email, subject, createdAt } = visitor;
    const [row] = await this.#database.query<VisitorRow>(
      `SELECT * FROM ${CREATE.name}($1, $2, $3, $4, $5, $6)`,
      [shopId, id, stored(name), stored(email), stored(subject), createdAt],
    );
    if (row === undefined) throw new Error('a visitor that was stored cannot be found');
    return toVisitor(row);
  }

  async updateVisitor(...[shopId, id, change]: ChatParams<'updateVisitor'>): Promise<void> {
    const { name, email, seenSeq } = change;
    // What a visitor states never replaces verified data, not even a statement that was in transit
    // when the visitor was verified.
    await this.#database.query(
      `UPDATE visitor SET name = coalesce($3, name),
         email = CASE WHEN subject IS NULL THEN coalesce($4, email) ELSE email END,
         seen_seq = greatest(seen_seq, $5)
       WHERE shop = $1 AND id = $2`,
      [shopId, id, stored(name), stored(email), seenSeq ?? 0],
    );
  }

  async logOut(shopId: ShopId, id: VisitorId): Promise<void> {
    await this.#database.query(
      'UPDATE visitor SET logouts = logouts + 1 WHERE shop = $1 AND id = $2',
      [shopId, storable(id)],
    );
  }

  async startConversation(shopId: ShopId, id: VisitorId) {
    const [row] = await this.#database.query<VisitorRow>(
      `SELECT * FROM ${START_CONVERSATION.name}($1, $2)`,
      [shopId, id],
    );
    const { conversation, lane } = row ? toVisitor(row) : { conversation: 1, lane: `${id}/1` };
    return { conversation, lane };
  }
}

const stored = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text);
