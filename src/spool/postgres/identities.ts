import { MOST_RESERVED, toVisitor, type VisitorRow } from '../chat-rows.ts';
import type { Identified, VisitorIdentity } from '../chat-store.ts';
import type { Database } from './connection.ts';
import { jsonOf } from './rows.ts';
import { BY_INDEX, LOOPS_BY_INDEX, sqlFunction } from './schema.ts';
import { LANE } from './visitors.ts';

/** Another gateway may store the same guest or subject at any moment, each at most once. */
const ATTEMPTS = 5;

/**
 * Appends a guest's lines to those of a known visitor and returns how many were moved. The caller
 * has locked both rows.
 */
const MERGE = sqlFunction(
  'merge_guest',
  `(guest visitor, known visitor) RETURNS bigint LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     guest_wrote bigint := (SELECT at FROM journal
       WHERE visitor = guest.no AND sender = 'visitor' ORDER BY seq DESC LIMIT 1);
     known_wrote bigint := (SELECT at FROM journal
       WHERE visitor = known.no AND sender = 'visitor' ORDER BY seq DESC LIMIT 1);
     all_seen boolean := NOT EXISTS (SELECT FROM journal
       WHERE visitor = known.no AND seq > known.seen_seq AND sender = 'agent');
     last bigint;
     seen bigint;
   BEGIN
     DELETE FROM journal AS reply WHERE visitor = guest.no AND sender = 'agent' AND EXISTS (
       SELECT FROM journal AS theirs WHERE theirs.visitor = known.no AND theirs.sender = 'agent'
         AND theirs.message_id = reply.message_id);
     -- In the order in which the guest saw them: "at" of a reply comes from another clock.
     WITH moved AS (
       UPDATE journal SET visitor = known.no, seq = known.last_seq + mine.place
       FROM (SELECT seq AS old, row_number() OVER (ORDER BY seq) AS place
         FROM journal WHERE visitor = guest.no) AS mine
       WHERE journal.visitor = guest.no AND journal.seq = mine.old
       RETURNING journal.seq, sender = 'agent' AND mine.old > guest.seen_seq AS unseen
     )
     SELECT coalesce(max(seq), known.last_seq),
       coalesce(min(seq) FILTER (WHERE unseen) - 1, max(seq), known.last_seq)
       INTO last, seen FROM moved;
     UPDATE visitor SET last_seq = last, last_rev = greatest(last_rev, guest.last_rev),
       seen_seq = CASE WHEN all_seen AND seen > known.last_seq THEN greatest(seen_seq, seen) ELSE seen_seq END
       WHERE no = known.no;
     IF guest_wrote >= coalesce(known_wrote, 0) THEN
       -- The visitor continues the guest's conversation; one without any message stays a new one.
       UPDATE visitor SET conversation = conversation + 1,
         lane = (SELECT ${LANE} FROM visitor WHERE no = guest.no),
         conversation_from_seq = CASE WHEN guest.conversation_from_seq = guest.last_seq
           THEN last ELSE known.last_seq END
         WHERE no = known.no;
     END IF;
     UPDATE upload SET visitor = known.id WHERE shop = guest.shop AND visitor = guest.id;
     UPDATE visitor SET joined = known.id, last_seq = 0, seen_seq = 0, conversation_from_seq = 0
       WHERE no = guest.no;
     RETURN last - known.last_seq;
   END $$`,
);

/**
 * Finds or makes the visitor of an identity. Each attempt locks what it finds, in order of the numbers, and
 * starts again, without any locks, when another gateway stored the guest or the subject meanwhile: the
 * block's end releases its locks.
 */
