import { LOOPS_BY_INDEX, sqlFunction } from './schema.ts';

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
