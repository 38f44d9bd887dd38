import { laneInSql, MOST_RESERVED, toVisitor, type VisitorRow } from '../chat-rows.ts';
import type { Identified, VisitorIdentity } from '../chat-store.ts';
import { type Dialect, type Operation, rowsOf, statement } from './operation.ts';

/** Another gateway may store the guest or merge it meanwhile, each at most once. */
const ATTEMPTS = 3;

type FoundRow = VisitorRow & { readonly is_known: boolean | number | null };

/**
 * Merges guests into identified visitors. `ChatStore` documents the method.
 *
 * What changes something is one list, whose statements exclude each other by their conditions: the guest is adopted, or
 * the visitor is created, or the guest's id is reserved; a guest that is there is merged. The rows of both are locked
 * before anything is read of them, in the order of their numbers, as by everything that adds to a visitor.
 */
export const identityOperations = ({
  tables: { visitors, journal, uploads },
  lock,
  forUpdate,
}: Dialect) => {
  const isKnown = 'shop = $1 AND subject = $2';
  const unknown = `NOT EXISTS (SELECT 1 FROM ${visitors} WHERE ${isKnown})`;
  const both = `SELECT *, subject = $2 AS is_known FROM ${visitors}
    WHERE shop = $1 AND (id = $3 OR subject = $2)`;
  const locked = `${both} ORDER BY no ${forUpdate}`;

  // An address that the visitor typed must not be taken for a verified one.
  const adopt = `UPDATE ${visitors}
    SET name = coalesce($5, name), email = coalesce($6, ''), subject = $2
    WHERE shop = $1 AND id = $3 AND subject IS NULL AND joined IS NULL AND ${unknown}`;
  const create = `INSERT INTO ${visitors} (shop, id, name, email, subject, created_at)
    SELECT $1, CASE WHEN $3 IS NULL OR EXISTS (SELECT 1 FROM ${visitors} WHERE shop = $1 AND id = $3)
      THEN $4 ELSE $3 END, $5, $6, $2, $7
    WHERE ${unknown} ON CONFLICT DO NOTHING`;
  // A guest without stored data may be sending its first line right now. Its id is reserved, so that a
  // message that was in transit does not create another visitor; the client sends it again as the
  // identified visitor. By the time the oldest reservation is dropped, nothing is in transit.
  const reserve = `INSERT INTO ${visitors} (shop, id, joined, created_at, reserved)
    SELECT shop, $3, id, $7, TRUE FROM ${visitors} WHERE ${isKnown} AND $3 IS NOT NULL
    ON CONFLICT DO NOTHING`;
  const dropReserved = `DELETE FROM ${visitors} WHERE no IN (
    SELECT no FROM ${visitors} WHERE shop = $1 AND reserved
      AND joined = (SELECT id FROM ${visitors} WHERE ${isKnown})
    ORDER BY no DESC LIMIT ${MOST_RESERVED} OFFSET ${MOST_RESERVED})`;
  const relabel = `UPDATE ${visitors} SET name = coalesce($5, name), email = coalesce($6, email)
    WHERE ${isKnown} AND (name IS DISTINCT FROM coalesce($5, name)
      OR email IS DISTINCT FROM coalesce($6, email))`;

  // A guest that is merged, and the visitor that it becomes.
  const areMerged = `known.shop = $1 AND known.subject = $2
    AND guest.shop = $1 AND guest.id = $3 AND guest.subject IS NULL AND guest.joined IS NULL`;
  const merged = (column: string) => `(SELECT ${column}
    FROM ${visitors} AS guest, ${visitors} AS known WHERE ${areMerged})`;
  const lines = `FROM ${journal} WHERE visitor = guest.no`;
  const unseen = (visitor: string) => `FROM ${journal}
    WHERE visitor = ${visitor}.no AND sender = 'agent' AND seq > ${visitor}.seen_seq`;
  const seenLines = `(SELECT count(*) ${lines}
    AND seq < coalesce((SELECT min(seq) ${unseen('guest')}), guest.last_seq + 1))`;
  const wrote = (visitor: string) => `(SELECT at FROM ${journal}
    WHERE visitor = ${visitor}.no AND sender = 'visitor' ORDER BY seq DESC LIMIT 1)`;
  const dropReplies = `DELETE FROM ${journal} AS reply
    WHERE visitor = ${merged('guest.no')} AND sender = 'agent' AND EXISTS (
      SELECT 1 FROM ${journal} AS theirs WHERE theirs.visitor = ${merged('known.no')}
        AND theirs.sender = 'agent' AND theirs.message_id = reply.message_id)`;
  // Who wrote last continues the conversation. One without any message stays a new one.
  const continueGuests = `UPDATE ${visitors} AS known SET conversation = known.conversation + 1,
      lane = ${laneInSql('guest')},
      conversation_from_seq = known.last_seq + CASE WHEN guest.conversation_from_seq = guest.last_seq
        THEN (SELECT count(*) ${lines}) ELSE 0 END
    FROM ${visitors} AS guest
    WHERE ${areMerged} AND ${wrote('guest')} >= coalesce(${wrote('known')}, 0)`;
  const extend = `UPDATE ${visitors} AS known SET last_seq = known.last_seq + (SELECT count(*) ${lines}),
      last_rev = CASE WHEN known.last_rev < guest.last_rev THEN guest.last_rev ELSE known.last_rev END,
      seen_seq = CASE WHEN ${seenLines} > 0 AND known.seen_seq < known.last_seq + ${seenLines}
          AND NOT EXISTS (SELECT 1 ${unseen('known')})
        THEN known.last_seq + ${seenLines} ELSE known.seen_seq END
    FROM ${visitors} AS guest WHERE ${areMerged}`;
  // In the order in which the guest saw them: "at" of a reply comes from another clock.
  const moveLines = `UPDATE ${journal} SET visitor = moved.known, seq = moved.place
    FROM (SELECT line.visitor AS guest, line.seq AS was, known.no AS known,
        known.last_seq - count(*) OVER () + row_number() OVER (ORDER BY line.seq) AS place
      FROM ${visitors} AS guest, ${visitors} AS known, ${journal} AS line
      WHERE ${areMerged} AND line.visitor = guest.no) AS moved
    WHERE visitor = moved.guest AND seq = moved.was`;
  // SQLite has an index of each.
  const moveUploads = ['IS NULL', 'IS NOT NULL'].map(
    (used) => `UPDATE ${uploads} SET visitor = ${merged('known.id')}
      WHERE shop = $1 AND visitor = ${merged('guest.id')} AND entry ${used}`,
  );
  const join = `UPDATE ${visitors} AS guest
    SET joined = known.id, last_seq = 0, seen_seq = 0, conversation_from_seq = 0
    FROM ${visitors} AS known WHERE ${areMerged}`;

  const store = [adopt, create, reserve, dropReserved, relabel];
  const merge = [relabel, dropReplies, continueGuests, extend, moveLines, ...moveUploads, join];

  return {
    *identifyVisitor(identity: VisitorIdentity): Operation<Identified> {
      const { shopId, subject, guestId, newId, at, name = null, email = null } = identity;
      const values = [shopId, subject, guestId ?? null, newId, name, email, at];
      const knownIn = (rows: readonly FoundRow[]) => rows.find((row) => row.is_known);
      const guestIn = (rows: readonly FoundRow[]) => rows.find(({ id }) => id === guestId);
      // One at a time for each subject: of two devices of a new visitor one is the first.
      const lockSubject = lock(`visitor ${shopId} ${subject}`, 'durable');
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const found = yield* rowsOf<FoundRow>(both, ...values);
        const [known, guest] = [knownIn(found), guestIn(found)];
        const isLabelled =
          (name ?? known?.name) === known?.name && (email ?? known?.email) === known?.email;
        if (known && isLabelled && (guestId === undefined || isTaken(guest))) {
          return { visitor: toVisitor(known), joinedLines: 0 };
        }
        const changes = known && guest && !isTaken(guest) ? merge : store;
        const list = [locked, ...changes, both].map((sql) => statement(sql, ...values));
        const rows = (yield [...lockSubject, ...list]).slice(lockSubject.length);
        // The columns of `both`.
        const [before = [], after = []] = [rows[0], rows.at(-1)] as FoundRow[][];
        const [visitor, is] = [knownIn(after), guestIn(after)];
        // Another gateway stored the guest after this one had looked.
        if (visitor === undefined || (is !== undefined && !isTaken(is))) continue;
        const isTheirs = is?.id === visitor.id || is?.joined === visitor.id;
        return {
          visitor: toVisitor(visitor),
          joinedLines: visitor.last_seq - (knownIn(before) ?? visitor).last_seq,
          ...(guestId !== undefined &&
            isTheirs &&
            !isTaken(guestIn(before)) && { superseded: guestId }),
        };
      }
      throw new Error('a visitor that was stored cannot be found');
    },
  };
};

/** Whether a guest has an identity or was merged before. */
const isTaken = (guest: VisitorRow | undefined): boolean =>
  guest !== undefined && (guest.subject !== null || guest.joined !== null);