const IDENTIFY = sqlFunction(
  'identify_visitor',
  `(identity json, OUT stored visitor, OUT superseded boolean, OUT joined_lines bigint)
   LANGUAGE plpgsql ${BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     given record;
     guest visitor;
     known visitor;
     locked bigint[];
   BEGIN
     SELECT * INTO given FROM json_to_record(identity) AS item (
       shop uuid, subject text, name text, email text, guest_id text, new_id text, at bigint);
     FOR attempt IN 1..${ATTEMPTS} LOOP
       BEGIN
         locked := ARRAY(SELECT no FROM visitor
           WHERE shop = given.shop AND (id = given.guest_id OR subject = given.subject)
           ORDER BY no FOR UPDATE);
         SELECT * INTO guest FROM visitor WHERE shop = given.shop AND id = given.guest_id;
         SELECT * INTO known FROM visitor WHERE shop = given.shop AND subject = given.subject;
         IF NOT array_remove(ARRAY[guest.no, known.no], NULL) <@ locked THEN
           RAISE unique_violation USING MESSAGE = 'a visitor was stored meanwhile';
         END IF;
         joined_lines := 0;
         -- A guest without stored data may be sending its first line right now.
         superseded := given.guest_id IS NOT NULL
           AND (guest.no IS NULL OR (guest.subject IS NULL AND guest.joined IS NULL));
         IF known.no IS NOT NULL THEN
           UPDATE visitor SET name = coalesce(given.name, name), email = coalesce(given.email, email)
             WHERE no = known.no AND (name IS DISTINCT FROM coalesce(given.name, name)
               OR email IS DISTINCT FROM coalesce(given.email, email));
           IF superseded AND guest.no IS NOT NULL THEN
             joined_lines := ${MERGE.name}(guest, known);
           ELSIF superseded THEN
             -- Reserves the guest's id, so that a message that was in transit does not create
             -- another visitor; the client sends it again as the identified visitor. By the time
             -- the oldest reservation is dropped, nothing is in transit.
             INSERT INTO visitor (shop, id, joined, created_at, reserved)
               VALUES (given.shop, given.guest_id, known.id, given.at, true);
             DELETE FROM visitor WHERE no IN (
               SELECT no FROM visitor WHERE shop = given.shop AND joined = known.id AND reserved
               ORDER BY no DESC OFFSET ${MOST_RESERVED});
           END IF;
         ELSIF superseded AND guest.no IS NOT NULL THEN
           -- An address that the visitor typed must not be taken for a verified one.
           UPDATE visitor SET name = coalesce(given.name, name), email = coalesce(given.email, ''),
             subject = given.subject WHERE no = guest.no;
         ELSE
           INSERT INTO visitor (shop, id, name, email, subject, created_at)
             VALUES (given.shop, CASE WHEN superseded THEN given.guest_id ELSE given.new_id END,
               given.name, given.email, given.subject, given.at);
         END IF;
         SELECT * INTO stored FROM visitor WHERE shop = given.shop AND subject = given.subject;
         RETURN;
       EXCEPTION WHEN unique_violation THEN
         IF attempt = ${ATTEMPTS} THEN RAISE; END IF;
       END;
     END LOOP;
   END $$`,
);

export const IDENTITY_FUNCTIONS = [MERGE, IDENTIFY];

type IdentifiedRow = VisitorRow & { readonly superseded: boolean; readonly joined_lines: number };

/** Merges guests into identified visitors (`ChatStore.identifyVisitor`). */
export class VisitorIdentities {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async identifyVisitor(identity: VisitorIdentity): Promise<Identified> {
    const { shopId, subject, name, email, guestId, newId, at } = identity;
    const [row] = await this.#database.query<IdentifiedRow>(
      `SELECT (stored).*, superseded, joined_lines FROM ${IDENTIFY.name}($1)`,
      [
        jsonOf({
          ...{ shop: shopId, subject, name, email, at },
          ...{ guest_id: guestId, new_id: newId },
        }),
      ],
    );
    if (row === undefined) throw new Error('an identity always has a visitor');
    const visitor = toVisitor(row);
    return {
      ...{ visitor, joinedLines: row.joined_lines },
      ...(row.superseded && guestId !== undefined && { superseded: guestId }),
    };
  }
}
